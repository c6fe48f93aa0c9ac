// mlockall in a process that may not lock more than RLIMIT_MEMLOCK: it works as without a
// reservation, and so does the heap afterwards. (Status 77: it does not.)
#include <sys/mman.h>
#include <unistd.h>

#include "check.hpp"

int main() {
  constexpr int kRefused = 77;
  constexpr int kBlocks = 2000;
  static void* blocks[kBlocks];
  free(opaque(malloc(opaque(std::size_t{100}))));
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0) CHECK(setuid(kNobody) == 0);
  if (mlockall(MCL_CURRENT) != 0) return kRefused;
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
