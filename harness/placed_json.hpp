// JSON with comments, where each value remembers the line it stands on and a doubled key is an
// error: what experiment files need and nlohmann's own DOM parser does not give.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hakmem::harness {

/// Objects keep the order of the file, so that what is written reads like what was read.
using Json = nlohmann::ordered_json;

}  // namespace hakmem::harness

/// Compiled once, in placed_json.cpp: it is most of the compile time of a file that uses it.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace hakmem::harness {

struct PlacedJson {  // NOLINT(bugprone-exception-escape): moving a Json throws nothing
  std::string file;  ///< as the user named it, for messages
  Json value;
  std::map<std::string, int> lines;  ///< path such as "workloads[0].params" to its line (from 1)

  /// "file:12: path: message", the one form of every complaint about the content.
  [[nodiscard]] std::string complaint(const std::string& path, const std::string& message) const;
};

/// Parses `text`. Throws Failure(usage) that names file, line and place.
PlacedJson parse_placed(const std::string& file, std::string_view text);

/// `path` extended by a key or an index: "a" + "b" is "a.b", "a" + 3 is "a[3]".
std::string child_path(const std::string& path, const std::string& key);
std::string child_path(const std::string& path, std::size_t index);

}  // namespace hakmem::harness
