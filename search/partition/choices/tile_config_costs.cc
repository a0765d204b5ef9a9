// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/choices/tile_config_costs.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace tessera::search::partition::choices {
namespace {

using hw_profiles::HaloStorage;
using hw_profiles::WeightPolicy;

bool ReadWeightsAlike(const encoder::program::Policy& a, const encoder::program::Policy& b) {
  const auto like = [&a, &b](WeightPolicy policy) {
    return (a.weights == policy) == (b.weights == policy);
  };
  return a.k_extent == b.k_extent && like(WeightPolicy::kDirect) && like(WeightPolicy::kSplitK);
}

// Whether tiles cost the same under both policies, apart from costs of the subgraph as a whole.
bool ShareTileCosts(const encoder::program::Policy& a, const encoder::program::Policy& b) {
  return a.halo == b.halo && ReadWeightsAlike(a, b);
}

// Whether the same tiles cost the same under the second policy, except for rows that it copies.
bool OnlyCopiesMore(const encoder::program::Policy& a, const encoder::program::Policy& b) {
  return a.halo == HaloStorage::kRollingBuffer && b.halo == HaloStorage::kLineBuffer &&
         ReadWeightsAlike(a, b);
}

// Whether no engine reads or writes a home. Such accesses may overlap in a serialized step, but not
// under double buffering.
bool MovesEverything(const cost::ClassCosts& costs) {
  return std::all_of(costs.tiles.begin(), costs.tiles.end(), [](const cost::TileCost& tile) {
    return std::all_of(tile.flows.begin(), tile.flows.end(),
                       [](const cost::Flow& flow) { return flow.DirectBytes() == 0; });
  });
}

}  // namespace

TileConfigCost::Tried::Tried(const SearchContext& context, const encoder::program::Policy& its,
                             encoder::program::PolicyTiles made)
    : policy(its),
      tiles(std::move(made)),
      floor(context.graph, context.simulator.Usages(), context.profile, tiles.Uses(),
            its.in_place) {}

TileConfigCost::TileConfigCost(const SearchContext& context, graph::Interval interval,
                               std::span<const encoder::program::Policy> policies,
                               encoder::program::TilesMade made, bool holds_back,
                               const base::Stop& stop)
    : context_(&context),
      interval_(interval),
      policies_(policies.begin(), policies.end()),
      stop_(&stop),
      made_(made),
      tilings_(context.graph, interval, &stop),
      holds_back_(holds_back) {
  if (context.equal_intervals != nullptr)
    shared_ = context.equal_intervals->PricesOf(interval, policies_, made, holds_back);
}

std::vector<std::unique_ptr<TileConfigCost::Tried>>& TileConfigCost::Policies() {
  if (tried_) return *tried_;
  tried_.emplace();
  for (const encoder::program::Policy& policy : policies_) {
    const bool done =
        std::any_of(tried_->begin(), tried_->end(), [&policy](const std::unique_ptr<Tried>& other) {
          encoder::program::Policy alike = other->policy;
          alike.in_place = policy.in_place;
          return alike == policy;
        });
    if (done) continue;  // the policy in place came first
    base::Expected<encoder::program::PolicyTiles> tiles = encoder::program::PolicyTiles::Make(
        context_->graph, context_->simulator.Usages(), context_->profile, interval_, policy, made_);
    if (tiles) tried_->push_back(std::make_unique<Tried>(*context_, policy, *std::move(tiles)));
  }
  std::stable_sort(tried_->begin(), tried_->end(),
                   [](const auto& a, const auto& b) { return a->policy.halo < b->policy.halo; });
  return *tried_;
}

bool TileConfigCost::IsRefused() {
  const auto find = [this] { return Policies().empty(); };
  return shared_ == nullptr ? find() : shared_->IsRefused(find, *stop_);
}

bool TileConfigCost::LeavesOutAny(std::span<const graph::tiling::TileShape> shapes) {
  return std::any_of(Policies().begin(), Policies().end(), [&](const auto& tried) {
    return std::any_of(shapes.begin(), shapes.end(),
                       [&](const auto& shape) { return tried->tiles.LeavesOut(shape); });
  });
}

bool TileConfigCost::SurelyHasPrice(const graph::tiling::TileShape& shape) {
  bool has_room = false;
  Policies();
  tilings_.Cut(shape, HaloStorage::kRecompute, [&](const graph::tiling::TiledSubgraph& tiling) {
    has_room = std::any_of(tried_->begin(), tried_->end(), [&](const auto& tried) {
      return tried->policy.halo == HaloStorage::kRecompute &&
             tried->floor.Find(tiling) <= context_->Room();
    });
    return false;
  });
  tilings_.Forget();
  return has_room;
}

