// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "tessera/encoder/program/program.h"
#include "tessera/plan/plan.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/partition/choices/search_context.h"

namespace tessera::search::partition::driver {

// Bytes of the tile memory that a subgraph needs, with the boundary tensors that pass over it and
// without constants of later subgraphs.
struct Load {
  problem::Bytes peak = 0;
  problem::Bytes after_prologue = 0;  // the peak of the steps after it
  friend bool operator==(const Load&, const Load&) = default;
};

// What changes of a plan ask of subgraphs many times, computed once for each subgraph and the kept
// tensors that it touches or that pass over it. Prefetches have no effect. Not thread-safe.
class SubgraphTable {
 public:
  // The tiles of a subgraph, and their costs.
  struct Costing {
    encoder::program::Policy policy;
    graph::tiling::TiledSubgraph tiling;
    std::optional<cost::ClassCosts> costs;  // refer to the tiling
  };

  class Entry {
   public:
    // Returns nullopt if no program can be made of the subgraph.
    const std::optional<Load>& FindLoad();
    const Costing& FindCosting();
    const cost::MovedConstants& FindConstants();
    plan::Metrics PriceOf(const cost::Prefetches& prefetches, cost::Detail detail);

   private:
    friend class SubgraphTable;
    Entry(const choices::SearchContext& context, const plan::Subgraph& subgraph,
          const std::vector<int>& kept);

    const choices::SearchContext* context_;
    encoder::program::SubgraphChoice choice_;
    std::optional<std::optional<Load>> load_;
    std::optional<Costing> costing_;
    std::optional<cost::MovedConstants> constants_;
  };

  // The context must outlive this object.
  explicit SubgraphTable(const choices::SearchContext& context) : context_(context) {}

  // Returns the entry of a subgraph; `kept`: boundary tensors on chip. It stays valid.
  Entry& Of(const plan::Subgraph& subgraph, const std::vector<int>& kept);

  const choices::SearchContext& Context() const { return context_; }

 private:
  struct Key {
    int first = 0;
    int last = 0;
    std::vector<int64_t> tile;
    hw_profiles::WeightPolicy weights = hw_profiles::WeightPolicy::kResident;
    hw_profiles::HaloStorage halo = hw_profiles::HaloStorage::kRecompute;
    int64_t k_extent = 0;
    int second_stage = 0;
    bool in_place = false;
    bool serialized = false;
    std::vector<int> kept;

    auto Members() const {
      return std::tie(first, last, tile, weights, halo, k_extent, second_stage, in_place,
                      serialized, kept);
    }
    friend bool operator<(const Key& a, const Key& b) { return a.Members() < b.Members(); }
  };

  const choices::SearchContext& context_;
  std::map<Key, Entry> entries_;
};

}  // namespace tessera::search::partition::driver
