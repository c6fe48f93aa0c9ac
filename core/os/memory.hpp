// Address space from the system: reserve, commit, purge, release. Sizes in bytes, page-aligned.
#pragma once

#include "base/types.hpp"

namespace hakmem::os {

/// System calls of this file that the calling thread made on its address space; it may wrap.
/// Four bytes beside `this_front`, so that the library's static TLS stays at 16.
[[gnu::visibility("hidden")]] extern constinit thread_local std::uint32_t memory_calls
    [[gnu::tls_model("initial-exec")]];

/// Address space without memory (PROT_NONE, charged to nobody, left out of core dumps by the kernel
/// since it has no pages). Null on failure.
void* reserve(std::size_t size);

/// Makes a part of a reservation readable and writable. False when the system refuses.
bool commit(void* start, std::size_t size);

/// Asks for huge pages in a range, also where it is not committed yet. Their absence is no failure.
void wish_huge_pages(void* start, std::size_t size);

/// Read-only from now on (or writable again): the sealed page.
bool protect_read_only(void* start, std::size_t size);

/// No access from now on, until a commit. False when the system refuses.
bool protect_none(void* start, std::size_t size);

/// Gives the pages back; the range reads as zero afterwards. False (and no promise of zero) when
/// the system refuses, for example for memory that is locked.
bool purge(void* start, std::size_t size);

/// Fresh zeroed mapping of its own. Null on failure.
void* map(std::size_t size);

void unmap(void* start, std::size_t size);

/// Grows or shrinks a mapping of its own, moving pages rather than bytes. Null on failure, the old
/// mapping is untouched then.
void* remap(void* start, std::size_t old_size, std::size_t new_size);

/// What the kernel counts for this process, in bytes; reservations are address space. 0 when
/// unknown.
struct MemoryInUse {
  std::size_t address_space, resident;
};
MemoryInUse memory_in_use();

/// Soft limit of RLIMIT_AS in bytes; SIZE_MAX when there is none.
std::size_t address_space_limit();

/// Soft limit of RLIMIT_AS less what is in use, in bytes; SIZE_MAX when there is no limit.
std::size_t address_space_left();

/// Whether anything is mapped at this page.
bool is_mapped(void* page);

/// Coarse monotonic milliseconds.
std::int64_t now_ms();

}  // namespace hakmem::os
