// The sealed page: everything that is written once at start-up and read by fast paths. It is
// read-only afterwards, so that a stray write cannot turn it, and its lines are never invalidated.
#pragma once

#include <atomic>

#include "base/types.hpp"

namespace hakmem {

struct Slab;

/// What each slice of arena 0 belongs to, in four bytes: owner token (upper 24 bits) and route
/// code.
using Route = std::atomic<std::uint32_t>;

inline constexpr std::size_t kMaxBoxes = 64;

struct alignas(kPageSize) Sealed {
  // First line: all that free() reads.
  std::uintptr_t arena_base;  ///< arena 0; zero before start-up, when arena_slices is zero too
  std::size_t arena_slices;   ///< so that no pointer is inside
  Route* routes;
  Slab* records;
  std::uint64_t free_mark;  ///< second word of every free block; secret of the process

  /// Entry slots of the lab library (front/entries.hpp); unused in libhakmem.so.
  void* (*entry_malloc)(std::size_t);
  void (*entry_free)(void*);
  void* (*entry_new)(std::size_t);
  const char* variant;  ///< name of the variant that the slots lead to

  std::int64_t box_value[kMaxBoxes];  ///< effective value of each box, by index in boxes.def
  const char* report_path;            ///< HAKMEM_REPORT, or null
  bool strict;                        ///< HAKMEM_STRICT=1
  bool no_oom_report;                 ///< HAKMEM_OOM_REPORT=0
  bool leak_report;                   ///< HAKMEM_LEAK_REPORT=1
  std::uint8_t stats_format;          ///< HAKMEM_STATS: 0 none, 1 text, 2 JSON
  std::uint8_t stats_signal;          ///< HAKMEM_STATS_SIGNAL, or 0
  const char* stats_path;             ///< file of HAKMEM_STATS, or null for stderr
  bool ready;
  const char* profile_path;    ///< HAKMEM_HEAP_PROFILE without its rate, or null
  std::uint64_t profile_rate;  ///< mean bytes from one sample to the next; 0: no profile

  /// Sizes below it are small, and need no more than a block of their class. 0 before start-up and
  /// while a heap profile is taken: then every call takes the long way.
  std::size_t plain_sizes;
  std::uint64_t link_key;  ///< hardened build: links of free lists are stored with it; 0: plain
};

static_assert(sizeof(Sealed) == kPageSize);
static_assert(offsetof(Sealed, box_value) == 72, "boxes/compliance.py looks for reads of it");

[[gnu::visibility("hidden")]] extern Sealed sealed;

}  // namespace hakmem
