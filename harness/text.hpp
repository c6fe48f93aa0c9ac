// Small text helpers: nearest names for error messages, numbers, times, quoting.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace hakmem::harness {

/// Edit distance (Levenshtein) between two names, letters compared without case.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `name`, or "" where none is near enough to be meant (more than half of
/// the longer name differs).
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// `; nearest is "x"`, or "" where nothing is near: the end of an error message.
std::string nearest_hint(std::string_view name, const std::vector<std::string>& candidates);

/// Decimal with `digits` after the point, never an exponent.
std::string fixed(double value, int digits);

/// The same with a sign always shown, for percentages: "+1.20".
std::string signed_fixed(double value, int digits);

/// `parts` with `separator` between them.
std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// `text` cut at `separator`, empty parts left out.
std::vector<std::string> split(std::string_view text, char separator);

/// Text without blanks and line ends at both ends.
std::string trim(std::string_view text);

/// Lower-case copy (ASCII).
std::string lower(std::string_view text);

/// "2026-12-01T02:30:00Z".
std::string iso_time(std::time_t seconds);

/// "20261201-023000" (UTC), the name of a run's folder.
std::string run_name(std::time_t seconds);

/// Whole text as a decimal number; false where anything else stands in it or it does not fit.
bool parse_integer(std::string_view text, std::int64_t* value);

/// Bytes as lower-case hexadecimal.
std::string hex(const std::uint8_t* bytes, std::size_t size);

/// A word for a POSIX shell, quoted only where it must be.
std::string shell_quoted(std::string_view word);

/// Text that may hold any byte as valid UTF-8: bytes that are not become U+FFFD.
std::string to_utf8(std::string_view text);

/// errno as text: "No such file or directory".
std::string errno_text(int error);

}  // namespace hakmem::harness
