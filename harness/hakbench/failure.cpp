#include "harness/hakbench/failure.hpp"

#include <unistd.h>

#include "harness/hakbench/block.hpp"
#include "harness/hakbench/text.hpp"

namespace hakbench {

namespace {

std::string_view workload_name = "?";

Text& begin(Text& text) { return text << "hakbench: " << workload_name << ": "; }

// _exit: after a broken block the allocator's own exit handlers could crash or hang.
[[noreturn]] void end(Text& text, ExitCode code) {
  text << '\n';
  text.flush();
  _exit(code);
}

Text& describe(Text& text, const Block& block) {
  begin(text) << "block 0x";
  text.hex(reinterpret_cast<std::uintptr_t>(block.address)) << " size " << block.size << " tag 0x";
  return text.hex(tag_of(block), 16);
}

}  // namespace

void set_workload_name(std::string_view name) { workload_name = name; }

void fail_block(const Block& block, std::uint64_t offset, std::uint64_t found) {
  Text text(STDERR_FILENO);
  describe(text, block) << ": found 0x";
  text.hex(found, 16) << " at offset " << offset;
  end(text, kExitBroken);
}

void fail_block(const Block& block, std::string_view why) {
  Text text(STDERR_FILENO);
  describe(text, block) << ": " << why;
  end(text, kExitBroken);
}

void fail_checksum(std::uint64_t pass, std::uint64_t found, std::uint64_t expected) {
  Text text(STDERR_FILENO);
  begin(text) << "checksum of pass " << pass << " is ";
  text.hex(found, 16) << ", the warm-up's was ";
  text.hex(expected, 16);
  end(text, kExitBroken);
}

void fail_allocation(std::string_view call, std::size_t size) {
  Text text(STDERR_FILENO);
  begin(text) << call << " of " << size << " bytes failed";
  end(text, kExitAllocation);
}

void fail_system(std::string_view what) {
  Text text(STDERR_FILENO);
  begin(text) << what << " failed";
  end(text, kExitAllocation);
}

}  // namespace hakbench
