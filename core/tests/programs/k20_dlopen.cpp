// Kind 20: the library by dlopen at run time (its path is the second argument).
#include <dlfcn.h>
#include <pthread.h>

#include "check.hpp"

namespace {

using Malloc = void* (*)(std::size_t);
using Free = void (*)(void*);

Malloc their_malloc;
Free their_free;

void exercise() {
  for (std::size_t size = 1; size < 200000; size += size / 3 + 1) {
    void* p = their_malloc(size);
    CHECK(p != nullptr);
    fill(p, size, 4);
    void* q = malloc(size);  // glibc's: both live side by side
    fill(q, size, 5);
    CHECK(is_filled(p, size, 4) && is_filled(q, size, 5));
    their_free(p);
    free(q);
  }
}

void* thread_body(void*) {
  exercise();
  return nullptr;
}

void in_threads() {
  pthread_t threads[8];
  for (pthread_t& t : threads) CHECK(pthread_create(&t, nullptr, thread_body, nullptr) == 0);
  for (const pthread_t t : threads) CHECK(pthread_join(t, nullptr) == 0);
}

}  // namespace

int main(int, char** argv) {
  void* kept = nullptr;
  for (int round = 0; round < 3; ++round) {
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) dprintf(STDERR_FILENO, "%s\n", dlerror());
    CHECK(library != nullptr);
    their_malloc = reinterpret_cast<Malloc>(dlsym(library, "malloc"));
    their_free = reinterpret_cast<Free>(dlsym(library, "free"));
    CHECK(their_malloc != nullptr && their_malloc != &malloc);
    exercise();
    in_threads();
    if (round == 0) kept = their_malloc(100);
    fill(kept, 100, 6);
    CHECK(dlclose(library) == 0);
    // Blocks outlive dlclose, and threads may still end.
    CHECK(is_filled(kept, 100, 6));
    exercise();
    in_threads();
  }
  their_free(kept);
  return 0;
}
