#include "harness/signals.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

#include "harness/files.hpp"

namespace hakmem::harness {

namespace {

std::atomic<int> g_signal{0};
int g_write_fd = -1;
Pipe g_pipe;

void on_signal(int number) {
  const int saved = errno;
  int expected = 0;
  if (g_signal.compare_exchange_strong(expected, number)) {
    const char byte = 's';
    if (write(g_write_fd, &byte, 1) < 0) {  // the flag is set; the poll's timeout will see it
    }
  }
  errno = saved;
}

}  // namespace

void install_signals() {
  g_pipe = make_pipe();
  g_write_fd = g_pipe.write.get();
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
  action.sa_handler = SIG_IGN;
  for (const int number : {SIGPIPE, SIGXFSZ}) sigaction(number, &action, nullptr);
}

int signal_fd() { return g_pipe.read.get(); }

int caught_signal() { return g_signal.load(); }

}  // namespace hakmem::harness
