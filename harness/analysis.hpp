// The analysis (Python, analysis/hakmem_analysis) as the harness calls it. The harness computes no
// statistic itself.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/placed_json.hpp"
#include "harness/places.hpp"
#include "harness/spawner.hpp"

namespace hakmem::harness {

/// What HAK_PYTHON names, or Debian's.
std::string python_program();

/// "python3 -m hakmem_analysis" and what follows; HAK_PYTHON names another python.
std::vector<std::string> analysis_command(const std::vector<std::string>& arguments);

/// What the scripts get beside the caller's environment: PYTHONPATH, and where things are.
std::vector<std::string> analysis_environment(const Places& places);

/// Replaces this process by the analysis. Throws Failure(missing) where that fails.
[[noreturn]] void become_analysis(const Places& places, const std::vector<std::string>& arguments);

/// A running estimate of one cell.
struct Estimate {
  double delta_pct = 0, low_pct = 0, high_pct = 0;  ///< with the 95 % interval
  bool interval = false;                            ///< low and high are set
  int blocks = 0;
};

/// What the analysis says at a look of a sequential run.
struct Look {
  bool stop = false;
  std::string decision;  ///< the evidence's word so far
};

/// The analysis in watch mode: one question at a time. An estimate that does not come within five
/// seconds is skipped; a look is waited for.
class Watch {
 public:
  explicit Watch(const Places& places);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Estimates by cell; empty where there is none in time.
  std::map<std::string, Estimate> estimate(const std::string& folder);

  /// Whether a sequential run may stop; nothing where a signal came first. Throws Failure(missing)
  /// where the analysis does not answer, since going on without it would be another procedure.
  std::optional<Look> look(const std::string& folder);

  /// Looks and levels of the run as the analysis computes them, for the manifest; null where a
  /// signal came first. Throws Failure(missing).
  Json levels(const std::string& folder);

 private:
  /// The answer as an object; null where none came in time.
  Json ask(const std::string& command, const std::string& folder, double timeout_s);
  Json must_ask(const std::string& command, const std::string& folder);
  std::optional<std::string> answer(double timeout_s);

  Conversation talk_;
  std::string pending_;
  int owed_ = 0;  ///< answers that did not come in time and are still to come
};

}  // namespace hakmem::harness
