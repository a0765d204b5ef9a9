#include "tessera/encoder/adapt/program.h"

#include <optional>
#include <utility>

#include "tessera/encoder/adapt/by_channel.h"
#include "tessera/encoder/adapt/choice.h"
#include "tessera/encoder/adapt/halo.h"
#include "tessera/encoder/adapt/homes.h"
#include "tessera/encoder/adapt/in_place.h"
#include "tessera/encoder/adapt/residence.h"
#include "tessera/encoder/adapt/skeleton.h"

namespace tessera::encoder {

base::Expected<Program> BuildProgram(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                     std::span<const SubgraphChoice> choices) {
  if (std::optional<base::Diagnostic> fault = FindFault(graph, profile, choices))
    return base::Unexpected(*fault);
  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  const std::vector<int> kept = KeptBy(choices);
  std::vector<SubgraphUses> uses;
  std::vector<graph::TiledSubgraph> tilings;
  std::vector<int64_t> tiles;
  for (const SubgraphChoice& choice : choices) {
    base::Expected<SubgraphUses> found =
        FindUses(graph, usages, profile, choice.interval,
                 {.weights = choice.policy.weights, .kept = kept, .depth = choice.policy.depth});
    if (!found) return base::Unexpected(found.error());
    if (choice.prefetch) {
      if (std::optional<base::Diagnostic> fault = FindNothingToPrefetch(graph, *found))
        return base::Unexpected(*fault);
      found->prefetch = true;
    }
    uses.push_back(*std::move(found));
    tilings.push_back(CutTiles(graph, choice.interval, choice.tile, choice.policy.halo));
    MarkCached(tilings.back(), choice.policy.halo, uses.back());
    if (choice.policy.in_place) MarkByChannel(graph, profile, tilings.back(), uses.back());
    tiles.push_back(tilings.back().tiles);
  }

  Skeleton skeleton = BuildSkeleton(graph, usages, profile, std::move(uses), tiles);
  const base::Expected<std::vector<problem::Bytes>> sizes = SizesOf(graph, profile, skeleton, tilings);
  if (!sizes) return base::Unexpected(sizes.error());
  const bool is_whole = choices.front().interval.first == 0 &&
                        choices.back().interval.last + 1 == static_cast<int>(graph.operators.size());
  if (is_whole) {
    if (std::optional<base::Diagnostic> overflow = FindHomeOverflow(graph, profile, choices))
      return base::Unexpected(*overflow);
  }
  problem::Problem& problem = skeleton.program.problem;
  for (size_t s = 0; s < choices.size(); ++s) {
    if (!choices[s].policy.in_place) continue;
    AddInPlace(graph, profile, skeleton, static_cast<int>(s), tilings[s], *sizes, problem.relations);
  }
  for (size_t i = 0; i < sizes->size(); ++i) problem.buffers[i].size = (*sizes)[i];
  return std::move(skeleton.program);
}

}  // namespace tessera::encoder
