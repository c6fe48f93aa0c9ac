#include "harness/temporary.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "harness/errors.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

TemporaryFolder::TemporaryFolder() {
  const char* const named = std::getenv("TMPDIR");
  path_ = std::string(named != nullptr && *named == '/' ? named : "/tmp") + "/hak-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) {
    throw Failure(Exit::io, path_ + ": cannot make a temporary folder: " + errno_text(errno));
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace hakmem::harness
