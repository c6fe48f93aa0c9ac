#include "harness/hakbench/workloads/builders.hpp"

#include <iterator>

namespace hakbench {

namespace {

struct Builder {
  std::string_view name;
  Steps (*build)(const Plan&);
};

constexpr Builder kBuilders[] = {
    {"random_mixed", build_random_mixed},
    {"larson", build_larson},
    {"phased", build_phased},
    {"remote", build_remote},
    {"producer_consumer", build_producer_consumer},
    {"thread_churn", build_thread_churn},
    {"burst", build_burst},
    {"dist_app", build_dist_app},
    {"large", build_large},
    {"realloc_grow", build_realloc_grow},
    {"aligned", build_aligned},
    {"trace", build_trace},
};

constexpr bool matches_catalogue() {
  if (std::size(kBuilders) != std::size(kCatalogue)) return false;
  for (std::size_t i = 0; i < std::size(kBuilders); ++i) {
    if (kBuilders[i].name != kCatalogue[i].name) return false;
  }
  return true;
}
static_assert(matches_catalogue(), "the catalogue and the builders list the same workloads");

}  // namespace

Steps build_workload(const Plan& plan) {
  return kBuilders[&plan.options.workload() - kCatalogue].build(plan);
}

}  // namespace hakbench
