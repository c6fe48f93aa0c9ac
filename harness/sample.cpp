#include "harness/sample.hpp"

#include <cmath>
#include <sstream>
#include <string_view>

#include "harness/proof.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

constexpr int kFailedCheck = 3;     // exit code of hakbench for a broken block
constexpr int kStrictRefusal = 78;  // of the allocator under HAKMEM_STRICT

struct Verdict {
  std::string status, detail;
};

std::string last_line(const std::string& text) {
  const std::string whole = trim(to_utf8(text));
  const std::string line = whole.substr(whole.rfind('\n') + 1);
  return line.size() > 300 ? to_utf8(line.substr(0, 300)) : line;
}

std::string with_error(const std::string& what, const std::string& error) {
  const std::string line = last_line(error);
  return line.empty() ? what : what + ": " + line;
}

/// Status from how the process ended; "ok" where it ended well.
Verdict from_ending(const Cell& cell, const ProcessResult& result) {
  switch (result.ending) {
    case Ending::timeout:
      return {"timeout", result.detail};
    case Ending::interrupted:
      return {"interrupted", result.detail};
    case Ending::not_started:
    case Ending::lost:
      return {"crash", result.detail};
    case Ending::signalled:
      return {"crash", with_error("killed by signal " + std::to_string(result.signal), result.err)};
    case Ending::exited:
      break;
  }
  if (result.exit_code == 0) return {"ok", ""};
  const std::string what = "exit code " + std::to_string(result.exit_code);
  if (result.exit_code == kStrictRefusal) {
    return {"no_proof", with_error("the allocator refused its settings", result.err)};
  }
  if (result.exit_code == kFailedCheck && !cell.program()) {
    return {"failed_check", with_error(what, result.err)};
  }
  return {"crash", with_error(what, result.err)};
}

double number_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : std::nan("");
}

/// What is wrong with a record for this run, or "".
std::string record_problem(const Json& record, const Cell& cell, std::uint64_t seed) {
  if (record.value("hakbench", Json(nullptr)) != 1) return "the record is of another version";
  if (record.value("workload", Json(nullptr)) != cell.workload) {
    return "the record is of another workload";
  }
  if (record.value("seed", Json(nullptr)) != seed) return "the record is of another seed";
  if (!record.contains("checksum") || !record["checksum"].is_string()) {
    return "the record has no checksum";
  }
  for (const char* const key : {"ops_per_s", "ns_per_op", "seconds"}) {
    const double value = number_in(record, key);
    if (!(std::isfinite(value) && value > 0)) {
      return std::string("the record's ") + key + " is no positive number";
    }
  }
  return {};
}

/// The metrics and missing objects, filled member by member.
class Metrics {
 public:
  void put(const std::string& name, double value) {
    metrics_[name] = std::isfinite(value) ? Json(value) : Json(nullptr);
    if (!std::isfinite(value)) missing_[name] = "not a number";
  }
  void put(const std::string& name, long value) { metrics_[name] = value; }
  void lack(const std::string& name, const std::string& reason) {
    metrics_[name] = nullptr;
    missing_[name] = reason;
  }
  template <typename T>
  void put_or(const std::string& name, const std::optional<T>& value, const std::string& reason) {
    if (value) {
      metrics_[name] = *value;
    } else {
      lack(name, reason);
    }
  }

  Json metrics_ = Json::object(), missing_ = Json::object();
  Json shares_ = Json::object();  ///< of counters that took turns
};

void put_work(const Cell& cell, const ProcessResult& result, const Json& record, Metrics* out) {
  if (record.is_object()) {
    out->put("ops_per_s", number_in(record, "ops_per_s"));
    out->put("ns_per_op", number_in(record, "ns_per_op"));
    const auto latency = record.find("latency_ns");
    if (latency != record.end() && latency->is_object()) {
      out->put("latency_ns.p50", number_in(*latency, "p50"));
      out->put("latency_ns.p99", number_in(*latency, "p99"));
      out->put("latency_ns.p99_9", number_in(*latency, "p99_9"));
    }
  } else if (cell.program() && result.wall_s > 0 && result.ending == Ending::exited) {
    out->put("ops_per_s", 1 / result.wall_s);  // one operation is one run of the program
    out->put("ns_per_op", result.wall_s * 1e9);
  } else {
    out->lack("ops_per_s", "the run has no result");
    out->lack("ns_per_op", "the run has no result");
  }
}

