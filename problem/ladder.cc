#include "tessera/problem/ladder.h"

#include <algorithm>

namespace tessera::problem {

bool Dominates(const Rung& upper, const Rung& lower) {
  return std::equal(lower.sizes.begin(), lower.sizes.end(), upper.sizes.begin(), upper.sizes.end(),
                    [](Bytes low, Bytes high) { return low <= high; });
}

bool ShrinkingIsSafe(const Problem& problem) {
  // A smaller buffer may touch fewer banks than its partner, or leave a gap where its neighbour must follow
  // at once.
  return std::none_of(problem.relations.begin(), problem.relations.end(), [](const Relation& relation) {
    return relation.kind == RelationKind::kAdjacent || relation.kind == RelationKind::kSameBank;
  });
}

Problem AtRung(const Problem& problem, const Rung& rung) {
  Problem result = problem;
  for (size_t i = 0; i < result.buffers.size(); ++i) result.buffers[i].size = rung.sizes[i];
  return result;
}

}  // namespace tessera::problem
