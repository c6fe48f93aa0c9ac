// The tails of the fast paths, out of line.
#pragma once

#include "base/types.hpp"

namespace hakmem {

struct Slab;
struct Front;

/// The whole of malloc: any size, any thread, before and after everything. Null: ENOMEM is set.
void* malloc_slow(std::size_t size);

/// As malloc_slow, then the new-handler and std::bad_alloc (api/operator_new.cpp).
void* new_slow(std::size_t size);

/// The whole of free: any pointer, any thread. Aborts on a pointer that is not ours.
void free_slow(void* p);

/// The bin with this route code has no credit left. (Finds the front itself: it is the thread's.)
void credit_expired(std::size_t code);

/// Aligned memory; `alignment` is a power of two. Null: no memory; errno is left alone.
void* try_aligned(std::size_t alignment, std::size_t size);

/// As try_aligned. Null: ENOMEM is set.
void* allocate_aligned(std::size_t alignment, std::size_t size);

/// Zeroed memory that touches no page known to be zero. Null: ENOMEM is set.
void* allocate_zeroed(std::size_t size);

/// Bytes that may be used at `p`, the same for the block's whole life. Aborts on a foreign pointer.
std::size_t usable_size(const void* p, const char* caller);

/// realloc of a non-null pointer to a non-zero size. Null: ENOMEM is set and the block is intact.
void* reallocate(void* p, std::size_t size);

/// One line on stderr, now and then, that says how memory stands. (observe/oom.cpp)
void report_out_of_memory(std::size_t size);

// The sampling heap profile (observe/heap_profile.cpp); sealed.profile_rate is 0 where there is
// none.
/// From here on samples are taken. Loads the unwinder, so libc has to be ready.
void start_heap_profile();
/// Writes the samples of live blocks to HAKMEM_HEAP_PROFILE's file, if there is to be one; a line
/// on stderr when that fails. May be called in a signal's handler.
void write_heap_profile();
/// Counts the bytes of a block that is about to be handed out; true when it is to be a sample.
bool sample_due(std::size_t size);
/// Takes `block` as a sample, with the calling stack. Only runs and mappings: their frees look for
/// samples.
void record_sample(const void* block, std::size_t size);
void forget_sample(const void* block);  ///< freed; nothing happens when it was not sampled

/// Handlers of the signals that statistics are written at. (observe/statistics.cpp)
void watch_signals();

/// Start-up, once; safe to call again.
void ensure_ready();

/// Says what is wrong with `p` and aborts.
[[noreturn]] void misuse(const char* caller, const char* what, const void* p);

/// The same of a small block, whose class is named.
[[noreturn]] void misuse(const char* caller, const char* what, const void* p, unsigned cls);

// Runs of slices, for sizes between a slab's classes and a mapping of its own (front/large.cpp).
enum class Content : std::uint8_t { any, zero };
void* large_alloc(std::size_t size, std::size_t alignment, Content content);
void large_free(Slab* record, void* p);
bool mapping_free(void* p);                        ///< false when `p` is no mapping of its own
void* mapping_realloc(void* p, std::size_t size);  ///< null: no memory; the block is intact
void* large_realloc(Slab* record, void* p, std::size_t size);

}  // namespace hakmem
