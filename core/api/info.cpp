// hakmem.h, mallinfo and friends, and the report at the end of the process.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/hakmem.h"
#include "boxes/state.hpp"
#include "front/front.hpp"
#include "front/slow.hpp"
#include "observe/report.hpp"
#include "observe/statistics.hpp"
#include "observe/stats.hpp"
#include "os/memory.hpp"
#include "os/process.hpp"
#include "slab/arena.hpp"
#include "slab/direct_map.hpp"

#define HAK_API extern "C" [[gnu::visibility("default")]]

using namespace hakmem;

namespace {

using ReportText = TextBuffer<16 * 1024>;

void write_report_file() {
  ReportText text;
  write_report(text, "exit");
  text.add('\n');
  if (os::append_to_file(sealed.report_path, text.data(), text.size())) return;
  TextBuffer<512> line;
  line.add("hakmem: cannot write the report to ").add(sealed.report_path).add('\n');
  os::say(line);
}

[[gnu::destructor]] void report_at_exit() {
  if (!sealed.ready) return;
  // Asked here, so that the pages of their code stay unloaded (lab.ld).
  if (sealed.stats_format != 0 || sealed.leak_report) statistics_at_exit();
  if (sealed.profile_rate != 0) write_heap_profile();
  if (sealed.report_path != nullptr) write_report_file();
}

hakmem_stats current_stats() {
  hakmem_stats stats;
  hakmem_get_stats(&stats);
  return stats;
}

}  // namespace

HAK_API const char* hakmem_version(void) { return HAKMEM_VERSION; }

HAK_API int hakmem_box_state(const char* env, int64_t* value) {
  ensure_ready();
  const std::size_t i = boxes::find_by_env(env);
  if (i == boxes::kBoxCount) return -1;
  *value = sealed.box_value[i];
  return 0;
}

HAK_API void hakmem_direct_calls(hakmem_calls* calls) {
  ensure_ready();
  *calls = kLab ? hakmem_calls{sealed.entry_malloc, sealed.entry_free} : hakmem_calls{malloc, free};
}

HAK_API size_t hakmem_report(char* buffer, size_t capacity) {
  ensure_ready();
  Text text(buffer, capacity);
  write_report(text, "call");
  return text.size();
}

HAK_API size_t hakmem_statistics(int json, char* buffer, size_t capacity) {
  ensure_ready();
  Text text(buffer, capacity);
  write_statistics(text, json != 0 ? StatsFormat::json : StatsFormat::text, "call");
  return text.size();
}

HAK_API void hakmem_thread_paths(hakmem_paths* out) {
  *out = hakmem_paths{};
  out->system_calls = os::memory_calls;
  if (is_stub(this_front)) return;
  const FrontStats& stats = this_front->stats;
  out->front = this_front->token;
  out->refills = stats.refills + stats.trims;
  out->remote = stats.drains + stats.sends;
  out->slabs = stats.slabs_taken + stats.slabs_returned + stats.adoptions + stats.large_allocs +
               stats.large_frees + stats.resizes;
  out->purges = stats.purges;
}

HAK_API void hakmem_get_stats(hakmem_stats* out) {
  ensure_ready();
  const FrontStats stats = total_stats();
  const ArenaUsage arena = arena_usage();
  const DirectUsage direct = direct_usage();
  *out = hakmem_stats{};
  const LiveTotals live = live_totals(stats);
  out->live_blocks = live.blocks;
  out->live_bytes = live.bytes;
  out->large_allocs = stats.large_allocs;
  out->large_frees = stats.large_frees;
  out->refills = stats.refills;
  out->trims = stats.trims;
  out->drains = stats.drains;
  out->remote_frees = stats.remote_sent;
  out->slabs_taken = stats.slabs_taken;
  out->slabs_returned = stats.slabs_returned;
  out->adoptions = stats.adoptions;
  out->reserved_bytes = arena.reserved_bytes;
  out->committed_bytes = arena.committed_bytes;
  out->arena_bytes = arena.used_bytes;
  out->direct_mappings = direct.mappings;
  out->direct_bytes = direct.bytes;
}

HAK_API struct mallinfo2 mallinfo2(void) {
  const hakmem_stats stats = current_stats();
  struct mallinfo2 info {};
  info.arena = stats.arena_bytes;
  info.hblks = stats.direct_mappings;
  info.hblkhd = stats.direct_bytes;
  info.uordblks = stats.live_bytes;
  const std::uint64_t held = stats.arena_bytes + stats.direct_bytes;
  info.fordblks = held > stats.live_bytes ? held - stats.live_bytes : 0;
  return info;
}

HAK_API struct mallinfo mallinfo(void) {
  const struct mallinfo2 wide = mallinfo2();
  auto narrow = [](std::size_t n) { return static_cast<int>(n < INT32_MAX ? n : INT32_MAX); };
  struct mallinfo info {};
  info.arena = narrow(wide.arena);
  info.hblks = narrow(wide.hblks);
  info.hblkhd = narrow(wide.hblkhd);
  info.uordblks = narrow(wide.uordblks);
  info.fordblks = narrow(wide.fordblks);
  return info;
}

HAK_API void malloc_stats(void) {
  ReportText text;
  ensure_ready();
  write_report(text, "malloc_stats");
  text.add('\n');
  os::say(text);
}

/// The form that glibc documents, with this allocator's totals.
HAK_API int malloc_info(int options, FILE* stream) {
  if (options != 0) return -1;
  const hakmem_stats stats = current_stats();
  return fprintf(stream,
                 "<malloc version=\"hakmem-" HAKMEM_VERSION
                 "\">\n<system type=\"current\" size=\"%zu\"/>\n"
                 "<inuse blocks=\"%zu\" size=\"%zu\"/>\n</malloc>\n",
                 static_cast<std::size_t>(stats.arena_bytes),
                 static_cast<std::size_t>(stats.live_blocks),
                 static_cast<std::size_t>(stats.live_bytes)) < 0
             ? -1
             : 0;
}
