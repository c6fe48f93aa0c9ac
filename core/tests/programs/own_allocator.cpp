// Linked with the allocator itself, for what cannot be seen under a preload. Prints the effective
// value of the box that the first argument names.
#include "api/hakmem.h"
#include "check.hpp"

int main(int argc, char** argv) {
  CHECK(argc == 2);
  free(malloc(opaque<std::size_t>(100)));
  std::int64_t value = 0;
  CHECK(hakmem_box_state(argv[1], &value) == 0);
  printf("%ld\n", static_cast<long>(value));
  return 0;
}
