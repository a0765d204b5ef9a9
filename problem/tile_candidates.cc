#include "tessera/problem/tile_candidates.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/structure.h"
#include "tessera/problem/well_formed.h"

namespace tessera::problem {

bool Dominates(const CandidateSizes& upper, const CandidateSizes& lower) {
  return std::equal(lower.sizes.begin(), lower.sizes.end(), upper.sizes.begin(), upper.sizes.end(),
                    [](Bytes low, Bytes high) { return low <= high; });
}

bool ShrinkingIsSafe(const Problem& problem) {
  const bool relations = std::none_of(
      problem.relations.begin(), problem.relations.end(), [](const Relation& relation) {
        return relation.kind == RelationKind::kAdjacent || relation.kind == RelationKind::kSameBank;
      });
  const bool rules = std::none_of(problem.rules.begin(), problem.rules.end(), [](const Rule& rule) {
    return rule.requirement.kind == RequirementKind::kSameBank || !rule.sizes.HoldsAll();
  });
  return relations && rules;
}

Problem AtCandidate(const Problem& problem, const CandidateSizes& candidate) {
  Problem result = problem;
  for (size_t i = 0; i < result.buffers.size(); ++i) result.buffers[i].size = candidate.sizes[i];
  return result;
}

namespace {

class Folder {
 public:
  Folder(const Problem& problem, const Ladder* ladder) : ladder_(ladder), folded_(problem) {}

  Problem Run() {
    std::erase_if(folded_.rules,
                  [&](const Rule& rule) { return rule.sizes.HoldsAll() && Fold(rule); });
    return std::move(folded_);
  }

 private:
  // Whether the rule was replaced. Changes nothing if it cannot be.
  bool Fold(const Rule& rule) {
    switch (rule.requirement.kind) {
      case RequirementKind::kOffset:
        return rule.requirement.residue == 0 && FoldAlignments(rule, [&](int /*buffer*/) {
                 return std::optional(rule.requirement.multiple);
               });
      case RequirementKind::kNaturalAlignment:
        return FoldAlignments(rule, [&](int buffer) { return NaturalAlignment(buffer); });
      case RequirementKind::kBanks:
        return FoldBanks(rule);
      case RequirementKind::kSameBank:
        return FoldRelations(rule, RelationKind::kSameBank);
      case RequirementKind::kDifferentBank:
        return FoldRelations(rule, RelationKind::kDifferentBank);
      case RequirementKind::kCommonDelta:
        return rule.pairs.size() == 1;
      default:
        return false;
    }
  }

  Buffer& At(int buffer) { return folded_.buffers[static_cast<size_t>(buffer)]; }

  // The one power of two for all candidates, or nullopt.
  std::optional<Bytes> NaturalAlignment(int buffer) {
    if (ladder_ == nullptr) return NaturalAlignmentOf(At(buffer).size);
    std::optional<Bytes> common;
    for (const CandidateSizes& candidate : ladder_->candidates) {
      const Bytes here = NaturalAlignmentOf(candidate.sizes[static_cast<size_t>(buffer)]);
      if (common.value_or(here) != here) return std::nullopt;
      common = here;
    }
    return common;
  }

  // The alignment of an adjacent buffer determines its rounding, so it must not change.
  bool IsAdjacent(int buffer) const {
    return std::any_of(
        folded_.relations.begin(), folded_.relations.end(), [buffer](const Relation& relation) {
          return relation.kind == RelationKind::kAdjacent && relation.second == buffer;
        });
  }

  template <typename AlignmentFor>
  bool FoldAlignments(const Rule& rule, AlignmentFor alignment_for) {
    std::vector<Bytes> alignments;
    for (const int buffer : rule.buffers) {
      const std::optional<Bytes> wanted = alignment_for(buffer);
      if (!wanted || IsAdjacent(buffer)) return false;
      const Bytes before = At(buffer).alignment;
      const std::optional<Bytes> both =
          base::CheckedMul(before / std::gcd(before, *wanted), *wanted);
      if (!both) return false;
      alignments.push_back(*both);
    }
    for (size_t i = 0; i < alignments.size(); ++i) At(rule.buffers[i]).alignment = alignments[i];
    return true;
  }

  // An empty list of banks would allow all banks.
  bool FoldBanks(const Rule& rule) {
    std::vector<std::vector<int>> lists;
    for (const int buffer : rule.buffers) {
      const std::vector<int>& before = At(buffer).allowed_banks;
      std::vector<int>& both = lists.emplace_back();
      std::set_intersection(before.begin(), before.end(), rule.requirement.banks.begin(),
                            rule.requirement.banks.end(), std::back_inserter(both));
      if (before.empty()) both = rule.requirement.banks;
      if (both.empty()) return false;
    }
    for (size_t i = 0; i < lists.size(); ++i)
      At(rule.buffers[i]).allowed_banks = std::move(lists[i]);
    return true;
  }

  bool FoldRelations(const Rule& rule, RelationKind kind) {
    for (const auto& [first, second] : rule.pairs)
      folded_.relations.push_back({kind, first, second, 0});
    return true;
  }

  const Ladder* ladder_;
  Problem folded_;
};

}  // namespace

Problem FoldRules(const Problem& problem, const Ladder* ladder) {
  if (problem.rules.empty()) return problem;
  Problem folded = Folder(problem, ladder).Run();
  // Sizes rounded up to huge alignments may add up to more than a problem may hold.
  const bool sound =
      !CheckWellFormed(folded) && (ladder == nullptr || !CheckWellFormed(folded, *ladder));
  return sound ? folded : problem;
}

}  // namespace tessera::problem
