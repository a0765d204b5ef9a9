// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/problem.h"
#include "tessera/search/cost/objective.h"

namespace tessera::search::partition::choices {

// The properties of an interval's execution that determine its costs. Results in place do not.
struct TileConfig {
  graph::tiling::TileShape tile;
  hw_profiles::WeightPolicy weights = hw_profiles::WeightPolicy::kResident;
  hw_profiles::HaloStorage halo = hw_profiles::HaloStorage::kRecompute;
  int64_t k_extent = 0;  // encoder::Policy::k_extent
  bool serialized = false;

  TileConfig() = default;
  TileConfig(graph::tiling::TileShape shape, const encoder::program::Policy& policy)
      : tile(std::move(shape)),
        weights(policy.weights),
        halo(policy.halo),
        k_extent(policy.k_extent),
        serialized(policy.serialized) {}

  TileConfig DoubleBuffered() const {
    TileConfig config = *this;
    config.serialized = false;
    return config;
  }

  friend bool operator==(const TileConfig&, const TileConfig&) = default;
  friend bool operator<(const TileConfig& a, const TileConfig& b) {
    return std::tie(a.tile, a.weights, a.halo, a.k_extent, a.serialized) <
           std::tie(b.tile, b.weights, b.halo, b.k_extent, b.serialized);
  }
};

// The cost of an interval in one configuration, whether it fits or not.
struct TilePrice {
  cost::Cost cost;
  problem::Bytes peak_bytes = 0;  // a lower bound (encoder/program/memory_lower_bound.h)
};

// The configurations of one tile shape.
struct ShapePrices {
  std::vector<std::pair<TileConfig, TilePrice>> priced;
  // Serialized configurations without a price: the same tiles have a price double-buffered, and are
  // not slower.
  std::vector<TileConfig> held;
  bool leaves_out = false;  // some policy makes too many tiles of the shape to follow
};

// Networks repeat: the layers of a transformer, the blocks of a residual network. Tiles of equal
// intervals have equal costs, so they are priced once.
//
//     layer 1    .. [ norm  q  k  v  attention  add ] ..     one of them is priced,
//     layer 2    .. [ norm  q  k  v  attention  add ] ..     the other takes its prices
//
// An interval is described by a sequence of numbers: its operators, the tensors that these touch,
// the producers and consumers of these tensors inside and outside, and the policies. Operators and
// tensors that are equal except for names have the same number. Tensors are numbered in ascending
// order of their indices. So a computation that depends only on the network, the profile, the
// interval and the policies, and reads tensors in ascending order, has the same result for two
// intervals with equal descriptions, to the last bit. Descriptions are compared as a whole.
//
// What cannot change a price is left out, so that layers are equal although they have different
// places in the network: tensors that only lie in the tile memory meanwhile, such as the caches of
// other layers, are a set. So are the consumers outside; whether one of them follows only counts
// where the tensor may stay in the tile memory.

// The number of configurations and of bounds of shapes that all intervals together may still keep.
// Bounds leave the second half to configurations, which take longer to find.
struct PriceRoom {
  explicit PriceRoom(int64_t most) : left(most), for_prices(most / 2) {}

  bool Take(int64_t size) { return left.fetch_sub(size) >= size; }
  bool TakeForBound() { return left.load() > for_prices && Take(1); }

  std::atomic<int64_t> left;
  const int64_t for_prices;
};

// The prices of all intervals with one description, and lower bounds of these
// (cost/shape_bounds.h). Results are stored unless a stop was requested or there is no room. Other
// callers wait for a result. Thread-safe.
class SharedPrices {
 public:
  explicit SharedPrices(std::shared_ptr<PriceRoom> room) : room_(std::move(room)) {}

  // Returns the prices of this tile shape: the known ones, or those of `price`.
  ShapePrices Find(const graph::tiling::TileShape& shape, const std::function<ShapePrices()>& price,
                   const base::Stop& stop);

  // Returns a lower bound of the scores of this tile shape: the known one, or that of `bound`.
  // `floor` contains the bounds for every shape that it starts from.
  double FindBound(const graph::tiling::TileShape& shape, const cost::Tie& floor,
                   const std::function<double()>& bound, const base::Stop& stop);

  // Return whether bounds of shapes are of use, and whether the encoder refuses every policy, from
  // the function if it is not known.
  bool HasBounds(const std::function<bool()>& are_of_use, const base::Stop& stop) {
    return FindOnce(has_bounds_, are_of_use, stop);
  }
  bool IsRefused(const std::function<bool()>& is_refused, const base::Stop& stop) {
    return FindOnce(is_refused_, is_refused, stop);
  }

