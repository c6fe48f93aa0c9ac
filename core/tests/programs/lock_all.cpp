// mlockall in a process that may not lock more than RLIMIT_MEMLOCK: the reservation is not what the
// kernel counts, and the heap works afterwards. (Status 77: there is no such limit here.)
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.hpp"

namespace {

long address_space_pages() {
  FILE* file = fopen("/proc/self/statm", "r");
  CHECK(file != nullptr);
  long pages = 0;
  CHECK(fscanf(file, "%ld", &pages) == 1);
  fclose(file);
  return pages;
}

}  // namespace

int main() {
  constexpr int kNoLimit = 77;
  constexpr uid_t kNobody = 65534;
  constexpr long kMostPages = 64 * 256;  // 64 MiB: the program, its libraries and a small heap
  constexpr int kBlocks = 2000;
  static void* blocks[kBlocks];
  free(opaque(malloc(opaque(std::size_t{100}))));
  if (geteuid() == 0) CHECK(setuid(kNobody) == 0);
  struct rlimit limit {};
  CHECK(getrlimit(RLIMIT_MEMLOCK, &limit) == 0);
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >> 40 != 0) return kNoLimit;
  if (mlockall(MCL_CURRENT) != 0) {
    if (errno == EPERM) return kNoLimit;  // nothing at all may be locked
    CHECK(errno == ENOMEM);               // too low for what is in use, too
  }
  CHECK(address_space_pages() < kMostPages);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kBlocks; ++i) {
      blocks[i] = malloc(opaque(static_cast<std::size_t>(i)));
      CHECK(blocks[i] != nullptr);
      memset(blocks[i], i, static_cast<std::size_t>(i));
    }
    for (void* p : blocks) free(p);
  }
  return 0;
}
