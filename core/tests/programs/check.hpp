// What the test programs share: checks that end the process with one line on stderr, values that
// the compiler cannot see through, and cases that are run by name.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <span>

/// Unlike assert it stays in every build; the process ends with status 1, without handlers.
#define CHECK(condition) ((condition) ? void() : failed_check(__FILE__, __LINE__, #condition))

[[noreturn, gnu::cold]] inline void failed_check(const char* file, int line, const char* what) {
  dprintf(STDERR_FILENO, "%s:%d: check failed: %s\n", file, line, what);
  _exit(1);
}

/// The value, with its origin hidden, so that no call on it is folded or removed.
template <class T>
T opaque(T value) {
  volatile T hidden = value;
  return hidden;
}

inline bool is_aligned(const void* p, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(p) % alignment == 0;
}

/// What a loop runs over: `for (const std::size_t size : Sizes{1, 100})`.
using Sizes = std::initializer_list<std::size_t>;

/// Fills a block with bytes that depend on the seed and on the place within the block.
inline void fill(void* p, std::size_t size, unsigned seed) {
  auto* bytes = static_cast<unsigned char*>(p);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<unsigned char>(seed + i * 31 + (i >> 8));
  }
}

/// Whether the first `size` bytes are as fill() left them.
inline bool is_filled(const void* p, std::size_t size, unsigned seed) {
  const auto* bytes = static_cast<const unsigned char*>(p);
  for (std::size_t i = 0; i < size; ++i) {
    if (bytes[i] != static_cast<unsigned char>(seed + i * 31 + (i >> 8))) return false;
  }
  return true;
}

/// Resident memory of the process in bytes, without an allocation.
inline std::size_t resident_bytes() {
  char text[128] = {};
  const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  CHECK(fd >= 0);
  CHECK(read(fd, text, sizeof text - 1) > 0);
  close(fd);
  unsigned long all = 0;
  unsigned long resident = 0;
  CHECK(sscanf(text, "%lu %lu", &all, &resident) == 2);
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// xorshift64*: small, and the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL | 1) {}

  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1DULL;
  }

  std::size_t below(std::size_t limit) { return static_cast<std::size_t>((next() >> 16) % limit); }

 private:
  std::uint64_t state_;
};

struct Case {
  const char* name;
  void (*run)();
};

/// Runs the cases that are named, or all of them. Gives the exit status: 2 for an unknown name.
inline int run_cases(int argc, char** argv, std::span<const Case> cases) {
  if (argc < 2) {
    for (const Case& one : cases) one.run();
    return 0;
  }
  for (int i = 1; i < argc; ++i) {
    const Case* found = nullptr;
    for (const Case& one : cases) {
      if (strcmp(one.name, argv[i]) == 0) found = &one;
    }
    if (found == nullptr) return dprintf(STDERR_FILENO, "no case '%s'\n", argv[i]), 2;
    found->run();
  }
  return 0;
}
