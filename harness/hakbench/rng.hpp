// Two fast generators. A workload can run with either, so that the influence of the generator on a
// result can be seen: it once decided one.
#pragma once

#include <bit>
#include <cstdint>

namespace hakbench {

/// splitmix64 (Steele, Lea, Flood 2014): one word of state, which stays in a register across calls.
class SplitMix {
 public:
  constexpr explicit SplitMix(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

/// xoshiro256** (Blackman, Vigna 2018), seeded by splitmix64 as its authors advise.
class Xoshiro {
 public:
  constexpr explicit Xoshiro(std::uint64_t seed) {
    SplitMix seeder(seed);
    for (std::uint64_t& word : state_) word = seeder.next();
  }

  constexpr std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

 private:
  std::uint64_t state_[4]{};
};

/// Start value of thread `stream` of a run with `seed`: well mixed, so that near seeds share
/// nothing.
constexpr std::uint64_t stream_seed(std::uint64_t seed, std::uint64_t stream) {
  SplitMix mixer(seed);
  SplitMix second(mixer.next() ^ (stream * 0xD1B54A32D192ED03));
  return second.next();
}

/// Maps 32 random bits to 0 … bound−1 by multiplication (Lemire 2019); the bias is below
/// bound/2^32.
constexpr std::uint32_t bounded(std::uint32_t bits, std::uint32_t bound) {
  return static_cast<std::uint32_t>((std::uint64_t{bits} * bound) >> 32);
}

constexpr std::uint32_t high_half(std::uint64_t bits) {
  return static_cast<std::uint32_t>(bits >> 32);
}
constexpr std::uint32_t low_half(std::uint64_t bits) { return static_cast<std::uint32_t>(bits); }

}  // namespace hakbench
