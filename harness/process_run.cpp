#include "harness/process_run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <optional>

#include "harness/capture.hpp"
#include "harness/clock.hpp"
#include "harness/cpus.hpp"
#include "harness/errors.hpp"
#include "harness/signals.hpp"
#include "harness/spawner.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

constexpr double kKillPatience = 1.5;  // seconds for hak-spawn to kill and reap everything
constexpr double kStartPatience = 20;  // seconds for hak-spawn to come up on a busy machine
constexpr double kSecondLook = 0.030;  // libraries after the preloaded one are mapped by then
constexpr double kLastLook = 0.500;    // no look at the maps after this

/// The life of one measured process as a state machine over hak-spawn's reports.
class Run {
 public:
  explicit Run(const RunRequest& request)
      : request_(request),
        spawned_(spawn_helper(request.helper, cpu_list(request.cpus), request.command,
                              request.environment)),
        out_(std::move(spawned_.out)),
        err_(std::move(spawned_.err)),
        deadline_(now_s() + kStartPatience) {}

  ProcessResult finish() {
    while (!done_) step();
    out_.drain();
    err_.drain();
    close_helper();
    result_.out_sha256 = out_.hash();
    result_.out = std::move(out_.text);
    result_.err = std::move(err_.text);
    result_.out_cut = out_.cut;
    result_.err_cut = err_.cut;
    if (counters_) result_.counters = counters_->read();
    return std::move(result_);
  }

 private:
  /// Sleeps until something happens and handles it.
  void step() {
    std::array<pollfd, 4> sources = {{{spawned_.report.get(), POLLIN, 0},
                                      {out_.fd.get(), POLLIN, 0},
                                      {err_.fd.get(), POLLIN, 0},
                                      {killing_ ? -1 : signal_fd(), POLLIN, 0}}};
    const double wake = look_at_ > 0 ? std::min(deadline_, look_at_) : deadline_;
    poll(sources.data(), sources.size(), poll_ms(wake - now_s()));
    if (sources[1].revents != 0) out_.take();
    if (sources[2].revents != 0) err_.take();
    if (sources[0].revents != 0) read_reports();
    if (done_) return;
    if (!killing_ && caught_signal() != 0) kill_all(Ending::interrupted, "hak was told to stop");
    const double now = now_s();
    if (look_at_ > 0 && now >= look_at_) look(now);
    if (now >= deadline_) late();
  }

  void late() {
    if (killing_ || !running_) {
      lose(killing_ ? "hak-spawn did not end in time" : "hak-spawn did not start in time");
    } else {
      kill_all(Ending::timeout, "no end after " + fixed(request_.timeout_s, 1) + " s");
    }
  }

  void kill_all(Ending ending, const std::string& detail) {
    killing_ = true;
    look_at_ = 0;
    result_.ending = ending;
    result_.detail = detail;
    deadline_ = now_s() + kKillPatience;
    command('k');
  }

  void command(char letter) {
    if (write(spawned_.control.get(), &letter, 1) != 1) lose("hak-spawn does not listen");
  }

  /// hak-spawn is gone or stuck: kill what can be reached without it.
  void lose(const std::string& detail) {
    kill(spawned_.pid, SIGKILL);
    if (result_.pid > 0) kill(-result_.pid, SIGKILL);
    if (!killing_) {
      result_.ending = Ending::lost;
      result_.detail = detail;
    }
    done_ = true;
  }

