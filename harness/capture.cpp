#include "harness/capture.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace hakmem::harness {

bool Capture::take_some() {
  char buffer[65536];
  const ssize_t count = read(fd.get(), buffer, sizeof buffer);
  if (count < 0 && errno == EINTR) return true;
  if (count < 0 && errno == EAGAIN) return false;
  if (count <= 0) {
    fd.reset();
    return false;
  }
  const std::string_view data(buffer, static_cast<std::size_t>(count));
  sha_.add(data);
  const std::size_t room = kLimit - text.size();
  text += data.substr(0, room);
  if (data.size() > room) cut = true;
  return true;
}

void Capture::take() {
  for (int i = 0; i < 16 && fd.open(); ++i) {
    if (!take_some()) return;
  }
}

void Capture::drain() {
  for (int i = 0; i < 4096 && fd.open(); ++i) {
    if (!take_some()) return;
  }
}

}  // namespace hakmem::harness
