#include "tessera/encoder/lazy/clauses.h"

#include <algorithm>
#include <utility>

namespace tessera::encoder::lazy {

int ClauseDatabase::Add(std::span<const Literal> literals, int glue, int question) {
  const int clause = Count();
  clauses_.push_back({static_cast<int32_t>(literals_.size()), static_cast<int32_t>(literals.size()), glue,
                      question, true, -1});
  literals_.insert(literals_.end(), literals.begin(), literals.end());
  if (glue > 0) ++learned_;
  AddWatch(clause, literals[0], literals[1]);
  AddWatch(clause, literals[1], literals[0]);
  return clause;
}

void ClauseDatabase::AddWatch(int clause, Literal watched, Literal blocker) {
  const Literal falsifier = trail_.Not(watched);
  if (watches_.size() < static_cast<size_t>(trail_.Views()))
    watches_.resize(static_cast<size_t>(trail_.Views()));
  watches_[static_cast<size_t>(falsifier.view)].push_back({clause, falsifier.bound, blocker});
}

bool ClauseDatabase::Propagate(const Change& change) {
  if (static_cast<size_t>(change.view) >= watches_.size()) return true;
  std::vector<Watch>& watches = watches_[static_cast<size_t>(change.view)];
  size_t kept = 0;
  size_t at = 0;
  bool consistent = true;
  for (; at < watches.size() && consistent; ++at) {
    Watch watch = watches[at];
    bool moved = false;
    const bool crossed = change.before < watch.threshold && watch.threshold <= change.bound;
    if (crossed && !trail_.IsTrue(watch.blocker)) {
      consistent = Visit(watch, trail_.Not({change.view, watch.threshold}), moved);
    }
    if (!moved) watches[kept++] = watch;
  }
  if (kept == at) return consistent;
  for (; at < watches.size(); ++at) watches[kept++] = watches[at];
  watches.resize(kept);
  return consistent;
}

bool ClauseDatabase::Visit(Watch& watch, Literal falsified, bool& moved) {
  const Clause& clause = clauses_[static_cast<size_t>(watch.clause)];
  Literal* literals = literals_.data() + clause.first;
  if (literals[0] == falsified) std::swap(literals[0], literals[1]);
  watch.blocker = literals[0];
  if (trail_.IsTrue(literals[0])) return true;
  for (int32_t k = 2; k < clause.size; ++k) {
    if (trail_.IsFalse(literals[k])) continue;
    std::swap(literals[1], literals[k]);
    AddWatch(watch.clause, literals[1], literals[0]);
    moved = true;
    return true;
  }
  if (!trail_.IsFalse(literals[0])) {
    trail_.Push(literals[0], {Reason::Kind::kClause, watch.clause, 0});
    return true;
  }
  trail_.Conflict().clear();
  trail_.BlameClause(watch.clause);
  for (int32_t k = 0; k < clause.size; ++k) trail_.Conflict().push_back(trail_.Not(literals[k]));
  clauses_[static_cast<size_t>(watch.clause)].used = true;
  return false;
}

bool ClauseDatabase::Reduce() {
  std::vector<int> candidates;
  for (int k = 0; k < Count(); ++k) {
    const Clause& clause = clauses_[static_cast<size_t>(k)];
    if (clause.glue > 2 && !clause.used) candidates.push_back(k);
  }
  std::stable_sort(candidates.begin(), candidates.end(), [&](int a, int b) {
    const Clause& left = clauses_[static_cast<size_t>(a)];
    const Clause& right = clauses_[static_cast<size_t>(b)];
    return std::pair(left.glue, left.size) > std::pair(right.glue, right.size);
  });
  std::vector<bool> kept(clauses_.size(), true);
  const size_t dropped = std::min(candidates.size(), static_cast<size_t>(learned_) / 2);
  for (size_t k = 0; k < dropped; ++k) kept[static_cast<size_t>(candidates[k])] = false;
  return Rebuild(kept);
}

bool ClauseDatabase::Keep(const std::vector<bool>& questions) {
  std::vector<bool> kept(clauses_.size());
  for (size_t k = 0; k < clauses_.size(); ++k) {
    kept[k] = clauses_[k].glue == 0 || questions[static_cast<size_t>(clauses_[k].question)];
  }
  return Rebuild(kept);
}

bool ClauseDatabase::Rebuild(const std::vector<bool>& kept) {
  const std::vector<Clause> clauses = std::exchange(clauses_, {});
  const std::vector<Literal> literals = std::exchange(literals_, {});
  for (auto& list : watches_) list.clear();
  learned_ = 0;
  bool consistent = true;
  for (size_t k = 0; k < clauses.size(); ++k) {
    if (!kept[k]) continue;
    const auto first = static_cast<size_t>(clauses[k].first);
    const std::span<const Literal> own(literals.data() + first, static_cast<size_t>(clauses[k].size));
    consistent = Restore(clauses[k], own) && consistent;
  }
  return consistent;
}

// Given clauses stay whatever the root says of them: under another question it may say something else.
bool ClauseDatabase::Restore(const Clause& clause, std::span<const Literal> literals) {
  const bool given = clause.glue == 0;
  const bool satisfied =
      std::any_of(literals.begin(), literals.end(), [&](Literal literal) { return trail_.IsTrue(literal); });
  if (satisfied && !given) return true;
  std::vector<Literal> ordered(literals.begin(), literals.end());
  const auto open = std::stable_partition(ordered.begin(), ordered.end(),
                                          [&](Literal literal) { return !trail_.IsFalse(literal); });
  const auto count = open - ordered.begin();
  if (count == 1 && !satisfied) trail_.Push(ordered[0], {});
  const int added = Add(ordered, clause.glue, clause.question);
  clauses_[static_cast<size_t>(added)].used = false;
  SetProof(added, clause.proof);
  return count > 0;
}

}  // namespace tessera::encoder::lazy
