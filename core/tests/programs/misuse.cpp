// One misuse a case, for the builds that check every block. Each case prints the block on stdout.
#include <malloc.h>
#include <pthread.h>

#include "check.hpp"

namespace {

constexpr std::size_t kSmall = 100;

char* block(std::size_t size = kSmall) {
  auto* p = static_cast<char*>(malloc(opaque(size)));
  CHECK(p != nullptr);
  dprintf(STDOUT_FILENO, "%p\n", static_cast<void*>(p));
  return opaque(p);
}

void in_thread(void* (*body)(void*), void* argument) {
  pthread_t thread;
  CHECK(pthread_create(&thread, nullptr, body, argument) == 0);
  CHECK(pthread_join(thread, nullptr) == 0);
}

void* free_it(void* p) {
  free(p);
  return nullptr;
}

void double_free() {
  char* p = block();
  free(p);
  free(opaque(p));
}

void double_free_elsewhere() {
  char* p = block();
  free(p);
  in_thread(free_it, p);
}

void inside_a_block() { free(block() + 16); }

/// The canary's first byte differs from any character, in every process.
void overflow_by_one() {
  char* p = block();
  CHECK((p[malloc_usable_size(p)] & 0x80) != 0);
  p[malloc_usable_size(p)] = 1;
  free(p);
}

void overflow_freed_elsewhere() {
  char* p = block();
  p[malloc_usable_size(p)] = 1;
  in_thread(free_it, p);
}

/// The block is handed out again some time.
void write_after_free() {
  char* p = block();
  free(p);
  p[40] = 1;
  for (int i = 0; i < 10000; ++i) CHECK(malloc(opaque(kSmall)) != nullptr);
}

void link_overwritten() {
  char* p = block();
  free(p);
  *reinterpret_cast<std::uintptr_t*>(p) = 0x4141414141414141;
  for (int i = 0; i < 10000; ++i) CHECK(malloc(opaque(kSmall)) != nullptr);
}

void large_overflow() {
  char* p = block(100000);
  p[malloc_usable_size(p)] = 1;
}

void direct_overflow() {
  char* p = block(std::size_t{20} << 20);
  p[malloc_usable_size(p)] = 1;
}

void large_double_free() {
  char* p = block(100000);
  free(p);
  free(opaque(p));
}

/// Says what a freed block reads as.
void read_after_free() {
  char* p = block();
  memset(p, 0x55, kSmall);
  free(p);
  dprintf(STDOUT_FILENO, "%02x\n", static_cast<unsigned char>(p[64]));
}

/// Distances between the blocks of a fresh class.
void places() {
  char* before = static_cast<char*>(malloc(opaque<std::size_t>(900)));
  for (int i = 0; i < 12; ++i) {
    char* p = static_cast<char*>(malloc(opaque<std::size_t>(900)));
    dprintf(STDOUT_FILENO, "%ld\n", static_cast<long>(p - before));
    before = p;
  }
}

/// What a stored link looks like: it may not be the address of the next block.
void stored_links() {
  constexpr int kCount = 50;
  void* blocks[kCount];
  for (void*& p : blocks) p = malloc(opaque(kSmall));
  for (void* p : blocks) free(p);
  int plain = 0;
  for (void* p : blocks) {
    void* link = *static_cast<void**>(opaque(p));
    for (void* q : blocks) plain += link == q;
  }
  dprintf(STDOUT_FILENO, "%d\n", plain);
}

constexpr Case kCases[] = {{"double_free", double_free},
                           {"double_free_elsewhere", double_free_elsewhere},
                           {"inside_a_block", inside_a_block},
                           {"overflow_by_one", overflow_by_one},
                           {"overflow_freed_elsewhere", overflow_freed_elsewhere},
                           {"write_after_free", write_after_free},
                           {"link_overwritten", link_overwritten},
                           {"large_overflow", large_overflow},
                           {"direct_overflow", direct_overflow},
                           {"large_double_free", large_double_free},
                           {"read_after_free", read_after_free},
                           {"places", places},
                           {"stored_links", stored_links}};

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, kCases); }
