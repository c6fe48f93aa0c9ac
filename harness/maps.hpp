// Which files a living process has mapped, from /proc/PID/maps and /proc/PID/exe.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace hakmem::harness {

struct MapsSnapshot {
  std::string executable;          ///< "" where it could not be read
  std::vector<std::string> files;  ///< each file once, in the order of the addresses

  [[nodiscard]] bool empty() const { return files.empty(); }
  [[nodiscard]] bool has(const std::string& path) const;
  /// The mapped C library, or "".
  [[nodiscard]] std::string libc() const;
};

/// Reads them; an empty snapshot where the process is gone.
MapsSnapshot read_maps(pid_t pid);

/// The files named in the text of a maps file.
std::vector<std::string> mapped_files(const std::string& maps);

}  // namespace hakmem::harness
