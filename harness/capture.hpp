// Output of a child, kept up to a limit and hashed as a whole.
#pragma once

#include <string>

#include "harness/files.hpp"
#include "harness/sha256.hpp"

namespace hakmem::harness {

struct Capture {
  static constexpr std::size_t kLimit = std::size_t{1} << 20;  ///< bytes kept

  Fd fd;  ///< read end, non-blocking; closed at end of file
  std::string text;
  bool cut = false;

  explicit Capture(Fd end) : fd(std::move(end)) {}

  /// Reads what is there, at most 1 MiB, so that a flood cannot keep the caller from its other
  /// work.
  void take();
  /// Reads what is there at the end of a run: as take(), until nothing comes.
  void drain();
  /// SHA-256 of all that came; once.
  std::string hash() { return sha_.finish(); }

 private:
  bool take_some();

  Sha256 sha_;
};

}  // namespace hakmem::harness
