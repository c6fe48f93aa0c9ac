// One builder a workload, each in the file of its name.
#pragma once

#include "harness/hakbench/steps.hpp"

namespace hakbench {

Steps build_random_mixed(const Plan& plan);
Steps build_larson(const Plan& plan);
Steps build_phased(const Plan& plan);
Steps build_remote(const Plan& plan);
Steps build_producer_consumer(const Plan& plan);
Steps build_thread_churn(const Plan& plan);
Steps build_burst(const Plan& plan);
Steps build_dist_app(const Plan& plan);
Steps build_large(const Plan& plan);
Steps build_realloc_grow(const Plan& plan);
Steps build_aligned(const Plan& plan);
Steps build_trace(const Plan& plan);

}  // namespace hakbench
