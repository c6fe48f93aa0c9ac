#include "harness/perf_tool.hpp"

#include <unistd.h>

#include <cstdlib>

#include "harness/errors.hpp"
#include "harness/files.hpp"
#include "harness/spawner.hpp"
#include "harness/text.hpp"
#include "harness/under_tool.hpp"

namespace hakmem::harness {

namespace {

constexpr double kTrialSeconds = 20;
constexpr double kScriptSeconds = 300;
// Enough for the stacks of the workloads, half of perf's default; a deeper stack ends early.
constexpr const char* kDwarf = "dwarf,4096";

/// HAK_PERF, else the perf of PATH.
std::string perf_program() {
  const char* const named = std::getenv("HAK_PERF");
  return named != nullptr && *named != '\0' ? named : "perf";
}

std::string last_line(const std::string& text) {
  const std::string said = trim(text);
  return said.empty() ? "it said nothing" : to_utf8(trim(split(said, '\n').back()));
}

/// What perf complains of: it heads this by a line "Error:" and explains it in many more.
std::string complaint_in(const std::string& text) {
  for (const std::string& line : split(text, '\n')) {
    const std::string said = trim(line);
    if (!said.empty() && said != "Error:") return to_utf8(said);
  }
  return "it said nothing";
}

std::vector<std::string> record_words(const std::string& event, const std::string& graph,
                                      unsigned frequency, const std::string& data) {
  // -N: perf would copy every library into a cache of its own.
  return {perf_program(),
          "record",
          "-q",
          "-N",
          "-e",
          event,
          "-F",
          std::to_string(frequency),
          "--call-graph",
          graph == "dwarf" ? kDwarf : graph,
          "-o",
          data,
          "--"};
}

/// "" where perf records this event with this call graph, else its complaint.
std::string trial(const RunRequest& base, const std::string& event, const std::string& graph,
                  const std::string& temporary) {
  const std::string data = temporary + "/trial.data";
  RunRequest request = base;
  request.command = {"true"};
  request.timeout_s = kTrialSeconds;
  const ProcessResult result =
      run_process(under_tool(request, record_words(event, graph, 99, data)));
  // Where the machine has no counters, perf takes cpu-clock for cycles without a word.
  const std::string taken =
      trim(run_tool({perf_program(), "evlist", "-i", data}, {}, kTrialSeconds, false).out);
  unlink(data.c_str());
  if (result.ending == Ending::exited && result.exit_code == 0) {
    return taken.starts_with(event) ? "" : "perf samples " + taken + " for " + event;
  }
  return result.ending == Ending::exited ? complaint_in(result.err) : result.detail;
}

}  // namespace

PerfAbility try_perf(const RunRequest& base, const std::string& wanted_graph,
                     const std::string& temporary) {
  PerfAbility ability;
  const ToolResult version = run_tool({perf_program(), "--version"}, {}, kTrialSeconds, false);
  if (version.status != 0) {
    throw Failure(Exit::missing,
                  "perf does not start" +
                      (version.error.empty() ? "" : " (" + version.error + ")") +
                      "; type: apt-get install linux-perf, or name one with HAK_PERF");
  }
  ability.version = trim(version.out);
  ability.call_graph = wanted_graph == "auto" ? "lbr" : wanted_graph;
  ability.event = "cycles";
  std::string complaint = trial(base, ability.event, ability.call_graph, temporary);
  if (!complaint.empty() && wanted_graph == "auto") {
    ability.call_graph = "dwarf";
    complaint = trial(base, ability.event, ability.call_graph, temporary);
  }
  if (complaint.empty()) return ability;
  ability.event = "cpu-clock";
  ability.reason = complaint;
  complaint = trial(base, ability.event, ability.call_graph, temporary);
  if (!complaint.empty()) {
    throw Failure(Exit::io, "perf may not record here (" + complaint +
                                "); try --call-graph dwarf, or ask for a kernel.perf_event_paranoid"
                                " of 2 or less");
  }
  return ability;
}

Recording record_samples(const RunRequest& request, const PerfAbility& ability, unsigned frequency,
                         const std::string& temporary, const std::string& out) {
  const std::string data = temporary + "/perf.data";
  Recording recording;
  recording.result = run_process(
      under_tool(request, record_words(ability.event, ability.call_graph, frequency, data)));
  const ProcessResult& ran = recording.result;
  if (ran.ending != Ending::exited || ran.exit_code != 0) {
    recording.problem = ran.ending == Ending::exited ? last_line(ran.err) : ran.detail;
    return recording;
  }
  const std::string script = "exec " + shell_quoted(perf_program()) + " script -i " +
                             shell_quoted(data) +
                             " --no-inline --show-lost-events"
                             " -F comm,pid,tid,event,ip,sym,symoff,dso >" +
                             shell_quoted(out);
  const ToolResult made = run_tool({"sh", "-c", script}, {}, kScriptSeconds, false);
  unlink(data.c_str());
  if (made.status != 0) {
    recording.problem = "perf script failed" + (made.error.empty() ? "" : ": " + made.error);
  }
  return recording;
}

}  // namespace hakmem::harness
