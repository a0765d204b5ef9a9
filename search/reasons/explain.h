#pragma once

#include <span>
#include <vector>

#include "tessera/problem/explanation.h"
#include "tessera/problem/tile_candidates.h"
#include "tessera/search/reasons/query.h"

namespace tessera::search::reasons {

// The candidate whose sizes the question has, of a ladder of others; no ladder: no candidates.
struct CandidateOf {
  const problem::Ladder* ladder = nullptr;
  size_t candidate = 0;
};

struct ChangeSearch {
  std::vector<problem::Change> changes;
  bool all_tried = true;  // what is not listed is proven useless
};

// Single changes that make the whole question feasible, each solved. A change can only help if it
// touches every set of conditions that collide, so only those that touch `set`, one such set, are
// tried. See changes.cc.
ChangeSearch FindChanges(const Query& query, std::span<const problem::Condition> set,
                         CandidateOf candidate, reasons::Oracle& oracle);

// Why a Problem is infeasible: docs/reasons.md.

struct ExplainOptions {
  // Of all questions together, in the units of the decision; half of it for the set, the rest for
  // the changes.
  base::Budget budget = {2'000'000};
  const base::Stop* stop = nullptr;
  const problem::Ladder* ladder =
      nullptr;  // the Problem has the sizes of its candidate `candidate`
  size_t candidate = 0;
};

// What collides in `problem`, which is well formed and proven infeasible when memories[0] has
// `capacity` bytes, and what would have to give. Answers within any budget: what it did not suffice
// for is said by Explanation::minimal, Change::least and Explanation::all_tried. The same decisions
// give the same answer.
problem::Explanation Explain(const problem::Problem& problem, problem::Bytes capacity,
                             const Decide& decide, const ExplainOptions& options);

}  // namespace tessera::search::reasons
