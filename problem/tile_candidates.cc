// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/tile_candidates.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/rule_definition.h"
#include "tessera/problem/structure.h"
#include "tessera/problem/well_formed.h"

namespace tessera::problem {

bool Dominates(const CandidateSizes& upper, const CandidateSizes& lower) {
  return std::equal(lower.sizes.begin(), lower.sizes.end(), upper.sizes.begin(), upper.sizes.end(),
                    [](Bytes low, Bytes high) { return low <= high; });
}

namespace {

bool MayBreakByShrinking(const Problem& problem, const Rule& rule) {
  const std::vector<RuleItem> items = ItemsOf(rule);
  return std::any_of(items.begin(), items.end(), [&](const RuleItem& item) {
    const Bytes size = problem.buffers[static_cast<size_t>(item.first)].size;
    const std::vector<Restriction> restrictions = RestrictionsOn(problem, rule, item, size);
    return std::any_of(restrictions.begin(), restrictions.end(),
                       [](const Restriction& one) { return problem::MayBreakByShrinking(one); });
  });
}

}  // namespace

bool ShrinkingIsSafe(const Problem& problem) {
  const bool relations = std::none_of(
      problem.relations.begin(), problem.relations.end(), [](const Relation& relation) {
        return relation.kind == RelationKind::kAdjacent || relation.kind == RelationKind::kSameBank;
      });
  const bool rules = std::all_of(problem.rules.begin(), problem.rules.end(), [&](const Rule& rule) {
    return rule.sizes.HoldsAll() && !MayBreakByShrinking(problem, rule);
  });
  return relations && rules;
}

Problem AtCandidate(const Problem& problem, const CandidateSizes& candidate) {
  Problem result = problem;
  for (size_t i = 0; i < result.buffers.size(); ++i) result.buffers[i].size = candidate.sizes[i];
  return result;
}

namespace {

// A rule is folded if every restriction on every item, at the sizes of each candidate, is one that
// the rest of a Problem can state: an alignment, banks that are not allowed, or a relation.
class Folder {
 public:
  Folder(const Problem& problem, const Ladder* ladder) : ladder_(ladder), folded_(problem) {}

  Problem Run() {
    std::erase_if(folded_.rules,
                  [&](const Rule& rule) { return rule.sizes.HoldsAll() && Fold(rule); });
    return std::move(folded_);
  }

 private:
  // Replaces the rule and returns true; changes nothing and returns false if it cannot be replaced.
  bool Fold(const Rule& rule) {
    changes_.clear();
    relations_.clear();
    const std::vector<RuleItem> items = ItemsOf(rule);
    alone_ = items.size() == 1;
    for (const RuleItem& item : items) {
      const auto restrictions = CommonRestrictionsOn(
          folded_, rule, item, SizesOf(folded_, ladder_, static_cast<size_t>(item.first)));
      const auto take = [&](const Restriction& restriction) {
        return std::visit([&](const auto& form) { return Take(form); }, restriction);
      };
      if (!restrictions || !std::all_of(restrictions->begin(), restrictions->end(), take))
        return false;
    }
    for (auto& [buffer, change] : changes_) {
      At(buffer).alignment = change.alignment;
      At(buffer).allowed_banks = std::move(change.allowed_banks);
    }
    folded_.relations.insert(folded_.relations.end(), relations_.begin(), relations_.end());
    return true;
  }

  // The fields of a buffer that folding changes.
  struct Change {
    Bytes alignment = 1;
    std::vector<int> allowed_banks;
  };

  Buffer& At(int buffer) { return folded_.buffers[static_cast<size_t>(buffer)]; }
  Change& ChangeOf(int buffer) {
    const Buffer& before = At(buffer);
    return changes_.try_emplace(buffer, Change{before.alignment, before.allowed_banks})
        .first->second;
  }

  // The alignment of an adjacent buffer determines its rounding, so it must not change.
  bool IsAdjacent(int buffer) const {
    return std::any_of(
        folded_.relations.begin(), folded_.relations.end(), [buffer](const Relation& relation) {
          return relation.kind == RelationKind::kAdjacent && relation.second == buffer;
        });
  }

  bool Take(const Remainder& remainder) {
    if (remainder.least != 0 || remainder.most != 0 || IsAdjacent(remainder.buffer)) return false;
    Bytes& alignment = ChangeOf(remainder.buffer).alignment;
    const std::optional<Bytes> both =
        base::CheckedMul(alignment / std::gcd(alignment, remainder.modulus), remainder.modulus);
    alignment = both.value_or(alignment);
    return both.has_value();
  }

  // An empty list of banks would allow all banks.
  bool Take(const BankClause& clause) {
    if (clause.any.size() != 1 || clause.any.front().touches) return false;
    const int buffer = clause.any.front().buffer;
    std::vector<int>& allowed = ChangeOf(buffer).allowed_banks;
    if (allowed.empty()) {
      allowed.resize(folded_.memories[static_cast<size_t>(At(buffer).memory)].banks.size());
      std::iota(allowed.begin(), allowed.end(), 0);
    }
    std::erase(allowed, clause.any.front().bank);
    return !allowed.empty();
  }

  bool Take(const Relation& relation) {
    relations_.push_back(relation);
    return true;
  }

  // One pair alone may have any distance.
  bool Take(const CommonDistance& /*common*/) const { return alone_; }

  template <typename Form>
  bool Take(const Form& /*form*/) const {
    return false;
  }

