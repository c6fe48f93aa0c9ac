// HAKMEM_HEAP_PROFILE: which call sites the live bytes come from, by sampling.
//
// Every byte handed out is the one that makes its block a sample with the same small chance, 1 in
// `rate`, so a block of n bytes is one with p = 1 - exp(-n / rate), whatever was allocated before.
// A sample stands for 1 / p blocks: the sum over live samples is an unbiased estimate of what is
// live. The file holds the samples as they are; its readers divide by p (`hak heap`, pprof).
//
// Samples lie in slices of their own, so that their frees take the slow path: the fast paths do not
// know of them. To count bytes, mallocs take the slow path too, all of them, but only then
// (Sealed::plain_sizes, Front::no_block).
#include <execinfo.h>
#include <sys/auxv.h>
#include <time.h>

#include "base/lock.hpp"
#include "base/text.hpp"
#include "front/front.hpp"
#include "front/slow.hpp"
#include "os/memory.hpp"
#include "os/process.hpp"

// Where this library, or the program that it is linked into, lies: set by the linker.
extern "C" [[gnu::visibility("hidden")]] const char __ehdr_start[];
extern "C" [[gnu::visibility("hidden")]] const char _end[];

namespace hakmem {

namespace {

constexpr unsigned kSampleBits = 16;
constexpr std::uint32_t kMostSamples = 1U << kSampleBits;  ///< live at once
constexpr int kMostFrames = 24;
constexpr int kOwnFrames = 8;       ///< no more of them lie between the caller and the unwinder
constexpr std::uint32_t kNone = 0;  ///< indices begin at 1

struct Sample {
  const void* block;   ///< null: the entry is free
  std::uint64_t size;  ///< as asked for, but 1 where that was 0
  std::uint32_t next;  ///< in its bucket, or in the list of free entries
  int depth;
  void* frames[kMostFrames];  ///< return addresses, the caller of malloc first
};

struct Table {
  std::uint32_t buckets[kMostSamples];
  Sample samples[kMostSamples];
  std::uint32_t used;          ///< entries ever taken
  std::uint32_t free_entries;  ///< list of those given back
  std::uint64_t dropped;       ///< samples that found the table full
};

/// Null until samples are taken. The rest is read and written under the lock of samples.
std::atomic<Table*> the_table;

Table* table() { return the_table.load(std::memory_order_acquire); }

std::uint32_t& bucket_of(const void* block) {
  const std::uint64_t hash = (address(block) / kPageSize) * 0x9E3779B97F4A7C15ULL;
  return table()->buckets[hash >> (64 - kSampleBits)];
}

/// The next of a front's random numbers (splitmix64). They begin at the front's token, so that a
/// program that does the same gets the same samples.
std::uint32_t draw(Front& front) {
  if (front.sample_draws == 0) front.sample_draws = front.token;
  std::uint64_t z = front.sample_draws += 0x9E3779B97F4A7C15ULL;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ z >> 27) * 0x94D049BB133111EBULL;
  return static_cast<std::uint32_t>((z ^ z >> 31) >> 32);
}

/// Bytes up to and with the next that makes a sample: exponential with the rate as its mean. Von
/// Neumann's way, which compares uniform numbers and needs no logarithm: the first of a falling run
/// of odd length is the fraction, and each run of even length before it adds one.
std::uint64_t next_distance(Front& front) {
  for (std::uint64_t whole = 0;; ++whole) {
    const std::uint32_t first = draw(front);
    bool odd = true;
    for (std::uint32_t last = first, next; (next = draw(front)) < last; last = next) odd = !odd;
    if (odd) return whole * sealed.profile_rate + (sealed.profile_rate * first >> 32) + 1;
  }
}

/// Whether the allocator is part of the program: then frames of both look alike, and all are kept.
bool is_linked_in() {
  const auto headers = static_cast<std::uintptr_t>(getauxval(AT_PHDR));
  return headers >= address(__ehdr_start) && headers < address(_end);
}

bool is_ours(const void* frame) {
  return address(frame) >= address(__ehdr_start) && address(frame) < address(_end);
}

void take_stack(Sample& sample) {
  void* frames[kMostFrames + kOwnFrames];
  const int depth = backtrace(frames, kMostFrames + kOwnFrames);
  int first = 0;
  if (!is_linked_in()) {
    while (first < depth && is_ours(frames[first])) ++first;
  }
  for (int i = first; i < depth && sample.depth < kMostFrames; ++i) {
    sample.frames[sample.depth++] = frames[i];
  }
}

std::uint32_t take_entry(Table& all) {
  const std::uint32_t i = all.free_entries;
  if (i == kNone) return all.used + 1 < kMostSamples ? ++all.used : kNone;
  all.free_entries = all.samples[i].next;
  return i;
}

void insert(const Sample& sample) {
  Table& all = *table();
  Guard guard(lock_of(Rank::samples));
  const std::uint32_t i = take_entry(all);
  if (i == kNone) {
    ++all.dropped;
    return;
  }
  std::uint32_t& bucket = bucket_of(sample.block);
  all.samples[i] = sample;
  all.samples[i].next = bucket;
  bucket = i;
}

/// A file that is written piece by piece beside its place, and renamed when it is whole.
class Output {
 public:
  explicit Output(const char* path) : path_(path) { os::remove_file(path); }
  Text& text() {
    if (text_.size() > kFull) flush();
    return text_;
  }
  void flush() {
    good_ = good_ && os::append_to_file(path_, text_.data(), text_.size());
    text_.clear();
  }
  /// False when something could not be written.
  bool finish(const char* place) {
    flush();
    if (good_ && os::rename_file(path_, place)) return true;
    os::remove_file(path_);
    return false;
  }

