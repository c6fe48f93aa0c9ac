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

/// 80 % 16–256, 15 % 257–2048, 5 % 2049–32768, uniform within each part. Without branches, since
/// the part is a matter of chance.
class ApplicationSizes {
 public:
  explicit ApplicationSizes(const Options& /*options*/) {}

  std::uint32_t operator()(std::uint32_t bits) const {
    const Part& part = kParts[(bits >= kParts[1].begin) + (bits >= kParts[2].begin)];
    return part.first + high_half((bits - part.begin) * part.scale);
  }

 private:
  struct Part {
    std::uint32_t begin;  ///< of 2^32
    std::uint32_t first;  ///< smallest size
    std::uint64_t scale;  ///< sizes per random value, times 2^32
  };
  static constexpr Part part(std::uint64_t begin, std::uint64_t end, std::uint32_t first,
                             std::uint32_t last) {
    const std::uint64_t from = (begin << 32) / 100;
    const std::uint64_t to = (end << 32) / 100;
    return {static_cast<std::uint32_t>(from), first,
            (std::uint64_t{last - first + 1} << 32) / (to - from)};
  }
  static const Part kParts[3];
};

inline constexpr ApplicationSizes::Part ApplicationSizes::kParts[3] = {
    part(0, 80, 16, 256), part(80, 95, 257, 2048), part(95, 100, 2049, 32768)};

}  // namespace hakbench
