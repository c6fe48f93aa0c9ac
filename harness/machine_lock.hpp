// One `hak run` at a time on a machine: two would disturb each other's figures.
#pragma once

#include <string>

#include "harness/files.hpp"

namespace hakmem::harness {

/// Holds the lock until it is destroyed.
class MachineLock {
 public:
  /// Takes the lock. Where another run holds it: waits, saying so on stderr, or with `wait` false
  /// throws Failure(io) that names its process. A signal ends the waiting with
  /// Failure(interrupted).
  explicit MachineLock(bool wait);
  ~MachineLock();
  MachineLock(const MachineLock&) = delete;
  MachineLock& operator=(const MachineLock&) = delete;

  /// Why there is no lock (the file cannot be opened), or "": the run goes on and notes it.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  /// The lock's file: HAK_LOCK where set, else one in /tmp for all users of the machine.
  static std::string path();

 private:
  Fd fd_;
  std::string problem_;
};

}  // namespace hakmem::harness
