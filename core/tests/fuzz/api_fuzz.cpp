// Sequences of calls against a shadow model: libFuzzer chooses the calls, the model knows which
// blocks are out, how large they are and what they hold. Each input starts and ends without a
// block.
//
// An input is a list of calls of four bytes: what, which slot, and a size of two bytes.
#include <errno.h>
#include <malloc.h>
#include <pthread.h>

#include <array>

#include "../programs/check.hpp"

namespace {

constexpr std::size_t kSlots = 64;
constexpr std::size_t kLooked =
    256;  // bytes at either end of a block that are written and looked at

struct Shadow {
  unsigned char* p;
  std::size_t size;
  unsigned seed;
};

std::array<Shadow, kSlots> slots;
unsigned seeds;

/// Small sizes mostly; every class, runs and mappings too.
std::size_t size_from(unsigned value) {
  const std::size_t low = value & 0x3FF;
  switch (value >> 12) {
    case 0:
      return (low << 15) + (value & 0x3F);  // to 32 MiB
    case 1:
    case 2:
      return low << 7;  // to 128 KiB
    case 3:
    case 4:
      return low << 5;  // to 32 KiB
    default:
      return low + (value >> 12 & 1) * 24;
  }
}

std::size_t looked(const Shadow& shadow) { return shadow.size < kLooked ? shadow.size : kLooked; }

void write(Shadow& shadow) {
  shadow.seed = ++seeds;
  const std::size_t n = looked(shadow);
  fill(shadow.p, n, shadow.seed);
  fill(shadow.p + shadow.size - n, n, shadow.seed);
}

/// The end was written last, so where both overlap it wins.
void check(const Shadow& shadow) {
  const std::size_t n = looked(shadow);
  CHECK(is_filled(shadow.p + shadow.size - n, n, shadow.seed));
  const std::size_t start = shadow.size - n < n ? shadow.size - n : n;
  CHECK(is_filled(shadow.p, start, shadow.seed));
}

void take(Shadow& shadow, void* p, std::size_t size, std::size_t alignment) {
  CHECK(p != nullptr && is_aligned(p, alignment));
  CHECK(malloc_usable_size(p) >= size);
  shadow.p = static_cast<unsigned char*>(p);
  shadow.size = size;
  write(shadow);
}

void drop(Shadow& shadow) {
  if (shadow.p == nullptr) return;
  check(shadow);
  free(shadow.p);
  shadow.p = nullptr;
}

void take_zeroed(Shadow& shadow, std::size_t size) {
  auto* p = static_cast<unsigned char*>(calloc(1, size));
  CHECK(p != nullptr);
  for (std::size_t i = 0; i < size; i += size / 1024 + 1) CHECK(p[i] == 0);
  take(shadow, p, size, 16);
}

void take_aligned(Shadow& shadow, std::size_t size, unsigned which) {
  const std::size_t alignment = std::size_t{8} << which % 15;
  void* p = nullptr;
  CHECK(posix_memalign(&p, alignment, size) == 0);
  take(shadow, p, size, alignment < 16 ? 16 : alignment);
}

void resize(Shadow& shadow, std::size_t size) {
  if (size == 0) size = 1;
  const Shadow old = shadow;
  if (old.p != nullptr) check(old);
  auto* p = static_cast<unsigned char*>(realloc(old.p, size));
  CHECK(p != nullptr);
  const std::size_t n = looked(old) < size ? looked(old) : size;
  const std::size_t start = old.size - looked(old) < n ? old.size - looked(old) : n;
  if (old.p != nullptr) CHECK(is_filled(p, start, old.seed));
  take(shadow, p, size, 16);
}

/// Drops eight slots from the given one on.
void* drop_some(void* first) {
  const auto from = reinterpret_cast<std::uintptr_t>(first);
  for (std::size_t i = 0; i < 8; ++i) drop(slots[(from + i) % kSlots]);
  return nullptr;
}

void drop_elsewhere(std::size_t first) {
  pthread_t thread;
  CHECK(pthread_create(&thread, nullptr, drop_some, reinterpret_cast<void*>(first)) == 0);
  CHECK(pthread_join(thread, nullptr) == 0);
}

void ask_too_much(unsigned value) {
  errno = 0;
  CHECK(malloc(SIZE_MAX - opaque<std::size_t>(value)) == nullptr && errno == ENOMEM);
  errno = 0;
  CHECK(calloc(opaque(SIZE_MAX / 2), value + 3) == nullptr && errno == ENOMEM);
}

void call(unsigned what, unsigned slot, unsigned value) {
  Shadow& shadow = slots[slot % kSlots];
  const std::size_t size = size_from(value);
  switch (what % 16) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
      drop(shadow);
      return take(shadow, malloc(size), size, 16);
    case 5:
      drop(shadow);
      return take_zeroed(shadow, size);
    case 6:
      drop(shadow);
      return take_aligned(shadow, size, what / 16);
    case 7:
    case 8:
      return resize(shadow, size);
    case 9:
      if (what < 64) return drop_elsewhere(slot);
      return drop(shadow);
    case 10:
      return what < 64 ? static_cast<void>(malloc_trim(0)) : drop(shadow);
    case 11:
      return ask_too_much(value);
    default:
      return drop(shadow);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  for (std::size_t i = 0; i + 4 <= size; i += 4) {
    call(data[i], data[i + 1], data[i + 2] * 256U + data[i + 3]);
  }
  for (Shadow& shadow : slots) drop(shadow);
  return 0;
}
