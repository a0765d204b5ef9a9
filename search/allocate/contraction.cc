// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/contraction.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/well_formed.h"

// In-place operators write their result over their operand: x and y are colocated with delta 0 and
// have one size. A buffer that conflicts with either conflicts with both, at the same bytes:
//
//  address                                      address
//     ^  .-----.      .-----.                      ^  .-----.      .-----.
//     |  |  a  |      |  b  |                      |  |  a  |      |  b  |
//     |  '-----'======'-----'   x, y, z in place   |  |-----'------'-----|   one buffer that lives
//     |  [  x  ][  y  ][  z ]                      |  |      x=y=z       |   as long as any of them
//     '----------------------> step                '----------------------> step
//
// A relation allows the overlap of the two buffers that it names and of no others. So if two
// members of a group live together and no relation names them, as x and z above if x lived longer,
// no placement exists. An exclusive relation between two groups remains only if no other pair of
// their members conflicts.
namespace tessera::search::allocate {

using problem::Allocation;
using problem::Buffer;
using problem::Bytes;
using problem::Ladder;
using problem::Lifespan;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;

namespace {

using Pair = std::pair<int, int>;

class Contractor {
 public:
  Contractor(const Problem& problem, const Ladder* ladder) : problem_(problem), ladder_(ladder) {}

  std::optional<Contraction> Run() {
    if (!FindGroups()) return std::nullopt;
    result_.problem.name = problem_.name;
    result_.problem.memories = problem_.memories;
    result_.problem.loops = problem_.loops;
    for (const std::vector<int>& group : groups_) {
      if (!JoinMembers(group)) return std::nullopt;
      CheckMembers(group);
    }
    MapRelations();
    MapLadder();
    // Common multiples of alignments may exceed all addresses.
    if (problem::CheckWellFormed(result_.problem)) return std::nullopt;
    return std::move(result_);
  }

 private:
  const Buffer& BufferAt(int i) const { return problem_.buffers[static_cast<size_t>(i)]; }
  int ImageOf(int i) const { return result_.image[static_cast<size_t>(i)]; }

  bool HaveEqualSizes(int a, int b) const {
    if (ladder_ == nullptr) return BufferAt(a).size == BufferAt(b).size;
    return std::all_of(ladder_->candidates.begin(), ladder_->candidates.end(),
                       [&](const problem::CandidateSizes& candidate) {
                         return candidate.sizes[static_cast<size_t>(a)] ==
                                candidate.sizes[static_cast<size_t>(b)];
                       });
  }

  // Returns whether all groups can be joined, by distances and sizes.
  bool FindGroups() {
    std::vector<int> root(problem_.buffers.size());
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&root](int i) {
      while (root[static_cast<size_t>(i)] != i) {
        int& parent = root[static_cast<size_t>(i)];
        i = parent = root[static_cast<size_t>(parent)];
      }
      return i;
    };
    for (const Relation& relation : problem_.relations) {
      if (relation.kind != RelationKind::kColocate && relation.kind != RelationKind::kExclusive)
        continue;
      may_overlap_.insert(std::minmax(relation.first, relation.second));
      if (relation.kind == RelationKind::kExclusive) continue;
      if (relation.delta != 0 || !HaveEqualSizes(relation.first, relation.second)) return false;
      const int a = find(relation.first), b = find(relation.second);
      root[static_cast<size_t>(std::max(a, b))] = std::min(a, b);
    }
    for (int i = 0; i < static_cast<int>(root.size()); ++i) {
      // A root is the least member of its group, so its image is known before those of the others.
      const int least = find(i);
      if (least == i) groups_.emplace_back();
      result_.image.push_back(least == i ? static_cast<int>(groups_.size()) - 1 : ImageOf(least));
      groups_[static_cast<size_t>(result_.image.back())].push_back(i);
    }
    return true;
  }

  void Contradict(int a, int b, const char* why) {
    if (result_.contradiction.empty()) {
      result_.contradiction =
          BufferAt(a).id + " and " + BufferAt(b).id + " are colocated but " + why;
    }
  }

  // Adds the group's buffer to the result. Returns false if no single buffer can represent the
  // group.
  bool JoinMembers(const std::vector<int>& group) {
    Buffer joined = BufferAt(group.front());
    for (size_t i = 1; i < group.size(); ++i) {
      const Buffer& member = BufferAt(group[i]);
      joined.id += "=" + member.id;
      joined.lifespans.insert(joined.lifespans.end(), member.lifespans.begin(),
                              member.lifespans.end());
      joined.accesses.insert(joined.accesses.end(), member.accesses.begin(), member.accesses.end());
      const auto multiple = base::CheckedMul(
          joined.alignment / std::gcd(joined.alignment, member.alignment), member.alignment);
      if (!multiple) return false;
      joined.alignment = *multiple;
      if (joined.offset && member.offset && *joined.offset != *member.offset) {
        Contradict(group.front(), group[i], "fixed at different offsets");
      }
      if (!joined.offset) joined.offset = member.offset;
      if (!joined.hint) joined.hint = member.hint;
      if (!JoinBanks(joined, member)) return false;
    }
    UniteLifespans(joined.lifespans);
    result_.problem.buffers.push_back(std::move(joined));
    return true;
  }

