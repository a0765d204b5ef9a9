// SPDX-License-Identifier: Apache-2.0

#include "brute_force_rules.h"

#include <algorithm>
#include <set>

namespace tessera::encoder {
namespace {

using problem::AddressRange;
using problem::Buffer;
using problem::Bytes;
using problem::Memory;
using problem::Problem;
using problem::RelationKind;
using problem::Requirement;
using problem::RequirementKind;
using problem::Rule;

class RuleReading {
 public:
  RuleReading(const Problem& problem, const std::vector<AddressRange>& placed, Bytes capacity)
      : problem_(problem), placed_(placed), capacity_(capacity) {}

  bool Holds(const Rule& rule) const {
    for (const int i : rule.buffers) {
      if (IsAbout(rule, i) && !HoldsFor(rule.requirement, static_cast<size_t>(i))) return false;
    }
    if (rule.requirement.kind == RequirementKind::kSameBankGroup && !HaveOneGroup(Selected(rule)))
      return false;
    if (rule.requirement.kind == RequirementKind::kDifferentBankGroup &&
        !HaveOwnGroups(Selected(rule)))
      return false;
    std::set<Bytes> distances;
    for (const auto& [a, b] : rule.pairs) {
      if (!IsAbout(rule, a) || !IsAbout(rule, b)) continue;
      distances.insert(StartOf(b) - StartOf(a));
      if (!HoldsFor(rule.requirement, static_cast<size_t>(a), static_cast<size_t>(b))) return false;
    }
    return rule.requirement.kind != RequirementKind::kCommonDelta || distances.size() <= 1;
  }

 private:
  const Buffer& At(size_t i) const { return problem_.buffers[i]; }
  const Memory& HomeOf(size_t i) const {
    return problem_.memories[static_cast<size_t>(At(i).memory)];
  }
  Bytes StartOf(int i) const { return placed_[static_cast<size_t>(i)].begin; }

  bool IsAbout(const Rule& rule, int i) const {
    const auto at = static_cast<size_t>(i);
    return at < placed_.size() && At(at).size >= rule.sizes.least && At(at).size <= rule.sizes.most;
  }

  std::set<size_t> BanksOf(size_t i) const {
    std::set<size_t> banks;
    for (size_t b = 0; b < HomeOf(i).banks.size(); ++b) {
      const AddressRange& range = HomeOf(i).banks[b].range;
      for (Bytes byte = placed_[i].begin; byte < placed_[i].end; ++byte) {
        if (range.begin <= byte && byte < range.end) banks.insert(b);
      }
    }
    return banks;
  }

  bool HoldsFor(const Requirement& wanted, size_t i) const {
    const auto [begin, end] = placed_[i];
    switch (wanted.kind) {
      case RequirementKind::kOffset:
        return begin % wanted.multiple == wanted.residue;
      case RequirementKind::kWindow:
        return begin >= wanted.window.begin && end <= wanted.window.end;
      case RequirementKind::kNoCrossing:
        for (Bytes byte = begin + 1; byte < end; ++byte) {
          if (byte % wanted.multiple == 0) return false;
        }
        return true;
      case RequirementKind::kNaturalAlignment: {
        Bytes unit = 1;
        while (unit < end - begin) unit *= 2;
        return begin % unit == 0;
      }
      case RequirementKind::kBanks:
        for (const size_t bank : BanksOf(i)) {
          if (std::count(wanted.banks.begin(), wanted.banks.end(), static_cast<int>(bank)) == 0)
            return false;
        }
        return true;
      case RequirementKind::kGuard:
        for (Bytes byte = begin - wanted.before; byte < end + wanted.after; ++byte) {
          if (!IsFree(i, byte)) return false;
        }
        return true;
      default:
        return true;
    }
  }

