#include "os/memory.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "os/faults.hpp"
#include "os/process.hpp"
#include "os/syscalls.hpp"

namespace hakmem::os {

constinit thread_local std::uint32_t memory_calls [[gnu::tls_model("initial-exec")]];

namespace {

long counted(long result) {
  ++memory_calls;
  return result;
}

bool failed(long result) { return result < 0 && result > -4096; }

/// The profile `faults`: this call shall fail.
HAK_INLINE bool refused([[maybe_unused]] Call call) {
  if constexpr (kFaults) return fails(call);
  return false;
}

void* map_with(int protection, std::size_t size) {
  if (refused(Call::mmap)) return nullptr;
  const long result = counted(
      syscall6(SYS_mmap, 0, static_cast<long>(size), protection,
               MAP_PRIVATE | MAP_ANONYMOUS | (protection == PROT_NONE ? MAP_NORESERVE : 0), -1, 0));
  return failed(result) ? nullptr : pointer(static_cast<std::uintptr_t>(result));
}

HAK_NOINLINE bool protect(void* start, std::size_t size, int protection) {
  if (refused(Call::mprotect)) return false;
  return counted(syscall3(SYS_mprotect, static_cast<long>(address(start)), static_cast<long>(size),
                          protection)) == 0;
}

}  // namespace

void* reserve(std::size_t size) { return map_with(PROT_NONE, size); }

bool commit(void* start, std::size_t size) { return protect(start, size, PROT_READ | PROT_WRITE); }

void wish_huge_pages(void* start, std::size_t size) {
  counted(syscall3(SYS_madvise, static_cast<long>(address(start)), static_cast<long>(size),
                   MADV_HUGEPAGE));
}

bool protect_read_only(void* start, std::size_t size) { return protect(start, size, PROT_READ); }

bool protect_none(void* start, std::size_t size) { return protect(start, size, PROT_NONE); }

bool purge(void* start, std::size_t size) {
  if (refused(Call::madvise)) return false;
  return counted(syscall3(SYS_madvise, static_cast<long>(address(start)), static_cast<long>(size),
                          MADV_DONTNEED)) == 0;
}

void* map(std::size_t size) { return map_with(PROT_READ | PROT_WRITE, size); }

void unmap(void* start, std::size_t size) {
  counted(syscall3(SYS_munmap, static_cast<long>(address(start)), static_cast<long>(size), 0));
}

void* remap(void* start, std::size_t old_size, std::size_t new_size) {
  if (refused(Call::mremap)) return nullptr;
  const long result =
      counted(syscall6(SYS_mremap, static_cast<long>(address(start)), static_cast<long>(old_size),
                       static_cast<long>(new_size), MREMAP_MAYMOVE, 0, 0));
  return failed(result) ? nullptr : pointer(static_cast<std::uintptr_t>(result));
}

// The first two numbers of /proc/self/statm, in pages.
MemoryInUse memory_in_use() {
  char text[64];
  const std::size_t n = read_file("/proc/self/statm", text, sizeof text);
  std::size_t pages[2] = {};
  std::size_t i = 0;
  for (std::size_t& number : pages) {
    for (; i < n && text[i] >= '0' && text[i] <= '9'; ++i) {
      number = number * 10 + static_cast<std::size_t>(text[i] - '0');
    }
    ++i;
  }
  return {pages[0] * kPageSize, pages[1] * kPageSize};
}

std::size_t address_space_limit() {
  struct rlimit limit {};
  const long failed =
      syscall6(SYS_prlimit64, 0, RLIMIT_AS, 0, static_cast<long>(address(&limit)), 0, 0);
  return failed != 0 || limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX : limit.rlim_cur;
}

std::size_t address_space_left() {
  const std::size_t limit = address_space_limit();
  if (limit == SIZE_MAX) return SIZE_MAX;
  const std::size_t used = memory_in_use().address_space;
  return limit > used ? limit - used : 0;
}

bool is_mapped(void* page) {
  unsigned char resident;
  return counted(syscall3(SYS_mincore, static_cast<long>(address(page)),
                          static_cast<long>(kPageSize), static_cast<long>(address(&resident)))) ==
         0;
}

std::int64_t now_ms() {
  struct timespec t {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1000 + t.tv_nsec / 1000000;
}

}  // namespace hakmem::os
