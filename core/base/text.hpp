// Text without libc: a fixed buffer that numbers and strings are appended to. Never allocates.
#pragma once

#include "base/types.hpp"

namespace hakmem {

/// Appends beyond the capacity are cut off, silently: these are messages, and a cut message is
/// better than none.
class Text {
 public:
  Text(char* buffer, std::size_t capacity) : buffer_(buffer), capacity_(capacity) {}

  Text& add(const char* s) {
    while (*s != '\0') add(*s++);
    return *this;
  }

  Text& add(char c) {
    if (size_ < capacity_) buffer_[size_++] = c;
    return *this;
  }

  Text& add(std::int64_t value) {
    if (value < 0) {
      add('-');
      return add(std::uint64_t{0} - static_cast<std::uint64_t>(value));
    }
    return add(static_cast<std::uint64_t>(value));
  }

  Text& add(std::uint64_t value) { return digits(value, 10); }
  Text& add(int value) { return add(static_cast<std::int64_t>(value)); }
  Text& add(unsigned value) { return add(static_cast<std::uint64_t>(value)); }

  Text& hex(std::uint64_t value) {
    add("0x");
    return digits(value, 16);
  }

  const char* data() const { return buffer_; }
  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }

 private:
  Text& digits(std::uint64_t value, unsigned base) {
    char reversed[20];
    unsigned n = 0;
    do {
      reversed[n++] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    while (n > 0) add(reversed[--n]);
    return *this;
  }

  char* buffer_;
  std::size_t capacity_;
  std::size_t size_ = 0;
};

template <std::size_t N>
class TextBuffer : public Text {
 public:
  TextBuffer() : Text(storage_, N) {}

 private:
  char storage_[N];
};

/// strcmp(a, b) == 0, for the time before libc is relocated.
HAK_INLINE bool same_text(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) {
    ++a;
    ++b;
  }
  return *a == *b;
}

}  // namespace hakmem