  bool IsFree(size_t i, Bytes byte) const {
    const auto holds = [byte](const AddressRange& range) {
      return range.begin <= byte && byte < range.end;
    };
    if (byte < 0 || byte >= (At(i).memory == 0 ? capacity_ : HomeOf(i).capacity)) return false;
    for (const problem::Reserved& reserved : HomeOf(i).reserved) {
      if (holds(reserved.range)) return false;
    }
    for (size_t j = 0; j < placed_.size(); ++j) {
      if (j == i || At(j).memory != At(i).memory || !holds(placed_[j])) continue;
      if (LivesTogether(i, j) && !MayShare(i, j)) return false;
    }
    return true;
  }

  bool LivesTogether(size_t i, size_t j) const {
    const problem::Lifespan horizon = Horizon(problem_);
    for (problem::Step step = horizon.lower; step < horizon.upper; ++step) {
      if (LivesAt(At(i), step) && LivesAt(At(j), step)) return true;
    }
    return false;
  }

  bool MayShare(size_t i, size_t j) const {
    return std::any_of(
        problem_.relations.begin(), problem_.relations.end(), [&](const auto& relation) {
          const bool licence =
              relation.kind == RelationKind::kColocate || relation.kind == RelationKind::kExclusive;
          return licence && std::minmax(relation.first, relation.second) ==
                                std::minmax(static_cast<int>(i), static_cast<int>(j));
        });
  }

  // The buffers placed so far that a rule on a set selects.
  std::vector<size_t> Selected(const Rule& rule) const {
    std::vector<size_t> selected;
    for (const int i : rule.buffers) {
      if (IsAbout(rule, i)) selected.push_back(static_cast<size_t>(i));
    }
    return selected;
  }

  bool HaveOneGroup(const std::vector<size_t>& selected) const {
    std::set<size_t> touched;
    for (const size_t i : selected) touched.merge(BanksOf(i));
    if (touched.empty()) return true;
    for (const std::vector<int>& group : HomeOf(selected.front()).bank_sets.at("bank_groups")) {
      size_t inside = 0;
      for (const int bank : group) inside += touched.count(static_cast<size_t>(bank));
      if (inside == touched.size()) return true;
    }
    return false;
  }

  // Each group has banks of at most one of the buffers.
  bool HaveOwnGroups(const std::vector<size_t>& selected) const {
    if (selected.empty()) return true;
    for (const std::vector<int>& group : HomeOf(selected.front()).bank_sets.at("bank_groups")) {
      int users = 0;
      for (const size_t i : selected) {
        const std::set<size_t> banks = BanksOf(i);
        users += std::any_of(group.begin(), group.end(),
                             [&](int bank) { return banks.contains(static_cast<size_t>(bank)); });
      }
      if (users > 1) return false;
    }
    return true;
  }

  bool HoldsFor(const Requirement& wanted, size_t a, size_t b) const {
    const Bytes x = placed_[a].begin;
    const Bytes y = placed_[b].begin;
    switch (wanted.kind) {
      case RequirementKind::kDifference: {
        Bytes apart = y - x;
        while (apart < 0) apart += wanted.multiple;
        return apart % wanted.multiple == wanted.residue;
      }
      case RequirementKind::kSameBank:
        return BanksOf(a) == BanksOf(b);
      case RequirementKind::kDifferentBank:
        for (const size_t bank : BanksOf(a)) {
          if (BanksOf(b).contains(bank)) return false;
        }
        return true;
      case RequirementKind::kSameBankGroup:
        return HaveOneGroup({a, b});
      case RequirementKind::kDifferentBankGroup:
        return HaveOwnGroups({a, b});
      case RequirementKind::kDistance:
        return x + wanted.distance == y;
      case RequirementKind::kXorDistance:
        return (x ^ wanted.distance) == y;
      default:
        return true;
    }
  }

  const Problem& problem_;
  const std::vector<AddressRange>& placed_;
  Bytes capacity_;
};

}  // namespace

bool RulesHold(const Problem& problem, const std::vector<AddressRange>& placed, Bytes capacity) {
  const RuleReading reading(problem, placed, capacity);
  return std::all_of(problem.rules.begin(), problem.rules.end(),
                     [&reading](const Rule& rule) { return reading.Holds(rule); });
}

}  // namespace tessera::encoder
