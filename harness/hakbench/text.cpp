#include "harness/hakbench/text.hpp"

#include <unistd.h>

#include <cerrno>
#include <iterator>

namespace hakbench {

namespace {
constexpr char kDigits[] = "0123456789abcdef";
}

Text& Text::operator<<(std::string_view text) {
  for (char character : text) {
    if (used_ == sizeof buffer_) flush();
    buffer_[used_++] = character;
  }
  return *this;
}

Text& Text::decimal(std::uint64_t value) {
  char digits[20];
  char* first = std::end(digits);
  do {
    *--first = kDigits[value % 10];
    value /= 10;
  } while (value != 0);
  return *this << std::string_view(first, static_cast<std::size_t>(std::end(digits) - first));
}

Text& Text::hex(std::uint64_t value, unsigned digits) {
  char text[16];
  char* first = std::end(text);
  while (value != 0 || static_cast<unsigned>(std::end(text) - first) < digits) {
    *--first = kDigits[value & 15];
    value >>= 4;
  }
  return *this << std::string_view(first, static_cast<std::size_t>(std::end(text) - first));
}

Text& Text::fixed(double value, unsigned digits) {
  if (value < 0) {
    *this << '-';
    value = -value;
  }
  std::uint64_t scale = 1;
  for (unsigned i = 0; i < digits; ++i) scale *= 10;
  const auto scaled = static_cast<std::uint64_t>(value * static_cast<double>(scale) + 0.5);
  *this << scaled / scale;
  if (digits == 0) return *this;
  *this << '.';
  for (std::uint64_t unit = scale / 10; unit != 0; unit /= 10) {
    *this << kDigits[scaled / unit % 10];
  }
  return *this;
}

Text& Text::quoted(std::string_view text) {
  *this << '"';
  for (char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (code < 0x20) {
      *this << "\\u";
      hex(code, 4);
      continue;
    }
    if (character == '"' || character == '\\') *this << '\\';
    *this << character;
  }
  return *this << '"';
}

bool Text::flush() {
  std::size_t done = 0;
  while (done < used_ && ok_) {
    const ssize_t count = ::write(fd_, buffer_ + done, used_ - done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      ok_ = false;
    }
  }
  used_ = 0;
  return ok_;
}

}  // namespace hakbench
