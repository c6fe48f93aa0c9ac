// Distributions of sizes: 32 random bits in, a size out.
#pragma once

#include <cstdint>

#include "harness/hakbench/options.hpp"
#include "harness/hakbench/rng.hpp"

namespace hakbench {

/// Every size from min to max is equally likely.
class UniformSizes {
 public:
  explicit UniformSizes(const Options& options)
      : min_(options.small("min")), span_(options.small("max") - min_ + 1) {}

  std::uint32_t operator()(std::uint32_t bits) const { return min_ + bounded(bits, span_); }

 private:
  std::uint32_t min_;
  std::uint32_t span_;
};

/// Every doubling between min and max is equally likely, and every size within a doubling.
class DoublingSizes {
 public:
  DoublingSizes(std::uint32_t min, std::uint32_t max) : min_(min), max_(max) {
    while ((std::uint64_t{min_} << doublings_) < max_) ++doublings_;
  }

  std::uint32_t operator()(std::uint32_t bits) const {
    if (doublings_ == 0) return min_;
    const std::uint64_t scaled = std::uint64_t{bits} * doublings_;
    const std::uint32_t base = min_ << high_half(scaled);
    const std::uint32_t size = base + bounded(low_half(scaled), base);
    return size < max_ ? size : max_;
  }

 private:
  std::uint32_t min_;
  std::uint32_t max_;
  std::uint32_t doublings_ = 0;
};

/// 80 % 16–256, 15 % 257–2048, 5 % 2049–32768, uniform within each part.
class ApplicationSizes {
 public:
  explicit ApplicationSizes(const Options& /*options*/) {}

  std::uint32_t operator()(std::uint32_t bits) const {
    if (bits < kSmall.part) return kSmall.size(bits);
    bits -= kSmall.part;
    if (bits < kMedium.part) return kMedium.size(bits);
    return kLarge.size(bits - kMedium.part);
  }

 private:
  struct Range {
    std::uint32_t part;  ///< of 2^32
    std::uint32_t first;
    std::uint32_t last;

    /// Maps 0 … part to first … last.
    constexpr std::uint32_t size(std::uint32_t bits) const {
      const std::uint64_t offset = std::uint64_t{bits} * (last - first + 1) / part;
      return offset > last - first ? last : first + static_cast<std::uint32_t>(offset);
    }
  };
  static constexpr std::uint64_t kWhole = std::uint64_t{1} << 32;
  static constexpr Range kSmall{kWhole * 80 / 100, 16, 256};
  static constexpr Range kMedium{kWhole * 15 / 100, 257, 2048};
  static constexpr Range kLarge{kWhole * 5 / 100, 2049, 32768};
};

}  // namespace hakbench
