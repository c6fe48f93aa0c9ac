// The measuring itself: blocks of cells, each a run of every arm in random balanced order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/blocks.hpp"
#include "harness/cpus.hpp"
#include "harness/experiment.hpp"
#include "harness/progress.hpp"
#include "harness/result_folder.hpp"

namespace hakmem::harness {

struct SessionSetup {
  const Experiment& experiment;
  const Places& places;
  const CpuPlan& plan;
  std::string temporary;  ///< private folder of this session
  unsigned number = 1;    ///< of the session
};

/// Command line of a cell: hakbench with its parameters and the seed, or the program as given.
std::vector<std::string> cell_command(const Cell& cell, const Places& places, std::uint64_t seed,
                                      double min_seconds);

class Session {
 public:
  Session(const SessionSetup& setup, ResultFolder* folder);

  /// Runs what the folder's samples do not hold yet. False where a signal ended it; all samples are
  /// then on disk. Throws Failure(io) where they cannot be written.
  bool run();

  /// The look at which a sequential run stopped; 0 while it did not.
  [[nodiscard]] unsigned stopped_at() const { return stopped_at_; }

  /// What a reader of the result must know: cells given up, blocks that stayed void.
  [[nodiscard]] const std::vector<std::string>& notices() const { return notices_; }

 private:
  bool run_block(std::size_t cell, unsigned block);
  /// Marks what is void or broken off; gives the state that is left.
  BlockState settle(std::size_t cell, unsigned block, bool ran);
  void end_block(std::size_t cell, unsigned block, const BlockState& state, bool ran);
  bool run_attempt(std::size_t cell, unsigned block, unsigned attempt);
  bool run_one(std::size_t cell, std::size_t arm, unsigned block, unsigned slot, unsigned attempt);
  void mark_slices(Json* sample);
  void compare_checksum(const Cell& cell, Json* sample);
  void remember_checksums();
  void give_up(std::size_t cell, const std::string& why);
  /// Arms that a block runs, by slot: those of its order that were not given up in the cell.
  [[nodiscard]] std::vector<std::size_t> order_of(std::size_t cell, unsigned block) const;
  void count_failures(std::size_t cell, unsigned block, const BlockState& state);
  [[nodiscard]] bool can_compare(std::size_t cell) const;
  /// Runs of the blocks `from` to `to` - 1 of all cells.
  [[nodiscard]] std::size_t planned_runs(std::size_t from, std::size_t to) const;
  void show_estimate(const Cell& cell);
  /// What a sequential run does after `blocks` blocks.
  enum class Next { go_on, stop, interrupted };
  Next take_look(unsigned blocks);

  const SessionSetup& setup_;
  ResultFolder* folder_;
  std::vector<std::vector<std::string>> environments_;                    ///< by arm
  std::vector<std::vector<std::vector<std::size_t>>> orders_;             ///< by cell, block, slot
  std::vector<unsigned> machine_voids_;                                   ///< by cell
  std::vector<std::vector<unsigned>> failures_in_a_row_;                  ///< by cell, arm
  std::vector<bool> given_up_;                                            ///< by cell
  std::map<std::string, std::pair<std::string, std::string>> checksums_;  ///< value, first arm
  std::vector<std::string> notices_;
  unsigned stopped_at_ = 0;
  std::optional<Watch> watch_;
  Progress progress_;
};

}  // namespace hakmem::harness
