// Kind 23: a block is freed twice. The process either aborts with a message, or at the least no
// block is handed to two owners. Usage: k23_double_free SIZE WHEN
#include <malloc.h>
#include <pthread.h>

#include <algorithm>

#include "check.hpp"

namespace {

constexpr int kLater = 3000;
void* later[kLater];

/// No two of the blocks that are handed out afterwards overlap.
void all_distinct(std::size_t size) {
  const int count = size > 1000000 ? 20 : size > 30000 ? 200 : kLater;
  for (int i = 0; i < count; ++i) {
    later[i] = malloc(opaque(size));
    CHECK(later[i] != nullptr);
  }
  std::sort(later, later + count);
  for (int i = 1; i < count; ++i) {
    const auto distance = static_cast<char*>(later[i]) - static_cast<char*>(later[i - 1]);
    if (distance < static_cast<std::ptrdiff_t>(size)) {
      dprintf(STDERR_FILENO, "one block has two owners\n");
      _exit(1);
    }
  }
  for (int i = 0; i < count; ++i) free(later[i]);
}

void in_thread(void* (*body)(void*), void* argument) {
  pthread_t t;
  CHECK(pthread_create(&t, nullptr, body, argument) == 0);
  CHECK(pthread_join(t, nullptr) == 0);
}

void* free_it(void* p) {
  free(p);
  return nullptr;
}

void at_once(std::size_t size) {
  void* p = malloc(opaque(size));
  free(p);
  free(opaque(p));
}

void after_another(std::size_t size) {
  void* p = malloc(opaque(size));
  void* q = malloc(opaque(size));
  free(p);
  free(q);
  free(opaque(p));
}

/// The first free has left the front's cache by then.
void after_many(std::size_t size) {
  const int count = size > 1000000 ? 4 : 1500;
  for (int i = 0; i < count; ++i) later[i] = malloc(opaque(size));
  void* p = later[0];
  for (int i = 0; i < count; ++i) free(later[i]);
  free(opaque(p));
}

void after_trim(std::size_t size) {
  void* keep = malloc(opaque(size));
  void* p = malloc(opaque(size));
  free(p);
  malloc_trim(0);
  free(opaque(p));
  free(keep);
}

void by_another_thread(std::size_t size) {
  void* p = malloc(opaque(size));
  free(p);
  in_thread(free_it, p);
}

void after_another_thread(std::size_t size) {
  void* p = malloc(opaque(size));
  in_thread(free_it, p);
  free(opaque(p));
}

void both_by_other_threads(std::size_t size) {
  void* p = malloc(opaque(size));
  in_thread(free_it, p);
  in_thread(free_it, p);
}

void by_realloc(std::size_t size) {
  void* p = malloc(opaque(size));
  free(p);
  p = realloc(opaque(p), opaque(size * 2));
  free(p);
}

struct When {
  const char* name;
  void (*run)(std::size_t);
};

constexpr When kWhen[] = {{"at_once", at_once},
                          {"after_another", after_another},
                          {"after_many", after_many},
                          {"after_trim", after_trim},
                          {"by_another_thread", by_another_thread},
                          {"after_another_thread", after_another_thread},
                          {"both_by_other_threads", both_by_other_threads},
                          {"by_realloc", by_realloc}};

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc == 3);
  const auto size = static_cast<std::size_t>(atol(argv[1]));
  for (const When& when : kWhen) {
    if (strcmp(when.name, argv[2]) != 0) continue;
    when.run(size);
    all_distinct(size);
    return 0;
  }
  return 2;
}
