// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/memory_lower_bound.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/partition/choices/equal_intervals.h"
#include "tessera/search/partition/choices/search_context.h"

// The costs of tiles, whether they fit or not.
namespace tessera::search::partition::choices {

// The costs of one interval under these policies. Not thread-safe.
class TileConfigCost {
 public:
  // `context` and `stop` must outlive this object. Policies that the encoder refuses are skipped.
  // `holds_back`: serialized tiles are not simulated if the same ones are double-buffered too and
  // provably take no longer. Prices come from equal intervals where the context has any.
  TileConfigCost(const SearchContext& context, graph::Interval interval,
                 std::span<const encoder::program::Policy> policies,
                 encoder::program::TilesMade made, bool holds_back, const base::Stop& stop);

  // Whether the encoder refuses every policy.
  bool IsRefused();

  // Whether shapes were skipped, because a policy makes too many tiles of them to follow, or
  // because of the stop.
  bool LeavesOut() const { return leaves_out_; }

  // Whether some policy makes too many tiles of one of these shapes to follow.
  bool LeavesOutAny(std::span<const graph::tiling::TileShape> shapes);

  // Whether the shape certainly has a price under a policy that recomputes rows.
  bool SurelyHasPrice(const graph::tiling::TileShape& shape);

  // Returns the prices of tiles of these shapes under every policy, by simulation. The shapes must
  // be valid (encoder/program/choices.h). Skips shapes of which a policy makes no tiles, and tiles
  // that provably do not fit. Cost: for each shape a tiling and a simulation of each class of
  // tiles, two or three times if policies differ in more than weights. For tiles that do not fit:
  // the largest need of a tile, without classes.
  std::map<TileConfig, TilePrice> Find(std::span<const graph::tiling::TileShape> shapes);

  // Returns the configurations of the last Find that were not simulated.
  const std::set<TileConfig>& Held() const { return held_; }

 private:
  // A policy, with results in place if possible: these change no cost and need less memory.
  struct Tried {
    encoder::program::Policy policy;
    encoder::program::PolicyTiles tiles;
    encoder::program::RoomLowerBound floor;
    Tried(const SearchContext& context, const encoder::program::Policy& policy,
          encoder::program::PolicyTiles tiles);
  };

  std::vector<std::unique_ptr<Tried>>& Policies();
  bool IsRollingBufferByAnotherName(const Tried& tried) const;
  bool HasRoom(const graph::tiling::TiledSubgraph& tiling, hw_profiles::HaloStorage halo);
  ShapePrices Price(const graph::tiling::TileShape& shape);

  const SearchContext* context_;
  graph::Interval interval_;
  std::vector<encoder::program::Policy> policies_;
  const base::Stop* stop_;
  encoder::program::TilesMade made_;
  encoder::program::SharedTilings tilings_;
  // Set once they are needed. On the heap, because the lower bound of each refers to its tiles.
  std::optional<std::vector<std::unique_ptr<Tried>>> tried_;
  bool holds_back_;
  std::shared_ptr<SharedPrices> shared_;  // nullptr: none
  std::set<TileConfig> held_;
  bool leaves_out_ = false;
};

}  // namespace tessera::search::partition::choices
