// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"

// Differences between the two derivations of a program. A plan states the results of
// encoder/program and search/cost for a cut, and plan/verify derives them again.
namespace tessera::search {

// The search's plan for these choices, without addresses.
plan::Plan AsPlan(const graph::Graph& graph, const hw_profiles::Profile& profile,
                  const std::vector<encoder::program::SubgraphChoice>& choices,
                  encoder::program::Program program);

// The differences between two costs of a subgraph, except peak and bound_by: a line each. Sums of
// doubles may be rounded differently.
std::string CostDifference(const plan::Metrics& stated, const plan::Metrics& found);

// The entries that plan/verify derives otherwise, a line each; empty if none.
std::string Disagreements(const plan::Plan& plan);

}  // namespace tessera::search
