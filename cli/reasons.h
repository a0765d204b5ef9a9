#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/cli/search_options.h"
#include "tessera/graph/graph.h"
#include "tessera/problem/explanation.h"
#include "tessera/problem/problem.h"
#include "tessera/search/partition/analysis/remedies.h"
#include "tessera/search/partition/partition.h"
#include "tessera/search/reasons/explain.h"

namespace CLI {
class App;
}

namespace tessera::cli {

// A Problem that is infeasible within `capacity` bytes of its first memory, and the reason.
struct Collision {
  problem::Problem problem;
  problem::Bytes capacity = 0;
  problem::Explanation explanation;

  std::string Summary() const;
  std::string Text(
      size_t indent) const;  // all sentences, one per line; all but the first are indented
};

// The explanation of infeasible answers, shared by commands.
class Reasons {
 public:
  void Declare(CLI::App& app);
  bool AreOff() const { return off_; }

  // The conflict of a Problem that is proven infeasible; nullopt if the user wants no reasons.
  // `ladder` may be null; else the problem has the sizes of its candidate `candidate`.
  std::optional<Collision> Find(const problem::Problem& problem, problem::Bytes capacity,
                                const SearchOptions& search, const base::Stop& stop,
                                const problem::Ladder* ladder = nullptr,
                                size_t candidate = 0) const;

  // The same if it is not yet known whether the problem is infeasible; nullopt if that is not
  // proven within the budget.
  std::optional<Collision> FindIfProven(const problem::Problem& problem, problem::Bytes capacity,
                                        const SearchOptions& search, const base::Stop& stop) const;

 private:
  bool off_ = false;
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

}  // namespace tessera::cli
