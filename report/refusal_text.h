#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/problem/explanation.h"
#include "tessera/problem/problem.h"
#include "tessera/search/partition/analysis/remedies.h"
#include "tessera/search/partition/partition.h"

// Answers that refuse, as text and as JSON.
namespace tessera::report {

// A Problem that is infeasible within `capacity` bytes of its first memory, and the reason.
struct Collision {
  problem::Problem problem;
  problem::Bytes capacity = 0;
  problem::Explanation explanation;

  std::string Summary() const;
  // All sentences, one per line; all but the first are indented.
  std::string Text(size_t indent) const;
};

// Why `tessera plan` found no plan, and which changes would help.
struct PlanRefusal {
  const graph::Graph& network;
  const search::partition::answer::PartitionResult& result;
  std::optional<Collision> collision;  // of the obstacle's Problem
  std::vector<search::partition::analysis::Remedy> remedies;

  std::string AsText() const;
  std::string AsJson() const;  // docs/reasons.md has the keys
};

// The content of stdout when an answer is refused: the violations as lines of text, or as a JSON
// document.
std::string DescribeRefusal(const std::vector<std::string>& violations, bool as_json);

}  // namespace tessera::report
