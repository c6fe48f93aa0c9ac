// Typed access to a PlacedJson: each function checks one thing and complains with the place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/placed_json.hpp"

namespace hakmem::harness {

class Checker {
 public:
  explicit Checker(const PlacedJson& document) : document_(document) {}

  /// Throws Failure(usage) that names the place.
  [[noreturn]] void fail(const std::string& path, const std::string& message) const;

  /// The value must be an object whose keys are all in `known`.
  void keys(const std::string& path, const Json& value,
            const std::vector<std::string>& known) const;

  /// Member of an object, or null where there is none.
  static const Json* find(const Json& object, const std::string& key);

  /// Member that must be there.
  const Json& need(const std::string& path, const Json& object, const std::string& key) const;

  /// One line of text that is not empty.
  std::string line(const std::string& path, const Json& value) const;

  /// Text that is one of `known`.
  std::string word(const std::string& path, const Json& value,
                   const std::vector<std::string>& known) const;

  double number(const std::string& path, const Json& value, double least, double most) const;

  std::uint64_t whole(const std::string& path, const Json& value, std::uint64_t least,
                      std::uint64_t most) const;

  bool boolean(const std::string& path, const Json& value) const;

  /// A list with at least `least` members.
  const Json& list(const std::string& path, const Json& value, std::size_t least) const;

 private:
  const PlacedJson& document_;
};

}  // namespace hakmem::harness
