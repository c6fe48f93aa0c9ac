// Exit codes of `hak` and the one exception that carries a message for the user and a code.
#pragma once

#include <stdexcept>
#include <string>

namespace hakmem::harness {

/// What `hak` exits with; docs/guide/harness.md says what a caller may conclude from each.
enum class Exit : int {
  ok = 0,            ///< the work was done; for `run`: a verdict was reached, whatever it says
  failure = 1,       ///< a defect of hak itself
  usage = 2,         ///< wrong arguments or experiment file
  missing = 3,       ///< a program, library or package that is needed is not there
  io = 5,            ///< the machine refused: disk full, read-only folder, no permission
  no_go = 10,        ///< `--gate no-go` and the decision is NO-GO
  undecided = 11,    ///< `--gate undecided` and the decision is UNDECIDED
  invalid = 12,      ///< the decision is INVALID
  interrupted = 130  ///< SIGINT, SIGTERM or SIGHUP
};

/// A failure that the user can act on: `what()` is one line without a final stop or newline.
class Failure : public std::runtime_error {
 public:
  Failure(Exit code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] Exit code() const { return code_; }

 private:
  Exit code_;
};

}  // namespace hakmem::harness
