// One measured process: started by hak-spawn, watched from another CPU, killed with everything it
// started when its time is over. While it runs, the harness sleeps in poll().
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "harness/maps.hpp"
#include "harness/perf_counters.hpp"
#include "harness/system_load.hpp"

namespace hakmem::harness {

struct RunRequest {
  std::string helper;                    ///< path of hak-spawn
  std::vector<std::string> command;      ///< looked up in PATH of `environment`
  std::vector<std::string> environment;  ///< "NAME=value", the whole of it
  std::vector<int> cpus;                 ///< the process is pinned to these
  double timeout_s = 120;
  std::string wanted_library;  ///< file that should get mapped; "" for the C library
  std::string wanted_program;  ///< file that the command becomes by exec; "": it stays itself
};

enum class Ending {
  exited,       ///< by itself, `exit_code` is set
  signalled,    ///< by `signal`
  timeout,      ///< killed after `timeout_s`
  interrupted,  ///< killed because hak was told to stop
  not_started,  ///< exec failed; `detail` says why
  lost          ///< hak-spawn itself died
};

struct ProcessResult {
  Ending ending = Ending::lost;
  std::string detail;
  int exit_code = 0, signal = 0;
  pid_t pid = 0;
  bool ended = false;  ///< the numbers below are set
  double wall_s = 0, user_s = 0, system_s = 0;
  long peak_rss_kib = 0, minor_faults = 0, major_faults = 0;
  long voluntary_switches = 0, involuntary_switches = 0;
  int left_behind = 0;     ///< processes that outlived it and were killed
  std::string out, err;    ///< the first MiB of each
  std::string out_sha256;  ///< of the whole stdout
  bool out_cut = false, err_cut = false;
  MapsSnapshot maps;
  std::vector<CounterValue> counters;
  LoadDuring load;
};

/// Runs it to its end. Throws Failure(io) where the machine has no pipes or processes left, and
/// Failure(missing) where hak-spawn is not there.
ProcessResult run_process(const RunRequest& request);

}  // namespace hakmem::harness
