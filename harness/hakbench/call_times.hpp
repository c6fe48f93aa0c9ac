// Times of single calls by the path that each one took in the allocator, and the slowest of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "harness/hakbench/latency.hpp"
#include "harness/hakbench/text.hpp"

namespace hakbench {

/// The ways through an allocator, the deepest last: a call that went several counts for the last.
enum class Path : std::uint8_t { fast, refill, remote, slab, system, purge, thread };
inline constexpr std::string_view kPathNames[] = {"fast",   "refill", "remote", "slab",
                                                  "system", "purge",  "thread"};
inline constexpr unsigned kPaths = std::size(kPathNames);

/// struct hakmem_paths of core/api/hakmem.h.
struct PathCounts {
  std::uint64_t front, refills, remote, slabs, purges, system_calls;
};

/// The path of a call, from the counts before and after it.
Path path_between(const PathCounts& before, const PathCounts& after);

using PathReader = void (*)(PathCounts*);
/// hakmem_thread_paths of the library that serves this process; null where there is none.
PathReader find_path_reader();

/// The calling thread's counts; zeros without a reader.
inline PathCounts read_paths(PathReader reader) {
  PathCounts counts{};
  if (reader != nullptr) reader(&counts);
  return counts;
}

struct TimedCall {
  const char* name;  ///< of the function
  std::uint32_t size;
  Path path;
  std::uint64_t ticks;
};

/// Times of one thread's calls, or of several threads' added up. Valid when all bytes are zero.
class CallTimes {
 public:
  static constexpr unsigned kSlowest = 8;

  void add(const TimedCall& call);
  void add(const CallTimes& other);
  void clear();

  const Histogram& all() const { return all_; }
  const Histogram& of(Path path) const { return by_path_[static_cast<unsigned>(path)]; }
  /// The slowest calls, the slowest first.
  std::span<const TimedCall> slowest() const { return {slowest_, kept_}; }

  /// The record's object; without `has_paths` no path is named (docs/design/files.md).
  void write(Text& text, double ns_per_tick, bool has_paths) const;

 private:
  void keep(const TimedCall& call);
  void write_paths(Text& text, double ns_per_tick) const;
  void write_slowest(Text& text, double ns_per_tick, bool has_paths) const;

  Histogram all_;
  Histogram by_path_[kPaths];
  TimedCall slowest_[kSlowest];
  unsigned kept_;
};

}  // namespace hakbench
