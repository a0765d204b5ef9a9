#include "tessera/search/simulate/ahead.h"

#include <algorithm>

#include "tessera/search/simulate/cycles.h"
#include "tessera/search/simulate/saturating.h"
#include "tessera/search/simulate/traffic.h"

namespace tessera::search {

using hw_profiles::Profile;

Ahead AheadOf(const graph::Graph& graph, const Profile& profile, std::span<const plan::Subgraph> subgraphs,
              size_t number) {
  Ahead ahead{.own = subgraphs[number].prefetch, .next = {}};
  if (number + 1 == subgraphs.size() || !subgraphs[number + 1].prefetch) return ahead;
  const plan::Subgraph& next = subgraphs[number + 1];
  if (PassageOfConstants(profile, next.weights) != Passage::kMoved) return ahead;
  for (const LoadedOnce& constant : ConstantsLoadedOnce(graph, profile, next.interval, next.weights)) {
    auto part = std::find_if(ahead.next.begin(), ahead.next.end(),
                             [&](const Ahead::Part& each) { return each.home == constant.home; });
    if (part == ahead.next.end()) part = ahead.next.insert(part, Ahead::Part{.home = constant.home});
    Accumulate(part->bytes, constant.bytes);
    Accumulate(part->cycles,
               TransferCycles(profile, constant.home, Direction::kRead, OneRun(constant.bytes)));
  }
  return ahead;
}

}  // namespace tessera::search
