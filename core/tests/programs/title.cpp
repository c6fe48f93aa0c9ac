// Writes over its arguments and its environment, as programs that set their title do.
#include <unistd.h>

#include <string>

#include "check.hpp"

int main(int argc, char** argv) {
  free(opaque(malloc(opaque(std::size_t{100}))));
  CHECK(argc > 0 && environ[0] != nullptr);
  char** last = environ;
  while (last[1] != nullptr) ++last;
  char* const end = *last + std::string(*last).size();
  static char* none[] = {nullptr};
  environ = none;
  for (char* p = argv[0]; p < end; ++p) *p = 'T';
  return 0;
}
