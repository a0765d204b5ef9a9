#pragma once

#include <string>
#include <vector>

#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"

// Where the two derivations of a program differ: what encoder/adapt and search/simulate say of a
// cut is written down as a plan, and plan/ derives it anew.
namespace tessera::search {

// What the search would say of these choices, but for addresses.
plan::Plan AsPlan(const graph::Graph& graph, const hw_profiles::Profile& profile,
                  const std::vector<encoder::program::SubgraphChoice>& choices,
                  encoder::program::Program program);

// Where two costs of a subgraph differ, peak and bound_by apart: a line each. Sums of doubles may
// be rounded differently.
std::string CostDifference(const plan::Metrics& told, const plan::Metrics& found);

// Whatever plan/ derives otherwise, a line each; empty if nothing.
std::string Disagreements(const plan::Plan& plan);

}  // namespace tessera::search
