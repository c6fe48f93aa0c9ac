// The calls under test. Every workload allocates and frees through Heap, which tags, checks,
// counts, and sums what it finds. A loop keeps a local copy of its Heap, so the counters stay in
// registers.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "harness/hakbench/block.hpp"
#include "harness/hakbench/call_times.hpp"
#include "harness/hakbench/clock.hpp"

namespace hakbench {

/// How a workload's code is built. kInspect adds what --verify and --latency need to every
/// operation; without them the loop does not even test for it.
template <class RngType, bool kInspectAll>
struct Mode {
  using Rng = RngType;
  static constexpr bool kInspect = kInspectAll;
};

/// What a Heap of an inspecting mode does besides.
struct Inspection {
  bool verify = false;
  CallTimes* latency = nullptr;  ///< null: not timed
  PathReader path_reader = nullptr;
  std::uint64_t empty_ticks = 0;
};

template <bool kInspect>
class Heap {
 public:
  /// `thread` goes into the ids, so that blocks of two threads differ.
  Heap(unsigned thread, const Inspection& inspection)
      : next_id_(thread << 24), inspection_(inspection) {}

  std::uint64_t ops() const { return ops_; }
  /// Sum of the tags of all blocks given back.
  std::uint64_t checksum() const { return checksum_; }
  void stop_timing() { inspection_.latency = nullptr; }

  /// malloc. Never returns an empty block.
  [[gnu::always_inline]] Block take(std::uint32_t size) {
    return adopt(timed("malloc", size, [size] { return std::malloc(size); }), size, "malloc");
  }

  /// posix_memalign. Whether the block is aligned is the caller's to check.
  [[gnu::always_inline]] Block take_posix_memalign(std::uint32_t alignment, std::uint32_t size) {
    void* address = timed("posix_memalign", size, [=]() -> void* {
      void* result = nullptr;
      return ::posix_memalign(&result, alignment, size) == 0 ? result : nullptr;
    });
    return adopt(address, size, "posix_memalign");
  }

  /// aligned_alloc; `size` must be a multiple of `alignment`, as C11 asks. Alignment: as above.
  [[gnu::always_inline]] Block take_aligned_alloc(std::uint32_t alignment, std::uint32_t size) {
    void* address =
        timed("aligned_alloc", size, [=] { return std::aligned_alloc(alignment, size); });
    return adopt(address, size, "aligned_alloc");
  }

  /// realloc to a size that is not smaller; what the block held must still be there.
  [[gnu::always_inline]] void grow(Block& block, std::uint32_t size) {
    void* address = timed("realloc", size, [&] { return std::realloc(block.address, size); });
    if (address == nullptr) [[unlikely]] {
      fail_allocation("realloc", size);
    }
    block.address = static_cast<char*>(address);
    check(block);
    checksum_ += tag_of(block);
    block = adopt(address, size, "realloc");
  }

  /// calloc. The two ends must be zero.
  [[gnu::always_inline]] Block take_zeroed(std::uint32_t size) {
    void* address = timed("calloc", size, [size] { return std::calloc(1, size); });
    if (address != nullptr && size >= 8) {
      const char* const bytes = static_cast<const char*>(address);
      if ((load_word(bytes) | load_word(bytes + size - 8)) != 0) [[unlikely]] {
        fail_block(Block{static_cast<char*>(address), size, next_id_}, "not zeroed by calloc");
      }
    }
    return adopt(address, size, "calloc");
  }

  /// realloc to any size but 0; what fits must still be there, which the first word answers for.
  [[gnu::always_inline]] void resize(Block& block, std::uint32_t size) {
    if (size >= block.size) return grow(block, size);
    check(block);
    checksum_ += tag_of(block);
    const std::uint64_t tag = tag_of(block);
    void* address = timed("realloc", size, [&] { return std::realloc(block.address, size); });
    if (address != nullptr && size >= 8 && load_word(static_cast<char*>(address)) != tag)
        [[unlikely]] {
      fail_block(block, "changed by a realloc to a smaller size");
    }
    block = adopt(address, size, "realloc");
  }

  /// free, after a check. Leaves the block empty.
  [[gnu::always_inline]] void give(Block& block) {
    check(block);
    checksum_ += tag_of(block);
    ++ops_;
    timed("free", block.size, [&]() -> void* {
      std::free(block.address);
      return nullptr;
    });
    block.address = nullptr;
  }

 private:
  [[gnu::always_inline]] void check(const Block& block) const {
    check_tag(block);
    if constexpr (kInspect) {
      if (inspection_.verify) check_interior(block);
    }
  }

  [[gnu::always_inline]] Block adopt(void* address, std::uint32_t size, const char* call) {
    if (address == nullptr) [[unlikely]] {
      fail_allocation(call, size);
    }
    const Block block{static_cast<char*>(address), size, next_id_++};
    ++ops_;
    write_tag(block);
    if constexpr (kInspect) {
      if (inspection_.verify) {
        write_interior(block);
        if (!is_aligned(block, size >= 16 ? 16 : size >= 8 ? 8 : 1)) {
          fail_block(block, "misaligned");
        }
      }
    }
    return block;
  }

  /// Times one call in 64, at jittered distances, so that no period of the workload meets it.
  template <class Call>
  [[gnu::always_inline]] void* timed(const char* name, std::uint32_t size, Call call) {
    if constexpr (kInspect) {
      if (inspection_.latency != nullptr && --until_sample_ == 0) {
        const PathCounts paths = read_paths(inspection_.path_reader);
        const std::uint64_t before = ticks_before();
        void* result = call();
        const std::uint64_t ticks = ticks_after() - before;
        const std::uint64_t empty = inspection_.empty_ticks;
        const Path path = path_between(paths, read_paths(inspection_.path_reader));
        inspection_.latency->add({name, size, path, ticks > empty ? ticks - empty : 0});
        until_sample_ = 32 + static_cast<std::uint32_t>((before >> 1) & 63);
        return result;
      }
    }
    return call();
  }

  std::uint32_t next_id_;
  std::uint32_t until_sample_ = 64;
  std::uint64_t ops_ = 0;
  std::uint64_t checksum_ = 0;
  Inspection inspection_;
};

}  // namespace hakbench
