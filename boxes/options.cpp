#include "boxes/options.hpp"

#include "base/sealed.hpp"
#include "base/text.hpp"
#include "os/faults.hpp"

namespace hakmem::boxes {

namespace {

/// A copy of the first `n` characters of a path: programs that set their title write over the
/// environment. Null for none, and for more than a path can have.
const char* kept_path(const char* path, std::size_t n) {
  constexpr std::size_t kLongest = 4096;
  static char kept[3 * kLongest];  // one each option; untouched pages of .bss cost nothing
  static std::size_t used;
  if (n == 0 || n >= kLongest || n >= sizeof kept - used) return nullptr;
  char* copy = kept + used;
  for (std::size_t i = 0; i < n; ++i) copy[i] = path[i];
  used += n + 1;
  return copy;
}

bool set_report(const char* value) {
  sealed.report_path = kept_path(value, length(value));
  return sealed.report_path != nullptr;
}

/// False when the value is not 0 or 1.
bool set_switch(const char* value, bool& on) {
  on = same_text(value, "1");
  return on || same_text(value, "0");
}

bool set_strict(const char* value) {  // was read before all others
  bool ignored;
  return set_switch(value, ignored);
}

bool set_leak_report(const char* value) { return set_switch(value, sealed.leak_report); }

bool set_oom_report(const char* value) {
  bool on;
  if (!set_switch(value, on)) return false;
  sealed.no_oom_report = !on;
  return true;
}

bool set_stats(const char* value) {
  constexpr const char* kFormats[] = {"text", "json"};
  for (std::uint8_t i = 0; i < 2; ++i) {
    if (!starts_with(value, kFormats[i])) continue;
    const char* rest = value + length(kFormats[i]);
    if (*rest != '\0' && (*rest != ':' || rest[1] == '\0')) return false;
    if (*rest == ':') {
      sealed.stats_path = kept_path(rest + 1, length(rest + 1));
      if (sealed.stats_path == nullptr) return false;
    }
    sealed.stats_format = static_cast<std::uint8_t>(i + 1);
    return true;
  }
  return false;
}

bool set_stats_signal(const char* value) {
  std::int64_t number = 0;
  if (!parse_integer(value, number) || number < 1 || number > 64) return false;
  sealed.stats_signal = static_cast<std::uint8_t>(number);
  return true;
}

/// FILE or FILE:RATE, a mean of 4 KiB to 1 GiB.
bool set_heap_profile(const char* value) {
  constexpr std::int64_t kDefaultRate = 512 * 1024;
  std::size_t n = length(value);
  std::size_t digits = 0;
  while (digits < n && value[n - digits - 1] >= '0' && value[n - digits - 1] <= '9') ++digits;
  std::int64_t rate = kDefaultRate;
  if (digits > 0 && digits < n && value[n - digits - 1] == ':') {
    if (!parse_integer(value + n - digits, rate)) return false;
    n -= digits + 1;
  }
  if (n > 200 || rate < 4096 || rate > std::int64_t{1} << 30) return false;
  sealed.profile_path = kept_path(value, n);
  if (sealed.profile_path == nullptr) return false;
  sealed.profile_rate = static_cast<std::uint64_t>(rate);
  return true;
}

struct Option {
  const char* name;
  bool (*set)(const char* value);
  const char* complaint;
};

constexpr Option kOptions[] = {
    {"HAKMEM_REPORT", set_report, "not the path of a file; no report"},
    {"HAKMEM_STRICT", set_strict, "not 0 or 1; using 0"},
    {"HAKMEM_STATS", set_stats, "not text, json, text:FILE or json:FILE; no statistics"},
    {"HAKMEM_STATS_SIGNAL", set_stats_signal, "not a signal's number from 1 to 64; none"},
    {"HAKMEM_HEAP_PROFILE", set_heap_profile,
     "not FILE or FILE:BYTES, 4096 to 1073741824; no profile"},
    {"HAKMEM_LEAK_REPORT", set_leak_report, "not 0 or 1; using 0"},
    {"HAKMEM_OOM_REPORT", set_oom_report, "not 0 or 1; using 1"},
#ifdef HAKMEM_FAULTS
    {"HAKMEM_FAULT", os::set_fault, "not CALL:N or CALL:N+; no call fails"},
#endif
};
constexpr std::size_t kOptionCount = sizeof kOptions / sizeof kOptions[0];

}  // namespace

bool set_option(const char* name, std::size_t n, const char* value, const char** complaint) {
  for (const Option& option : kOptions) {
    if (length(option.name) != n || !starts_with(name, option.name)) continue;
    *complaint = option.set(value) ? nullptr : option.complaint;
    return true;
  }
  return false;
}

const char* option_name(std::size_t i) { return i < kOptionCount ? kOptions[i].name : nullptr; }

bool starts_with(const char* text, const char* prefix) {
  for (; *prefix != '\0'; ++text, ++prefix) {
    if (*text != *prefix) return false;
  }
  return true;
}

std::size_t length(const char* s) {
  std::size_t n = 0;
  while (s[n] != '\0') ++n;
  return n;
}

bool parse_integer(const char* text, std::int64_t& value) {
  const bool negative = *text == '-';
  if (negative) ++text;
  if (*text == '\0') return false;
  std::int64_t n = 0;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9' || n > INT64_MAX / 10 - 1) return false;
    n = n * 10 + (*text - '0');
  }
  value = negative ? -n : n;
  return true;
}

}  // namespace hakmem::boxes
