// The command line of a run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "harness/hakbench/catalogue.hpp"

namespace hakbench {

class Options {
 public:
  explicit Options(const Workload& workload);

  const Workload& workload() const { return *workload_; }

  /// Value of a parameter, also of a common one. The workload must have it.
  std::uint64_t operator[](std::string_view name) const;
  std::uint32_t small(std::string_view name) const {
    return static_cast<std::uint32_t>((*this)[name]);
  }
  bool has(std::string_view name) const { return find(name) != nullptr; }

  /// The word that stands for the value, where the parameter has words.
  std::string_view word(std::string_view name) const;

  /// Threads that the workload runs on.
  unsigned threads() const;

  /// File that the workload replays; null where it was not named, or reads none.
  const char* file() const { return file_; }
  void set_file(const char* file) { file_ = file; }

  /// Text of --slices; empty: the plain run of one setting.
  std::string_view slices() const { return slices_; }
  void set_slices(std::string_view text) { slices_ = text; }

  /// In slices mode: for how long slices are taken.
  double slices_seconds() const { return slices_seconds_; }
  void set_slices_seconds(double seconds) { slices_seconds_ = seconds; }

  double min_seconds() const { return min_seconds_; }

  void set(std::string_view name, std::uint64_t value);
  void set_min_seconds(double seconds) { min_seconds_ = seconds; }

 private:
  static constexpr std::size_t kMost = 16;

  const std::uint64_t* find(std::string_view name) const;

  const Workload* workload_;
  std::array<std::uint64_t, kMost> values_{};
  const char* file_ = nullptr;
  double min_seconds_ = 1.0;
  std::string_view slices_;
  double slices_seconds_ = 10;
};

/// Parses the arguments behind the workload's name. What is wrong with them goes to stderr as one
/// line, and the program ends with kExitUsage.
Options parse_options(const Workload& workload, int count, const char* const* arguments);

/// The workload of that name; ends the program with the nearest known name where there is none.
const Workload& require_workload(std::string_view name);

}  // namespace hakbench
