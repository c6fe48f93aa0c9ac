// Files that must survive a crash: whole files replaced beside and renamed, lines appended and
// fsynced. Every failure is a Failure with Exit::io and the name of the file.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace hakmem::harness {

/// An open file descriptor that closes itself.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

/// A pipe, both ends close-on-exec. Throws Failure(io).
struct Pipe {
  Fd read, write;
};
Pipe make_pipe();

/// The whole file, or nothing where it cannot be read (errno then says why). Works for /proc.
std::optional<std::string> read_file(const std::string& path);

/// The first line of a small file without its line end, or "" where it cannot be read.
std::string read_line(const std::string& path);

/// Replaces `path` by `text` so that a reader, or a crash, sees the old file or the new one.
void write_whole(const std::string& path, const std::string& text);

/// Creates `path` and its parents. Throws Failure(io) with the system's reason.
void make_folders(const std::string& path);

/// True where `path` names something (links followed).
bool exists(const std::string& path);

/// Absolute path with links resolved, or "" where there is none.
std::string real_path(const std::string& path);

/// The folder part of a path ("." where it has none) and its last part.
std::string folder_of(const std::string& path);
std::string base_of(const std::string& path);

/// A file that grows by whole lines, each on the disk before append() returns.
class LineFile {
 public:
  /// Opens for appending, creating it where needed.
  explicit LineFile(std::string path);

  /// Writes `line` and a newline, and fsyncs. Where the disk is full or the size limit reached, the
  /// part that was written is cut off again, so that the file stays valid, and Failure(io) thrown.
  void append(const std::string& line);

  /// Replaces the whole content (beside + rename) and goes on appending to the new file.
  void replace(const std::string& text);

 private:
  void reopen();

  std::string path_;
  Fd fd_;
};

}  // namespace hakmem::harness
