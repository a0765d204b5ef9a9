// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/search/partition/driver/sequences.h"

namespace tessera::search::partition::driver {

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
  Sequences::Limits limits = {};
};

// Cuts subgraphs of a single tile into operators, and joins neighbours that need about the same
// memory, if that takes no time. See regrouping.cc. After a stop of the table's context, the
// remaining subgraphs stay as they are.
Regrouped Regroup(SubgraphTable& table, const Regrouped& partition, const Regrouping& regrouping);

}  // namespace tessera::search::partition::driver
