#include "harness/schedule.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace hakmem::harness {

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::size_t Random::below(std::size_t bound) {
  const std::uint64_t limit = std::numeric_limits<std::uint64_t>::max() / bound * bound;
  std::uint64_t value = next();
  while (value >= limit) value = next();
  return static_cast<std::size_t>(value % bound);
}

std::vector<std::size_t> Random::permutation(std::size_t count) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[below(i)]);
  return order;
}

std::vector<std::vector<std::size_t>> balanced_orders(std::size_t arms, std::size_t blocks,
                                                      std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<std::size_t>> orders;
  while (orders.size() < blocks) {
    // A cyclic square with its rows, columns and symbols shuffled.
    const auto rows = random.permutation(arms), columns = random.permutation(arms),
               symbols = random.permutation(arms);
    for (std::size_t row = 0; row < arms && orders.size() < blocks; ++row) {
      std::vector<std::size_t>& order = orders.emplace_back();
      for (std::size_t slot = 0; slot < arms; ++slot) {
        order.push_back(symbols[(rows[row] + columns[slot]) % arms]);
      }
    }
  }
  return orders;
}

void add_now_and_then(std::vector<std::vector<std::size_t>>* orders, std::size_t arm,
                      std::size_t count, std::size_t blocks, std::uint64_t seed) {
  Random random(seed);
  blocks = std::min(blocks, orders->size());
  count = std::min(count, blocks);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::size_t>& order = (*orders)[i * blocks / count];
    const std::size_t slot = random.below(order.size() + 1);
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(slot), arm);
  }
}

}  // namespace hakmem::harness
