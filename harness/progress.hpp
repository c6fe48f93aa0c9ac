// What a person sees while an experiment runs: on a terminal one line with bar, cell, time left and
// running estimate; elsewhere a line a block.
#pragma once

#include <cstddef>
#include <string>

#include "harness/analysis.hpp"

namespace hakmem::harness {

class Progress {
 public:
  /// `total` runs are to be made; `terminal` chooses the form.
  Progress(std::size_t total, bool terminal);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  [[nodiscard]] bool terminal() const { return terminal_; }

  /// A run begins.
  void begin_run(const std::string& cell, const std::string& arm, unsigned block, unsigned blocks);
  /// A run has ended after `seconds`.
  void end_run(double seconds);
  /// Void runs are made again.
  void add_runs(std::size_t count) { total_ += count; }
  void skip_runs(std::size_t count) { done_ += count; }
  /// A block has ended; `summary` says how.
  void end_block(const std::string& summary);
  void set_estimate(const std::string& text) { estimate_ = text; }
  /// A line that stays.
  void say(const std::string& line);

 private:
  void draw();
  void clear();

  std::size_t total_, done_ = 0, measured_ = 0;
  double seconds_ = 0;
  bool terminal_, drawn_ = false;
  std::string where_, estimate_;
};

/// "2 h 05 min", "3 min 10 s", "12 s".
std::string duration_text(double seconds);

/// "+1.20 % [-0.30, +2.70]".
std::string estimate_text(const Estimate& estimate);

}  // namespace hakmem::harness
