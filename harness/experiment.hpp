// An experiment: what to compare, on what, how often. Read from experiments/NAME.json and checked
// as a whole before anything runs; the format is docs/design/files.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/box_registry.hpp"
#include "harness/library.hpp"
#include "harness/placed_json.hpp"

namespace hakmem::harness {

struct Arm {
  std::string name;
  std::string role;  ///< baseline, treatment or reference
  Library library;
  std::map<std::string, std::string> env;  ///< as the experiment sets it, base_env included
  BoxValues boxes;      ///< wanted value of every box, defaults included; empty where not hakmem
  unsigned blocks = 0;  ///< 0: in all blocks; else in so many blocks of the primary cell only
};

struct Cell {
  std::string name;      ///< unique in the experiment, used in samples
  std::string workload;  ///< of hakbench, or "program"
  Json params = Json::object();
  std::vector<std::string> command;  ///< of a program; empty for hakbench
  std::string process;   ///< program that the command becomes by exec; "" where it stays itself
  unsigned threads = 1;  ///< 1: pinned to one CPU; more: the whole allowed set
  bool primary = false;
  unsigned runs = 0;  ///< blocks of this cell, where it takes fewer than the experiment; 0: all

  [[nodiscard]] bool program() const { return !command.empty(); }
};

struct Guard {
  std::string metric, direction;
  double margin_pct = 0;
};

struct Experiment {
  std::string file, text, sha256;  ///< as named, whole content, its hash
  std::string phase, title, hypothesis;
  double forecast_low = 0, forecast_high = 0;  ///< percent, positive is better
  std::string box;                             ///< ENV name, "" where arms are given
  std::vector<Arm> arms;                       ///< baseline first, then treatment
  std::vector<Cell> cells;
  std::string metric = "ops_per_s", direction = "higher";
  double neutral_threshold_pct = 1.0;
  unsigned runs = 10;          ///< blocks; of a sequential run the most
  bool until_decided = false;  ///< sequential: stops at the first look that decides
  std::vector<unsigned> looks = {10, 20, 40, 80};
  std::vector<std::uint64_t> seeds = {42, 43};
  std::uint64_t order_seed = 1;
  std::vector<Guard> guards;
  double timeout_seconds = 120;
  double void_steal_pct = 5, void_foreign_load_pct = 20;
  double min_seconds = 1.0;
  std::string mode = "process";   ///< or "slices": both arms in turns inside one process
  unsigned slices_processes = 6;  ///< in slices mode: what `runs` becomes
  double slices_seconds = 10;     ///< how long a process takes slices
  double slice_ms = 5;            ///< least measured time of one slice

  /// Processes of a block.
  [[nodiscard]] std::size_t block_size() const { return mode == "slices" ? 1 : arms.size(); }
  bool names_references = false;   ///< the file says which libraries run beside the arms
  std::string report = "verdict";  ///< verdict: of two arms; compare: a sweep over libraries

  /// Makes the run a sequential one; its last look is the most blocks.
  void declare_sequential();
  /// Blocks of a cell.
  [[nodiscard]] unsigned runs_of(const Cell& cell) const {
    return cell.runs != 0 && cell.runs < runs ? cell.runs : runs;
  }
  /// Every value filled in, as it goes into the manifest.
  [[nodiscard]] Json normalised() const;
  /// Name of the folder below results/.
  [[nodiscard]] std::string folder() const;
};

/// The cell with passes of at most `most_ops` operations or blocks, for runs that count instead of
/// measuring.
Cell shortened(Cell cell, std::uint64_t most_ops);

/// Reads and checks the file. Throws Failure(usage) with one line that names file, line, place and
/// the nearest known name; Failure(missing) where a library is not there.
Experiment read_experiment(const std::string& file, const Places& places);

/// The content of the file. Throws Failure(usage) where it cannot be read.
std::string read_experiment_text(const std::string& file);

/// The same for a text that stands in no file yet; `file` names it in messages.
Experiment parse_experiment(const std::string& file, const std::string& text, const Places& places);

}  // namespace hakmem::harness
