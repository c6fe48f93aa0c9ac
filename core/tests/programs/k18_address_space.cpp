// Kinds 17 to 19: few mappings, lazy calloc, realloc that moves pages, life under RLIMIT_AS.
#include <malloc.h>
#include <sys/resource.h>

#include "check.hpp"

namespace {

std::size_t mappings() {
  const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  CHECK(fd >= 0);
  std::size_t lines = 0;
  static char buffer[1 << 16];
  for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;) {
    for (ssize_t i = 0; i < n; ++i) lines += buffer[i] == '\n';
  }
  close(fd);
  return lines;
}

void few_mappings() {
  constexpr int kBlocks = 80000;
  constexpr std::size_t kSize = 140000;
  static void* blocks[kBlocks];
  const std::size_t before = mappings();
  for (void*& p : blocks) {
    p = malloc(opaque(kSize));
    CHECK(p != nullptr);
    *static_cast<char*>(p) = 1;
  }
  for (int i = 0; i < kBlocks; i += 2) free(blocks[i]);
  malloc_trim(0);
  CHECK(mappings() < before + 1000);
  void* p = malloc(opaque(kSize));
  CHECK(p != nullptr);
  void* q = malloc(opaque(std::size_t{64} << 20));
  CHECK(q != nullptr);
  free(p);
  free(q);
  for (int i = 1; i < kBlocks; i += 2) free(blocks[i]);
}

long page_faults() {
  struct rusage usage {};
  CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  return usage.ru_minflt;
}

constexpr std::size_t kGiB = std::size_t{1} << 30;

/// Of memory that nobody has used before.
void lazy_calloc(std::size_t size) {
  const std::size_t before = resident_bytes();
  const long faults = page_faults();
  void* p = calloc(opaque(size) / 8, 8);
  CHECK(p != nullptr);
  CHECK(resident_bytes() < before + (std::size_t{1} << 20));
  CHECK(page_faults() < faults + 40);
  CHECK(static_cast<char*>(p)[size / 2] == 0);
  free(p);
}

/// Memory that was used, freed and purged (or not) is zero for calloc all the same.
void calloc_of_used_memory() {
  for (const std::size_t size : Sizes{40000, 100000, 1 << 20, 33 << 20}) {
    for (int round = 0; round < 3; ++round) {
      void* p = malloc(opaque(size));
      memset(p, 0xEE, size);
      free(p);
      if (round == 1) malloc_trim(0);
      p = calloc(1, opaque(size));
      CHECK(p != nullptr);
      for (std::size_t i = 0; i < size; ++i) CHECK(static_cast<char*>(p)[i] == 0);
      memset(p, 0xEE, size);
      free(p);
    }
  }
}

/// Of a run that was used in part only that part is touched.
void calloc_clears_what_is_dirty() {
  constexpr std::size_t kUsed = 1 << 20;
  constexpr std::size_t kWanted = 8 << 20;
  void* p = malloc(opaque(kUsed));
  memset(p, 0xEE, kUsed);
  free(p);
  const std::size_t before = resident_bytes();
  auto* q = static_cast<char*>(calloc(1, opaque(kWanted)));
  CHECK(q == p);  // first fit: the dirty slices come first
  CHECK(resident_bytes() < before + 2 * kUsed);
  for (std::size_t i = 0; i < kWanted; ++i) CHECK(q[i] == 0);
  free(q);
}

void realloc_moves_pages() {
  auto* p = static_cast<char*>(malloc(opaque(kGiB)));
  CHECK(p != nullptr);
  p[0] = 'a';
  p[kGiB - 1] = 'z';
  const long faults = page_faults();
  const std::size_t resident = resident_bytes();
  p = static_cast<char*>(realloc(p, opaque(kGiB + kGiB / 4)));
  CHECK(p != nullptr && p[0] == 'a' && p[kGiB - 1] == 'z');
  CHECK(page_faults() < faults + 100);
  CHECK(resident_bytes() < resident + (std::size_t{1} << 20));
  p = static_cast<char*>(realloc(p, opaque(kGiB / 2)));
  CHECK(p != nullptr && p[0] == 'a');
  CHECK(malloc_usable_size(p) < kGiB);
  free(p);
}

/// Content survives each way of growing and shrinking, across all kinds of block.
void realloc_across_kinds() {
  constexpr std::size_t kSteps[] = {1,        100,      1000,     5000,    32768,    32769,
                                    65536,    65537,    1 << 20,  5 << 20, 32 << 20, (32 << 20) + 1,
                                    40 << 20, 80 << 20, 60 << 20, 1 << 20, 40000,    20000,
                                    1000,     33 << 20, 100,      1};
  void* p = malloc(1);
  fill(p, 1, 21);
  std::size_t size = 1;
  for (const std::size_t next : kSteps) {
    p = realloc(p, opaque(next));
    CHECK(p != nullptr && malloc_usable_size(p) >= next);
    CHECK(is_filled(p, size < next ? size : next, 21));
    fill(p, next, 21);
    size = next;
  }
  free(p);
}

/// The limit was set before the start: all that is there can be used, and what is freed comes back.
void under_limit() {
  static void* blocks[4096];
  for (const std::size_t size : Sizes{100000, 1 << 20, 3000}) {
    int n = 0;
    while (n < 4096 && (blocks[n] = malloc(opaque(size))) != nullptr) memset(blocks[n++], 1, size);
    CHECK(static_cast<std::size_t>(n) * size > std::size_t{8} << 20);
    for (int i = 0; i < n; ++i) free(blocks[i]);
  }
}

constexpr Case kCases[] = {{"few_mappings", few_mappings},
                           {"lazy_calloc_256k", [] { lazy_calloc(kGiB / 4096); }},
                           {"lazy_calloc_8m", [] { lazy_calloc(kGiB / 128); }},
                           {"lazy_calloc_1g", [] { lazy_calloc(kGiB); }},
                           {"calloc_of_used_memory", calloc_of_used_memory},
                           {"calloc_clears_what_is_dirty", calloc_clears_what_is_dirty},
                           {"realloc_moves_pages", realloc_moves_pages},
                           {"realloc_across_kinds", realloc_across_kinds},
                           {"under_limit", under_limit}};

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, kCases); }
