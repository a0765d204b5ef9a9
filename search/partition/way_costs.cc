#include "tessera/search/partition/way_costs.h"

#include <memory>
#include <set>
#include <utility>

#include "tessera/encoder/adapt/halo.h"
#include "tessera/encoder/adapt/policy_tiles.h"
#include "tessera/encoder/adapt/room_floor.h"

namespace tessera::search {

std::optional<std::map<Way, plan::Metrics>> FindCosts(const Planning& planning, graph::Interval interval,
                                                      const std::vector<int>& kept,
                                                      std::span<const graph::TileShape> shapes) {
  const std::vector<graph::Usage>& usages = planning.simulator.Usages();
  encoder::SharedTilings tilings(planning.graph, interval);
  const encoder::TileCutter cut = [&tilings](const graph::TileShape& tile, hw_profiles::HaloStorage halo) {
    return tilings.Cut(tile, halo);
  };
  // In place or not; of the two, those in place come first, and ask for less.
  std::set<std::pair<hw_profiles::WeightPolicy, hw_profiles::HaloStorage>> done;
  std::map<Way, plan::Metrics> costs;
  for (const encoder::Policy& policy :
       encoder::PoliciesOf(planning.graph, planning.profile, interval, kept)) {
    if (done.contains({policy.weights, policy.halo})) continue;
    base::Expected<encoder::PolicyTiles> tiles =
        encoder::PolicyTiles::Make(planning.graph, usages, planning.profile, interval, policy);
    if (!tiles) continue;
    done.emplace(policy.weights, policy.halo);
    const encoder::RoomFloor floor(planning.graph, usages, planning.profile, tiles->Uses(), policy.in_place);
    for (const graph::TileShape& shape : shapes) {
      const std::shared_ptr<graph::TiledSubgraph> tiling = tiles->Cut(shape, cut);
      if (tiling == nullptr || floor.Find(*tiling) > planning.Room()) continue;
      costs.emplace(Way{shape, policy.weights, policy.halo}, planning.simulator.Run(*tiling, policy));
    }
  }
  if (done.empty()) return std::nullopt;
  return costs;
}

}  // namespace tessera::search
