#include "harness/blocks.hpp"

#include "harness/system_load.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

double metric(const Json& sample, const char* name) {
  const auto metrics = sample.find("metrics");
  if (metrics == sample.end() || !metrics->is_object()) return 0;
  const auto value = metrics->find(name);
  return value != metrics->end() && value->is_number() ? value->get<double>() : 0;
}

std::string beyond(const Json& sample, const char* name, const char* text, double limit) {
  const double value = metric(sample, name);
  if (value <= limit + tick_share_pct(metric(sample, "wall_s"))) return {};
  return std::string(text) + " " + fixed(value, 1) + " % is above " + fixed(limit, 1) + " % (arm " +
         sample["arm"].get<std::string>() + ")";
}

}  // namespace

std::string machine_cause(const Json& sample, const VoidLimits& limits) {
  if (sample["status"] != "ok") return {};
  std::string steal = beyond(sample, "steal_pct", "steal", limits.steal_pct);
  if (!steal.empty()) return steal;
  return beyond(sample, "foreign_load_pct", "foreign load", limits.foreign_load_pct);
}

BlockState block_state(const std::vector<Json>& samples, const std::string& cell, unsigned block,
                       std::size_t arms, const VoidLimits& limits) {
  struct Attempt {
    std::size_t runs = 0;
    bool failed = false;
    std::string marked, cause;
  };
  std::vector<Attempt> attempts;
  for (const Json& sample : samples) {
    if (sample["cell"] != cell || sample["block"] != block) continue;
    const std::size_t number = sample["attempt"].get<std::size_t>();
    if (number == 0 || number > 100'000) continue;
    if (attempts.size() < number) attempts.resize(number);
    Attempt& attempt = attempts[number - 1];
    ++attempt.runs;
    if (sample["status"] != "ok") attempt.failed = true;
    const auto mark = sample.find("void");
    if (mark != sample.end() && mark->is_string()) attempt.marked = mark->get<std::string>();
    if (attempt.cause.empty()) attempt.cause = machine_cause(sample, limits);
  }
  BlockState state;
  state.attempts = static_cast<unsigned>(attempts.size());
  for (const Attempt& attempt : attempts) {
    if (!attempt.marked.empty() && attempt.marked != kBrokenOff) ++state.machine_voids;
  }
  if (attempts.empty() || !attempts.back().marked.empty()) return state;
  const Attempt& last = attempts.back();
  if (!last.failed && !last.cause.empty()) {
    state.cause = last.cause;
    return state;
  }
  state.complete = last.runs == arms;
  state.failed = state.complete && last.failed;
  state.broken_off = !state.complete;
  return state;
}

}  // namespace hakmem::harness
