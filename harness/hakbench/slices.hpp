// Paired slices: two settings of the allocator's live boxes, in turns, inside one process. Between
// two slices the threads wait at their barrier, and the lab library's control calls switch
// (core/api/hakmem_lab.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "harness/hakbench/options.hpp"
#include "harness/hakbench/record.hpp"
#include "harness/hakbench/steps.hpp"
#include "harness/hakbench/team.hpp"

namespace hakbench {

/// What --slices says: FIRST:NAME=VALUE[,NAME=VALUE...]/SECOND:...
class SlicePlan {
 public:
  static constexpr unsigned kMostSettings = 16;

  struct Setting {
    const char* box;
    std::int64_t value;
  };
  struct Side {
    const char* name;
    Setting settings[kMostSettings];
    unsigned count;
  };

  /// Reads the text; ends the program with a line on stderr where it is not of that form.
  explicit SlicePlan(std::string_view text);

  const Side& side(unsigned index) const { return sides_[index]; }

 private:
  Side sides_[2]{};
};

/// One slice: which side it ran, its operations and their time.
struct Slice {
  unsigned side;
  std::uint64_t ops, run_ns;
};

/// What the slices of a process gave. A/A groups run the first side under both names.
class Slices {
 public:
  explicit Slices(const SlicePlan& plan);

  /// Slices for `seconds`, each at least min_seconds of the options long; adds to the outcome what
  /// a run adds. Ends the program where a box cannot be switched, or a checksum is wrong.
  void run(const Options& options, const Steps& steps, Team& team, double seconds,
           Outcome& outcome);

  /// The record's members "slices", "slices_aa" and "slices_proof", behind a comma.
  void write(Text& text) const;

  /// To be called by each thread at a barrier behind a switch: empties its front.
  static void flush_own_front();

 private:
  static constexpr std::size_t kMostSlices = 12'000;  // as text they stay under a MiB

  struct Group {
    Slice slices[4];
    bool same;  ///< an A/A group
  };

  void switch_to(unsigned side);
  void group(const Steps& steps, Team& team, std::uint64_t passes, std::uint64_t number,
             Outcome& outcome);
  void write_part(Text& text, std::string_view name, bool same) const;
  void write_proof(Text& text) const;

  const SlicePlan& plan_;
  Group* groups_;
  std::size_t count_ = 0;
  unsigned current_ = 0;
  std::uint64_t uses_[2][SlicePlan::kMostSettings]{};  ///< by side and setting of that side
  const char* variants_[2]{};
};

}  // namespace hakbench
