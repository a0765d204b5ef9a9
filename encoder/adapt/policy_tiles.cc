#include "tessera/encoder/adapt/policy_tiles.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tessera/encoder/adapt/choice.h"
#include "tessera/encoder/adapt/halo.h"

namespace tessera::encoder {
namespace {

// A sweep of more tiles takes long to follow.
constexpr int64_t kMostSwept = 4096;

bool MakesTooMany(const graph::Shape& output, const graph::TileShape& tile) {
  return graph::ElementsOf(output) / graph::ElementsOf(tile) >= kMostSwept;
}

}  // namespace

base::Expected<PolicyTiles> PolicyTiles::Make(const graph::Graph& graph,
                                              const std::vector<graph::Usage>& usages,
                                              const hw_profiles::Profile& profile, graph::Interval interval,
                                              const Policy& policy, TilesMade made) {
  if (std::optional<base::Diagnostic> fault = FindFault(graph, interval)) return base::Unexpected(*fault);
  base::Expected<SubgraphUses> uses = FindUses(graph, usages, profile, interval, policy);
  if (!uses) return base::Unexpected(uses.error());
  return PolicyTiles(graph, profile, policy.halo, made, *std::move(uses));
}

std::shared_ptr<graph::TiledSubgraph> PolicyTiles::Cut(const graph::TileShape& tile, const TileCutter& cut) {
  const bool caches = halo_ != hw_profiles::HaloStorage::kRecompute;
  if (caches && !MayKeepRows(*profile_, OutputShape(*graph_, uses_.interval), tile)) return nullptr;
  if (LeavesOut(tile)) return nullptr;
  std::shared_ptr<graph::TiledSubgraph> tiling = cut(tile, halo_);
  return tiling != nullptr && Mark(*tiling) ? tiling : nullptr;
}

bool PolicyTiles::LeavesOut(const graph::TileShape& tile) const {
  const graph::Shape& output = OutputShape(*graph_, uses_.interval);
  return halo_ != hw_profiles::HaloStorage::kRecompute && MakesTooMany(output, tile) &&
         MayKeepRows(*profile_, output, tile);
}

bool PolicyTiles::Mark(const graph::TiledSubgraph& tiling) {
  return MarkCached(tiling, halo_, uses_) || halo_ == hw_profiles::HaloStorage::kRecompute ||
         made_ == TilesMade::kAll || DiffersFromRecompute(*graph_, *profile_, uses_, tiling);
}

bool PolicyTiles::AnyCached() const {
  return std::any_of(uses_.tensors.begin(), uses_.tensors.end(),
                     [](const TensorUse& use) { return use.cached; });
}

}  // namespace tessera::encoder
