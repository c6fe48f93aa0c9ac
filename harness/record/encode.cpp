#include "harness/record/encode.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>
#include <vector>

#include "harness/errors.hpp"
#include "harness/record/raw.hpp"
#include "harness/trace/format.hpp"

namespace hakmem::record {

namespace {

using harness::Exit;
using harness::Failure;
using trace::Kind;

constexpr std::uint64_t kLargest = (std::uint64_t{1} << 31) - 1;

struct Event {
  std::uint64_t order;
  RawKind kind;
  std::uint32_t thread;
  std::uint64_t address;
  std::uint64_t size;
};

std::vector<Event> events_in_order(const std::string& raw) {
  std::vector<Event> events;
  for (std::size_t at = 0; at + kChunkBytes <= raw.size(); at += kChunkBytes) {
    Chunk chunk;
    std::memcpy(&chunk, raw.data() + at, sizeof chunk);
    for (const RawEvent& event : chunk.events) {
      const auto kind = static_cast<RawKind>(event.order_and_kind & 0xFF);
      if (kind == RawKind::none) break;
      events.push_back({event.order_and_kind >> 8, kind, static_cast<std::uint32_t>(chunk.thread),
                        event.address, event.size});
    }
  }
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.order < b.order; });
  return events;
}

class Encoder {
 public:
  Encoded finish(const std::vector<Event>& events) {
    for (const Event& event : events) add(event);
    header_.threads = static_cast<std::uint32_t>(std::max<std::size_t>(threads_.size(), 1));
    if (header_.threads > trace::kMostThreads || header_.slots > trace::kMostSlots) {
      throw Failure(Exit::usage, "the program has more threads or live blocks than a trace holds");
    }
    std::memcpy(header_.magic, trace::kMagic, sizeof header_.magic);
    header_.version = trace::kVersion;
    header_.payload_bytes = payload_.size();
    header_.payload_hash =
        trace::fnv1a(reinterpret_cast<const unsigned char*>(payload_.data()), payload_.size());
    std::string bytes(reinterpret_cast<const char*>(&header_), sizeof header_);
    return {bytes + payload_, header_.events, header_.threads};
  }

 private:
  struct Thread {
    std::uint32_t number;
    std::vector<std::uint64_t> free_slots;
    std::uint64_t resized_slot = 0;
    std::uint64_t resized_address = 0;
    bool resizes = false;
  };

  void add(const Event& event) {
    Thread& thread = thread_of(event.thread);
    switch (event.kind) {
      case RawKind::allocate:
        emit(thread, Kind::allocate, sized(event.size));
        take_slot(thread, event.address);
        break;
      case RawKind::zeroed:
        emit(thread, Kind::zeroed, sized(event.size));
        take_slot(thread, event.address);
        break;
      case RawKind::aligned:
        emit(thread, Kind::aligned, event.size >> 56);
        number(sized(event.size & ~(std::uint64_t{0xFF} << 56)));
        take_slot(thread, event.address);
        break;
      case RawKind::free:
        release(thread, event.address);
        break;
      case RawKind::resize_begin:
        begin_resize(thread, event.address);
        break;
      case RawKind::resize_end:
        end_resize(thread, event);
        break;
      case RawKind::none:
        break;
    }
  }

  void release(Thread& thread, std::uint64_t address) {
    const auto found = slots_.find(address);
    if (found == slots_.end()) {
      ++header_.foreign_frees;
      return;
    }
    emit(thread, Kind::free, found->second);
    thread.free_slots.push_back(found->second);
    slots_.erase(found);
  }

  void begin_resize(Thread& thread, std::uint64_t address) {
    const auto found = slots_.find(address);
    thread.resizes = found != slots_.end();
    if (!thread.resizes) return;
    thread.resized_slot = found->second;
    thread.resized_address = address;
    slots_.erase(found);
  }

  /// A block from before the recording that is resized is new to the replay.
  void end_resize(Thread& thread, const Event& event) {
    const bool known = thread.resizes;
    thread.resizes = false;
    if (event.address == 0) {
      if (known) slots_[thread.resized_address] = thread.resized_slot;
    } else if (known) {
      emit(thread, Kind::resize, thread.resized_slot);
      number(sized(event.size));
      slots_[event.address] = thread.resized_slot;
    } else {
      emit(thread, Kind::allocate, sized(event.size));
      take_slot(thread, event.address);
    }
  }

  void take_slot(Thread& thread, std::uint64_t address) {
    std::uint64_t slot = header_.slots;
    if (thread.free_slots.empty()) {
      ++header_.slots;
    } else {
      slot = thread.free_slots.back();
      thread.free_slots.pop_back();
    }
    slots_[address] = slot;
  }

  Thread& thread_of(std::uint32_t raw) {
    const auto made = threads_.try_emplace(raw);
    if (made.second) made.first->second.number = static_cast<std::uint32_t>(threads_.size() - 1);
    return made.first->second;
  }

  std::uint64_t sized(std::uint64_t size) {
    if (size > kLargest) ++header_.oversized;
    return std::min(size, kLargest);
  }

  void emit(const Thread& thread, Kind kind, std::uint64_t value) {
    if (thread.number != current_) {
      current_ = thread.number;
      number(std::uint64_t{current_} << 3 | static_cast<std::uint64_t>(Kind::thread));
    }
    ++header_.events;
    number(value << 3 | static_cast<std::uint64_t>(kind));
  }

  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) payload_ += static_cast<char>(value | 0x80);
    payload_ += static_cast<char>(value);
  }

  trace::Header header_{};
  std::string payload_;
  std::uint32_t current_ = 0;
  std::map<std::uint32_t, Thread> threads_;
  std::unordered_map<std::uint64_t, std::uint64_t> slots_;  ///< by address
};

}  // namespace

Encoded encode(const std::string& raw) { return Encoder().finish(events_in_order(raw)); }

}  // namespace hakmem::record
