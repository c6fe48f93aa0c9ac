#include "harness/maps.hpp"

#include <algorithm>
#include <sstream>

#include "harness/files.hpp"

namespace hakmem::harness {

bool MapsSnapshot::has(const std::string& path) const {
  return std::find(files.begin(), files.end(), path) != files.end();
}

std::string MapsSnapshot::libc() const {
  for (const std::string& file : files) {
    const std::string base = base_of(file);
    if (base.starts_with("libc.so") || base.starts_with("libc-2")) return file;
  }
  return {};
}

std::vector<std::string> mapped_files(const std::string& maps) {
  std::vector<std::string> files;
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos) continue;
    std::string file = line.substr(slash);
    if (std::find(files.begin(), files.end(), file) == files.end()) {
      files.push_back(std::move(file));
    }
  }
  return files;
}

MapsSnapshot read_maps(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  MapsSnapshot snapshot;
  snapshot.files = mapped_files(read_file(folder + "/maps").value_or(""));
  if (!snapshot.files.empty()) snapshot.executable = real_path(folder + "/exe");
  return snapshot;
}

}  // namespace hakmem::harness
