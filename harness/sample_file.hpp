// samples.jsonl as a whole: reading it after a crash, appending, voiding a block.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/files.hpp"
#include "harness/placed_json.hpp"

namespace hakmem::harness {

/// What a file held. `dropped` bytes at the end belong to a line that was cut short.
struct SampleText {
  std::vector<Json> samples;
  std::size_t valid_bytes = 0, dropped_bytes = 0;
};

/// Parses the text. Throws Failure(usage) that names the line where a terminated line is no sample
/// or a run stands there twice: such a file was damaged, not cut.
SampleText parse_samples(const std::string& file, std::string_view text);

/// All samples of a run, in memory and on disk alike.
class SampleFile {
 public:
  /// Opens or creates `path`. What was cut short at the end is removed, and `warning` says so.
  SampleFile(const std::string& path, std::string* warning);

  [[nodiscard]] const std::vector<Json>& all() const { return samples_; }

  /// Appends and fsyncs. Throws Failure(io); the file then holds what it held before.
  void append(Json sample);

  /// Gives all samples of one attempt of a block the same reason to be void, on disk too.
  void void_attempt(const std::string& cell, unsigned block, unsigned attempt,
                    const std::string& reason);

 private:
  std::vector<Json> samples_;
  LineFile file_;
};

/// One line of JSON without line ends in it.
std::string json_line(const Json& value);

}  // namespace hakmem::harness
