// Names of files as a result gives them: relative to the repository, so that the folder says
// nothing of one machine's disk and reads the same where it is moved to.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/placed_json.hpp"
#include "harness/places.hpp"

namespace hakmem::harness {

class PathNames {
 public:
  PathNames() = default;
  /// `temporary` is the private folder of this session; it is called $TMPDIR.
  PathNames(const Places& places, const std::string& temporary);

  /// `text` with every path below the repository made relative to it.
  [[nodiscard]] std::string text(std::string text) const;
  /// The same in every string of `value`, keys left alone.
  [[nodiscard]] Json json(Json value) const;

 private:
  std::vector<std::pair<std::string, std::string>> folders_;  ///< path, its name; longest first
};

}  // namespace hakmem::harness
