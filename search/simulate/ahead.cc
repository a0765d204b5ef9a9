#include "tessera/search/simulate/ahead.h"

#include "tessera/search/simulate/cycles.h"
#include "tessera/search/simulate/saturating.h"
#include "tessera/search/simulate/traffic.h"

namespace tessera::search {

using hw_profiles::Profile;

Ahead AheadOf(const graph::Graph& graph, const Profile& profile, std::span<const plan::Subgraph> subgraphs,
              size_t number) {
  Ahead ahead{.own = subgraphs[number].prefetch};
  if (number + 1 == subgraphs.size() || !subgraphs[number + 1].prefetch) return ahead;
  const plan::Subgraph& next = subgraphs[number + 1];
  const Route route = RouteOfConstants(profile, next.weights);
  if (route.passage != Passage::kMoved) return ahead;
  for (const int64_t bytes : ResidentBytes(graph, profile, next.interval, next.weights)) {
    Accumulate(ahead.next_bytes, bytes);
    Accumulate(ahead.next_cycles, TransferCycles(profile, route.home, Direction::kRead, OneRun(bytes)));
  }
  return ahead;
}

}  // namespace tessera::search
