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

// A Problem that nothing satisfies within `capacity` bytes of its first memory, and why.
struct Collision {
  problem::Problem problem;
  problem::Bytes capacity = 0;
  problem::Explanation explanation;

  std::string Summary() const;
  std::string Text(
      size_t indent) const;  // all its sentences, a line each, all but the first indented
};

// How commands explain infeasible answers.
class Reasons {
 public:
  void Declare(CLI::App& app);
  bool AreOff() const { return off_; }

  // Of a Problem that is proven infeasible; nullopt when the user wants no reasons. A ladder of
  // which the problem has the sizes of candidate `candidate` may be null.
  std::optional<Collision> Find(const problem::Problem& problem, problem::Bytes capacity,
                                const SearchOptions& search, const base::Stop& stop,
                                const problem::Ladder* ladder = nullptr,
                                size_t candidate = 0) const;

  // The same where it has yet to be seen, within the budget, whether the problem is infeasible;
  // nullopt where it is not seen.
  std::optional<Collision> FindIfProven(const problem::Problem& problem, problem::Bytes capacity,
                                        const SearchOptions& search, const base::Stop& stop) const;

 private:
  bool off_ = false;
};

// Why `tessera plan` has no plan, and what would help.
struct PlanRefusal {
  const graph::Graph& network;
  const search::partition::answer::PartitionResult& result;
  std::optional<Collision> collision;  // of the obstacle's Problem
  std::vector<search::partition::analysis::Remedy> remedies;

  std::string AsText() const;
  std::string AsJson() const;  // docs/reasons.md has the keys
};

// What stdout gets when an answer is refused: the violations as lines for people, or as a JSON
// document.
std::string DescribeRefusal(const std::vector<std::string>& violations, bool as_json);

}  // namespace tessera::cli
