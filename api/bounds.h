// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_BOUNDS_H_
#define TESSERA_BOUNDS_H_

#include <tessera/network.h>
#include <tessera/plan.h>
#include <tessera/profile.h>
#include <tessera/result.h>

#include <string>
#include <vector>

// Bounds of all plans of a network, without a search for one: for sweeps over profiles,
// which can then leave out what is proven to be worse.
namespace tessera {
inline namespace v0 {

// A lower bound of each metric, in the order of Plan::Metrics. No plan for this network and profile
// is below it, if it keeps the limits of the plan options. Takes milliseconds.
TESSERA_API Result<std::vector<MetricValue>> LowerBounds(
    const Network& network, const Profile& profile, const std::vector<MetricValue>& limits = {});

// Why the network has no plan for this profile that keeps the limits, in a sentence, where that
// follows without a search; empty where it does not, which says nothing. Takes milliseconds.
TESSERA_API Result<std::string> WhyNoPlan(const Network& network, const Profile& profile,
                                          const std::vector<MetricValue>& limits = {});

// Whether it is known that every plan of the network for `worse` is a plan for `better` too, with
// at most the same value of each of these metrics there. Then an optimal value for `better` is a
// lower bound for `worse`, and what is infeasible on `better` is so on `worse`. Without metrics,
// only the plans are compared. Plans that prefetch constants are not covered.
TESSERA_API Result<bool> IsAtLeastAsGood(const Network& network, const Profile& better,
                                         const Profile& worse,
                                         const std::vector<std::string>& metrics);

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_BOUNDS_H_
