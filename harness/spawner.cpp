#include "harness/spawner.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

#include "harness/capture.hpp"
#include "harness/clock.hpp"
#include "harness/errors.hpp"
#include "harness/signals.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

/// Null-terminated array of pointers into `words`.
std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

/// The same descriptor with a number that no dup2 of a child overwrites.
Fd high(Fd fd) {
  const int number = fcntl(fd.get(), F_DUPFD_CLOEXEC, 10);
  if (number < 0) throw Failure(Exit::io, "no file descriptors left: " + errno_text(errno));
  return Fd(number);
}

void unblock(const Fd& fd) { fcntl(fd.get(), F_SETFL, O_NONBLOCK); }

/// What a child starts with: its descriptors, no signal blocked or ignored.
class Launch {
 public:
  Launch() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    sigset_t none, reset;
    sigemptyset(&none);
    sigemptyset(&reset);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) sigaddset(&reset, number);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &reset);
    flags_ = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  ~Launch() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  void null_input() { posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0); }
  void null_error() { posix_spawn_file_actions_addopen(&actions_, 2, "/dev/null", O_WRONLY, 0); }
  void give(const Fd& fd, int number) {
    posix_spawn_file_actions_adddup2(&actions_, fd.get(), number);
  }
  void own_session() { flags_ = static_cast<short>(flags_ | POSIX_SPAWN_SETSID); }

  /// Gives the process id, or -1 with errno set.
  pid_t start(const std::vector<std::string>& command,
              const std::vector<std::string>& environment) {
    posix_spawnattr_setflags(&attributes_, flags_);
    pid_t pid = 0;
    const int error = posix_spawnp(&pid, command[0].c_str(), &actions_, &attributes_,
                                   pointers(command).data(), pointers(environment).data());
    errno = error;
    return error == 0 ? pid : -1;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  short flags_ = 0;
};

int exit_status(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Spawned spawn_helper(const std::string& helper, const std::string& cpus,
                     const std::vector<std::string>& command,
                     const std::vector<std::string>& environment) {
  Pipe control = make_pipe(), report = make_pipe(), out = make_pipe(), err = make_pipe();
  const Fd control_end = high(std::move(control.read)), report_end = high(std::move(report.write));
  const Fd out_end = high(std::move(out.write)), err_end = high(std::move(err.write));
  for (const Fd* const fd : {&report.read, &out.read, &err.read}) unblock(*fd);
  Launch launch;
  launch.null_input();
  launch.give(out_end, 1);
  launch.give(err_end, 2);
  launch.give(control_end, 3);
  launch.give(report_end, 4);
  launch.own_session();
  std::vector<std::string> words = {helper, cpus};
  words.insert(words.end(), command.begin(), command.end());
  const pid_t pid = launch.start(words, environment);
  if (pid < 0) {
    const Exit code = errno == ENOENT ? Exit::missing : Exit::io;
    throw Failure(code, helper + ": cannot start: " + errno_text(errno));
  }
  return {pid, std::move(control.write), std::move(report.read), std::move(out.read),
          std::move(err.read)};
}

std::vector<std::string> tool_environment(const std::vector<std::string>& extra) {
  std::vector<std::string> environment = extra;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view line(*at);
    const std::string_view name = line.substr(0, line.find('='));
    bool taken = name == "LD_PRELOAD";
    for (const std::string& other : extra) {
      if (other.starts_with(std::string(name) + "=")) taken = true;
    }
    if (!taken) environment.emplace_back(line);
  }
  return environment;
}

ToolResult run_tool(const std::vector<std::string>& command, const std::vector<std::string>& extra,
                    double timeout_s, bool show_errors) {
  Pipe out = make_pipe();
  Fd end = high(std::move(out.write));
  unblock(out.read);
  ToolResult result;
  pid_t pid = -1;
  {
    Launch launch;
    launch.null_input();
    launch.give(end, 1);
    if (!show_errors) launch.null_error();
    launch.own_session();
    pid = launch.start(command, tool_environment(extra));
  }
  if (pid < 0) {
    result.error = errno_text(errno);
    return result;
  }
  end.reset();
  Capture capture(std::move(out.read));
  const double deadline = now_s() + timeout_s;
  while (capture.fd.open() && now_s() < deadline && caught_signal() == 0) {
    pollfd sources[2] = {{capture.fd.get(), POLLIN, 0}, {signal_fd(), POLLIN, 0}};
    poll(sources, 2, poll_ms(deadline - now_s()));
    capture.take();
  }
  if (capture.fd.open()) {
    kill(-pid, SIGKILL);
    result.error = caught_signal() != 0 ? "stopped" : "took too long";
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = exit_status(status);
  result.out = std::move(capture.text);
  return result;
}

Conversation start_conversation(const std::vector<std::string>& command,
                                const std::vector<std::string>& extra) {
  Pipe in = make_pipe(), out = make_pipe();
  const Fd in_end = high(std::move(in.read)), out_end = high(std::move(out.write));
  unblock(out.read);
  unblock(in.write);
  Launch launch;
  launch.give(in_end, 0);
  launch.give(out_end, 1);
  launch.null_error();
  launch.own_session();
  const pid_t pid = launch.start(command, tool_environment(extra));
  return {pid, std::move(in.write), std::move(out.read)};
}

}  // namespace hakmem::harness