  void read_reports() {
    char buffer[1024];
    const ssize_t count = read(spawned_.report.get(), buffer, sizeof buffer);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
      lose("hak-spawn died");
      return;
    }
    reports_.append(buffer, static_cast<std::size_t>(count));
    for (std::size_t end; !done_ && (end = reports_.find('\n')) != std::string::npos;) {
      const std::string line = reports_.substr(0, end);
      reports_.erase(0, end + 1);
      handle(line);
    }
  }

  void handle(const std::string& line) {
    if (std::sscanf(line.c_str(), "pid %d", &result_.pid) == 1) {
      go();
    } else if (line == "started") {
      look_at_ = killing_ ? 0 : now_s() + 0.001;
    } else if (int error = 0; std::sscanf(line.c_str(), "exec %d", &error) == 1) {
      exec_error_ = error;
    } else if (line.starts_with("exit ")) {
      ended(line);
    } else if (std::sscanf(line.c_str(), "done %d", &result_.left_behind) == 1) {
      done_ = true;
    }
  }

  void go() {
    if (killing_) return;
    counters_.emplace(result_.pid);
    running_ = true;
    start_ = load_snapshot();
    deadline_ = now_s() + request_.timeout_s;
    command('g');
  }

  void ended(const std::string& line) {
    long long status = 0, wall = 0, user = 0, system = 0;
    if (std::sscanf(line.c_str(), "exit %lld %lld %lld %lld %ld %ld %ld %ld %ld", &status, &wall,
                    &user, &system, &result_.peak_rss_kib, &result_.minor_faults,
                    &result_.major_faults, &result_.voluntary_switches,
                    &result_.involuntary_switches) != 9) {
      lose("hak-spawn reports nonsense");
      return;
    }
    result_.ended = true;
    result_.wall_s = static_cast<double>(wall) * 1e-9;
    result_.user_s = static_cast<double>(user) * 1e-6;
    result_.system_s = static_cast<double>(system) * 1e-6;
    result_.load =
        load_between(start_, load_snapshot(), request_.cpus, result_.user_s + result_.system_s);
    look_at_ = 0;
    if (!killing_) classify(static_cast<int>(status));
    killing_ = true;  // hak-spawn now kills what is left; it has that long
    deadline_ = now_s() + kKillPatience;
  }

  void classify(int status) {
    if (exec_error_ != 0) {
      result_.ending = Ending::not_started;
      result_.detail = "cannot start " + request_.command[0] + ": " + errno_text(exec_error_);
    } else if (WIFEXITED(status)) {
      result_.ending = Ending::exited;
      result_.exit_code = WEXITSTATUS(status);
    } else {
      result_.ending = Ending::signalled;
      result_.signal = WTERMSIG(status);
    }
  }

  /// Looks at the maps, more and more seldom, until the wanted library was there twice.
  void look(double now) {
    MapsSnapshot maps = read_maps(result_.pid);
    if (!maps.empty()) result_.maps = std::move(maps);
    const bool itself =
        request_.wanted_program.empty() || result_.maps.executable == request_.wanted_program;
    const bool seen =
        itself && (request_.wanted_library.empty() ? !result_.maps.libc().empty()
                                                   : result_.maps.has(request_.wanted_library));
    if (first_look_ == 0) first_look_ = now;
    const double age = now - first_look_;
    if (seen && seen_at_ == 0) {
      seen_at_ = now;
      look_at_ = now + kSecondLook;
    } else if ((seen && now - seen_at_ >= kSecondLook) || age > kLastLook) {
      look_at_ = 0;
    } else {
      look_at_ = now + std::max(0.001, age);
    }
  }

  void close_helper() {
    spawned_.control.reset();
    int status = 0;
    while (waitpid(spawned_.pid, &status, 0) < 0 && errno == EINTR) {
    }
  }

  const RunRequest& request_;
  Spawned spawned_;
  Capture out_, err_;
  std::optional<PerfCounters> counters_;
  ProcessResult result_;
  LoadSnapshot start_;
  std::string reports_;
  int exec_error_ = 0;
  bool running_ = false, killing_ = false, done_ = false;
  double deadline_;
  double look_at_ = 0, first_look_ = 0, seen_at_ = 0;  // monotonic seconds, 0: not set
};

}  // namespace

ProcessResult run_process(const RunRequest& request) { return Run(request).finish(); }

}  // namespace hakmem::harness
