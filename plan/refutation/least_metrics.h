#pragma once

#include <vector>

#include "tessera/plan/holdings.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::refutation {

// The work and the traffic that no plan can save, in any order, with any cuts, tiles and policies:
// each operator whose whole result reaches an output of the network makes it at least once, each
// constant is read at least once, and each output of the network is written. `plan` states network
// and profile.
Metrics LeastMetrics(const Plan& plan, const std::vector<Users>& users);

// By tensor, whether every plan makes all of it, since all of it reaches an output of the network.
std::vector<char> FindNeededWhole(const graph::Graph& network, const std::vector<Users>& users);

// Whether a metric exceeds its limit by more than sums of doubles in another order may differ.
bool IsBeyond(double value, double limit);

}  // namespace tessera::plan::refutation
