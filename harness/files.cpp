#include "harness/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>

#include "harness/errors.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

[[noreturn]] void io_failure(const std::string& path, const char* what, int error) {
  std::string hint;
  if (error == EROFS || error == EACCES) hint = "; choose another folder with --results DIR";
  if (error == ENOSPC || error == EDQUOT) hint = "; make room and go on with --resume DIR";
  if (error == EFBIG) hint = "; the file size limit (ulimit -f) is reached";
  throw Failure(Exit::io, path + ": cannot " + what + ": " + errno_text(error) + hint);
}

/// Writes everything; false with errno set on failure.
bool write_all(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = write(fd, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

void sync_folder(const std::string& path) {
  const Fd folder(open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.open()) fsync(folder.get());
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Fd::reset() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) io_failure("pipe", "be made", errno);
  return {Fd(ends[0]), Fd(ends[1])};
}

std::optional<std::string> read_file(const std::string& path) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.open()) return std::nullopt;
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t count = read(fd.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

std::string read_line(const std::string& path) {
  const std::optional<std::string> text = read_file(path);
  return text ? trim(text->substr(0, text->find('\n'))) : std::string();
}

void write_whole(const std::string& path, const std::string& text) {
  const std::string beside = path + ".new";
  {
    const Fd fd(open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!fd.open()) io_failure(path, "write", errno);
    if (!write_all(fd.get(), text) || fsync(fd.get()) != 0) {
      const int error = errno;
      unlink(beside.c_str());
      io_failure(path, "write", error);
    }
  }
  if (rename(beside.c_str(), path.c_str()) != 0) {
    const int error = errno;
    unlink(beside.c_str());
    io_failure(path, "replace", error);
  }
  sync_folder(path);
}

void make_folders(const std::string& path) {
  std::size_t end = 0;
  while (end != std::string::npos) {
    end = path.find('/', end + 1);
    const std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), 0755) != 0 && errno != EEXIST && !exists(part)) {
      io_failure(part, "make this folder", errno);
    }
  }
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) io_failure(path, "make this folder", errno);
  if (!S_ISDIR(status.st_mode)) io_failure(path, "use it as a folder", ENOTDIR);
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::string real_path(const std::string& path) {
  char buffer[PATH_MAX];
  return realpath(path.c_str(), buffer) == nullptr ? std::string() : std::string(buffer);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string base_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

LineFile::LineFile(std::string path) : path_(std::move(path)) { reopen(); }

void LineFile::reopen() {
  fd_ = Fd(open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!fd_.open()) io_failure(path_, "write", errno);
}

void LineFile::append(const std::string& line) {
  struct stat before {};
  if (fstat(fd_.get(), &before) != 0) io_failure(path_, "write", errno);
  if (!write_all(fd_.get(), line + "\n") || fsync(fd_.get()) != 0) {
    const int error = errno;
    if (ftruncate(fd_.get(), before.st_size) != 0) io_failure(path_, "cut back", errno);
    io_failure(path_, "write", error);
  }
}

void LineFile::replace(const std::string& text) {
  write_whole(path_, text);
  reopen();
}

}  // namespace hakmem::harness
