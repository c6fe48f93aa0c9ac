#include "harness/hakbench/trace_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "harness/hakbench/failure.hpp"
#include "harness/hakbench/memory.hpp"
#include "harness/hakbench/text.hpp"
#include "harness/trace/format.hpp"

namespace hakbench {

namespace {

using hakmem::trace::Header;
using hakmem::trace::Kind;

[[noreturn]] void refuse(const char* file, std::string_view why) {
  Text text(STDERR_FILENO);
  text << "hakbench: " << file << ": " << why << '\n';
  text.flush();
  _exit(kExitUsage);
}

struct Mapped {
  Header header;
  const unsigned char* payload;
};

Mapped map_trace(const char* file) {
  const int fd = open(file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) refuse(file, "cannot be opened");
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) refuse(file, "is not a file");
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes < sizeof(Header)) refuse(file, "is not a trace, or is cut within its header");
  void* const room = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (room == MAP_FAILED) fail_system("mmap of a trace");
  Mapped mapped{{}, static_cast<const unsigned char*>(room) + sizeof(Header)};
  std::memcpy(&mapped.header, room, sizeof(Header));
  const Header& header = mapped.header;
  if (std::memcmp(header.magic, hakmem::trace::kMagic, sizeof header.magic) != 0) {
    refuse(file, "is not a trace (hak record writes one)");
  }
  if (header.version != hakmem::trace::kVersion) {
    refuse(file, "is of another version of the format: record it again");
  }
  if (header.payload_bytes != bytes - sizeof(Header))
    refuse(file, "is cut, or longer than it says");
  if (hakmem::trace::fnv1a(mapped.payload, header.payload_bytes) != header.payload_hash) {
    refuse(file, "is damaged: its content does not have the hash that it names");
  }
  const bool fits = header.threads != 0 && header.threads <= hakmem::trace::kMostThreads &&
                    header.slots <= hakmem::trace::kMostSlots && header.events != 0 &&
                    header.events <= header.payload_bytes;
  if (!fits) refuse(file, "has impossible counts in its header");
  return mapped;
}

/// One event of the whole order.
struct Event {
  Kind kind;
  std::uint8_t log2;
  bool published;  ///< another thread waits for it
  std::uint32_t thread;
  std::uint32_t slot;
  std::uint32_t size;
  std::uint64_t before;  ///< 1 + the event of another thread that must be over; 0: none
};

class Decoder {
 public:
  Decoder(const char* file, const Mapped& mapped, unsigned threads)
      : file_(file),
        header_(mapped.header),
        at_(mapped.payload),
        end_(mapped.payload + mapped.header.payload_bytes),
        threads_(threads),
        events_(map_array<Event>(header_.events)),
        last_(map_array<std::uint64_t>(header_.slots + 1)),
        live_(map_array<bool>(header_.slots + 1)),
        next_free_(map_array<std::uint32_t>(header_.slots + 1)),
        top_(map_array<std::uint32_t>(header_.threads)) {}

  Event* decode() {
    std::uint64_t count = 0;
    while (at_ != end_) {
      const std::uint64_t first = number();
      const auto kind = static_cast<Kind>(first & 7);
      if (kind == Kind::thread) {
        current_ = within(first >> 3, header_.threads);
      } else {
        if (count == header_.events) refuse(file_, "has more events than its header says");
        one(events_[count], count, kind, first >> 3);
        ++count;
      }
    }
    if (count != header_.events) refuse(file_, "has fewer events than its header says");
    return events_;
  }

 private:
  void one(Event& event, std::uint64_t index, Kind kind, std::uint64_t value) {
    event.kind = kind;
    event.thread = current_ % threads_;
    switch (kind) {
      case Kind::allocate:
      case Kind::zeroed:
        event.size = within(value, std::uint64_t{1} << 31);
        event.slot = take();
        break;
      case Kind::aligned:
        event.log2 = static_cast<std::uint8_t>(within(value, 31));
        event.size = within(number(), std::uint64_t{1} << 31);
        event.slot = take();
        break;
      case Kind::free:
        event.slot = used(value);
        live_[event.slot] = false;
        next_free_[event.slot] = top_[current_];
        top_[current_] = event.slot + 1;
        break;
      case Kind::resize:
        event.slot = used(value);
        event.size = within(number(), std::uint64_t{1} << 31);
        break;
      default:
        refuse(file_, "has an event of no known kind");
    }
    depend(event, index);
  }

