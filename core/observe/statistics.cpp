#include "observe/statistics.hpp"

#include <signal.h>

#include "base/sealed.hpp"
#include "front/slow.hpp"
#include "observe/balance.hpp"
#include "observe/json.hpp"
#include "os/process.hpp"
#include "slab/arena.hpp"
#include "slab/direct_map.hpp"

namespace hakmem {

namespace {

struct Named {
  const char* name;
  std::uint64_t value;
};

struct Totals {
  Named items[14];
};

Totals totals_of(const FrontStats& stats) {
  const ArenaUsage arena = arena_usage_unlocked();
  const DirectUsage direct = direct_usage_unlocked();
  return {{{"refills", stats.refills},
           {"trims", stats.trims},
           {"drains", stats.drains},
           {"remote_frees", stats.remote_sent},
           {"slabs_taken", stats.slabs_taken},
           {"slabs_returned", stats.slabs_returned},
           {"adoptions", stats.adoptions},
           {"purged_bytes", arena.purged_bytes},
           {"arena_bytes", arena.used_bytes},
           {"committed_bytes", arena.committed_bytes},
           {"large_live", stats.large_allocs - stats.large_frees},
           {"large_bytes", stats.large_bytes},
           {"direct_mappings", direct.mappings},
           {"direct_bytes", direct.bytes}}};
}

/// Live blocks by the record's bands.
void bands_of(const Balance& balance, std::uint64_t (&live)[kBandCount]) {
  for (unsigned cls = 0; cls < kClassCount; ++cls) {
    live[band_of(usable_of(cls))] += balance.classes[cls].live;
  }
}

void write_json_class(Text& out, unsigned cls, const ClassBalance& one) {
  Object fields(out);
  fields.number("class", cls);
  fields.number("size", usable_of(cls));
  fields.number("allocated", one.allocated);
  fields.number("freed", one.freed);
  fields.number("live", one.live);
  fields.number("cached", one.cached);
  fields.number("waiting", one.waiting);
  fields.key("balanced").add(one.stuck() || one.hoarded() ? "false" : "true");
}

void write_json(Text& out, const char* event, const Balance& balance) {
  Object all(out);
  all.text("hakmem_stats", HAKMEM_VERSION);
  all.number("pid", static_cast<std::uint64_t>(os::process_id()));
  all.text("event", event);
  for (const Named& item : totals_of(total_stats()).items) all.number(item.name, item.value);
  all.number("lost_fronts", balance.lost_fronts);
  all.key("live_by_band").add('[');
  std::uint64_t live[kBandCount]{};
  bands_of(balance, live);
  for (unsigned band = 0; band < kBandCount; ++band) out.add(band > 0 ? ", " : "").add(live[band]);
  out.add(']');
  all.key("classes").add('[');
  bool first = true;
  for (unsigned cls = 0; cls < kClassCount; ++cls) {
    if (balance.classes[cls].allocated == 0) continue;
    if (!first) out.add(", ");
    first = false;
    write_json_class(out, cls, balance.classes[cls]);
  }
  out.add(']');
}

void write_text(Text& out, const char* event, const Balance& balance) {
  out.add("hakmem: statistics at ").add(event).add(" of process ").add(os::process_id()).add('\n');
  for (const Named& item : totals_of(total_stats()).items) {
    out.add("hakmem:   ").add(item.name).add(' ').add(item.value).add('\n');
  }
  out.add("hakmem:   size: allocated, freed, live, cached, waiting\n");
  for (unsigned cls = 0; cls < kClassCount; ++cls) {
    const ClassBalance& one = balance.classes[cls];
    if (one.allocated == 0) continue;
    out.add("hakmem:   ").add(std::uint64_t{usable_of(cls)}).add(": ").add(one.allocated);
    out.add(", ").add(one.freed).add(", ").add(one.live).add(", ").add(one.cached);
    out.add(", ").add(one.waiting).add('\n');
  }
}

/// A class whose freed blocks do not come back: a line each.
void complain_of_stuck(Text& out, const Balance& balance) {
  for (unsigned cls = 0; cls < kClassCount; ++cls) {
    const ClassBalance& one = balance.classes[cls];
    if (!one.stuck() && !one.hoarded()) continue;
    out.add("hakmem: balance: of class ").add(std::uint64_t{usable_of(cls)}).add(", ");
    out.add(one.allocated).add(" blocks were allocated, ").add(one.freed);
    out.add(" came back to their slabs and ");
    if (one.stuck()) {
      out.add(one.waiting).add(" freed ones wait for a thread that does not take them in\n");
    } else {
      out.add(one.cached).add(" freed ones lie in caches that give none back\n");
    }
  }
}

void write_leaks(Text& out, const Balance& balance) {
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  for (unsigned cls = 0; cls < kClassCount; ++cls) {
    const std::uint64_t live = balance.classes[cls].live;
    if (live == 0) continue;
    blocks += live;
    bytes += live * usable_of(cls);
    out.add("hakmem: not freed: ").add(live).add(" blocks of class ");
    out.add(std::uint64_t{usable_of(cls)}).add('\n');
  }
  const FrontStats stats = total_stats();
  const std::uint64_t large = stats.large_allocs - stats.large_frees;
  const std::uint64_t large_bytes = stats.large_bytes + direct_usage_unlocked().bytes;
  if (large > 0) {
    out.add("hakmem: not freed: ").add(large).add(" large blocks, ").add(large_bytes);
    out.add(" bytes\n");
  }
  out.add("hakmem: not freed at exit: ").add(blocks + large).add(" blocks, ");
  out.add(bytes + large_bytes).add(" bytes\n");
}

// One at a time, so that the buffer need not lie on a small stack.
char storage[24 * 1024];
std::atomic<bool> storage_taken;

void put(const char* path, const Text& text) {
  if (path == nullptr) return os::say(text);
  if (os::append_to_file(path, text.data(), text.size())) return;
  TextBuffer<512> line;
  line.add("hakmem: cannot write the statistics to ").add(path).add('\n');
  os::say(line);
}

void put_statistics(const char* event) {
  if (storage_taken.exchange(true)) return;
  Text out(storage, sizeof storage);
  write_statistics(out, static_cast<StatsFormat>(sealed.stats_format), event);
  if (sealed.stats_format == static_cast<std::uint8_t>(StatsFormat::json)) out.add('\n');
  put(sealed.stats_path, out);
  storage_taken = false;
}

void on_signal(int number) {
  if (sealed.stats_format != 0) put_statistics(number == SIGABRT ? "abort" : "signal");
  write_heap_profile();
}

void handle(int number, int flags) {
  struct sigaction now {};
  struct sigaction ours {};
  ours.sa_handler = on_signal;
  ours.sa_flags = flags;
  if (sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) {
    sigaction(number, &ours, nullptr);
  }
}

}  // namespace

void write_statistics(Text& out, StatsFormat format, const char* event) {
  Balance balance;
  take_balance(balance);
  if (format == StatsFormat::json) {
    write_json(out, event, balance);
  } else {
    write_text(out, event, balance);
    complain_of_stuck(out, balance);
  }
}

void statistics_at_exit() {
  if (sealed.stats_format != 0) put_statistics("exit");
  if (!sealed.leak_report) return;
  Balance balance;
  take_balance(balance);
  Text out(storage, sizeof storage);
  write_leaks(out, balance);
  complain_of_stuck(out, balance);
  os::say(out);
}

void watch_signals() {
  // After abort() no destructor runs; the handler returns, and abort() goes on.
  handle(SIGABRT, static_cast<int>(SA_RESETHAND));
  if (sealed.stats_signal != 0) handle(sealed.stats_signal, SA_RESTART);
}

}  // namespace hakmem