  static bool JoinBanks(Buffer& joined, const Buffer& member) {
    joined.span = std::max(joined.span, member.span);  // from the least to the most restricted
    if (joined.allowed_banks.empty()) {
      joined.allowed_banks = member.allowed_banks;
    } else if (!member.allowed_banks.empty()) {
      std::vector<int> both;
      std::set_intersection(joined.allowed_banks.begin(), joined.allowed_banks.end(),
                            member.allowed_banks.begin(), member.allowed_banks.end(),
                            std::back_inserter(both));
      joined.allowed_banks = std::move(both);
      return !joined.allowed_banks.empty();  // an empty list would allow every bank
    }
    return true;
  }

  static void UniteLifespans(std::vector<Lifespan>& lives) {
    problem::SortByBegin(lives);
    std::vector<Lifespan> united;
    for (const Lifespan& life : lives) {
      if (!united.empty() && life.lower <= united.back().upper) {
        united.back().upper = std::max(united.back().upper, life.upper);
      } else {
        united.push_back(life);
      }
    }
    lives = std::move(united);
  }

  bool Conflict(int a, int b) const {
    return problem::LiveTogether(BufferAt(a), BufferAt(b)) &&
           !may_overlap_.contains(std::minmax(a, b));
  }

  void CheckMembers(const std::vector<int>& group) {
    for (size_t i = 0; i < group.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (Conflict(group[i], group[j])) Contradict(group[j], group[i], "live together");
      }
    }
  }

  void MapRelations() {
    std::set<Pair> exclusive;
    for (const Relation& relation : problem_.relations) {
      Relation mapped = relation;
      mapped.first = ImageOf(relation.first);
      mapped.second = ImageOf(relation.second);
      if (mapped.first == mapped.second) {
        CheckInside(relation);
      } else if (relation.kind != RelationKind::kExclusive ||
                 (exclusive.insert(std::minmax(mapped.first, mapped.second)).second &&
                  !GroupsConflict(mapped))) {
        result_.problem.relations.push_back(mapped);
      }
    }
  }

  // Checks a relation between two members of one group, which share all their bytes and hence all
  // their banks.
  void CheckInside(const Relation& relation) {
    if (relation.kind == RelationKind::kSeparate)
      Contradict(relation.first, relation.second, "separate");
    if (relation.kind == RelationKind::kAdjacent)
      Contradict(relation.first, relation.second, "adjacent");
  }

  bool GroupsConflict(const Relation& mapped) const {
    const std::vector<int>& first = groups_[static_cast<size_t>(mapped.first)];
    const std::vector<int>& second = groups_[static_cast<size_t>(mapped.second)];
    return std::any_of(first.begin(), first.end(), [&](int a) {
      return std::any_of(second.begin(), second.end(), [&](int b) { return Conflict(a, b); });
    });
  }

  void MapLadder() {
    if (ladder_ == nullptr) return;
    for (const problem::CandidateSizes& candidate : ladder_->candidates) {
      std::vector<Bytes> sizes;
      for (const std::vector<int>& group : groups_) {
        sizes.push_back(candidate.sizes[static_cast<size_t>(group.front())]);
      }
      result_.ladder.candidates.push_back({candidate.name, std::move(sizes)});
    }
  }

  const Problem& problem_;
  const Ladder* ladder_;
  std::set<Pair> may_overlap_;  // pairs that a relation allows to share bytes
  // By index in the result. A buffer that is not joined is a group of one.
  std::vector<std::vector<int>> groups_;
  Contraction result_;
};

// Returns whether a relation requires different banks of two members of one group. They touch the
// same banks; only if the span allows an empty set can these be disjoint. Such Problems need
// engines that support banks.
bool HasDifferentBanksInside(const Problem& problem, const std::vector<int>& image) {
  return std::any_of(problem.relations.begin(), problem.relations.end(),
                     [&](const Relation& relation) {
                       return relation.kind == RelationKind::kDifferentBank &&
                              image[static_cast<size_t>(relation.first)] ==
                                  image[static_cast<size_t>(relation.second)];
                     });
}

}  // namespace

std::optional<Contraction> ContractColocated(const Problem& problem, const Ladder* ladder) {
  const bool colocated = std::any_of(
      problem.relations.begin(), problem.relations.end(),
      [](const Relation& relation) { return relation.kind == RelationKind::kColocate; });
  if (!colocated || !problem.rules.empty()) return std::nullopt;
  auto contraction = Contractor(problem, ladder).Run();
  if (contraction && HasDifferentBanksInside(problem, contraction->image)) return std::nullopt;
  return contraction;
}

Allocation Expand(const Contraction& contraction, const Allocation& allocation) {
  Allocation expanded;
  expanded.modes = allocation.modes;
  expanded.offsets.reserve(contraction.image.size());
  for (const int image : contraction.image) {
    expanded.offsets.push_back(allocation.offsets[static_cast<size_t>(image)]);
  }
  return expanded;
}

}  // namespace tessera::search::allocate
