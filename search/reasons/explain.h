// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tessera/problem/explanation.h"
#include "tessera/problem/tile_candidates.h"
#include "tessera/search/reasons/query.h"

namespace tessera::search::reasons {

// The ladder, and the candidate whose sizes the query has; nullptr if there are no candidates.
struct CandidateOf {
  const problem::Ladder* ladder = nullptr;
  size_t candidate = 0;
};

struct ChangeSearch {
  std::vector<problem::Change> changes;
  bool all_tried = true;  // changes that are not listed are proven useless
};

// Finds single changes that make the whole query feasible; each is solved. A change can only help
// if it affects every conflicting set of conditions. So only changes that affect `set`, which is
// one such set, are tried. See explain.cc.
ChangeSearch FindChanges(const Query& query, std::span<const problem::Condition> set,
                         CandidateOf candidate, reasons::Oracle& oracle);

// Explains why a Problem is infeasible: docs/reasons.md.

struct ExplainOptions {
  // For all queries together, in the units of Decide: half for the set, the rest for the changes.
  base::Budget budget = {2'000'000};
  const base::Stop* stop = nullptr;
  // The Problem has the sizes of its candidate `candidate`.
  const problem::Ladder* ladder = nullptr;
  size_t candidate = 0;
};

// Finds the conflicting conditions of `problem`, and changes that resolve the conflict. The problem
// must be well formed and proven infeasible when memories[0] has `capacity` bytes. Answers within
// any budget: Explanation::minimal, Change::least and Explanation::all_tried state what the budget
// did not cover. The same decisions give the same answer.
problem::Explanation Explain(const problem::Problem& problem, problem::Bytes capacity,
                             const Decide& decide, const ExplainOptions& options);

// Returns a minimal set that needs no solver: buffers of one memory that live together and whose
// sizes alone exceed its capacity, and that capacity. Selects, among the heaviest steps, the one
// where the fewest buffers suffice. Returns nullopt if no step is overloaded. Cost: O(n log n) for
// n lifespans.
std::optional<std::vector<problem::Condition>> FindOverload(const Query& query);

struct MinimalSet {
  std::vector<problem::Condition> conditions;  // ascending
  bool proven = false;  // it is proven that the set conflicts, and that no member can be left out
};

// Finds conditions of an infeasible query that cannot be satisfied together. The oracle confirms
// that the set conflicts, and that it does not without any one of its members. `proven` is set if
// it answered all these queries. They may take `confirmation` units more than the oracle has left.
// See minimal_set.cc.
MinimalSet FindMinimalSet(const Query& query, reasons::Oracle& oracle, int64_t confirmation);

}  // namespace tessera::search::reasons
