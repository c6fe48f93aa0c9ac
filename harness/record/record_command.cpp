#include "harness/record/record_command.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "harness/clock.hpp"
#include "harness/errors.hpp"
#include "harness/files.hpp"
#include "harness/record/encode.hpp"
#include "harness/record/raw.hpp"
#include "harness/temporary.hpp"

namespace hakmem::harness {

namespace {

constexpr const char* kUsage = "usage: hak record [-o FILE] -- COMMAND [ARGUMENT ...]";

struct Request {
  std::string file;
  std::vector<std::string> command;
};

Request parse(const std::vector<std::string>& words) {
  Request request;
  std::size_t at = 0;
  if (words.size() > 1 && (words[0] == "-o" || words[0] == "--output")) {
    request.file = words[1];
    at = 2;
  }
  if (at < words.size() && words[at] == "--") ++at;
  request.command.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  if (request.command.empty() || request.command[0].starts_with("-")) {
    throw Failure(Exit::usage, kUsage);
  }
  if (request.file.empty()) request.file = base_of(request.command[0]) + ".trace";
  return request;
}

[[noreturn]] void become(const std::vector<std::string>& command, const std::string& library,
                         const std::string& folder) {
  setenv("LD_PRELOAD", library.c_str(), 1);
  setenv(record::kFolderVariable, folder.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "hak: %s: %s\n", arguments[0], std::strerror(errno));
  _exit(127);
}

std::atomic<pid_t> recorded{0};

/// A signal from the terminal reaches the program by itself; one that was sent to hak is passed on.
void pass_on(int number, siginfo_t* info, void*) {
  const int kept = errno;
  const pid_t child = recorded.load();
  if (child > 0 && info->si_code <= 0) kill(child, number);
  errno = kept;
}

/// Held back until the program is there to get it.
class HeldSignals {
 public:
  HeldSignals() {
    struct sigaction action {};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigset_t all;
    sigemptyset(&all);
    for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
      sigaddset(&all, number);
      struct sigaction old {};
      sigaction(number, nullptr, &old);
      // What a shell told a background job to ignore, it ignores still.
      if (old.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
    }
    sigprocmask(SIG_BLOCK, &all, &before_);
  }
  ~HeldSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  /// In the child, whose exec gives the handlers their defaults.
  void let_go() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// Runs the program to its end; a signal ends it and not hak, so that its trace is still written.
int run_to_end(const Request& request, const std::string& library, const std::string& folder) {
  pid_t child = 0;
  {
    const HeldSignals held;
    child = fork();
    if (child < 0) throw Failure(Exit::io, std::string("fork: ") + std::strerror(errno));
    if (child == 0) {
      for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
        struct sigaction now {};
        sigaction(number, nullptr, &now);
        if (now.sa_handler != SIG_IGN) signal(number, SIG_DFL);
      }
      held.let_go();
      become(request.command, library, folder);
    }
    recorded = child;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  recorded = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Traces of all processes that allocated, the one with the most events first.
std::vector<record::Encoded> encode_all(const std::string& folder) {
  std::vector<record::Encoded> traces;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    record::Encoded trace = record::encode(read_file(entry.path()).value_or(""));
    if (trace.events != 0) traces.push_back(std::move(trace));
  }
  std::stable_sort(traces.begin(), traces.end(),
                   [](const auto& a, const auto& b) { return a.events > b.events; });
  return traces;
}

}  // namespace

int record_command(const Places& places, const std::vector<std::string>& words) {
  const Request request = parse(words);
  const std::string library = places.build + "/harness/record/libhakrecord.so";
  if (!exists(library)) throw Failure(Exit::missing, library + " is not built: ./hak build");
  const TemporaryFolder folder;
  const double start = now_s();
  const int status = run_to_end(request, library, folder.path());
  const double seconds = now_s() - start;
  const std::vector<record::Encoded> traces = encode_all(folder.path());
  if (traces.empty()) {
    throw Failure(Exit::usage, request.command[0] +
                                   " made no allocation that a preload sees (is it static, setuid, "
                                   "or with a malloc of its own?)");
  }
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const std::string file = request.file + (i == 0 ? "" : "." + std::to_string(i));
    write_whole(file, traces[i].bytes);
    std::fprintf(
        stderr, "hak: %s: %llu events, %u threads, %.2f bytes per event\n", file.c_str(),
        static_cast<unsigned long long>(traces[i].events), traces[i].threads,
        static_cast<double>(traces[i].bytes.size()) / static_cast<double>(traces[i].events));
  }
  std::fprintf(stderr, "hak: the program ran %.3f s under the recorder\n", seconds);
  return status;
}

}  // namespace hakmem::harness