 private:
  static constexpr std::size_t kFull = 1024;  ///< a sample's line is shorter than what is left
  const char* path_;
  TextBuffer<2048> text_;
  bool good_ = true;
};

void write_counts(Text& out, std::uint64_t blocks, std::uint64_t bytes) {
  out.add(blocks).add(": ").add(bytes).add(" [").add(blocks).add(": ").add(bytes).add("] @");
}

/// pprof's text form for sampled heaps, of which it knows the rate: a line each sample. Frees are
/// not counted, so both pairs of numbers are those of what is live.
void write_samples(Output& out) {
  const Table& all = *table();
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 1; i <= all.used; ++i) {
    if (all.samples[i].block == nullptr) continue;
    ++blocks;
    bytes += all.samples[i].size;
  }
  write_counts(out.text().add("heap profile: "), blocks, bytes);
  out.text().add(" heap_v2/").add(sealed.profile_rate).add('\n');
  for (std::uint32_t i = 1; i <= all.used; ++i) {
    const Sample& sample = all.samples[i];
    if (sample.block == nullptr) continue;
    write_counts(out.text(), 1, sample.size);
    for (int k = 0; k < sample.depth; ++k) out.text().add(' ').hex(address(sample.frames[k]));
    out.text().add('\n');
  }
}

void write_maps(Output& out) {
  out.text().add("\nMAPPED_LIBRARIES:\n");
  os::read_pieces(
      "/proc/self/maps",
      [](void* to, const char* data, std::size_t size) {
        auto& output = *static_cast<Output*>(to);
        for (std::size_t i = 0; i < size; ++i) output.text().add(data[i]);
      },
      &out);
}

using Path = TextBuffer<256>;

/// FILE.PID, and what `end` adds to it.
void name_file(Path& path, const char* end) {
  path.add(sealed.profile_path).add('.').add(os::process_id()).add(end).add('\0');
}

/// Takes the lock, but does not wait for ever: in a signal's handler the interrupted thread may
/// hold it.
bool patient_lock(Lock& lock) {
  constexpr int kTries = 500;
  constexpr timespec kPause{0, 1'000'000};
  for (int i = 0; i < kTries; ++i) {
    if (lock.try_lock()) return true;
    nanosleep(&kPause, nullptr);
  }
  return false;
}

void complain(const char* what, const Path& path) {
  TextBuffer<384> line;
  line.add("hakmem: cannot write the heap profile to ").add(path.data()).add(what).add('\n');
  os::say(line);
}

}  // namespace

void start_heap_profile() {
  if (sealed.profile_rate == 0) return;
  auto* all = static_cast<Table*>(os::map(align_up(sizeof(Table), kPageSize)));
  if (all == nullptr) return;
  void* frame;
  backtrace(&frame, 1);
  the_table.store(all, std::memory_order_release);
}

bool sample_due(std::size_t size) {
  if (table() == nullptr) return false;
  Front* front = own_front();
  // A thread that has ended, but for a destructor that still allocates, is left out.
  if (front == nullptr || front->takes_sample) return false;
  if (front->bytes_to_sample == 0) front->bytes_to_sample = next_distance(*front);
  const std::uint64_t bytes = size == 0 ? 1 : size;
  if (bytes < front->bytes_to_sample) {
    front->bytes_to_sample -= bytes;
    return false;
  }
  front->bytes_to_sample = next_distance(*front);
  return true;
}

void record_sample(const void* block, std::size_t size) {
  Front* front = this_front;
  front->takes_sample = true;
  Sample sample{};
  sample.block = block;
  sample.size = size == 0 ? 1 : size;
  take_stack(sample);
  front->takes_sample = false;
  insert(sample);
}

void forget_sample(const void* block) {
  Table* all = table();
  if (all == nullptr) return;
  Guard guard(lock_of(Rank::samples));
  std::uint32_t* link = &bucket_of(block);
  while (*link != kNone && all->samples[*link].block != block) link = &all->samples[*link].next;
  const std::uint32_t i = *link;
  if (i == kNone) return;
  *link = all->samples[i].next;
  all->samples[i].block = nullptr;
  all->samples[i].next = all->free_entries;
  all->free_entries = i;
}

void write_heap_profile() {
  if (table() == nullptr) return;
  Path path;
  Path beside;
  name_file(path, "");
  name_file(beside, ".new");
  Lock& lock = lock_of(Rank::samples);
  if (!patient_lock(lock)) return complain(": a thread holds the samples; try again", path);
  Output out(beside.data());
  write_samples(out);
  const std::uint64_t dropped = table()->dropped;
  lock.unlock();
  write_maps(out);
  if (!out.finish(path.data())) return complain("", path);
  if (dropped == 0) return;
  TextBuffer<384> line;
  line.add("hakmem: ").add(path.data()).add(" lacks ").add(dropped);
  line.add(" samples: more were live than fit; give HAKMEM_HEAP_PROFILE more bytes a sample\n");
  os::say(line);
}

}  // namespace hakmem
