#include "tessera/problem/ladder.h"

#include <algorithm>

namespace tessera::problem {

bool Dominates(const Rung& upper, const Rung& lower) {
  return std::equal(lower.sizes.begin(), lower.sizes.end(), upper.sizes.begin(), upper.sizes.end(),
                    [](Bytes low, Bytes high) { return low <= high; });
}

bool ShrinkingIsSafe(const Problem& problem) {
  const bool relations =
      std::none_of(problem.relations.begin(), problem.relations.end(), [](const Relation& relation) {
        return relation.kind == RelationKind::kAdjacent || relation.kind == RelationKind::kSameBank;
      });
  const bool rules = std::none_of(problem.rules.begin(), problem.rules.end(), [](const Rule& rule) {
    return rule.requirement.kind == RequirementKind::kSameBank || !rule.sizes.HoldsAll();
  });
  return relations && rules;
}

Problem AtRung(const Problem& problem, const Rung& rung) {
  Problem result = problem;
  for (size_t i = 0; i < result.buffers.size(); ++i) result.buffers[i].size = rung.sizes[i];
  return result;
}

}  // namespace tessera::problem
