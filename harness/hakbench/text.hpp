// Text output without stdio: stdio allocates its buffers, and the allocator is what is measured.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hakbench {

/// Collects text in a fixed buffer and writes it to a file descriptor when full and on flush().
class Text {
 public:
  explicit Text(int fd) : fd_(fd) {}

  Text& operator<<(std::string_view text);
  Text& operator<<(char character) { return *this << std::string_view(&character, 1); }
  template <std::unsigned_integral Number>
  Text& operator<<(Number value) {
    return decimal(value);
  }
  Text& decimal(std::uint64_t value);

  /// Hexadecimal, at least `digits` long.
  Text& hex(std::uint64_t value, unsigned digits = 1);
  /// Decimal with a fixed number of digits after the point; value must be finite and below 1e18 /
  /// 10^digits.
  Text& fixed(double value, unsigned digits);
  /// JSON string with its quotes.
  Text& quoted(std::string_view text);

  /// Writes what was collected. False where the descriptor refuses it.
  bool flush();

 private:
  int fd_;
  bool ok_ = true;
  std::size_t used_ = 0;
  char buffer_[4096];
};

}  // namespace hakbench
