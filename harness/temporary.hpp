// A private folder that is gone when its owner is.
#pragma once

#include <string>

namespace hakmem::harness {

class TemporaryFolder {
 public:
  /// Makes it in TMPDIR or /tmp. Throws Failure(io).
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace hakmem::harness
