// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_BOUNDS_H_
#define TESSERA_BOUNDS_H_

#include <tessera/network.h>
#include <tessera/plan.h>
#include <tessera/profile.h>
#include <tessera/result.h>

#include <string>
#include <vector>

// Bounds for all plans of a network, without a search. A sweep over profiles can leave out the
// profiles that are proven to be worse.
namespace tessera {
inline namespace v0 {

// Returns a lower bound of each metric, in the order of Plan::Metrics. No plan for this network and
// profile that keeps the limits of the plan options is below it. Takes milliseconds.
TESSERA_API Result<std::vector<MetricValue>> LowerBounds(
    const Network& network, const Profile& profile, const std::vector<MetricValue>& limits = {});

// Returns one sentence that says why no plan within the limits exists, if that is known without a
// search. An empty text proves nothing. Takes milliseconds.
TESSERA_API Result<std::string> WhyNoPlan(const Network& network, const Profile& profile,
                                          const std::vector<MetricValue>& limits = {});

// Returns whether every plan of the network for `worse` is known to be a plan for `better` too,
// with at most the same value of each of these metrics. Then an optimal value for `better` is a
// lower bound for `worse`, and a network that is infeasible on `better` is infeasible on `worse`.
// Without metrics, only the sets of plans are compared. Plans that prefetch constants are not
// covered.
TESSERA_API Result<bool> IsAtLeastAsGood(const Network& network, const Profile& better,
                                         const Profile& worse,
                                         const std::vector<std::string>& metrics);

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_BOUNDS_H_
