// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/search/partition/choices/search_context.h"

namespace tessera::search::partition::driver {

// Bytes of the tile memory that a subgraph needs by itself, with all its constants; nullopt if no
// program can be made of it. `kept`: boundary tensors on chip, here and below.
std::optional<problem::Bytes> LoadOf(const choices::SearchContext& context,
                                     const plan::Subgraph& subgraph, const std::vector<int>& kept);

// The subgraph with all constants in the tile memory at once, where that is a policy of the
// profile and no engine reads them at home.
plan::Subgraph WithResident(const choices::SearchContext& context, const plan::Subgraph& subgraph);

// The operators of a partition in other subgraphs.
struct Regrouped {
  std::vector<plan::Subgraph> subgraphs;
  std::vector<int> kept;  // ascending
};

// How subgraphs are regrouped.
struct Regrouping {
  // Those of a group need at most this much more of the tile memory together than any of them;
  // nullopt: none are joined.
  std::optional<problem::Bytes> growth = std::nullopt;
  int most_operators = std::numeric_limits<int>::max();  // in one group
  bool may_keep = true;  // whether tensors between subgraphs may stay on chip
};

// Cuts subgraphs of a single tile into operators, and joins neighbours that need about the same
// memory, where that takes no time. See regrouping.cc. After context.stop the rest stays.
Regrouped Regroup(const choices::SearchContext& context, const Regrouped& partition,
                  const Regrouping& regrouping);

}  // namespace tessera::search::partition::driver
