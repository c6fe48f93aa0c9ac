#include "harness/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

constexpr std::size_t kBar = 12;

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

void put(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace

std::string duration_text(double seconds) {
  const long whole = static_cast<long>(std::clamp(seconds + 0.5, 0.0, 1e9));
  const auto two = [](long value) { return (value < 10 ? "0" : "") + std::to_string(value); };
  if (whole >= 3600) return std::to_string(whole / 3600) + " h " + two(whole / 60 % 60) + " min";
  if (whole >= 60) return std::to_string(whole / 60) + " min " + two(whole % 60) + " s";
  return std::to_string(whole) + " s";
}

std::string estimate_text(const Estimate& estimate) {
  std::string text = signed_fixed(estimate.delta_pct, 2) + " %";
  if (estimate.interval) {
    text +=
        " [" + signed_fixed(estimate.low_pct, 2) + ", " + signed_fixed(estimate.high_pct, 2) + "]";
  }
  return text;
}

Progress::Progress(std::size_t total, bool terminal) : total_(total), terminal_(terminal) {}

Progress::~Progress() { clear(); }

void Progress::begin_run(const std::string& cell, const std::string& arm, unsigned block,
                         unsigned blocks) {
  where_ = cell + " " + std::to_string(block + 1) + "/" + std::to_string(blocks) + " " + arm;
  draw();
}

void Progress::end_run(double seconds) {
  ++done_;
  ++measured_;
  seconds_ += seconds;
}

void Progress::end_block(const std::string& summary) {
  if (!terminal_) put("hak: " + summary + "\n");
}

void Progress::say(const std::string& line) {
  clear();
  put(line + "\n");
}

void Progress::draw() {
  if (!terminal_) return;
  const std::size_t filled = total_ == 0 ? 0 : std::min(kBar, kBar * done_ / total_);
  std::string line = "[" + std::string(filled, '#') + std::string(kBar - filled, '.') + "] " +
                     std::to_string(done_) + "/" + std::to_string(total_) + " " + where_;
  if (measured_ > 0 && done_ < total_) {
    const double each = seconds_ / static_cast<double>(measured_);
    line += ", " + duration_text(each * static_cast<double>(total_ - done_)) + " left";
  }
  if (!estimate_.empty()) line += ", " + estimate_;
  const std::size_t width = terminal_width() - 1;
  if (line.size() > width) line.resize(width);
  put("\r\033[K" + line);
  drawn_ = true;
}

void Progress::clear() {
  if (drawn_) put("\r\033[K");
  drawn_ = false;
}

}  // namespace hakmem::harness
