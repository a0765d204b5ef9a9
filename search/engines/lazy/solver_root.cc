// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/search/engines/lazy/solver.h"

// The state at the root of the search: clauses of the caller, queries in sequence, the first
// bounds of a query, and the facts and lessons that hold under it.
namespace tessera::search::engines::lazy {

bool Implies(const PackingQuery& tight, const PackingQuery& loose, bool sizes_may_differ) {
  const auto at_most = [](Bound a, Bound b) { return a <= b; };
  if (!sizes_may_differ && tight.sizes != loose.sizes) return false;
  return std::equal(loose.sizes.begin(), loose.sizes.end(), tight.sizes.begin(), at_most) &&
         std::equal(tight.ceilings.begin(), tight.ceilings.end(), loose.ceilings.begin(), at_most);
}

void Solver::AddClause(std::span<const BoundLiteral> literals) {
  BacktrackTo(0);
  const bool places = std::any_of(literals.begin(), literals.end(), [&](BoundLiteral literal) {
    return IntegerOf(literal.view) < packing_.buffers || propagation_.IsOrder(literal.view);
  });
  if (places && symmetric_) EndSymmetries();
  std::vector<BoundLiteral> clause;
  for (const BoundLiteral literal : literals) clause.push_back(trail_.Rounded(literal));
  std::sort(clause.begin(), clause.end(), [](BoundLiteral a, BoundLiteral b) {
    return std::pair(a.view, a.bound) < std::pair(b.view, b.bound);
  });
  // Of two literals on one view the weaker one implies the disjunction.
  const auto same_view = [](BoundLiteral a, BoundLiteral b) { return a.view == b.view; };
  clause.erase(std::unique(clause.begin(), clause.end(), same_view), clause.end());
  std::stable_partition(clause.begin(), clause.end(),
                        [&](BoundLiteral literal) { return !trail_.IsFalse(literal); });
  if (clause.empty()) {
    refuted_ = queries_.back().contradicted = true;
  } else if (clause.size() == 1) {
    units_.push_back({clause[0], kGiven});
    if (!trail_.Imply(clause[0], {})) queries_.back().contradicted = true;
  } else {
    clauses_.Add(clause, 0, 0);
    if (trail_.IsFalse(clause[1]) && !trail_.Imply(clause[0], {}))
      queries_.back().contradicted = true;
  }
}

// Refutations stay valid, because additional clauses make nothing feasible.
void Solver::EndSymmetries() {
  symmetric_ = false;
  std::erase_if(units_, [](const Unit& unit) { return unit.query != kGiven; });
  const std::vector<bool> none(queries_.size());
  static_cast<void>(clauses_.Keep(none));  // Reset derives the consequences again
  Reset();
}

void Solver::Ask(PackingQuery query) {
  BacktrackTo(0);
  const PackingQuery& present = queries_.back().query;
  const bool same_sizes = query.sizes == present.sizes;
  if (same_sizes && query.ceilings == present.ceilings) return;
  const bool tighter =
      ready_ && same_sizes && options_.keep_clauses && Implies(query, present, false);
  queries_.push_back({std::move(query), false});
  queries_.back().contradicted = IsRefutedBefore();
  if (!tighter) {
    Reset();
  } else if (!propagation_.AssertCeilings(queries_.back().query)) {
    queries_.back().contradicted = true;
  }
}

bool Solver::IsRefutedBefore() const {
  const std::vector<bool> kept = FindKept();
  for (size_t k = 0; k < kept.size(); ++k) {
    if (kept[k] && queries_[k].contradicted) return true;
  }
  return refuted_;
}

std::vector<bool> Solver::FindKept() const {
  std::vector<bool> kept(queries_.size());
  for (size_t k = 0; k < kept.size(); ++k) {
    const bool same = k + 1 == kept.size();
    kept[k] = same || (options_.keep_clauses &&
                       Implies(queries_.back().query, queries_[k].query, SizesMayDiffer()));
  }
  return kept;
}

bool Solver::SizesMayDiffer() const {
  return !propagation_.Rests() &&
         std::all_of(packing_.differences.begin(), packing_.differences.end(),
                     [](const Difference& difference) { return difference.sized < 0; });
}

// Starts from the initial bounds, with the lessons that still hold.
void Solver::Reset() {
  ready_ = true;
  const bool stands = propagation_.Start(queries_.back().query, symmetric_);
  const std::vector<bool> kept = FindKept();
  const bool consistent = stands && AssertUnits(kept) && clauses_.Keep(kept);
  if (!consistent) {
    queries_.back().contradicted = true;
    if (proof_ != nullptr) proof_->NoteRefutation(trail_, clauses_);
  }
  propagation_.WakeSections();
}

bool Solver::AssertUnits(const std::vector<bool>& kept) {
  std::erase_if(units_, [&](const Unit& unit) {
    return unit.query != kGiven && !kept[static_cast<size_t>(unit.query)];
  });
  return std::all_of(units_.begin(), units_.end(),
                     [&](const Unit& unit) { return trail_.Imply(unit.literal, {}); });
}

}  // namespace tessera::search::engines::lazy
