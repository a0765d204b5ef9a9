#include "tessera/search/tiling/merge_colocated.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

// A result in place of its operand is a colocation, and most engines know none. But two buffers of equal size at equal
// offsets are one buffer that lives while either does:
//
//     x   |--------|                       xy  |-----------------|
//     y          |---------|        ->
//
// Then greedy and canonical search can place it, bounds see its full load, and SAT has fewer pairs. The merged Problem has a
// placement exactly when the original has one, provided that
// - the sizes are equal on every rung, the distance is 0, nothing fixes or confines the two differently, and no port counts them
//   apart;
// - members of a group that are not related to each other never live together: only the related may share addresses;
// - no other relation hangs on a member whose meaning would spread to the rest: only separate and the bank relations, which speak
//   of places alone, are carried over.
//
// Cost: O(relations * rungs + pairs within a group).
namespace tessera::search {
namespace {

using problem::Buffer;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;

// Disjoint groups of buffers, each named by one of its members.
class Groups {
 public:
  explicit Groups(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), size_t{0}); }

  size_t Find(size_t item) const {
    while (parent_[item] != item) item = parent_[item];
    return item;
  }

  // The smaller name stays.
  void Join(size_t a, size_t b) {
    const std::pair<size_t, size_t> ordered = std::minmax({Find(a), Find(b)});
    parent_[ordered.second] = ordered.first;
  }

 private:
  std::vector<size_t> parent_;
};

bool CountsPorts(const problem::Memory& memory) {
  return std::any_of(memory.banks.begin(), memory.banks.end(), [](const problem::Bank& bank) {
    return bank.ports.total || bank.ports.reads || bank.ports.writes;
  });
}

bool Coincide(const Problem& problem, const problem::Ladder& ladder, const Relation& relation) {
  if (relation.kind != RelationKind::kColocate || relation.delta != 0) return false;
  const auto a = static_cast<size_t>(relation.first);
  const auto b = static_cast<size_t>(relation.second);
  const Buffer& x = problem.buffers[a];
  const Buffer& y = problem.buffers[b];
  if (x.span != y.span || x.allowed_banks != y.allowed_banks || x.offset != y.offset) return false;
  if (CountsPorts(problem.memories[static_cast<size_t>(x.memory)])) return false;
  return std::all_of(ladder.rungs.begin(), ladder.rungs.end(),
                     [a, b](const problem::Rung& rung) { return rung.sizes[a] == rung.sizes[b]; });
}

bool SpeaksOfPlacesAlone(const Relation& relation) {
  return relation.kind == RelationKind::kSeparate || relation.kind == RelationKind::kSameBank ||
         relation.kind == RelationKind::kDifferentBank;
}

bool AreRelated(const Problem& problem, size_t a, size_t b) {
  return std::any_of(problem.relations.begin(), problem.relations.end(), [a, b](const Relation& relation) {
    const auto first = static_cast<size_t>(relation.first);
    const auto second = static_cast<size_t>(relation.second);
    return (first == a && second == b) || (first == b && second == a);
  });
}

// Groups that may become one buffer each; [group name] says whether it is sound.
std::vector<bool> FindSound(const Problem& problem, const problem::Ladder& ladder, const Groups& groups) {
  std::vector<bool> sound(problem.buffers.size(), true);
  for (const Relation& relation : problem.relations) {
    const size_t a = groups.Find(static_cast<size_t>(relation.first));
    const size_t b = groups.Find(static_cast<size_t>(relation.second));
    if (a == b ? Coincide(problem, ladder, relation) : SpeaksOfPlacesAlone(relation)) continue;
    sound[a] = sound[b] = false;
  }
  std::vector<std::vector<size_t>> members(problem.buffers.size());
  for (size_t i = 0; i < problem.buffers.size(); ++i) members[groups.Find(i)].push_back(i);
  for (const std::vector<size_t>& group : members) {
    for (size_t i = 0; i < group.size(); ++i) {
      for (size_t j = i + 1; j < group.size(); ++j) {
        if (!LiveTogether(problem.buffers[group[i]], problem.buffers[group[j]])) continue;
        if (!AreRelated(problem, group[i], group[j])) sound[group.front()] = false;
      }
    }
  }
  return sound;
}

void Absorb(Buffer& into, const Buffer& from) {
  into.alignment = std::lcm(into.alignment, from.alignment);
  if (!into.hint) into.hint = from.hint;
  into.accesses.insert(into.accesses.end(), from.accesses.begin(), from.accesses.end());

  std::vector<problem::Lifespan> lives = into.lifespans;
  lives.insert(lives.end(), from.lifespans.begin(), from.lifespans.end());
  std::sort(lives.begin(), lives.end(), [](const auto& a, const auto& b) { return a.lower < b.lower; });
  into.lifespans.clear();
  for (const problem::Lifespan& life : lives) {
    if (into.lifespans.empty() || life.lower > into.lifespans.back().upper) {
      into.lifespans.push_back(life);
    } else {
      into.lifespans.back().upper = std::max(into.lifespans.back().upper, life.upper);
    }
  }
}

}  // namespace

std::optional<MergedProblem> MergeColocated(const Problem& problem, const problem::Ladder& ladder) {
  Groups groups(problem.buffers.size());
  bool any = false;
  for (const Relation& relation : problem.relations) {
    if (!Coincide(problem, ladder, relation)) continue;
    groups.Join(static_cast<size_t>(relation.first), static_cast<size_t>(relation.second));
    any = true;
  }
  if (!any) return std::nullopt;
  const std::vector<bool> sound = FindSound(problem, ladder, groups);

  MergedProblem merged;
  merged.problem = problem;
  merged.problem.buffers.clear();
  merged.problem.relations.clear();
  std::vector<size_t> kept;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const size_t group = groups.Find(i);
    if (group != i && sound[group]) {
      merged.merged_into.push_back(merged.merged_into[group]);
      Absorb(merged.problem.buffers[merged.merged_into[group]], problem.buffers[i]);
      continue;
    }
    merged.merged_into.push_back(kept.size());
    merged.problem.buffers.push_back(problem.buffers[i]);
    kept.push_back(i);
  }
  for (Relation relation : problem.relations) {
    relation.first = static_cast<int>(merged.merged_into[static_cast<size_t>(relation.first)]);
    relation.second = static_cast<int>(merged.merged_into[static_cast<size_t>(relation.second)]);
    if (relation.first != relation.second) merged.problem.relations.push_back(relation);
  }
  for (const problem::Rung& rung : ladder.rungs) {
    problem::Rung& sizes = merged.ladder.rungs.emplace_back();
    sizes.name = rung.name;
    std::transform(kept.begin(), kept.end(), std::back_inserter(sizes.sizes),
                   [&rung](size_t original) { return rung.sizes[original]; });
  }
  return merged;
}

problem::Allocation Unmerge(const MergedProblem& merged, problem::Allocation allocation) {
  std::vector<problem::Bytes> offsets;
  for (const size_t index : merged.merged_into) offsets.push_back(allocation.offsets[index]);
  allocation.offsets = std::move(offsets);
  return allocation;
}

}  // namespace tessera::search