void put_usage(const ProcessResult& result, const Json& record, Metrics* out) {
  if (!result.ended) {
    for (const char* const name : {"wall_s", "user_s", "system_s", "peak_rss_kib"}) {
      out->lack(name, "the process was not reaped");
    }
    return;
  }
  out->put("wall_s", result.wall_s);
  out->put("user_s", result.user_s);
  out->put("system_s", result.system_s);
  out->put("peak_rss_kib", result.peak_rss_kib);
  if (record.is_object() && std::isfinite(number_in(record, "final_rss_kib"))) {
    out->metrics_["final_rss_kib"] = record["final_rss_kib"];
  } else {
    out->lack("final_rss_kib", "the workload does not report it");
  }
  out->put("minor_faults", result.minor_faults);
  out->put("major_faults", result.major_faults);
  out->put("voluntary_switches", result.voluntary_switches);
  out->put("involuntary_switches", result.involuntary_switches);
}

void put_machine(const ProcessResult& result, int cpu, Metrics* out) {
  out->put_or("steal_pct", result.load.steal_pct, "no /proc/stat for these CPUs");
  out->put_or("foreign_load_pct", result.load.foreign_load_pct, "no /proc/stat for these CPUs");
  out->put_or("psi_cpu_pct", result.load.pressure_pct, "no /proc/pressure/cpu");
  out->put_or("cpu_mhz", cpu_mhz(cpu), "no cpufreq in /sys");
  for (const CounterValue& counter : result.counters) {
    out->put_or(counter.name, counter.value, counter.reason);
    if (counter.value && counter.share < 1.0) out->shares_[counter.name] = counter.share;
  }
}

}  // namespace

Json find_record(const std::string& output, std::string* problem) {
  Json found = nullptr;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    Json parsed = Json::parse(line, nullptr, false);
    if (!parsed.is_object() || !parsed.contains("hakbench")) continue;
    if (found.is_object()) {
      *problem = "the output holds two records";
      return nullptr;
    }
    found = std::move(parsed);
  }
  if (!found.is_object()) *problem = "the output holds no record of hakbench";
  return found;
}

Json make_sample(const Arm& arm, const Cell& cell, const Position& position,
                 const std::string& started, const std::vector<int>& cpus,
                 const ProcessResult& result, const std::string& report) {
  Verdict verdict = from_ending(cell, result);
  Json record = nullptr;
  std::string checksum;
  if (verdict.status == "ok" && !cell.program()) {
    std::string problem;
    record = find_record(result.out, &problem);
    if (record.is_object()) problem = record_problem(record, cell, position.seed);
    if (!problem.empty()) {
      verdict = {"bad_output", problem};
      record = nullptr;
    } else {
      checksum = record["checksum"].get<std::string>();
    }
  } else if (verdict.status == "ok") {
    checksum = result.out_sha256.substr(0, 16);
  }
  const Proof proof = prove(arm, cell, result, record, report);
  if (verdict.status == "ok" && !proof.ok()) verdict = {"no_proof", join(proof.problems, "; ")};
  Metrics metrics;
  put_work(cell, result, record, &metrics);
  put_usage(result, record, &metrics);
  put_machine(result, cpus.front(), &metrics);

  Json sample = {{"format", 1},
                 {"cell", cell.name},
                 {"arm", arm.name},
                 {"block", position.block},
                 {"slot", position.slot},
                 {"session", position.session},
                 {"seed", position.seed},
                 {"attempt", position.attempt},
                 {"started", started},
                 {"cpus", cpus},
                 {"status", verdict.status},
                 {"detail", verdict.detail}};
  const bool exited = result.ending == Ending::exited;
  sample["exit_code"] = exited ? Json(result.exit_code) : Json(nullptr);
  sample["signal"] = result.ending == Ending::signalled ? Json(result.signal) : Json(nullptr);
  sample["metrics"] = std::move(metrics.metrics_);
  sample["missing"] = std::move(metrics.missing_);
  if (!metrics.shares_.empty()) sample["counter_shares"] = std::move(metrics.shares_);
  sample["checksum"] = checksum.empty() ? Json(nullptr) : Json(checksum);
  sample["record"] = std::move(record);
  sample["proof"] = proof.json;
  if (result.left_behind > 0) sample["left_behind"] = result.left_behind;
  sample["void"] = nullptr;
  return sample;
}

}  // namespace hakmem::harness
