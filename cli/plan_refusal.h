#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/cli/reasons.h"
#include "tessera/graph/graph.h"
#include "tessera/search/partition/partition.h"
#include "tessera/search/partition/remedies.h"

namespace tessera::cli {

// Why `tessera plan` has no plan, and what would help.
struct PlanRefusal {
  const graph::Graph& network;
  const search::PartitionResult& result;
  std::optional<Collision> collision;  // of the obstacle's Problem
  std::vector<search::Remedy> remedies;

  std::string AsText() const;
  std::string AsJson() const;  // docs/reasons.md has the keys
};

}  // namespace tessera::cli
