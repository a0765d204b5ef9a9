#pragma once

#include <compare>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/partition/planning.h"

// What tiles cost, whether they have room or not.
namespace tessera::search {

// How an interval runs, as far as costs depend on it: whether results lie in place changes none.
struct Way {
  graph::TileShape tile;
  hw_profiles::WeightPolicy weights = hw_profiles::WeightPolicy::kResident;
  hw_profiles::HaloStorage halo = hw_profiles::HaloStorage::kRecompute;
  friend auto operator<=>(const Way&, const Way&) = default;
};

// Simulates the interval, with these borders kept on chip, in tiles of these shapes, which have no fault (encoder/adapt/choice.h),
// under every policy that the profile allows. nullopt where the encoder refuses all of them. Left out are shapes of which a policy
// makes no tiles, and tiles that surely have no room (encoder/adapt/room_floor.h). peak_bytes is 0. Cost: a tiling and a few
// simulations for each shape.
std::optional<std::map<Way, plan::Metrics>> FindCosts(const Planning& planning, graph::Interval interval,
                                                      const std::vector<int>& kept,
                                                      std::span<const graph::TileShape> shapes);

}  // namespace tessera::search
