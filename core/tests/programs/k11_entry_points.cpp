// Kind 11: all entry points are there, and answer for this allocator.
#include <dlfcn.h>
#include <malloc.h>

#include <cerrno>
#include <new>

#include "statistics.hpp"

namespace {

constexpr const char* kNames[] = {
    "malloc", "calloc", "realloc", "free", "aligned_alloc", "memalign", "posix_memalign", "valloc",
    "pvalloc", "malloc_usable_size", "reallocarray", "cfree", "free_sized", "free_aligned_sized",
    "malloc_trim", "mallinfo", "mallinfo2", "mallopt", "malloc_stats", "malloc_info",
    // operator new and delete: plain, array, nothrow, aligned, aligned nothrow; sized, aligned
    // sized.
    "_Znwm", "_Znam", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t", "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t", "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm",
    "_ZdlPvRKSt9nothrow_t", "_ZdaPvRKSt9nothrow_t", "_ZdlPvSt11align_val_t",
    "_ZdaPvSt11align_val_t", "_ZdlPvmSt11align_val_t", "_ZdaPvmSt11align_val_t",
    "_ZdlPvSt11align_val_tRKSt9nothrow_t", "_ZdaPvSt11align_val_tRKSt9nothrow_t"};

void served_by_hakmem() {
  for (const char* name : kNames) {
    void* symbol = dlsym(RTLD_DEFAULT, name);
    Dl_info info{};
    const bool ours = symbol != nullptr && dladdr(symbol, &info) != 0 &&
                      strstr(info.dli_fname, "libhakmem") != nullptr;
    if (!ours) dprintf(STDERR_FILENO, "%s is not hakmem's\n", name);
    CHECK(ours);
  }
}

using Allocate = void* (*)(std::size_t);
using Release = void (*)(void*, std::size_t);

void* by_posix_memalign(std::size_t size) {
  void* p = nullptr;
  CHECK(posix_memalign(&p, 64, size) == 0);
  return p;
}

constexpr Allocate kAllocate[] = {
    [](std::size_t n) { return malloc(n); },
    [](std::size_t n) { return calloc(1, n); },
    [](std::size_t n) { return realloc(nullptr, n); },
    [](std::size_t n) { return reallocarray(nullptr, 1, n); },
    [](std::size_t n) { return aligned_alloc(64, n); },
    [](std::size_t n) { return memalign(256, n); },
    by_posix_memalign,
    [](std::size_t n) { return valloc(n); },
    [](std::size_t n) { return pvalloc(n); },
    [](std::size_t n) { return operator new(n); },
    [](std::size_t n) { return operator new[](n); },
    [](std::size_t n) { return operator new(n, std::nothrow); },
    [](std::size_t n) { return operator new[](n, std::nothrow); },
    [](std::size_t n) { return operator new (n, std::align_val_t{128}); },
    [](std::size_t n) { return operator new[](n, std::align_val_t{128}, std::nothrow); }};

void by_free_sized(void* p, std::size_t n) {
  static auto* fn = preloaded<void(void*, std::size_t)>("free_sized");
  fn(p, n);
}

void by_free_aligned_sized(void* p, std::size_t n) {
  static auto* fn = preloaded<void(void*, std::size_t, std::size_t)>("free_aligned_sized");
  fn(p, 16, n);
}

void by_cfree(void* p, std::size_t) {
  static auto* fn = preloaded<void(void*)>("cfree");
  fn(p);
}

constexpr Release kRelease[] = {
    [](void* p, std::size_t) { free(p); },
    [](void* p, std::size_t) { free(realloc(p, opaque<std::size_t>(0))); },
    by_free_sized,
    by_free_aligned_sized,
    by_cfree,
    [](void* p, std::size_t) { operator delete(p); },
    [](void* p, std::size_t) { operator delete[](p); },
    [](void* p, std::size_t n) { operator delete(p, n); },
    [](void* p, std::size_t n) { operator delete[](p, n); },
    [](void* p, std::size_t) { operator delete(p, std::nothrow); },
    [](void* p, std::size_t) { operator delete (p, std::align_val_t{16}); },
    [](void* p, std::size_t n) { operator delete[](p, n, std::align_val_t{16}); },
    [](void* p, std::size_t) { operator delete[](p, std::align_val_t{16}, std::nothrow); }};

void every_pair() {
  for (const Allocate allocate : kAllocate) {
    for (const Release release : kRelease) {
      for (const std::size_t size : Sizes{1, 24, 600, 1024, 9000, 50000, 33 << 20}) {
        void* p = allocate(opaque(size));
        CHECK(p != nullptr && is_aligned(p, 16));
        static_cast<char*>(p)[0] = 1;
        static_cast<char*>(p)[size - 1] = 1;
        CHECK(malloc_usable_size(p) >= size);
        release(p, size);
        release(nullptr, size);
      }
    }
  }
}

/// Totals move with what the program holds.
void information() {
  const std::size_t before = mallinfo2().uordblks;
  constexpr std::size_t kSize = 2000;
  constexpr int kBlocks = 5000;
  static void* blocks[kBlocks];
  for (void*& p : blocks) p = malloc(opaque(kSize));
  const struct mallinfo2 held = mallinfo2();
  CHECK(held.uordblks >= before + kSize * kBlocks);
  CHECK(held.arena >= held.uordblks);
  CHECK(held.fordblks + held.uordblks <= held.arena + held.hblkhd);
  for (void* p : blocks) free(p);
  malloc_trim(0);
  CHECK(mallinfo2().uordblks < before + kSize * kBlocks / 10);
  mallopt(M_ARENA_MAX, 1);
}

void mallinfo_is_there() {
  // The old form is deprecated and narrow: it has to be there and not negative.
  struct mallinfo (*narrow)() = preloaded<struct mallinfo()>("mallinfo");
  void* p = malloc(opaque<std::size_t>(3) << 30);
  const struct mallinfo info = narrow();
  CHECK(info.arena >= 0 && info.hblkhd >= 0 && info.uordblks >= 0 && info.fordblks >= 0);
  free(p);
}

void texts() {
  malloc_stats();
  CHECK(malloc_info(0, stdout) == 0);
  errno = 0;
  CHECK(malloc_info(1, stdout) != 0);
}

void trim_tells() {
  std::size_t size = 40000;
  void* blocks[64];
  for (void*& p : blocks) memset(p = malloc(opaque(size)), 1, size);
  for (void* p : blocks) free(p);
  const int gave = malloc_trim(0);
  CHECK(gave == 0 || gave == 1);
  CHECK(malloc_trim(0) == 0);
}

constexpr Case kCases[] = {{"served_by_hakmem", served_by_hakmem},
                           {"every_pair", every_pair},
                           {"information", information},
                           {"mallinfo_is_there", mallinfo_is_there},
                           {"texts", texts},
                           {"trim_tells", trim_tells}};

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, kCases); }
