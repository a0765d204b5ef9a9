#pragma once

#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "tessera/encoder/adapt/halo.h"
#include "tessera/encoder/adapt/policy_tiles.h"
#include "tessera/encoder/adapt/program.h"
#include "tessera/encoder/adapt/room_floor.h"
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
  int64_t depth = 0;  // encoder::Policy::depth
  friend bool operator<(const Way& a, const Way& b) {
    return std::tie(a.tile, a.weights, a.halo, a.depth) < std::tie(b.tile, b.weights, b.halo, b.depth);
  }
};

// The costs of one interval under these policies. Not safe to use from two threads at once.
class WayCosts {
 public:
  // `planning` and `stop` outlive it. Of the policies those that the encoder refuses are left out.
  WayCosts(const Planning& planning, graph::Interval interval, std::span<const encoder::Policy> policies,
           encoder::TilesMade made, const base::Stop& stop);

  // Whether the encoder refuses every policy.
  bool IsRefused() const { return tried_.empty(); }

  // Whether shapes were left out because a policy makes too many tiles to follow of them, or
  // because of the stop.
  bool LeavesOut() const { return leaves_out_; }

  // Simulates tiles of these shapes, which have no fault (encoder/adapt/choice.h), under every policy. Left out are shapes of which
  // a policy makes no tiles, and tiles that surely have no room; peak_bytes is the floor of the others (encoder/adapt/room_floor.h). Cost: a tiling and a
  // simulation of each class of tiles for each shape, twice or thrice where policies differ in more than weights; where there is no
  // room the most that tiles need, without classes.
  std::map<Way, plan::Metrics> Find(std::span<const graph::TileShape> shapes);

 private:
  // A policy, in place if it may be: that changes no cost, and asks for less room.
  struct Tried {
    encoder::Policy policy;
    encoder::PolicyTiles tiles;
    encoder::RoomFloor floor;
    Tried(const Planning& planning, const encoder::Policy& policy, encoder::PolicyTiles tiles);
  };

  bool IsRingByAnotherName(const Tried& tried) const;
  bool HasRoom(const graph::TiledSubgraph& tiling, hw_profiles::HaloStorage halo);
  void AddCosts(const graph::TileShape& shape, std::map<Way, plan::Metrics>& costs);

  const Planning* planning_;
  const base::Stop* stop_;
  encoder::TilesMade made_;
  encoder::SharedTilings tilings_;
  std::vector<std::unique_ptr<Tried>> tried_;  // the floor refers to the tiles
  bool leaves_out_ = false;
};

}  // namespace tessera::search
