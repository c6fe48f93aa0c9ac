#include "harness/machine_lock.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "harness/errors.hpp"
#include "harness/signals.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

/// Opens the file, made for all users. An existing one is opened without O_CREAT, which kernels
/// refuse for another user's file in /tmp.
int open_lock(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd >= 0 || errno != ENOENT) return fd;
  const mode_t mask = umask(0);
  const int made = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  umask(mask);
  return made;
}

}  // namespace

std::string MachineLock::path() {
  const char* const named = std::getenv("HAK_LOCK");
  return named != nullptr && *named != '\0' ? named : "/tmp/hak-run.lock";
}

MachineLock::MachineLock(bool wait) : fd_(open_lock(path())) {
  if (!fd_.open()) {
    problem_ = path() + ": " + errno_text(errno);
    return;
  }
  bool told = false;
  while (flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    const std::string holder = "another hak run (process " + read_line(path()) + ") is measuring";
    if (!wait) throw Failure(Exit::io, holder + "; leave out --no-wait to queue behind it");
    if (!told) std::fprintf(stderr, "hak: %s; waiting for it to end\n", holder.c_str());
    told = true;
    pollfd stop = {signal_fd(), POLLIN, 0};
    poll(&stop, 1, 300);
    if (caught_signal() != 0) throw Failure(Exit::interrupted, "stopped while waiting");
  }
  const std::string line = std::to_string(getpid()) + "\n";
  if (ftruncate(fd_.get(), 0) != 0 ||
      pwrite(fd_.get(), line.data(), line.size(), 0) != static_cast<ssize_t>(line.size())) {
    problem_ = path() + ": " + errno_text(errno);
  }
}

MachineLock::~MachineLock() {
  if (fd_.open() && ftruncate(fd_.get(), 0) != 0) problem_ = errno_text(errno);
}

}  // namespace hakmem::harness
