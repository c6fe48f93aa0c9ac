// Kind 22: pointers of somebody else. Each case prints the pointer on stdout and must not return.
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>

#include "check.hpp"

extern "C" void* __libc_malloc(std::size_t size);

namespace {

alignas(64) char static_object[256];

void* on_stack() { return __builtin_frame_address(0); }

void* of_mmap() {
  return mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

struct Source {
  const char* name;
  void* (*get)();
};

constexpr Source kSources[] = {
    {"stack", on_stack},
    {"static", [] { return static_cast<void*>(static_object + 64); }},
    {"glibc", [] { return __libc_malloc(100); }},
    {"mmap", of_mmap},
    {"small_number", [] { return reinterpret_cast<void*>(std::uintptr_t{0x10}); }},
    {"not_canonical", [] { return reinterpret_cast<void*>(std::uintptr_t{0xABCD} << 48); }},
    {"top", [] { return reinterpret_cast<void*>(~std::uintptr_t{15}); }},
    {"inside_large", [] { return static_cast<void*>(static_cast<char*>(malloc(300000)) + 70000); }},
    {"inside_direct",
     [] { return static_cast<void*>(static_cast<char*>(malloc(40 << 20)) + 4096); }},
    {"far_in_the_reservation",
     [] { return static_cast<void*>(static_cast<char*>(malloc(100)) + (std::size_t{256} << 30)); }},
    {"free_slice",
     [] { return static_cast<void*>(static_cast<char*>(malloc(100000)) + (4 << 20)); }},
};

void by_free(void* p) { free(p); }
void by_realloc(void* p) { free(realloc(p, opaque<std::size_t>(10))); }
void by_usable_size(void* p) { printf("%zu\n", malloc_usable_size(p)); }

struct Use {
  const char* name;
  void (*call)(void*);
};

constexpr Use kUses[] = {
    {"free", by_free}, {"realloc", by_realloc}, {"malloc_usable_size", by_usable_size}};

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc == 3);
  for (const Source& source : kSources) {
    for (const Use& use : kUses) {
      if (strcmp(source.name, argv[1]) != 0 || strcmp(use.name, argv[2]) != 0) continue;
      free(malloc(opaque<std::size_t>(100)));
      void* p = source.get();
      dprintf(STDOUT_FILENO, "%p\n", p);
      use.call(opaque(p));
      dprintf(STDERR_FILENO, "it went unnoticed\n");
      return 1;
    }
  }
  return 2;
}