  const Ladder* ladder_;
  Problem folded_;
  std::map<int, Change> changes_;  // by the rule that is being folded
  std::vector<Relation> relations_;
  bool alone_ = false;  // the rule has one item
};

// Replaces rules about windows, if there are no others. If all buffers of a memory have the same
// window, the rest of the memory is reserved. In a memory without banks, the ends of the windows
// cut it into banks, and each buffer is allowed those of its window:
//
//     a in [0, 8), b in [4, 12), c anywhere     | bank 0 | bank 1 | bank 2 |
//     a: banks 0 and 1, b: banks 1 and 2        0        4        8       12
class WindowFolder {
 public:
  WindowFolder(Problem& problem, Bytes capacity) : problem_(problem), capacity_(capacity) {}

  // Returns whether all rules were replaced. If not, the problem must be discarded.
  bool Run() {
    if (!std::all_of(problem_.rules.begin(), problem_.rules.end(), IsWindow)) return false;
    windows_.assign(problem_.buffers.size(), std::nullopt);
    for (const Rule& rule : problem_.rules) {
      for (const int buffer : rule.buffers) Narrow(buffer, rule.requirement.window);
    }
    for (size_t memory = 0; memory < problem_.memories.size(); ++memory) {
      if (!Reserve(memory) && !CutIntoBanks(memory)) return false;
    }
    problem_.rules.clear();
    return true;
  }

 private:
  static bool IsWindow(const Rule& rule) {
    return rule.requirement.kind == RequirementKind::kWindow && rule.sizes.HoldsAll();
  }

  static bool IsAboutBanks(const Relation& relation) {
    return relation.kind == RelationKind::kSameBank ||
           relation.kind == RelationKind::kDifferentBank;
  }

  void Narrow(int buffer, const AddressRange& window) {
    std::optional<AddressRange>& own = windows_[static_cast<size_t>(buffer)];
    const auto memory = static_cast<size_t>(problem_.buffers[static_cast<size_t>(buffer)].memory);
    if (!own)
      own = AddressRange{0, std::max(CapacityOf(memory), problem_.memories[memory].capacity)};
    own->begin = std::max(own->begin, window.begin);
    own->end = std::min(own->end, window.end);
  }

  // The greatest capacity that will be requested.
  Bytes CapacityOf(size_t memory) const {
    return memory == 0 ? capacity_ : problem_.memories[memory].capacity;
  }

  // Reserves all but the common window of the memory's buffers, if there are windows. Returns false
  // if the windows differ or are empty.
  bool Reserve(size_t memory) {
    std::optional<std::optional<AddressRange>> common;
    for (size_t i = 0; i < windows_.size(); ++i) {
      if (problem_.buffers[i].memory != static_cast<int>(memory)) continue;
      if (common && *common != windows_[i]) return false;
      common = windows_[i];
    }
    if (!common || !*common) return true;
    const AddressRange window = **common;
    if (window.begin >= window.end) return false;
    std::vector<Reserved>& reserved = problem_.memories[memory].reserved;
    if (window.begin > 0) reserved.push_back({{0, window.begin}, {}});
    const Bytes capacity = CapacityOf(memory);
    if (window.end >= capacity) return true;
    // The range ends at a multiple of the window's end, so it does not reduce the granularity of
    // addresses.
    const bool rounds = capacity <= base::kMaxTotal / 4;
    reserved.push_back({{window.end, rounds ? base::RoundUp(capacity, window.end) : capacity}, {}});
    return true;
  }

  bool CutIntoBanks(size_t memory) {
    std::vector<Bank>& banks = problem_.memories[memory].banks;
    const std::vector<Relation>& relations = problem_.relations;
    if (!banks.empty() || std::any_of(relations.begin(), relations.end(), IsAboutBanks))
      return false;
    std::set<Bytes> ends;
    for (size_t i = 0; i < windows_.size(); ++i) {
      if (problem_.buffers[i].memory != static_cast<int>(memory) || !windows_[i]) continue;
      if (windows_[i]->begin >= windows_[i]->end) return false;
      ends.insert({windows_[i]->begin, windows_[i]->end});
    }
    for (auto end = std::next(ends.begin()); end != ends.end(); ++end)
      banks.push_back({.name = {}, .range = {*std::prev(end), *end}, .ports = {}});
    for (size_t i = 0; i < windows_.size(); ++i) {
      Buffer& buffer = problem_.buffers[i];
      if (buffer.memory != static_cast<int>(memory)) continue;
      buffer.span = windows_[i] ? Span::kContiguous : Span::kAny;
      for (size_t bank = 0; windows_[i] && bank < banks.size(); ++bank) {
        if (Intersect(banks[bank].range, *windows_[i]))
          buffer.allowed_banks.push_back(static_cast<int>(bank));
      }
    }
    return true;
  }

  Problem& problem_;
  Bytes capacity_;
  std::vector<std::optional<AddressRange>> windows_;  // of each buffer
};

}  // namespace

Problem FoldRules(const Problem& problem, const Ladder* ladder) {
  if (problem.rules.empty()) return problem;
  Problem folded = Folder(problem, ladder).Run();
  // Sizes rounded up to huge alignments may add up to more than a well-formed problem allows.
  const bool sound =
      !CheckWellFormed(folded) && (ladder == nullptr || !CheckWellFormed(folded, *ladder));
  return sound ? folded : problem;
}

Problem FoldWindows(const Problem& problem, Bytes capacity) {
  if (problem.rules.empty()) return problem;
  Problem folded = problem;
  // A window that ends beyond the memory leads to a bank that is not well formed.
  if (WindowFolder(folded, capacity).Run() && !CheckWellFormed(folded)) return folded;
  return problem;
}

}  // namespace tessera::problem
