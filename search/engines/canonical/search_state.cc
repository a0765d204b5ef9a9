// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/canonical/search_state.h"

#include <algorithm>
#include <bit>

namespace tessera::search::engines::canonical {

CanonicalState::CanonicalState(const allocate::ConflictModel& model, problem::Bytes capacity)
    : model_(model), words_(LevelSet(model.Count()).Words().size()) {
  const auto buffers = static_cast<size_t>(model.Count());
  const auto cliques = static_cast<size_t>(model.CliqueCount());
  top_below.assign(buffers, 0);
  offset.assign(buffers, 0);
  level.assign(buffers, -1);
  placed_at.assign(buffers, 0);
  rises.resize(buffers);
  load.assign(cliques, 0);
  floor.assign(cliques, 0);
  candidates.assign(cliques, 0);
  floor_saved_in_.assign(cliques, -1);
  unplaced.assign(cliques, 0);
  crossings.assign(cliques + 1, 0);
  for (int i = 0; i < model.Count(); ++i) {
    const allocate::Positions& positions = model.positions[static_cast<size_t>(i)];
    least.push_back(positions.AtLeast(0));
    highest.push_back(capacity - positions.Size());
    for (const int clique : model.cliques_of[i]) {
      load[static_cast<size_t>(clique)] += model.sizes[static_cast<size_t>(i)];
      ++unplaced[static_cast<size_t>(clique)];
    }
    const auto& [first, last] = model.extents[static_cast<size_t>(i)];
    for (int boundary = first + 1; boundary < last; ++boundary)
      ++crossings[static_cast<size_t>(boundary)];
  }
  root = least;
}

void CanonicalState::MarkPlaced(int buffer, int at_level) {
  const auto at = static_cast<size_t>(buffer);
  offset[at] = least[at];
  level[at] = at_level;
  placed_at[at] = changes.size();
  least[at] = allocate::kNoPosition;
  placed_.push_back(buffer);
  for (const int clique : model_.cliques_of[buffer]) {
    load[static_cast<size_t>(clique)] -= model_.sizes[at];
    --unplaced[static_cast<size_t>(clique)];
  }
  const auto& [first, last] = model_.extents[at];
  for (int boundary = first + 1; boundary < last; ++boundary)
    --crossings[static_cast<size_t>(boundary)];
}

void CanonicalState::Undo(const Mark& mark) {
  ++decision_;
  for (; saved_.size() > mark.saved; saved_.pop_back()) {
    top_below[static_cast<size_t>(saved_.back().buffer)] = saved_.back().top;
  }
  for (; saved_floors_.size() > mark.saved_floors; saved_floors_.pop_back()) {
    const auto at = static_cast<size_t>(saved_floors_.back().clique);
    floor[at] = saved_floors_.back().floor;
    candidates[at] = saved_floors_.back().candidates;
  }
  // A buffer is never raised once placed, so its offset is the bound to which earlier changes are
  // undone.
  for (; placed_.size() > mark.placed; placed_.pop_back()) {
    const int buffer = placed_.back();
    const auto at = static_cast<size_t>(buffer);
    least[at] = offset[at];
    level[at] = -1;
    for (const int clique : model_.cliques_of[buffer]) {
      load[static_cast<size_t>(clique)] += model_.sizes[at];
      ++unplaced[static_cast<size_t>(clique)];
    }
    const auto& [first, last] = model_.extents[at];
    for (int boundary = first + 1; boundary < last; ++boundary)
      ++crossings[static_cast<size_t>(boundary)];
  }
  for (; changes.size() > mark.changes; changes.pop_back()) {
    const auto at = static_cast<size_t>(changes.back().buffer);
    least[at] = changes.back().before;
    rises[at].pop_back();
  }
  delayed.resize(mark.delayed);
  reasons_.resize(mark.delayed * words_);
}

void CanonicalState::FixRoot() {
  changes.clear();
  saved_.clear();
  saved_floors_.clear();
  for (std::vector<Rise>& rise : rises) rise.clear();
  root = least;
}

namespace {

size_t WordOf(int change) { return static_cast<size_t>(change) / 64; }
uint64_t BitOf(int change) { return uint64_t{1} << (change % 64); }

}  // namespace

ConflictAnalysis::ConflictAnalysis(const allocate::ConflictModel& model,
                                   const CanonicalState& state, base::PolledWork& work)
    : model_(model),
      state_(state),
      work_(work),
      levels_(model.Count()),
      covered_(state.root),
      needed_at_(static_cast<size_t>(model.Count()), -1) {}

void ConflictAnalysis::Need(int buffer, problem::Bytes bound) {
  const auto at = static_cast<size_t>(buffer);
  if (bound <= covered_[at]) return;
  // Any offset above the position below the bound reaches the bound: this is the weakest equivalent
  // statement.
  const problem::Bytes weakest = model_.positions[at].Below(bound) + 1;
  if (weakest <= covered_[at]) return;
  const std::vector<Rise>& rises = state_.rises[at];
  const auto met = std::partition_point(
      rises.begin(), rises.end(), [weakest](const Rise& rise) { return rise.before < weakest; });
  const int change = (met - 1)->change;
  covered_[at] = weakest;
  if (needed_at_[at] == change) return;
  if (needed_at_[at] >= 0) open_[WordOf(needed_at_[at])] &= ~BitOf(needed_at_[at]);
  needed_at_[at] = change;
  if (open_.size() <= WordOf(change)) open_.resize(WordOf(change) + 1, 0);
  open_[WordOf(change)] |= BitOf(change);
  top_ = std::max(top_, WordOf(change) + 1);
}

void ConflictAnalysis::FixRoot() { covered_ = state_.root; }

void ConflictAnalysis::NeedNoWitness(int buffer, problem::Bytes top) {
  for (const int e : model_.neighbours[buffer]) {
    if (state_.IsPlaced(e)) {
      levels_.Add(state_.level[static_cast<size_t>(e)]);
    } else {
      Need(e, top);
    }
  }
}

void ConflictAnalysis::Resolve() {
  // A change depends only on earlier changes, so bits are only set below the current one.
  while (top_ > 0) {
    uint64_t& word = open_[top_ - 1];
    if (word == 0) {
      --top_;
      continue;
    }
    const size_t at = top_ * 64 - 1 - static_cast<size_t>(std::countl_zero(word));
    word &= ~BitOf(static_cast<int>(at));
    const auto buffer = static_cast<size_t>(state_.changes[at].buffer);
    const problem::Bytes bound = covered_[buffer];
    covered_[buffer] = state_.root[buffer];
    needed_at_[buffer] = -1;
    // Two buffers that rest on each other can raise each other millions of times before they fail.
    const size_t neighbours = model_.neighbours[state_.changes[at].buffer].size();
    if (work_.Continues(static_cast<int64_t>(neighbours) + 1)) ResolveChange(at, bound);
  }
}

void ConflictAnalysis::ResolveChange(size_t at, problem::Bytes bound) {
  const BoundChange& change = state_.changes[at];
  const auto subject = static_cast<size_t>(change.subject);
  const problem::Bytes size = model_.sizes[static_cast<size_t>(change.buffer)];
  switch (change.cause) {
    case Cause::kPlaced:
      // The placed buffer lies exactly there, and this one does not fit below it.
      levels_.Add(state_.level[subject]);
      Need(change.buffer, state_.offset[subject] - size + 1);
      break;
    case Cause::kDelayed:
      levels_.Unite(state_.Reason(change.subject));
      Need(change.buffer, change.before);
      NeedSupports(change.buffer, bound, at);
      break;
    case Cause::kSupport:
      Need(change.buffer, change.before);
      NeedSupports(change.buffer, bound, at);
      break;
    case Cause::kInterchangeable:
      Need(change.subject, bound - model_.sizes[subject]);
      break;
  }
}

// Requests the reasons why no possible support lets the buffer lie below `bound`: each neighbour's
// top is too high, or the neighbour was already placed, with its top below the buffer's offset.
void ConflictAnalysis::NeedSupports(int buffer, problem::Bytes bound, size_t at) {
  for (const int e : model_.neighbours[buffer]) {
    const auto neighbour = static_cast<size_t>(e);
    const problem::Bytes offset = bound - model_.sizes[neighbour];
    if (offset <= 0) continue;
    const bool placed = state_.IsPlaced(e) && state_.placed_at[neighbour] <= at;
    if (placed && state_.offset[neighbour] < offset) {
      levels_.Add(state_.level[neighbour]);
    } else {
      Need(e, offset);
    }
  }
}

}  // namespace tessera::search::engines::canonical
