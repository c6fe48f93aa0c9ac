// Kind 8: each entry point as the first call of the process, before any constructor, and as the
// first call of a thread. The case is named by the first argument, which .preinit_array sees too.
#include <malloc.h>
#include <pthread.h>

#include <new>

#include "check.hpp"

namespace {

void use(void* p) {
  CHECK(p != nullptr);
  memset(p, 7, 40);
  free(p);
}

void by_posix_memalign() {
  void* p = nullptr;
  CHECK(posix_memalign(&p, 64, 40) == 0);
  use(p);
}

void* to_free;  // a block of another thread, for the first calls that need one

constexpr Case kCases[] = {
    {"malloc", [] { use(malloc(opaque<std::size_t>(40))); }},
    {"large", [] { use(malloc(opaque<std::size_t>(100000))); }},
    {"direct", [] { use(malloc(opaque<std::size_t>(40) << 20)); }},
    {"calloc", [] { use(calloc(1, opaque<std::size_t>(40))); }},
    {"calloc_large", [] { use(calloc(1, opaque<std::size_t>(400000))); }},
    {"realloc", [] { use(realloc(nullptr, opaque<std::size_t>(40))); }},
    {"reallocarray", [] { use(reallocarray(nullptr, 2, opaque<std::size_t>(40))); }},
    {"aligned_alloc", [] { use(aligned_alloc(64, opaque<std::size_t>(40))); }},
    {"memalign", [] { use(memalign(4096, opaque<std::size_t>(40))); }},
    {"posix_memalign", by_posix_memalign},
    {"valloc", [] { use(valloc(opaque<std::size_t>(40))); }},
    {"pvalloc", [] { use(pvalloc(opaque<std::size_t>(40))); }},
    {"new", [] { operator delete(operator new(opaque<std::size_t>(40))); }},
    {"free", [] { free(opaque(to_free)); }},
    {"realloc_old", [] { free(realloc(opaque(to_free), to_free != nullptr ? 3000 : 1)); }},
    {"malloc_usable_size",
     [] { CHECK((malloc_usable_size(to_free) >= 40) == (to_free != nullptr)); }},
    {"malloc_trim", [] { malloc_trim(0); }},
    {"mallinfo2", [] { CHECK(mallinfo2().uordblks < SIZE_MAX / 2); }},
    {"mallopt", [] { mallopt(M_MMAP_THRESHOLD, 1 << 20); }},
};

void before_constructors(int argc, char** argv, char**) {
  if (argc < 2) return;
  for (const Case& one : kCases) {
    if (strcmp(one.name, argv[1]) == 0) one.run();
  }
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const preinit)(int, char**,
                                                                    char**) = before_constructors;

void* thread_body(void* argument) {
  static_cast<const Case*>(argument)->run();
  return nullptr;
}

/// A new thread for each entry point, with a block of this thread to free.
void first_in_thread(const Case& one) {
  const bool takes = strcmp(one.name, "free") == 0 || strcmp(one.name, "realloc_old") == 0;
  const bool looks = strcmp(one.name, "malloc_usable_size") == 0;
  to_free = takes || looks ? malloc(opaque<std::size_t>(40)) : nullptr;
  pthread_t thread;
  CHECK(pthread_create(&thread, nullptr, thread_body, const_cast<Case*>(&one)) == 0);
  CHECK(pthread_join(thread, nullptr) == 0);
  if (looks) free(to_free);
  to_free = nullptr;
}

}  // namespace

int main(int argc, char**) {
  if (argc >= 2) return 0;
  for (const Case& one : kCases) first_in_thread(one);
  return 0;
}
