#include "observe/report.hpp"

#include "boxes/state.hpp"
#include "front/entries.hpp"
#include "observe/json.hpp"
#include "observe/stats.hpp"
#include "os/faults.hpp"
#include "os/process.hpp"
#include "slab/arena.hpp"

namespace hakmem {

namespace {

#ifndef HAKMEM_PROFILE
#define HAKMEM_PROFILE "standard"
#endif

#ifdef __clang__
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "gcc " __VERSION__;
#endif

void write_box(Text& out, std::size_t i) {
  const boxes::Box& box = boxes::kBoxes[i].box;
  Object fields(out);
  fields.key("value").add(sealed.box_value[i]);
  fields.key("default").add(box.default_value);
  if (kObserve || *box.counter != '\0') {
    fields.number("uses", total_uses(i));
  } else {
    fields.key("uses").add("null");
  }
}

void write_boxes(Text& out) {
  Object boxes(out);
  for (std::size_t i = 0; i < boxes::kBoxCount; ++i) {
    boxes.key(boxes::kBoxes[i].box.env);
    write_box(out, i);
  }
}

void write_entries(Text& out) {
  Object entries(out);
  for (const char* name : {"malloc", "free", "operator new"}) entries.text(name, sealed.variant);
}

void write_observed(Object& fields, Text& out, const FrontStats& stats) {
  fields.key("mallocs_by_band").add('[');
  for (unsigned band = 0; band < kBandCount; ++band) {
    if (band > 0) out.add(", ");
    out.add(stats.observed_mallocs[band]);
  }
  out.add(']');
  fields.number("fast_frees", stats.observed_frees);
}

void write_stats(Text& out) {
  const FrontStats stats = total_stats();
  const ArenaUsage arena = arena_usage();
  Object fields(out);
  fields.number("refills", stats.refills);
  fields.number("trims", stats.trims);
  fields.number("drains", stats.drains);
  fields.number("remote_frees", stats.remote_sent);
  fields.number("slabs_taken", stats.slabs_taken);
  fields.number("slabs_returned", stats.slabs_returned);
  fields.number("adoptions", stats.adoptions);
  fields.number("large_allocs", stats.large_allocs);
  fields.number("large_frees", stats.large_frees);
  fields.number("arena_bytes", arena.used_bytes);
  fields.number("committed_bytes", arena.committed_bytes);
  if constexpr (kLab) {
    const LabCounts lab = total_lab_counts();
    fields.number("failed_refills", lab.failed_refills);
    fields.number("slot_overflows", lab.slot_overflows);
  }
  if (kObserve) write_observed(fields, out, stats);
}

void write_faults(Text& out) {
  Object faults(out);
  for (std::size_t i = 0; i < os::kCalls; ++i) {
    faults.number(os::kCallNames[i], os::calls_made(static_cast<os::Call>(i)));
  }
  faults.number("failed", os::calls_failed());
}

}  // namespace

void write_report(Text& out, const char* event) {
  Object report(out);
  report.text("hakmem", HAKMEM_VERSION);
  report.text("library", library_name);
  report.text("profile", HAKMEM_PROFILE);
  report.text("compiler", kCompiler);
  report.number("pid", static_cast<std::uint64_t>(os::process_id()));
  report.text("event", event);
  report.text("variant", sealed.variant != nullptr ? sealed.variant : "none");
  report.key("entries");
  write_entries(out);
  report.key("boxes");
  write_boxes(out);
  if (os::kFaults) {
    report.key("faults");
    write_faults(out);
  }
  report.key("stats");
  write_stats(out);
}

}  // namespace hakmem
