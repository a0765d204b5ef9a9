// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"

// Random programs without addresses, on random machines, for tests of bounds.
namespace tessera::search {

struct Drawn {
  graph::Graph graph;
  hw_profiles::Profile profile;
  std::vector<encoder::program::SubgraphChoice> choices;
  plan::Plan plan;  // without addresses
};

// A network of any kind.
graph::Graph AnyNetwork(base::Random& random);

// Large maps first, and then small ones: the work comes early and the constants late.
graph::Graph RandomPyramid(base::Random& random);

// Operators that only rearrange elements, and a slice of their result: for a box of it they read a
// box with gaps.
graph::Graph RandomRearrangement(base::Random& random);

// The network in random subgraphs, tiles and policies. nullopt where that is no program.
std::optional<Drawn> DrawPlan(base::Random& random, bool is_pyramid, graph::Graph network);

std::string Describe(const Drawn& drawn);

}  // namespace tessera::search
