// Times of single operations: a histogram whose buckets are at most 1/32 of their value wide.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace hakbench {

class Histogram {
 public:
  static constexpr std::size_t kBuckets = 60 * 32;

  void add(std::uint64_t ticks) {
    ++counts_[bucket_of(ticks)];
    total_ += ticks;
    if (ticks > max_) max_ = ticks;
  }
  void add(const Histogram& other);
  void clear();

  std::uint64_t samples() const;
  std::uint64_t max() const { return max_; }
  std::uint64_t total() const { return total_; }  ///< sum of all samples
  /// The bucket below or in which `share` (0 to 1) of the samples lie; 0 without samples.
  std::size_t bucket_at(double share) const;
  /// The middle of that bucket, in ticks.
  double quantile(double share) const { return middle_of(bucket_at(share)); }
  /// Samples beyond a bucket.
  std::uint64_t samples_above(std::size_t bucket) const;

  /// Values under 64 have a bucket each; above, each doubling has 32.
  static constexpr std::size_t bucket_of(std::uint64_t ticks) {
    const int width = 64 - std::countl_zero(ticks);
    const int shift = width > 6 ? width - 6 : 0;
    return static_cast<std::size_t>(shift) * 32 + static_cast<std::size_t>(ticks >> shift);
  }
  static double middle_of(std::size_t bucket);

 private:
  std::uint64_t counts_[kBuckets];
  std::uint64_t max_;
  std::uint64_t total_;
};
static_assert(Histogram::bucket_of(~std::uint64_t{0}) < Histogram::kBuckets);
static_assert(Histogram::bucket_of(63) + 1 == Histogram::bucket_of(64));

/// Ticks that a sample costs where the call takes none: the median of many empty samples.
std::uint64_t empty_sample_ticks();

/// Nanoseconds of a tick, from one reading of both clocks at its making and one at nanoseconds().
class TickScale {
 public:
  TickScale();
  double nanoseconds_per_tick() const;

 private:
  std::uint64_t start_ns_;
  std::uint64_t start_ticks_;
};

}  // namespace hakbench
