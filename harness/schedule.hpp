// The order of arms within blocks: random, seeded, and balanced over the slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hakmem::harness {

/// Deterministic random numbers, the same on every machine (SplitMix64; Steele et al. 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// Uniform below `bound`, which must not be 0.
  std::size_t below(std::size_t bound);
  /// Random permutation of 0 … count − 1.
  std::vector<std::size_t> permutation(std::size_t count);

 private:
  std::uint64_t state_;
};

/// One order (arm indices by slot) for each block. Blocks come in groups of `arms`; a group is a
/// random Latin square, so each arm stands in each slot equally often, give or take one where
/// `blocks` is no multiple of `arms`.
std::vector<std::vector<std::size_t>> balanced_orders(std::size_t arms, std::size_t blocks,
                                                      std::uint64_t seed);

/// Puts `arm` at a random slot into `count` of the first `blocks` orders, spread evenly over them.
void add_now_and_then(std::vector<std::vector<std::size_t>>* orders, std::size_t arm,
                      std::size_t count, std::size_t blocks, std::uint64_t seed);

}  // namespace hakmem::harness
