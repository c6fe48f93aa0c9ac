// "Did you mean": the known name that is closest to a wrong one.
#pragma once

#include <cstddef>
#include <string_view>

namespace hakbench {

/// Levenshtein distance; names longer than 63 characters count as far away from everything.
constexpr std::size_t edit_distance(std::string_view left, std::string_view right) {
  constexpr std::size_t kLongest = 63;
  if (left.size() > kLongest || right.size() > kLongest) return 2 * kLongest;
  std::size_t row[kLongest + 1] = {};
  for (std::size_t j = 0; j <= right.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t replaced = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
      const std::size_t shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      diagonal = row[j];
      row[j] = replaced < shorter ? replaced : shorter;
    }
  }
  return row[right.size()];
}

/// Keeps the best of the names offered.
class Nearest {
 public:
  constexpr explicit Nearest(std::string_view wanted) : wanted_(wanted) {}

  constexpr void offer(std::string_view name) {
    const std::size_t distance = edit_distance(wanted_, name);
    if (best_.empty() || distance < distance_) {
      best_ = name;
      distance_ = distance;
    }
  }
  constexpr std::string_view best() const { return best_; }

 private:
  std::string_view wanted_;
  std::string_view best_;
  std::size_t distance_ = 0;
};

}  // namespace hakbench
