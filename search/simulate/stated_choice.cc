#include "tessera/search/simulate/stated_choice.h"

namespace tessera::search {

encoder::Policy PolicyOf(const plan::Subgraph& subgraph, const std::vector<int>& kept) {
  return {.weights = subgraph.weights,
          .in_place = subgraph.in_place,
          .halo = subgraph.halo,
          .kept = kept,
          .depth = subgraph.depth};
}

encoder::SubgraphChoice ChoiceOf(const plan::Subgraph& subgraph, const std::vector<int>& kept) {
  return {subgraph.interval, subgraph.tile, PolicyOf(subgraph, kept), subgraph.prefetch};
}

}  // namespace tessera::search
