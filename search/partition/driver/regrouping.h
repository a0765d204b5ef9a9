// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/search/partition/choices/search_context.h"

namespace tessera::search::partition::driver {

// Returns the bytes of the tile memory that a subgraph needs by itself, with all its constants;
// nullopt if no program can be made of it. `kept`: boundary tensors on chip, here and below.
std::optional<problem::Bytes> LoadOf(const choices::SearchContext& context,
                                     const plan::Subgraph& subgraph, const std::vector<int>& kept);

// Returns the subgraph with all constants in the tile memory at once, if that is a policy of the
// profile and no engine reads them at home; otherwise the subgraph unchanged.
plan::Subgraph WithResident(const choices::SearchContext& context, const plan::Subgraph& subgraph);

// The subgraphs of a partition, and the tensors that it keeps on chip.
struct Regrouped {
  std::vector<plan::Subgraph> subgraphs;
  std::vector<int> kept;  // ascending
};

// The options of Regroup.
struct Regrouping {
  // A joined subgraph needs at most this much more of the tile memory than any of its parts, and so
  // do joined tiles; nullopt: no subgraphs are joined, and tiles only without any more.
  std::optional<problem::Bytes> growth = std::nullopt;
  int most_operators = std::numeric_limits<int>::max();  // in one group
  bool may_keep = true;  // whether tensors between subgraphs may stay on chip
};

// Cuts subgraphs of a single tile into operators, and joins neighbours that need about the same
// memory, if that takes no time. See regrouping.cc. After context.stop, the remaining subgraphs
// stay as they are.
Regrouped Regroup(const choices::SearchContext& context, const Regrouped& partition,
                  const Regrouping& regrouping);

}  // namespace tessera::search::partition::driver
