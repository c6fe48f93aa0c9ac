// One result: the folder results/PHASE/RUN and the files that the harness writes into it.
#pragma once

#include <string>
#include <utility>

#include "harness/experiment.hpp"
#include "harness/path_names.hpp"
#include "harness/sample_file.hpp"

namespace hakmem::harness {

/// Makes the folder of a run that starts now below `phase`, and gives its path; where one has that
/// second's name, the next second's. Throws Failure(io).
std::string make_run_folder(const std::string& phase);

class ResultFolder {
 public:
  /// Makes a new folder below `results` and writes the copy of the experiment. Throws Failure(io).
  static ResultFolder create(const std::string& results, const Experiment& experiment);

  /// Opens one that exists, for --resume. Throws Failure(usage) where it is none.
  static ResultFolder open(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string run() const;
  /// What was wrong with the end of samples.jsonl, or "".
  [[nodiscard]] const std::string& warning() const { return warning_; }

  /// How paths are written into this folder from now on.
  void use_names(PathNames names) { names_ = std::move(names); }

  SampleFile& samples() { return samples_; }
  /// Appends a sample, its paths named as above. Throws Failure(io).
  void append(Json sample) { samples_.append(names_.json(std::move(sample))); }

  /// The manifest as it is on disk, or null.
  [[nodiscard]] Json manifest() const;
  void write_manifest(const Json& manifest) const;

  /// Keeps stdout and stderr of a run that failed.
  void keep_output(const Json& sample, const std::string& out, const std::string& err) const;

 private:
  explicit ResultFolder(std::string path);

  std::string path_, warning_;
  PathNames names_;
  SampleFile samples_;
};

}  // namespace hakmem::harness