 private:
  using Bounds = std::map<graph::tiling::TileShape, double>;

  bool FindOnce(std::optional<bool>& known, const std::function<bool()>& find,
                const base::Stop& stop);

  std::shared_ptr<PriceRoom> room_;
  std::mutex mutex_;
  std::map<graph::tiling::TileShape, ShapePrices> known_;
  std::vector<std::pair<cost::Tie, Bounds>> bounds_;  // by floor; there is rarely more than one
  std::optional<bool> has_bounds_;
  std::optional<bool> is_refused_;
};

// The prices that the orders of one network, and networks rewritten from it, share during one
// search. Profile, objective and limits must be the same for all users. Searches of several
// networks may share a store if their costs do not depend on the network. Thread-safe.
class PriceStore {
 public:
  // About 120 MB of prices.
  static constexpr int64_t kMostConfigurations = 400'000;

  // The searches that share the prices. If it is one, only intervals whose operators all occur more
  // than once can occur again.
  enum class Sharing : uint8_t { kOneSearch, kManySearches };

  explicit PriceStore(int64_t most = kMostConfigurations, Sharing sharing = Sharing::kOneSearch)
      : room_(std::make_shared<PriceRoom>(most)), sharing_(sharing) {}

  // Whether there is no room for more prices. With kManySearches, descriptions use room too.
  bool IsFull() const { return room_->left.load() <= 0; }
  Sharing SharedBy() const { return sharing_; }

  // Returns a number for each operator or tensor: equal numbers mean equality except for names and,
  // for operators, operands.
  std::vector<int> NumbersOf(std::span<const graph::Operator> operators);
  std::vector<int> NumbersOf(std::span<const graph::Tensor> tensors);

  std::shared_ptr<SharedPrices> PricesOf(std::vector<int64_t> description);

 private:
  struct Hash {
    size_t operator()(const std::vector<int64_t>& words) const;
  };
  // The distinct parts, and their positions by hash.
  template <typename Part>
  struct Distinct {
    std::vector<Part> parts;
    std::unordered_multimap<size_t, int> positions;
    int NumberOf(Part part, size_t hash);
  };

  std::mutex mutex_;
  Distinct<graph::Operator> operators_;
  Distinct<graph::Tensor> tensors_;
  std::unordered_map<std::vector<int64_t>, std::shared_ptr<SharedPrices>, Hash> prices_;
  std::shared_ptr<PriceRoom> room_;
  Sharing sharing_;
};

// Describes intervals of one network.
class EqualIntervals {
 public:
  // The arguments must outlive this object.
  EqualIntervals(const graph::Graph& graph, std::span<const graph::Usage> usages,
                 const hw_profiles::Profile& profile, PriceStore& store);

  // Returns the prices that the interval shares under these policies; nullptr if it cannot occur
  // again (PriceStore::Sharing), or if its description is too long.
  std::shared_ptr<SharedPrices> PricesOf(graph::Interval interval,
                                         std::span<const encoder::program::Policy> policies,
                                         encoder::program::TilesMade made, bool holds_back) const;

 private:
  class Description;

  const graph::Graph& graph_;
  std::span<const graph::Usage> usages_;
  PriceStore& store_;
  std::vector<int> operators_;            // by operator: its number
  std::vector<int> tensors_;              // by tensor: its number
  std::vector<int> once_;                 // before each operator: how many occur only once
  std::vector<int> at_home_;              // tensors whose home is the tile memory
  std::map<int, std::vector<int>> next_;  // of a state: the tensors that are its next value
};

// Prices that searches of several networks on one profile share. If a network differs from an
// earlier one in one block, the prices of all intervals outside of that block and its neighbours
// are known. Prices depend on the objective and its limits, so each objective has a separate store.
// An objective with several weights has none, because it divides each metric by a bound of the
// network. Thread-safe.
class KeptPrices {
 public:
  explicit KeptPrices(int64_t most_configurations)
      : most_(most_configurations / static_cast<int64_t>(kMostObjectives)) {}

  // Returns the store of this objective; nullptr if its costs depend on the network. A full store
  // is replaced by an empty one. The store stays valid while the caller holds it.
  std::shared_ptr<PriceStore> Of(const plan::Objective& objective);

  void Clear();

 private:
  static constexpr size_t kMostObjectives = 4;
  using Key = std::pair<std::map<std::string, double>, std::map<std::string, double>>;

  const int64_t most_;
  std::mutex mutex_;
  std::list<std::pair<Key, std::shared_ptr<PriceStore>>> stores_;  // used last first
};

}  // namespace tessera::search::partition::choices
