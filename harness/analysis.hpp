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

/// "python3 -m hakmem_analysis" and what follows; HAK_PYTHON names another python.
std::vector<std::string> analysis_command(const std::vector<std::string>& arguments);

/// Environment of the analysis: the caller's with PYTHONPATH.
std::vector<std::string> analysis_environment(const Places& places);

/// Replaces this process by the analysis. Throws Failure(missing) where that fails.
[[noreturn]] void become_analysis(const Places& places, const std::vector<std::string>& arguments);

/// A running estimate of one cell.
struct Estimate {
  double delta_pct = 0, low_pct = 0, high_pct = 0;  ///< with the 95 % interval
  bool interval = false;                            ///< low and high are set
  int blocks = 0;
};

/// The analysis in watch mode: one question at a time, answered within five seconds or skipped.
class Watch {
 public:
  explicit Watch(const Places& places);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Estimates by cell; empty where there is none in time.
  std::map<std::string, Estimate> estimate(const std::string& folder);

 private:
  std::optional<std::string> answer(double timeout_s);

  Conversation talk_;
  std::string pending_;
  int owed_ = 0;  ///< answers that did not come in time and are still to come
};

}  // namespace hakmem::harness
