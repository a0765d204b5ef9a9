#pragma once

#include <string>
#include <vector>

#include "tessera/encoder/adapt/choice.h"
#include "tessera/encoder/adapt/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"

// Where the two derivations of a program differ: what encoder/adapt and search/simulate say of a cut is written down as a plan, and
// plan/ derives it anew.
namespace tessera::search {

// What the search would say of these choices, but for addresses.
plan::Plan AsPlan(const graph::Graph& graph, const hw_profiles::Profile& profile,
                  const std::vector<encoder::SubgraphChoice>& choices, encoder::Program program);

// Whatever plan/ derives otherwise, a line each; empty if nothing.
std::string Disagreements(const plan::Plan& plan);

}  // namespace tessera::search
