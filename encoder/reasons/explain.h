#pragma once

#include "tessera/encoder/reasons/oracle.h"
#include "tessera/problem/explanation.h"
#include "tessera/problem/ladder.h"

// Why a Problem is infeasible: docs/reasons.md.
namespace tessera::encoder {

struct ExplainOptions {
  // Of all questions together, in the units of the decision; half of it for the set, the rest for the changes.
  base::Budget budget = {2'000'000};
  const base::Stop* stop = nullptr;
  const problem::Ladder* ladder = nullptr;  // the Problem has the sizes of its rung `rung`
  size_t rung = 0;
};

// What collides in `problem`, which is well formed and proven infeasible when memories[0] has `capacity` bytes, and what would have
// to give. Answers within any budget: what it did not suffice for is said by Explanation::minimal, Change::least and
// Explanation::all_tried. The same decisions give the same answer.
problem::Explanation Explain(const problem::Problem& problem, problem::Bytes capacity, const Decide& decide,
                             const ExplainOptions& options);

}  // namespace tessera::encoder
