// Kind 12: sized delete with a wrong size, and delete with a wrong alignment, harm nothing.
#include <new>

#include "check.hpp"

extern "C" {
[[gnu::weak]] void free_sized(void* p, std::size_t size);
}

namespace {

constexpr std::size_t kSizes[] = {1, 16, 17, 100, 129, 600, 1000, 1024, 1025, 5000, 33000, 70000};
constexpr int kHeld = 50;

/// Blocks that stay, so that a list or a class that was mixed up shows in their content.
struct Held {
  Held() {
    for (const std::size_t size : kSizes) {
      for (int i = 0; i < kHeld; ++i) {
        blocks[count] = operator new(opaque(size));
        fill(blocks[count], size, count);
        sizes[count++] = size;
      }
    }
  }
  ~Held() {
    for (unsigned i = 0; i < count; ++i) {
      CHECK(is_filled(blocks[i], sizes[i], i));
      operator delete(blocks[i]);
    }
  }
  void* blocks[kHeld * std::size(kSizes)];
  std::size_t sizes[kHeld * std::size(kSizes)];
  unsigned count = 0;
};

void wrong_sizes() {
  const Held first;
  for (const std::size_t real : kSizes) {
    for (const std::size_t told : kSizes) {
      for (int i = 0; i < 20; ++i) operator delete(operator new(opaque(real)), opaque(told));
      operator delete[](operator new[](opaque(real)), opaque(told));
      operator delete (operator new (opaque(real), std::align_val_t{64}), opaque(told),
                       std::align_val_t{16});
      if (free_sized != nullptr) free_sized(malloc(opaque(real)), opaque(told));
    }
  }
  const Held second;
}

struct Base {
  char small[16];
};
struct Derived : Base {
  char large[900];
};

/// The common case in the wild: no virtual destructor.
void without_virtual_destructor() {
  const Held held;
  for (int i = 0; i < 1000; ++i) {
    Base* p = opaque<Base*>(new Derived);
    delete p;
  }
}

constexpr Case kCases[] = {{"wrong_sizes", wrong_sizes},
                           {"without_virtual_destructor", without_virtual_destructor}};

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, kCases); }
