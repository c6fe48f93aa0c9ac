// Smaller parts: texts, hashes, ELF notes, environments, CPUs, load, estimates of time.
#include <gtest/gtest.h>

#include "harness/cpus.hpp"
#include "harness/elf_file.hpp"
#include "harness/environment.hpp"
#include "harness/files.hpp"
#include "harness/library.hpp"
#include "harness/machine.hpp"
#include "harness/maps.hpp"
#include "harness/path_names.hpp"
#include "harness/perf_counters.hpp"
#include "harness/progress.hpp"
#include "harness/sha256.hpp"
#include "harness/system_load.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {
namespace {

TEST(PerfCounters, ScaledToTheWholeTime) {
  const CounterValue whole = scaled((1ULL << 60) + 1, 100, 100);
  EXPECT_EQ(whole.value, (1ULL << 60) + 1);  // exact, not through a double
  EXPECT_EQ(whole.share, 1.0);
  const CounterValue quarter = scaled(1000, 100, 25);
  EXPECT_EQ(quarter.value, 4000U);
  EXPECT_EQ(quarter.share, 0.25);
}

TEST(PerfCounters, WhatNeverRanIsNoZero) {
  EXPECT_FALSE(scaled(0, 100, 0).value);
  EXPECT_NE(scaled(0, 100, 0).reason.find("never counted"), std::string::npos);
  EXPECT_FALSE(scaled(0, 0, 0).value);
}

TEST(Text, NearestName) {
  EXPECT_EQ(nearest_name("burts", {"burst", "larson"}), "burst");
  EXPECT_EQ(nearest_name("xyzzy", {"burst", "larson"}), "");
  EXPECT_EQ(nearest_name("x", {}), "");
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Text, NumbersTimesQuotes) {
  EXPECT_EQ(signed_fixed(1.5, 2), "+1.50");
  EXPECT_EQ(signed_fixed(-1.5, 2), "-1.50");
  EXPECT_EQ(iso_time(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(run_name(0), "19700101-000000");
  EXPECT_EQ(shell_quoted("a b'c"), "'a b'\\''c'");
  EXPECT_EQ(shell_quoted("/plain-1"), "/plain-1");
  std::int64_t value = 0;
  EXPECT_TRUE(parse_integer("-12", &value));
  EXPECT_EQ(value, -12);
  for (const char* const bad : {"", "1x", " 1", "99999999999999999999", "0x1"}) {
    EXPECT_FALSE(parse_integer(bad, &value)) << bad;
  }
  EXPECT_EQ(duration_text(12), "12 s");
  EXPECT_EQ(duration_text(190), "3 min 10 s");
  EXPECT_EQ(duration_text(7500), "2 h 05 min");
}

TEST(Text, AnyBytesBecomeValidUtf8) {
  EXPECT_EQ(to_utf8("a\xC3\xA4z"), "a\xC3\xA4z");
  EXPECT_EQ(to_utf8("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(to_utf8("\xC3"), "\xEF\xBF\xBD");
  EXPECT_EQ(to_utf8("\xED\xA0\x80").find('\xED'), std::string::npos);  // a surrogate
}

TEST(PathNames, AreRelativeToTheRepository) {
  Places places;
  places.root = "/srv/x/hakmem";
  places.build = "/srv/x/hakmem/build/standard";
  const PathNames names(places, "/tmp/hak-1");
  EXPECT_EQ(names.text("/srv/x/hakmem/build/a.so"), "build/a.so");
  EXPECT_EQ(names.text("in /srv/x/hakmem: a, /srv/x/hakmem/b"), "in .: a, b");
  EXPECT_EQ(names.text("/srv/x/hakmem2/a /mnt/srv/x/hakmem"), "/srv/x/hakmem2/a /mnt/srv/x/hakmem");
  EXPECT_EQ(names.text("/tmp/hak-1/report.jsonl /tmp/hak-12"), "$TMPDIR/report.jsonl /tmp/hak-12");
  const Json json = {{"/tmp/hak-1", {"/tmp/hak-1", 3, nullptr}}};
  EXPECT_EQ(names.json(json), Json({{"/tmp/hak-1", {"$TMPDIR", 3, nullptr}}}));
  places.build = "/elsewhere/standard";
  EXPECT_EQ(PathNames(places, "").text("/elsewhere/standard/core/a.so"),
            "build/standard/core/a.so");
}

TEST(Machine, DifferencesAreNamedAndWhatWasNotRecordedIsNone) {
  const Json now = machine_identity();
  EXPECT_EQ(machine_difference(now, now), "");
  EXPECT_EQ(machine_difference(Json::object(), now), "");
  Json other = now;
  other["cores"] = 1000;
  EXPECT_NE(machine_difference(other, now).find("cores: 1000 then"), std::string::npos);
  EXPECT_NE(fingerprint(other), fingerprint(now));
}

TEST(Sha256, KnownDigests) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  const std::string text(200, 'x');
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Sha256 hash;
    hash.add(text.substr(0, cut));
    hash.add(text.substr(cut));
    EXPECT_EQ(hash.finish(), sha256(text));
  }
}

TEST(Elf, OwnExecutable) {
  const auto facts = read_elf(read_file("/proc/self/exe").value());
  ASSERT_TRUE(facts.has_value());
  EXPECT_TRUE(facts->dynamic);
  EXPECT_TRUE(facts->interpreter);
  EXPECT_TRUE(facts->wants("malloc") || facts->wants("free"));
}

TEST(Elf, BuildIdOfTheCLibraryIsHexadecimal) {
  MapsSnapshot maps;
  maps.files = mapped_files(read_file("/proc/self/maps").value());
  const std::string libc = maps.libc();
  ASSERT_FALSE(libc.empty());
  const auto facts = read_elf(read_file(libc).value());
  ASSERT_TRUE(facts.has_value());
  EXPECT_TRUE(facts->defines("malloc"));
  EXPECT_EQ(facts->build_id.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(Elf, CutOrDamagedImagesAreNoCrash) {
  const std::string whole = read_file("/proc/self/exe").value();
  for (std::size_t length = 0; length < 4096 && length < whole.size(); ++length) {
    read_elf(std::string_view(whole).substr(0, length));
  }
  EXPECT_FALSE(read_elf("").has_value());
  EXPECT_FALSE(read_elf("#!/bin/sh\n").has_value());
  std::string damaged = whole;
  for (std::size_t at = 16; at < 64; ++at) {
    damaged = whole;
    damaged[at] = '\xFF';
    read_elf(damaged);
  }
}

TEST(Environment, PaddingMakesAllEqual) {
  std::vector<std::vector<std::string>> environments = {
      {"A=1"}, {"A=123456", "B=", "C=xyz"}, {}, {"A=1", "B=2"}};
  pad_environments(&environments);
  for (const auto& environment : environments) {
    EXPECT_EQ(environment_bytes(environment), environment_bytes(environments[0]));
    EXPECT_EQ(environment.size(), environments[0].size());
    EXPECT_TRUE(environment.back().starts_with("HAK_PAD="));
  }
}

TEST(Environment, ArmsCarryTheSameNamesInTheSameSize) {
  Experiment experiment;
  for (const char* const value : {"1", "16", ""}) {
    Arm& arm = experiment.arms.emplace_back();
    arm.library.hakmem = *value != '\0';
    arm.library.path = arm.library.hakmem ? "/x/libhakmem-lab.so" : "/usr/lib/libmimalloc.so.2";
    if (arm.library.hakmem) arm.env["HAKMEM_REFILL_BATCH"] = value;
  }
  const auto environments = arm_environments(experiment, "/tmp/t");
  std::vector<std::string> names[3];
  for (std::size_t i = 0; i < 3; ++i) {
    for (const std::string& line : environments[i]) {
      names[i].push_back(line.substr(0, line.find('=')));
    }
    EXPECT_EQ(environment_bytes(environments[i]), environment_bytes(environments[0]));
  }
  EXPECT_EQ(names[0], names[1]);
  EXPECT_EQ(names[0], names[2]);
  const auto has = [&](std::size_t arm, const std::string& line) {
    const auto& lines = environments[arm];
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  EXPECT_TRUE(has(0, "HAKMEM_REFILL_BATCH=1"));
  EXPECT_TRUE(has(1, "HAKMEM_REFILL_BATCH=16"));
  EXPECT_TRUE(has(0, "HAKMEM_STRICT=1"));
  EXPECT_TRUE(has(0, "LC_ALL=C"));
  EXPECT_TRUE(has(2, "LD_PRELOAD=/usr/lib/libmimalloc.so.2"));
}

std::vector<int> no_siblings(int cpu) { return {cpu}; }
std::vector<int> pairs(int cpu) { return {cpu / 2 * 2, cpu / 2 * 2 + 1}; }

TEST(Cpus, PlanStaysInsideTheAllowedSet) {
  CpuPlan plan = plan_cpus({0, 1}, {}, no_siblings);
  EXPECT_EQ(plan.workload, 1);
  EXPECT_EQ(plan.harness, 0);
  plan = plan_cpus({5}, {}, no_siblings);
  EXPECT_EQ(plan.workload, 5);
  EXPECT_TRUE(plan.shared());
  plan = plan_cpus({0, 1, 2, 3}, {}, pairs);
  EXPECT_EQ(plan.workload, 3);
  EXPECT_LT(plan.harness, 2);  // not on the sibling
  plan = plan_cpus({0, 1, 2, 3}, {1}, no_siblings);
  EXPECT_EQ(plan.workload, 1);
  EXPECT_EQ(plan.for_threads(1), std::vector<int>{1});
  EXPECT_EQ(plan.for_threads(4).size(), 4U);
}

TEST(Cpus, Lists) {
  EXPECT_EQ(parse_cpu_list("0,2-4"), (std::vector<int>{0, 2, 3, 4}));
  EXPECT_TRUE(parse_cpu_list("").empty());
  EXPECT_TRUE(parse_cpu_list("x").empty());
  EXPECT_EQ(cpu_list({0, 3}), "0,3");
}

TEST(Load, DifferencesOfTwoLooks) {
  LoadSnapshot start =
      parse_load("cpu  1 2 3\ncpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 100 0 0 0 0 0 0 10 0 0\n",
                 "some avg10=0.00 total=1000000\n", 100);
  LoadSnapshot end = parse_load("cpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 200 0 20 0 0 0 0 15 0 0\n",
                                "some avg10=0.00 total=1500000\n", 100);
  end.monotonic_s = 2;
  const LoadDuring load = load_between(start, end, {1}, 1.0);
  EXPECT_NEAR(load.foreign_load_pct.value(), 10, 1e-9);  // 1.2 s busy, 1.0 s own, of 2 s
  EXPECT_NEAR(load.steal_pct.value(), 2.5, 1e-9);
  EXPECT_NEAR(load.pressure_pct.value(), 25, 1e-9);
  EXPECT_FALSE(load_between(start, end, {7}, 0).steal_pct.has_value());
}

TEST(Library, AllocatorsAreKnownByFile) {
  EXPECT_EQ(allocator_of("/usr/lib/libjemalloc.so.2"), "jemalloc");
  EXPECT_EQ(allocator_of("libtcmalloc_minimal.so.4"), "tcmalloc");
  EXPECT_EQ(allocator_of("/usr/lib/libc.so.6"), "");
}

}  // namespace
}  // namespace hakmem::harness
