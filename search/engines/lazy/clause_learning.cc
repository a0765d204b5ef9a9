// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/lazy/clause_learning.h"

#include <algorithm>
#include <utility>

namespace tessera::search::engines::lazy {

int ClauseDatabase::Add(std::span<const BoundLiteral> literals, int glue, int question) {
  const int clause = Count();
  clauses_.push_back({static_cast<int32_t>(literals_.size()), static_cast<int32_t>(literals.size()),
                      glue, question, true, -1});
  literals_.insert(literals_.end(), literals.begin(), literals.end());
  if (glue > 0) ++learned_;
  AddWatch(clause, literals[0], literals[1]);
  AddWatch(clause, literals[1], literals[0]);
  return clause;
}

void ClauseDatabase::AddWatch(int clause, BoundLiteral watched, BoundLiteral blocker) {
  const BoundLiteral falsifier = trail_.Not(watched);
  GrowWatches();
  watches_[static_cast<size_t>(falsifier.view)].push_back({clause, falsifier.bound, blocker});
}

// Adds watch lists for the integers that were added to the trail.
void ClauseDatabase::GrowWatches() {
  if (watches_.size() < static_cast<size_t>(trail_.Views()))
    watches_.resize(static_cast<size_t>(trail_.Views()));
}

bool ClauseDatabase::Propagate(const Change& change) {
  GrowWatches();  // now, because lists that are visited must not move
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

bool ClauseDatabase::Visit(Watch& watch, BoundLiteral falsified, bool& moved) {
  const Clause& clause = clauses_[static_cast<size_t>(watch.clause)];
  BoundLiteral* literals = literals_.data() + clause.first;
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
  const std::vector<BoundLiteral> literals = std::exchange(literals_, {});
  for (auto& list : watches_) list.clear();
  learned_ = 0;
  bool consistent = true;
  for (size_t k = 0; k < clauses.size(); ++k) {
    if (!kept[k]) continue;
    const auto first = static_cast<size_t>(clauses[k].first);
    const std::span<const BoundLiteral> own(literals.data() + first,
                                            static_cast<size_t>(clauses[k].size));
    consistent = Restore(clauses[k], own) && consistent;
  }
  return consistent;
}

// Keeps given clauses even if the root satisfies them, because the root of another query may not.
bool ClauseDatabase::Restore(const Clause& clause, std::span<const BoundLiteral> literals) {
  const bool given = clause.glue == 0;
  const bool satisfied = std::any_of(literals.begin(), literals.end(),
                                     [&](BoundLiteral literal) { return trail_.IsTrue(literal); });
  if (satisfied && !given) return true;
  std::vector<BoundLiteral> ordered(literals.begin(), literals.end());
  const auto open =
      std::stable_partition(ordered.begin(), ordered.end(),
                            [&](BoundLiteral literal) { return !trail_.IsFalse(literal); });
  const auto count = open - ordered.begin();
  if (count == 1 && !satisfied) trail_.Push(ordered[0], {});
  const int added = Add(ordered, clause.glue, clause.question);
  clauses_[static_cast<size_t>(added)].used = false;
  SetProof(added, clause.proof);
  return count > 0;
}

namespace {

// Deep chains of reasons rarely succeed, and each step costs a reason.
constexpr int kDepth = 8;

}  // namespace

ConflictAnalysis::ConflictAnalysis(const Trail& trail, ClauseDatabase& clauses, bool minimize)
    : trail_(trail), clauses_(clauses), minimize_(minimize), buffers_(kDepth + 1) {}

int ConflictAnalysis::LevelOf(const std::vector<BoundLiteral>& conflict) const {
  int level = 0;
  for (const BoundLiteral literal : conflict) {
    const int change = trail_.Find(literal);
    if (change >= 0) level = std::max(level, trail_.At(change).level);
  }
  return level;
}

const Lesson& ConflictAnalysis::Learn(const std::vector<BoundLiteral>& conflict) {
  level_ = trail_.Level();
  const auto size = static_cast<size_t>(trail_.Size());
  if (needed_.size() < size) {
    needed_.resize(2 * size);
    is_needed_.resize(2 * size);
    known_.resize(2 * size);
  }
  strongest_.resize(static_cast<size_t>(trail_.Views()), -1);
  has_level_.resize(std::max(has_level_.size(), static_cast<size_t>(level_) + 1));
  lesson_.involved.clear();
  for (const BoundLiteral literal : conflict) Need(literal);
  const int asserting = FindFirstUniqueImplication();
  if (minimize_) Minimize();
  Compose(asserting);
  if (keeps_derivations_) NoteDerivation();
  Clear();
  return lesson_;
}

void ConflictAnalysis::Need(BoundLiteral literal) {
  const int change = trail_.Find(literal);
  if (change < 0 || trail_.At(change).level == 0) return;
  const auto at = static_cast<size_t>(change);
  if (is_needed_[at] != 0) {
    needed_[at] = std::max(needed_[at], literal.bound);
    return;
  }
  is_needed_[at] = 1;
  needed_[at] = literal.bound;
  touched_.push_back(change);
  lesson_.involved.push_back(IntegerOf(literal.view));
  if (trail_.At(change).level == level_) {
    ++open_;
  } else {
    earlier_.push_back(change);
  }
}

int ConflictAnalysis::FindFirstUniqueImplication() {
  int change = trail_.Size() - 1;
  for (;; --change) {
    if (is_needed_[static_cast<size_t>(change)] == 0) continue;
    if (open_ == 1) return change;
    const Reason& reason = trail_.At(change).reason;
    if (reason.kind == Reason::Kind::kClause) clauses_.MarkUsed(reason.first);
    Resolve(change, needed_[static_cast<size_t>(change)], buffers_[0]);
    if (keeps_derivations_) resolved_.push_back(change);
    --open_;
    for (const BoundLiteral literal : buffers_[0]) Need(literal);
  }
}

void ConflictAnalysis::Resolve(int change, Bound needed, std::vector<BoundLiteral>& out) const {
  out.clear();
  const Change& step = trail_.At(change);
  if (step.reason.kind != Reason::Kind::kClause) {
    trail_.Explain(step.reason, step.bound, needed, out);
    return;
  }
  // The first literal of a clause that is a reason is the one it implied.
  const auto literals = clauses_.LiteralsOf(step.reason.first);
  for (const BoundLiteral literal : literals.subspan(1)) out.push_back(trail_.Not(literal));
}

void ConflictAnalysis::Minimize() {
  for (const int change : earlier_) has_level_[static_cast<size_t>(trail_.At(change).level)] = 1;
  std::erase_if(earlier_, [&](int change) {
    if (!Follows(change, needed_[static_cast<size_t>(change)], 0)) return false;
    if (keeps_derivations_) dropped_.push_back(change);
    return true;
  });
  for (const int change : touched_) has_level_[static_cast<size_t>(trail_.At(change).level)] = 0;
}

// Returns whether the change's literal follows from others of the clause. Reasons refer to earlier
// changes, so no derivation is circular.
bool ConflictAnalysis::Follows(int change, Bound needed, int depth) {
  const Change& step = trail_.At(change);
  if (step.reason.kind == Reason::Kind::kDecision ||
      has_level_[static_cast<size_t>(step.level)] == 0)
    return false;
  Known& known = known_[static_cast<size_t>(change)];
  if (known.has_follows && needed <= known.follows) return true;
  if (known.has_stands && needed >= known.stands) return false;
  std::vector<BoundLiteral>& reason = buffers_[static_cast<size_t>(depth)];
  Resolve(change, needed, reason);
  const bool follows = std::all_of(reason.begin(), reason.end(), [&](BoundLiteral literal) {
    const int cause = trail_.Find(literal);
    if (cause < 0 || trail_.At(cause).level == 0) return true;
    const auto at = static_cast<size_t>(cause);
    if (is_needed_[at] != 0 && needed_[at] >= literal.bound) return true;
    return depth + 1 < kDepth && Follows(cause, literal.bound, depth + 1);
  });
  known_changes_.push_back(change);
  (follows ? known.follows : known.stands) = needed;
  (follows ? known.has_follows : known.has_stands) = true;
  return follows;
}

void ConflictAnalysis::Compose(int asserting) {
  const auto literal_of = [&](int change) {
    return trail_.Not({trail_.At(change).view, needed_[static_cast<size_t>(change)]});
  };
  lesson_.clause = {literal_of(asserting)};
  lesson_.level = 0;
  lesson_.glue = 1;
  lesson_.derivation.clear();
  for (const int change : earlier_) {
    int& strongest = strongest_[static_cast<size_t>(trail_.At(change).view)];
    strongest = std::max(strongest, change);
  }
  for (const int change : earlier_) {
    const Change& step = trail_.At(change);
    if (strongest_[static_cast<size_t>(step.view)] != change) continue;
    lesson_.clause.push_back(literal_of(change));
    char& counted = has_level_[static_cast<size_t>(step.level)];
    if (counted == 0) ++lesson_.glue;
    counted = 1;
    if (step.level <= lesson_.level) continue;
    lesson_.level = step.level;
    std::swap(lesson_.clause[1], lesson_.clause.back());
  }
}

void ConflictAnalysis::NoteDerivation() {
  for (const int change : resolved_) {
    lesson_.derivation.push_back({change, needed_[static_cast<size_t>(change)]});
  }
  for (const int change : dropped_) NoteFollowing(change);
  std::sort(lesson_.derivation.begin(), lesson_.derivation.end(),
            [](const Lesson::Step& a, const Lesson::Step& b) { return a.change < b.change; });
}

// Notes the changes that a successful Follows used, each once, with the greatest bound that was
// needed of it.
void ConflictAnalysis::NoteFollowing(int change) {
  Known& known = known_[static_cast<size_t>(change)];
  if (known.is_noted) return;
  known.is_noted = true;
  lesson_.derivation.push_back({change, known.follows});
  std::vector<BoundLiteral> reason;
  Resolve(change, known.follows, reason);
  for (const BoundLiteral literal : reason) {
    const int cause = trail_.Find(literal);
    if (cause < 0 || trail_.At(cause).level == 0) continue;
    const auto at = static_cast<size_t>(cause);
    if (is_needed_[at] == 0 || needed_[at] < literal.bound) NoteFollowing(cause);
  }
}

void ConflictAnalysis::Clear() {
  for (const int change : touched_) {
    is_needed_[static_cast<size_t>(change)] = 0;
    strongest_[static_cast<size_t>(trail_.At(change).view)] = -1;
    has_level_[static_cast<size_t>(trail_.At(change).level)] = 0;
  }
  for (const int change : known_changes_) known_[static_cast<size_t>(change)] = {};
  touched_.clear();
  earlier_.clear();
  known_changes_.clear();
  resolved_.clear();
  dropped_.clear();
  open_ = 0;
}

}  // namespace tessera::search::engines::lazy
