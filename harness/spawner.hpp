// Starting programs: hak-spawn for what is measured, and plain helpers such as git or python3.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "harness/files.hpp"

namespace hakmem::harness {

/// A running hak-spawn: our ends of its pipes. The read ends do not block.
struct Spawned {
  pid_t pid = 0;
  Fd control, report, out, err;
};

/// Starts hak-spawn in a session of its own, with stdin from /dev/null. Throws Failure.
Spawned spawn_helper(const std::string& helper, const std::string& cpus,
                     const std::vector<std::string>& command,
                     const std::vector<std::string>& environment);

/// What a plain helper said; `status` is its exit code, 128 + n for signal n, -1 where it could not
/// be started (then `error` says why).
struct ToolResult {
  int status = -1;
  std::string out, error;
};

/// Runs a tool in the caller's environment plus `extra` ("NAME=value"), collects its stdout, lets
/// stderr through where `show_errors` is set. Killed when a signal came or `timeout_s` is over.
ToolResult run_tool(const std::vector<std::string>& command, const std::vector<std::string>& extra,
                    double timeout_s, bool show_errors);

/// A helper that answers lines, such as the analysis in watch mode. Not stopped by Ctrl-C itself.
struct Conversation {
  pid_t pid = 0;
  Fd in, out;
};
Conversation start_conversation(const std::vector<std::string>& command,
                                const std::vector<std::string>& extra);

/// The caller's environment without LD_PRELOAD, with `extra` in front of equal names.
std::vector<std::string> tool_environment(const std::vector<std::string>& extra);

}  // namespace hakmem::harness
