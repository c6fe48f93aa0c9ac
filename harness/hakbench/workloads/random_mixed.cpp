// random_mixed: the record's Mixed and SSOT workload.
#include "harness/hakbench/sizes.hpp"
#include "harness/hakbench/visits.hpp"
#include "harness/hakbench/workloads/builders.hpp"

namespace hakbench {

namespace {
template <class M>
using RandomMixed = Visits<M, UniformSizes>;
}

Steps build_random_mixed(const Plan& plan) { return build<RandomMixed>(plan); }

}  // namespace hakbench
