// SHA-256 (FIPS 180-4), for the hashes of libraries, experiments and outputs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hakmem::harness {

class Sha256 {
 public:
  void add(std::string_view data);
  /// The digest as 64 hexadecimal digits; nothing may be added afterwards.
  std::string finish();

 private:
  void block(const std::uint8_t* bytes);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> pending_{};
  std::size_t used_ = 0;
  std::uint64_t total_ = 0;
};

/// Digest of `data` as 64 hexadecimal digits.
std::string sha256(std::string_view data);

}  // namespace hakmem::harness
