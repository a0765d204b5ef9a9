// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/search/partition/driver/subgraph_table.h"

namespace tessera::search::partition::driver {

// Returns the subgraph with all constants in the tile memory at once, if that is a policy of the
// profile and no engine reads them at home; otherwise the subgraph unchanged.
plan::Subgraph WithResident(const choices::SearchContext& context, const plan::Subgraph& subgraph);

// Returns a part of a subgraph, or more than it, in one tile.
plan::Subgraph InOneTile(const choices::SearchContext& context, const plan::Subgraph& subgraph,
                         graph::Interval interval);

// Cuts and joins sequences: subgraphs of one tile, which run their operators one after another,
// each on whole tensors. `kept`: boundary tensors on chip, ascending.
class Sequences {
 public:
  struct Limits {
    int most_operators = std::numeric_limits<int>::max();  // in one subgraph
    bool may_keep = true;  // whether tensors between subgraphs may stay on chip
  };

  // The table must outlive this object.
  Sequences(SubgraphTable& table, const Limits& limits);

  // Whether transfers of the subgraph overlap with its engines, which are not the host.
  bool MayOverlap(const plan::Subgraph& subgraph) const;
  bool IsSequence(const plan::Subgraph& subgraph) const;

  // Cut cuts a sequence behind operator `last`, and keeps the tensors in between on chip; Join
  // joins two neighbours. Both return nullopt if no program can be made of the result.
  struct Parts {
    plan::Subgraph before;
    plan::Subgraph after;
    std::vector<int> kept;
  };
  std::optional<Parts> Cut(const plan::Subgraph& whole, int last,
                           const std::vector<int>& kept) const;
  struct Joined {
    plan::Subgraph subgraph;
    std::vector<int> kept;
  };
  std::optional<Joined> Join(const plan::Subgraph& first, const plan::Subgraph& second,
                             const std::vector<int>& kept) const;

 private:
  std::optional<std::vector<int>> TensorsBetween(int last, graph::Interval interval,
                                                 const std::vector<int>& kept) const;

  SubgraphTable& table_;
  const choices::SearchContext& context_;
  Limits limits_;
};

}  // namespace tessera::search::partition::driver
