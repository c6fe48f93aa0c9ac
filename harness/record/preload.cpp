// libhakrecord.so: glibc's malloc, and a note of each call.
//
// A thread writes into a chunk of its own, which is mapped from the process's file: nothing is lost
// when the process is killed. The calls go to glibc's own names, so there is nothing to look up and
// nothing that could call back. A free takes its place in the order before the block is given back,
// an allocation after it has it: an address that is used again has its events in order.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "harness/record/raw.hpp"

using namespace hakmem::record;

extern "C" {
void* __libc_malloc(std::size_t);
void __libc_free(void*);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

#define HAK_EXPORT extern "C" [[gnu::visibility("default")]]

namespace {

enum class State : int { fresh, opening, open, off };

std::atomic<State> state{State::fresh};
int file = -1;
std::atomic<std::uint64_t> next_order;
std::atomic<std::uint64_t> next_chunk;
std::atomic<std::uint64_t> next_thread;
std::atomic<unsigned> generation;  ///< rises in the child of a fork: its threads begin anew

struct Pen {
  Chunk* chunk;
  std::size_t used;
  std::uint64_t thread;
  unsigned generation;
  bool named;
};
[[gnu::tls_model("initial-exec")]] thread_local Pen pen;

/// A new file of this process. Names are tried, since exec keeps the process id.
int create_file() {
  const char* const folder = getenv(kFolderVariable);
  if (folder == nullptr) return -1;
  for (int image = 0; image < 1000; ++image) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d.%d.raw", folder, static_cast<int>(getpid()), image);
    const int made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (made >= 0 || errno != EEXIST) return made;
  }
  return -1;
}

void begin() {
  file = create_file();
  state.store(file >= 0 ? State::open : State::off, std::memory_order_release);
}

void begin_in_child() {
  if (state.load() != State::open) return;
  close(file);
  next_order = 0;
  next_chunk = 0;
  next_thread = 0;
  ++generation;
  begin();
}

/// True where calls are noted. Another thread's start-up, and what it calls itself, is not waited
/// for.
bool recording() {
  const State now = state.load(std::memory_order_acquire);
  if (now == State::open) return true;
  State fresh = State::fresh;
  if (now != State::fresh || !state.compare_exchange_strong(fresh, State::opening)) return false;
  begin();
  pthread_atfork(nullptr, nullptr, begin_in_child);
  return state.load() == State::open;
}

bool take_chunk() {
  const unsigned now = generation.load(std::memory_order_relaxed);
  if (pen.chunk != nullptr && pen.generation == now) munmap(pen.chunk, kChunkBytes);
  if (!pen.named || pen.generation != now) pen.thread = next_thread++;
  pen.named = true;
  pen.generation = now;
  pen.chunk = nullptr;
  pen.used = kChunkEvents;
  const std::uint64_t end = (next_chunk++ + 1) * kChunkBytes;
  // The file only grows: another thread may have asked for a later chunk first.
  if (posix_fallocate(file, static_cast<off_t>(end - kChunkBytes), kChunkBytes) != 0) return false;
  void* const room = mmap(nullptr, kChunkBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                          static_cast<off_t>(end - kChunkBytes));
  if (room == MAP_FAILED) return false;
  pen.chunk = static_cast<Chunk*>(room);
  pen.chunk->thread = pen.thread;
  pen.used = 0;
  return true;
}

[[gnu::noinline]] bool prepare_pen() {
  const int kept = errno;
  const bool ready = recording() && take_chunk();
  errno = kept;
  return ready;
}

void note(RawKind kind, const void* address, std::uint64_t size) {
  const bool ready = pen.chunk != nullptr && pen.used != kChunkEvents &&
                     pen.generation == generation.load(std::memory_order_relaxed);
  if (!ready && !prepare_pen()) return;
  const std::uint64_t order = next_order.fetch_add(1, std::memory_order_relaxed);
  RawEvent& event = pen.chunk->events[pen.used++];
  event.address = reinterpret_cast<std::uint64_t>(address);
  event.size = size;
  // The kind last: a process that is killed here leaves no half event.
  std::atomic_signal_fence(std::memory_order_release);
  event.order_and_kind = order << 8 | static_cast<std::uint64_t>(kind);
}

void* noted(RawKind kind, void* address, std::uint64_t size) {
  if (address != nullptr) note(kind, address, size);
  return address;
}

void* aligned(std::size_t alignment, std::size_t size) {
  void* const address = __libc_memalign(alignment, size);
  const auto log2 = static_cast<std::uint64_t>(__builtin_ctzll(alignment | 1ULL << 62));
  return noted(RawKind::aligned, address, log2 << 56 | size);
}

}  // namespace

HAK_EXPORT void* malloc(std::size_t size) {
  return noted(RawKind::allocate, __libc_malloc(size), size);
}

HAK_EXPORT void free(void* address) {
  if (address == nullptr) return;
  note(RawKind::free, address, 0);
  __libc_free(address);
}

HAK_EXPORT void* calloc(std::size_t count, std::size_t size) {
  return noted(RawKind::zeroed, __libc_calloc(count, size), count * size);
}

HAK_EXPORT void* realloc(void* address, std::size_t size) {
  if (address == nullptr) return malloc(size);
  if (size == 0) {
    free(address);
    return nullptr;
  }
  note(RawKind::resize_begin, address, 0);
  void* const moved = __libc_realloc(address, size);
  note(RawKind::resize_end, moved, size);
  return moved;
}

HAK_EXPORT void* reallocarray(void* address, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (!__builtin_mul_overflow(count, size, &bytes)) return realloc(address, bytes);
  errno = ENOMEM;
  return nullptr;
}

HAK_EXPORT void* memalign(std::size_t alignment, std::size_t size) {
  return aligned(alignment, size);
}

HAK_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return aligned(alignment, size);
}

HAK_EXPORT int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) {
    return EINVAL;
  }
  const int kept = errno;
  void* const address = aligned(alignment, size);
  errno = kept;
  if (address == nullptr) return ENOMEM;
  *out = address;
  return 0;
}

HAK_EXPORT void* valloc(std::size_t size) { return aligned(4096, size); }

HAK_EXPORT void* pvalloc(std::size_t size) {
  return aligned(4096, (size + 4095) & ~std::size_t{4095});
}
