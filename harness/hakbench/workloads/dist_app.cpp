// dist_app: the loop of random_mixed with sizes as applications have them.
#include "harness/hakbench/sizes.hpp"
#include "harness/hakbench/visits.hpp"
#include "harness/hakbench/workloads/builders.hpp"

namespace hakbench {

namespace {
template <class M>
using DistApp = Visits<M, ApplicationSizes>;
}

Steps build_dist_app(const Plan& plan) { return build<DistApp>(plan); }

}  // namespace hakbench
