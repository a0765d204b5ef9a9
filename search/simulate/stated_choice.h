#pragma once

#include <vector>

#include "tessera/encoder/adapt/program.h"
#include "tessera/plan/plan.h"

// A subgraph as a plan states it, in the encoder's words.
namespace tessera::search {

// Where these borders are kept on chip.
encoder::Policy PolicyOf(const plan::Subgraph& subgraph, const std::vector<int>& kept);
encoder::SubgraphChoice ChoiceOf(const plan::Subgraph& subgraph, const std::vector<int>& kept);

}  // namespace tessera::search
