#include "harness/hakbench/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "harness/hakbench/failure.hpp"
#include "harness/hakbench/split.hpp"

namespace hakbench {

namespace {

std::uint64_t number_after(std::string_view text, std::string_view label) {
  const std::size_t found = text.find(label);
  if (found == std::string_view::npos) return 0;
  std::uint64_t value = 0;
  for (char character : behind(text, found + label.size() - 1)) {
    if (character >= '0' && character <= '9') {
      value = value * 10 + static_cast<std::uint64_t>(character - '0');
    } else if (value != 0) {
      break;
    }
  }
  return value;
}

}  // namespace

void* map_bytes(std::size_t bytes) {
  void* address = ::mmap(nullptr, bytes == 0 ? 1 : bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) fail_system("mmap of hakbench's own memory");
  return address;
}

Resident read_resident() {
  char buffer[4096];
  const int fd = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::size_t used = 0;
  for (;;) {
    const ssize_t count = ::read(fd, buffer + used, sizeof buffer - used);
    if (count <= 0) break;
    used += static_cast<std::size_t>(count);
  }
  ::close(fd);
  const std::string_view text(buffer, used);
  const std::uint64_t now = number_after(text, "VmRSS:");
  // The kernel raises the mark later than the figure itself.
  return {std::max(number_after(text, "VmHWM:"), now), now};
}

}  // namespace hakbench