std::map<TileConfig, TilePrice> TileConfigCost::Find(
    std::span<const graph::tiling::TileShape> shapes) {
  std::map<TileConfig, TilePrice> prices;
  held_.clear();
  for (const graph::tiling::TileShape& shape : shapes) {
    const auto price = [&] { return Price(shape); };
    const ShapePrices found = shared_ != nullptr ? shared_->Find(shape, price, *stop_) : price();
    prices.insert(found.priced.begin(), found.priced.end());
    held_.insert(found.held.begin(), found.held.end());
    leaves_out_ = leaves_out_ || found.leaves_out || stop_->Requested();
    if (stop_->Requested()) break;
  }
  return prices;
}

// Whether a policy with a line buffer makes the same program as one with a rolling buffer that is
// tried too, because no tile buffer keeps rows.
bool TileConfigCost::IsRollingBufferByAnotherName(const Tried& tried) const {
  if (tried.policy.halo != HaloStorage::kLineBuffer || made_ == encoder::program::TilesMade::kAll ||
      tried.tiles.AnyCached())
    return false;
  return std::any_of(tried_->begin(), tried_->end(), [&tried](const std::unique_ptr<Tried>& other) {
    return other->policy.halo == HaloStorage::kRollingBuffer &&
           other->policy.weights == tried.policy.weights &&
           other->policy.serialized == tried.policy.serialized;
  });
}

// Whether the tiles may fit under some policy that keeps the same rows.
bool TileConfigCost::HasRoom(const graph::tiling::TiledSubgraph& tiling, HaloStorage halo) {
  return std::any_of(tried_->begin(), tried_->end(), [&](const std::unique_ptr<Tried>& tried) {
    return encoder::program::KeepSameRows(tried->policy.halo, halo) && tried->tiles.Mark(tiling) &&
           tried->floor.Find(tiling) <= context_->Room();
  });
}

ShapePrices TileConfigCost::Price(const graph::tiling::TileShape& shape) {
  ShapePrices prices;
  const encoder::program::TileCutter cut = [this](const graph::tiling::TileShape& tile,
                                                  hw_profiles::HaloStorage halo) {
    return tilings_.Cut(tile, halo, [this, halo](const graph::tiling::TiledSubgraph& tiling) {
      return HasRoom(tiling, halo);
    });
  };
  const Tried* before = nullptr;
  std::shared_ptr<graph::tiling::TiledSubgraph> tiling_before;
  std::optional<cost::ClassCosts> shared;
  for (const std::unique_ptr<Tried>& tried : Policies()) {
    if (stop_->Requested()) return prices;
    const encoder::program::Policy& policy = tried->policy;
    prices.leaves_out = prices.leaves_out || tried->tiles.LeavesOut(shape);
    const std::shared_ptr<graph::tiling::TiledSubgraph> tiling = tried->tiles.Cut(shape, cut);
    if (tiling == nullptr || IsRollingBufferByAnotherName(*tried)) continue;
    const problem::Bytes floor = tried->floor.Find(*tiling);
    if (floor > context_->Room()) continue;
    if (before != nullptr && tiling == tiling_before && OnlyCopiesMore(before->policy, policy)) {
      cost::Simulator::AddCopies(*tiling, *shared);
    } else if (before == nullptr || !ShareTileCosts(before->policy, policy)) {
      shared = context_->simulator.CostsOf(*tiling, policy, stop_);
      if (shared->tiles.size() < tiling->classes.size()) return prices;
    }
    before = tried.get();
    tiling_before = tiling;
    const TileConfig config(shape, policy);
    const auto is_double_buffered = [&config](const auto& other) {
      return other.first == config.DoubleBuffered();
    };
    if (holds_back_ && policy.serialized && tiling->tiles > 1 && MovesEverything(*shared) &&
        std::any_of(prices.priced.begin(), prices.priced.end(), is_double_buffered)) {
      prices.held.push_back(config);
      continue;
    }
    plan::Metrics metrics =
        context_->simulator.Run(*tiling, *shared, policy, cost::Detail::kTotals, {}, stop_);
    if (stop_->Requested()) return prices;
    metrics.peak_bytes = floor;
    prices.priced.emplace_back(config, TilePrice{context_->CostOf(metrics), floor});
  }
  tilings_.Forget();
  return prices;
}

}  // namespace tessera::search::partition::choices