  /// On what happened last to the slot, where another thread did it.
  void depend(Event& event, std::uint64_t index) {
    const std::uint64_t before = last_[event.slot];
    if (before != 0 && events_[before - 1].thread != event.thread) {
      event.before = before;
      events_[before - 1].published = true;
    }
    last_[event.slot] = index + 1;
  }

  /// The slot that the thread freed last, else a new one: as the encoder does it.
  std::uint32_t take() {
    std::uint32_t slot;
    if (top_[current_] != 0) {
      slot = top_[current_] - 1;
      top_[current_] = next_free_[slot];
    } else {
      slot = within(handed_out_++, header_.slots);
    }
    live_[slot] = true;
    return slot;
  }

  std::uint32_t used(std::uint64_t value) {
    const std::uint32_t slot = within(value, header_.slots);
    if (!live_[slot]) refuse(file_, "frees a block twice");
    return slot;
  }

  std::uint32_t within(std::uint64_t value, std::uint64_t limit) {
    if (value >= limit) refuse(file_, "holds a number beyond its limit");
    return static_cast<std::uint32_t>(value);
  }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      if (at_ == end_) refuse(file_, "ends within an event");
      const unsigned char byte = *at_++;
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    refuse(file_, "holds a number beyond its limit");
  }

  const char* file_;
  const Header& header_;
  const unsigned char* at_;
  const unsigned char* end_;
  unsigned threads_;
  Event* events_;
  std::uint64_t* last_;  ///< by slot: 1 + the last event
  bool* live_;
  std::uint32_t* next_free_;  ///< by slot: 1 + the free slot below it on its thread's stack
  std::uint32_t* top_;        ///< by recorded thread: 1 + the free slot on top
  std::uint64_t handed_out_ = 0;
  std::uint32_t current_ = 0;
};

TraceStep step(StepKind kind, std::uint32_t place, std::uint32_t amount) {
  return {static_cast<std::uint32_t>(kind) << 28 | place, amount};
}

StepKind kind_of(Kind kind) { return static_cast<StepKind>(kind); }
static_assert(static_cast<int>(StepKind::aligned) == static_cast<int>(Kind::aligned));

/// Distributes the events; with `trace.steps` still null it only counts the steps.
void distribute(Trace& trace, const Event* events, unsigned threads, std::uint64_t* published,
                std::uint64_t* number) {
  for (unsigned thread = 0; thread < threads; ++thread) trace.count[thread] = published[thread] = 0;
  const auto put = [&](std::uint32_t thread, TraceStep what) {
    const std::uint64_t at = trace.count[thread]++;
    if (trace.steps[thread] != nullptr) trace.steps[thread][at] = what;
  };
  for (std::uint64_t i = 0; i < trace.events; ++i) {
    const Event& event = events[i];
    if (event.before != 0) {
      put(event.thread, step(StepKind::wait, events[event.before - 1].thread,
                             static_cast<std::uint32_t>(number[event.before - 1])));
    }
    if (event.kind == Kind::aligned) {
      put(event.thread, step(StepKind::aligned, event.slot, event.log2));
      put(event.thread, step(StepKind::allocate, event.slot, event.size));
    } else {
      put(event.thread, step(kind_of(event.kind), event.slot, event.size));
    }
    if (!event.published) continue;
    number[i] = ++published[event.thread];
    put(event.thread, step(StepKind::publish, 0, static_cast<std::uint32_t>(number[i])));
  }
}

}  // namespace

unsigned recorded_threads(const char* file) {
  const Mapped mapped = map_trace(file);
  return mapped.header.threads;
}

Trace load_trace(const char* file, unsigned threads) {
  const Mapped mapped = map_trace(file);
  const Event* const events = Decoder(file, mapped, threads).decode();
  Trace trace{mapped.header.threads, mapped.header.slots, mapped.header.events,
              map_array<TraceStep*>(threads), map_array<std::uint64_t>(threads)};
  auto* const published = map_array<std::uint64_t>(threads);
  auto* const number = map_array<std::uint64_t>(trace.events);
  distribute(trace, events, threads, published, number);
  for (unsigned thread = 0; thread < threads; ++thread) {
    trace.steps[thread] = map_array<TraceStep>(trace.count[thread] + 1);
  }
  distribute(trace, events, threads, published, number);
  return trace;
}

}  // namespace hakbench
