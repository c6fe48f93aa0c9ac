// The workloads of hakbench and their parameters: the one list that the program, its help, and the
// schema check of experiment files read. Needs nothing but the headers below, so `hak` includes it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hakbench {

/// A whole-number parameter, given as `--name value`.
struct Parameter {
  std::string_view name;
  std::uint64_t min;
  std::uint64_t max;
  std::uint64_t fallback;  ///< value where none is given
  std::string_view doc;
  std::string_view words =
      {};  ///< names of the values min, min+1, …: "one|two"; empty: numbers only
};

struct Workload {
  std::string_view name;
  std::string_view doc;
  std::span<const Parameter> parameters;
  std::span<const std::string_view> positional = {};  ///< what arguments without a name stand for
  bool reads_file = false;  ///< its first argument, or --file, names the file that it replays
};

namespace detail {

inline constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 31;
inline constexpr std::uint64_t kMaxOps = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kMaxSlots = std::uint64_t{1} << 26;

constexpr Parameter ops(std::uint64_t fallback) {
  return {"ops", 1, kMaxOps, fallback, "operations of a thread in one pass, about"};
}
constexpr Parameter slots(std::uint64_t fallback) {
  return {"slots", 1, kMaxSlots, fallback, "places for live blocks, per thread"};
}
constexpr Parameter min_size(std::uint64_t fallback) {
  return {"min", 1, kMaxSize, fallback, "smallest size in bytes"};
}
constexpr Parameter max_size(std::uint64_t fallback) {
  return {"max", 1, kMaxSize, fallback, "largest size in bytes"};
}
constexpr Parameter one_size() {
  return {"size", 0, kMaxSize, 0, "one size for every block (sets min and max); 0: min to max"};
}
constexpr Parameter threads(std::uint64_t fallback, std::uint64_t min = 1) {
  return {"threads", min, 256, fallback, "threads"};
}
constexpr Parameter rule(std::uint64_t fallback) {
  return {"rule", 0, 1, fallback, "a visit frees or fills a slot, or does both", "toggle|replace"};
}
constexpr Parameter ring(std::uint64_t fallback) {
  return {"ring", 2, 1u << 20, fallback, "blocks under way between two threads; a power of two"};
}

inline constexpr Parameter kRandomMixed[] = {
    ops(20'000'000), slots(400), min_size(16), max_size(1039), one_size(), rule(0), threads(1)};
inline constexpr std::string_view kRandomMixedPositional[] = {"ops", "slots", "seed"};

inline constexpr Parameter kLarson[] = {
    {"seconds", 0, 86400, 10, "time of the measured region; 0: --min-seconds"},
    min_size(8),
    max_size(128),
    {"chunks", 1, kMaxSlots, 1024, "blocks of a thread's array"},
    {"rounds", 1, 1u << 20, 1, "a generation replaces chunks x rounds blocks"},
    threads(4)};
inline constexpr std::string_view kLarsonPositional[] = {"seconds", "min",  "max",    "chunks",
                                                         "rounds",  "seed", "threads"};

inline constexpr Parameter kPhased[] = {
    ops(10'000'000), slots(50'000),  {"phases", 2, 1024, 8, "growing and falling phases of a pass"},
    min_size(16),    max_size(1039), one_size(),
    threads(1)};

inline constexpr Parameter kRemote[] = {
    ops(5'000'000), slots(400),
    min_size(16),   max_size(1039),
    one_size(),     {"remote", 0, 100, 50, "percentage of frees done by another thread"},
    ring(1024),     threads(2, 2)};

inline constexpr Parameter kProducerConsumer[] = {
    {"items", 1, kMaxOps, 2'000'000, "blocks of a producer in one pass"},
    {"producers", 1, 128, 1, "threads that allocate"},
    {"consumers", 1, 128, 1, "threads that free"},
    min_size(16),
    max_size(1039),
    one_size(),
    ring(1024)};

inline constexpr Parameter kThreadChurn[] = {
    threads(4),
    {"objects", 1, kMaxSlots, 256, "blocks of a thread's life; half of them outlive it"},
    {"rounds", 1, 1u << 20, 500, "threads that follow one another in a pass"},
    min_size(16),
    max_size(1039),
    one_size()};

inline constexpr Parameter kBurst[] = {
    {"objects", 1, kMaxSlots, 100'000, "blocks of a burst"},
    min_size(16),
    max_size(1039),
    one_size(),
    {"idle_ms", 0, 60'000, 20, "pause after a burst, in milliseconds, with a trickle of calls"},
    threads(1)};

inline constexpr Parameter kDistApp[] = {ops(5'000'000), slots(4096), rule(1), threads(1)};

inline constexpr Parameter kLarge[] = {
    ops(5'000),
    slots(16),
    min_size(64 << 10),
    max_size(16 << 20),
    {"grow", 0, 100, 25, "percentage of visits to a live block that grow it by half with realloc"},
    {"touch_kib", 0, 1u << 20, 16, "write one word each so many KiB; 0: only the two ends"},
    threads(1)};

inline constexpr Parameter kReallocGrow[] = {
    ops(500'000),
    slots(64),
    {"vector_max", 64, kMaxSize, 1 << 20, "longest vector in bytes (capacity doubles)"},
    {"string_max", 64, kMaxSize, 4096, "longest string in bytes (grows by 1 to 64)"},
    threads(1)};

inline constexpr Parameter kAligned[] = {
    ops(5'000'000),
    slots(400),
    min_size(16),
    max_size(4096),
    one_size(),
    {"min_align", 16, 1u << 20, 32, "smallest alignment, a power of two"},
    {"max_align", 16, 1u << 20, 4096, "largest alignment, a power of two"},
    {"check", 0, 1, 1,
     "a misaligned block ends the run; 0: it is counted (mimalloc 2.0.9 has some)"},
    threads(1)};

inline constexpr Parameter kTrace[] = {
    {"threads", 0, 256, 0, "threads that share the recorded ones; 0: as many as were recorded"}};

}  // namespace detail

/// Parameters that every workload takes.
inline constexpr Parameter kCommonParameters[] = {
    {"seed", 0, ~std::uint64_t{0}, 42, "seed of all random choices"},
    {"rng", 0, 1, 0, "generator of the random choices", "xoshiro|splitmix"},
    {"verify", 0, 1, 0, "check whole blocks instead of both ends; needs no value"},
    {"latency", 0, 1, 0, "time 1 in 64 operations; needs no value"},
};

inline constexpr Workload kCatalogue[] = {
    {"random_mixed", "visits slots at random: frees a full one, fills an empty one",
     detail::kRandomMixed, detail::kRandomMixedPositional},
    {"larson", "server whose objects are handed from thread to thread", detail::kLarson,
     detail::kLarsonPositional},
    {"phased", "random_mixed with a live set that grows and falls", detail::kPhased},
    {"remote", "random_mixed with frees by other threads", detail::kRemote},
    {"producer_consumer", "blocks flow one way between threads", detail::kProducerConsumer},
    {"thread_churn", "short-lived threads, half of whose blocks outlive them",
     detail::kThreadChurn},
    {"burst", "fill, free all, idle", detail::kBurst},
    {"dist_app", "80 % 16-256, 15 % 257-2048, 5 % 2049-32768 bytes", detail::kDistApp},
    {"large", "64 KiB to 16 MiB, and realloc growth", detail::kLarge},
    {"realloc_grow", "growing vectors and strings", detail::kReallocGrow},
    {"aligned", "posix_memalign and aligned_alloc", detail::kAligned},
    {"trace", "allocations of a real program, recorded by hak record", detail::kTrace, {}, true},
};

/// The workload of that name, or null.
constexpr const Workload* find_workload(std::string_view name) {
  for (const Workload& workload : kCatalogue) {
    if (workload.name == name) return &workload;
  }
  return nullptr;
}

/// The parameter of that name, the common ones included, or null.
constexpr const Parameter* find_parameter(const Workload& workload, std::string_view name) {
  for (const Parameter& parameter : workload.parameters) {
    if (parameter.name == name) return &parameter;
  }
  for (const Parameter& parameter : kCommonParameters) {
    if (parameter.name == name) return &parameter;
  }
  return nullptr;
}

}  // namespace hakbench
