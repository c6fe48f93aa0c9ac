#include "os/faults.hpp"

#include <atomic>

#include "base/text.hpp"

namespace hakmem::os {

namespace {

std::atomic<std::uint64_t> made[kCalls];
std::atomic<std::uint64_t> failed_calls;
Call chosen = Call::count;
std::uint64_t first;  // 0: none
bool all_after;

/// The part of a text behind a name and a colon; null when it begins with something else.
const char* behind(const char* text, const char* name) {
  while (*name != '\0' && *text == *name) {
    ++text;
    ++name;
  }
  return *name == '\0' && *text == ':' ? text + 1 : nullptr;
}

}  // namespace

bool fails(Call call) {
  const std::uint64_t n = made[static_cast<std::size_t>(call)].fetch_add(1) + 1;
  if (call != chosen || (all_after ? n < first : n != first)) return false;
  failed_calls.fetch_add(1);
  return true;
}

bool set_fault(const char* text) {
  for (std::size_t i = 0; i < kCalls; ++i) {
    const char* digit = behind(text, kCallNames[i]);
    if (digit == nullptr) continue;
    std::uint64_t n = 0;
    while (*digit >= '0' && *digit <= '9' && n < 1000000) {
      n = n * 10 + static_cast<std::uint64_t>(*digit++ - '0');
    }
    const bool plus = *digit == '+';
    if (n == 0 || digit[plus ? 1 : 0] != '\0') return false;
    chosen = static_cast<Call>(i);
    first = n;
    all_after = plus;
    return true;
  }
  return false;
}

std::uint64_t calls_made(Call call) { return made[static_cast<std::size_t>(call)].load(); }
std::uint64_t calls_failed() { return failed_calls.load(); }

}  // namespace hakmem::os
