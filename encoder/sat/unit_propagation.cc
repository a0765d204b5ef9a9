// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/sat/unit_propagation.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tessera::encoder::sat {
namespace {

// Independent of the order of the literals.
uint64_t HashOf(std::span<const int> literals) {
  uint64_t sum = 0;
  uint64_t product = 1;
  for (const int literal : literals) {
    const auto value = static_cast<uint64_t>(static_cast<int64_t>(literal)) * 0x9E3779B97F4A7C15U;
    sum += value ^ (value >> 31U);
    product *= value | 1U;
  }
  return sum * 31 + product;
}

}  // namespace

void UnitPropagation::MakeRoom(std::span<const int> literals) {
  size_t most = 0;
  for (const int literal : literals) most = std::max(most, IndexOf(literal) | 1U);
  if (most < values_.size()) return;
  const size_t size = std::max(most + 1, 2 * values_.size());
  values_.resize(size);
  watches_.resize(size);
  reasons_.resize(size / 2 + 1, -1);
  marked_.resize(size / 2 + 1);
  is_fixed_.resize(size / 2 + 1);
}

void UnitPropagation::Add(int32_t number, std::span<const int> literals) {
  MakeRoom(literals);
  const auto index = static_cast<int32_t>(clauses_.size());
  const auto first = static_cast<uint32_t>(literals_.size());
  clauses_.push_back({first, static_cast<uint32_t>(literals.size()), number, false});
  literals_.insert(literals_.end(), literals.begin(), literals.end());
  by_hash_.emplace(HashOf(literals), index);
  if (contradiction_) return;
  // Watch true and open literals before false ones.
  int* own = literals_.data() + first;
  std::stable_sort(own, own + literals.size(),
                   [&](int a, int b) { return ValueOf(a) > ValueOf(b); });
  if (literals.empty() || ValueOf(own[0]) < 0) {
    contradiction_ = number;
    return;
  }
  if (literals.size() > 1) {
    watches_[IndexOf(own[0])].push_back({index, own[1]});
    watches_[IndexOf(own[1])].push_back({index, own[0]});
  }
  const bool unit = literals.size() == 1 || ValueOf(own[1]) < 0;
  if (!unit || ValueOf(own[0]) > 0) return;
  Assign(own[0], index);
  const int32_t conflict = Propagate();
  for (; fixed_ < trail_.size(); ++fixed_)
    is_fixed_[static_cast<size_t>(std::abs(trail_[fixed_]))] = 1;
  if (conflict >= 0) contradiction_ = clauses_[static_cast<size_t>(conflict)].number;
}

void UnitPropagation::Delete(std::span<const int> literals) {
  std::vector<int> wanted(literals.begin(), literals.end());
  std::sort(wanted.begin(), wanted.end());
  const auto [first, last] = by_hash_.equal_range(HashOf(literals));
  for (auto at = first; at != last; ++at) {
    Clause& clause = clauses_[static_cast<size_t>(at->second)];
    std::vector<int> own(literals_.begin() + clause.first,
                         literals_.begin() + clause.first + clause.size);
    std::sort(own.begin(), own.end());
    if (own != wanted) continue;
    clause.deleted = true;
    by_hash_.erase(at);
    return;
  }
}

void UnitPropagation::Assign(int literal, int32_t reason) {
  values_[IndexOf(literal)] = 1;
  values_[IndexOf(-literal)] = -1;
  reasons_[static_cast<size_t>(std::abs(literal))] = reason;
  trail_.push_back(literal);
}

int32_t UnitPropagation::Propagate() {
  while (processed_ < trail_.size()) {
    const int falsified = -trail_[processed_++];
    std::vector<Watch>& watches = watches_[IndexOf(falsified)];
    size_t kept = 0;
    for (size_t at = 0; at < watches.size(); ++at) {
      const Watch watch = watches[at];
      const Clause& clause = clauses_[static_cast<size_t>(watch.clause)];
      if (clause.deleted) continue;
      watches[kept++] = watch;
      if (ValueOf(watch.blocker) > 0) continue;
      int* own = literals_.data() + clause.first;
      if (own[0] == falsified) std::swap(own[0], own[1]);
      watches[kept - 1].blocker = own[0];
      if (ValueOf(own[0]) > 0) continue;
      uint32_t other = 2;
      while (other < clause.size && ValueOf(own[other]) < 0) ++other;
      if (other < clause.size) {
        std::swap(own[1], own[other]);
        watches_[IndexOf(own[1])].push_back({watch.clause, own[0]});
        --kept;
      } else if (ValueOf(own[0]) == 0) {
        Assign(own[0], watch.clause);
      } else {
        for (++at; at < watches.size(); ++at) watches[kept++] = watches[at];
        watches.resize(kept);
        return watch.clause;
      }
    }
    watches.resize(kept);
  }
  return -1;
}

bool UnitPropagation::Refutes(std::span<const int> literals) {
  MakeRoom(literals);
  const size_t before = trail_.size();
  int32_t conflict = -1;
  for (const int literal : literals) {
    // A literal that already holds, or the complement of another one: the chain is empty.
    if (ValueOf(literal) > 0) {
      Undo(before);
      chain_.clear();
      return true;
    }
    if (ValueOf(literal) == 0) Assign(-literal, -1);
  }
  conflict = Propagate();
  if (conflict >= 0) Explain(conflict);
  Undo(before);
  return conflict >= 0;
}

// Walks the trail backwards from the conflict.
void UnitPropagation::Explain(int32_t conflict) {
  chain_.clear();
  const auto mark = [&](int32_t index) {
    const Clause& clause = clauses_[static_cast<size_t>(index)];
    chain_.push_back(clause.number);
    for (uint32_t k = 0; k < clause.size; ++k) {
      const auto variable = static_cast<size_t>(std::abs(literals_[clause.first + k]));
      if (is_fixed_[variable] == 0) marked_[variable] = 1;
    }
  };
  mark(conflict);
  for (size_t at = trail_.size(); at-- > fixed_;) {
    const auto variable = static_cast<size_t>(std::abs(trail_[at]));
    if (marked_[variable] != 0 && reasons_[variable] >= 0) mark(reasons_[variable]);
    marked_[variable] = 0;
  }
  std::reverse(chain_.begin(), chain_.end());
}

void UnitPropagation::Undo(size_t size) {
  for (; trail_.size() > size; trail_.pop_back()) {
    values_[IndexOf(trail_.back())] = values_[IndexOf(-trail_.back())] = 0;
  }
  processed_ = std::min(processed_, size);
}

std::vector<UnitPropagation::Unit> UnitPropagation::TakeUnits() {
  std::vector<Unit> units;
  for (; taken_ < fixed_; ++taken_) {
    const int literal = trail_[taken_];
    const int32_t reason = reasons_[static_cast<size_t>(std::abs(literal))];
    units.push_back({literal, clauses_[static_cast<size_t>(reason)].number});
  }
  return units;
}

}  // namespace tessera::encoder::sat
