// One thread takes many blocks of 64 bytes and gives all of them back, several times over.
#include "check.hpp"

namespace {
constexpr int kBlocks = 20000;
void* blocks[kBlocks];
}  // namespace

int main() {
  for (int round = 0; round < 3; ++round) {
    for (void*& p : blocks) CHECK((p = malloc(opaque<std::size_t>(64))) != nullptr);
    for (void* p : blocks) free(p);
  }
  return 0;
}
