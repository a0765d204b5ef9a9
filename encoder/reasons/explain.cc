#include "tessera/encoder/reasons/explain.h"

#include <algorithm>
#include <utility>

#include "tessera/encoder/reasons/changes.h"
#include "tessera/encoder/reasons/minimal_set.h"

namespace tessera::encoder {
namespace {

// One question that is hard must not starve the others.
constexpr int64_t kMostTurns = 16;

}  // namespace

problem::Explanation Explain(const problem::Problem& problem, problem::Bytes capacity, const Decide& decide,
                             const ExplainOptions& options) {
  const base::Stop never;
  const base::Stop& stop = options.stop != nullptr ? *options.stop : never;
  const int64_t half = options.budget.units / 2;
  const int64_t confirmation = options.budget.units / 8;
  reasons::Query query{problem, capacity};
  query.problem.costs.clear();  // preferences never collide
  reasons::Oracle oracle(decide, {half - confirmation}, {options.budget.units / kMostTurns + 1}, stop);
  reasons::MinimalSet set = reasons::FindMinimalSet(query, oracle, confirmation);
  oracle.Grant(options.budget.units - half);
  reasons::ChangeSearch search =
      reasons::FindChanges(query, set.conditions, {options.ladder, options.rung}, oracle);
  return {std::move(set.conditions), set.proven, std::move(search.changes), search.all_tried};
}

}  // namespace tessera::encoder
