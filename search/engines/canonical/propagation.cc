// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tessera/search/engines/canonical/propagator.h"

namespace tessera::search::engines::canonical {

Propagator::Propagator(const allocate::ConflictModel& model, CanonicalState& state,
                       problem::Bytes capacity, const CanonicalOptions& options,
                       base::PolledWork& work)
    : model_(model),
      state_(state),
      options_(options),
      work_(work),
      analysis_(model, state, work),
      gap_fill_(model, capacity),
      is_dirty_(static_cast<size_t>(model.CliqueCount()), 0),
      support_(static_cast<size_t>(model.Count()), -1),
      witness_(static_cast<size_t>(model.Count()), -1) {
  for (const problem::Bytes overhang : model.overhang) capacity_.push_back(capacity + overhang);
}

bool Propagator::Start() {
  for (int i = 0; i < model_.Count(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (state_.least[at] > state_.highest[at]) return false;
  }
  for (int clique = 0; clique < model_.CliqueCount(); ++clique) {
    is_dirty_[static_cast<size_t>(clique)] = 1;
    dirty_.push_back(clique);
  }
  for (int i = 0; i < model_.Count(); ++i) {
    const int peer =
        options_.interchangeable ? model_.interchangeable_below[static_cast<size_t>(i)] : -1;
    if (peer < 0 || model_.interchangeable_below[static_cast<size_t>(peer)] >= 0) continue;
    const problem::Bytes bound =
        state_.least[static_cast<size_t>(peer)] + model_.sizes[static_cast<size_t>(peer)];
    if (!Raise(i, bound, Cause::kInterchangeable, peer)) return false;
  }
  if (!Propagate()) return false;
  state_.FixRoot();
  analysis_.FixRoot();
  return true;
}

bool Propagator::Place(int buffer, int level) {
  const problem::Bytes bottom = state_.least[static_cast<size_t>(buffer)];
  const problem::Bytes top = bottom + model_.sizes[static_cast<size_t>(buffer)];
  state_.MarkPlaced(buffer, level);
  LoseCandidate(buffer, bottom);
  for (const int d : model_.neighbours[buffer]) {
    const auto at = static_cast<size_t>(d);
    if (state_.IsPlaced(d)) continue;
    if (state_.top_below[at] < top) state_.SetTopBelow(d, top);
    if (state_.least[at] < top && !Raise(d, top, Cause::kPlaced, buffer)) {
      ForgetDirty();
      return false;
    }
  }
  return Propagate();
}

bool Propagator::Delay(int buffer) {
  const auto at = static_cast<size_t>(buffer);
  problem::Bytes lowest_top = allocate::kNoPosition, lowest = allocate::kNoPosition;
  for (const int e : model_.neighbours[buffer]) {
    const problem::Bytes least = state_.least[static_cast<size_t>(e)];
    if (least == allocate::kNoPosition) continue;
    if (least < lowest) {
      lowest = least;
      witness_[at] = e;
    }
    const problem::Bytes top = least + model_.sizes[static_cast<size_t>(e)];
    if (top < lowest_top) {
      lowest_top = top;
      support_[at] = e;
    }
  }
  const problem::Bytes rest = model_.positions[at].AtLeast(state_.top_below[at]);
  if (options_.witness && lowest >= rest + model_.sizes[at]) {
    // The causes of the failed placement stay in the set, because it forbids the position that the
    // buffer leaves.
    analysis_.Need(buffer, state_.least[at]);
    analysis_.NeedNoWitness(buffer, rest + model_.sizes[at]);
    analysis_.Resolve();
    return false;
  }
  if (!Raise(buffer, lowest_top, Cause::kDelayed, state_.MarkDelayed(buffer, analysis_.Levels()))) {
    ForgetDirty();
    return false;
  }
  return Propagate();
}

// Raises the least offset to the first position at or above `bound`, and the interchangeable
// buffers above it too.
bool Propagator::Raise(int buffer, problem::Bytes bound, Cause cause, int subject) {
  while (true) {
    const auto at = static_cast<size_t>(buffer);
    const problem::Bytes before = state_.least[at];
    const problem::Bytes least = model_.positions[at].AtLeast(bound);
    state_.Raise(buffer, least, cause, subject);
    if (least > state_.highest[at]) {
      analysis_.Levels().Clear();
      analysis_.Need(buffer, state_.highest[at] + 1);
      analysis_.Resolve();
      return false;
    }
    LoseCandidate(buffer, before);
    if (options_.gap_fill && gap_fill_.LosesGap(buffer, before, least)) MarkDirty(buffer);
    const int peer = options_.interchangeable ? model_.interchangeable_above[at] : -1;
    bound = least + model_.sizes[at];
    if (peer < 0 || state_.IsPlaced(peer) || state_.least[static_cast<size_t>(peer)] >= bound)
      return true;
    subject = buffer;
    buffer = peer;
    cause = Cause::kInterchangeable;
  }
}

// If `buffer` is no longer open at `floor`, and was the last to be so, the floor must be
// recomputed.
void Propagator::LoseCandidate(int buffer, problem::Bytes floor) {
  for (const int clique : model_.cliques_of[buffer]) {
    const auto at = static_cast<size_t>(clique);
    if (state_.floor[at] != floor || is_dirty_[at] != 0) continue;
    state_.SaveFloor(clique);
    if (--state_.candidates[at] > 0) continue;
    is_dirty_[at] = 1;
    dirty_.push_back(clique);
  }
}

void Propagator::MarkDirty(int buffer) {
  for (const int clique : model_.cliques_of[buffer]) {
    char& is_dirty = is_dirty_[static_cast<size_t>(clique)];
    if (is_dirty == 0) dirty_.push_back(clique);
    is_dirty = 1;
  }
}

void Propagator::ForgetDirty() {
  for (const int clique : dirty_) is_dirty_[static_cast<size_t>(clique)] = 0;
  dirty_.clear();
}

bool Propagator::Propagate() {
  bool raised = true;
  while (raised) {
    raised = false;
    if (!CheckCliques()) {
      ForgetDirty();
      return false;
    }
    for (const int buffer : state_.delayed) {
      if (!work_.Continues() || !CheckDelayed(buffer, raised)) {
        ForgetDirty();
        return false;
      }
    }
  }
  return true;
}

bool Propagator::CheckCliques() {
  while (!dirty_.empty()) {
    const int clique = dirty_.back();
    dirty_.pop_back();
    is_dirty_[static_cast<size_t>(clique)] = 0;
    if (state_.unplaced[static_cast<size_t>(clique)] > 0 && !CheckClique(clique)) return false;
  }
  return true;
}

void Propagator::FindFloor(int clique) {
  const auto at = static_cast<size_t>(clique);
  problem::Bytes floor = allocate::kNoPosition;
  int candidates = 0;
  for (const int i : model_.members[clique]) {
    const problem::Bytes least = state_.least[static_cast<size_t>(i)];
    candidates = least < floor ? 1 : candidates + (least == floor ? 1 : 0);
    floor = std::min(floor, least);
  }
  state_.SaveFloor(clique);
  state_.floor[at] = floor;
  state_.candidates[at] = candidates;
}

bool Propagator::CheckClique(int clique) {
  if (!work_.Continues(static_cast<int64_t>(model_.members[clique].size()))) return false;
  FindFloor(clique);
  if (options_.sections) {
    const problem::Bytes overload = LeastOverload(clique);
    if (state_.floor[static_cast<size_t>(clique)] >= overload) {
      analysis_.Levels().Clear();
      for (const int i : model_.members[clique]) {
        if (!state_.IsPlaced(i)) analysis_.Need(i, overload);
      }
      analysis_.Resolve();
      return false;
    }
  }
  if (!options_.gap_fill || gap_fill_.Permits(clique, state_)) return true;
  analysis_.Levels().Clear();
  gap_fill_.Explain(clique, state_, analysis_);
  analysis_.Resolve();
  return false;
}

// Returns the least floor above which the clique's unplaced members do not fit.
problem::Bytes Propagator::LeastOverload(int clique) const {
  const auto at = static_cast<size_t>(clique);
  problem::Bytes load = state_.load[at];
  problem::Bytes top = capacity_[at];
  const std::vector<problem::AddressRange>& blocked = model_.blocked[at];
  for (size_t i = blocked.size(); i-- > 0;) {
    const problem::AddressRange& range = blocked[i];
    if (range.begin >= top) continue;
    const problem::Bytes free = std::max<problem::Bytes>(0, top - range.end);
    if (free >= load) break;
    load -= free;
    top = range.begin;
  }
  return top - load + 1;
}

bool Propagator::CheckDelayed(int buffer, bool& raised) {
  const auto at = static_cast<size_t>(buffer);
  if (state_.IsPlaced(buffer)) return true;
  const problem::Bytes rest = model_.positions[at].AtLeast(state_.top_below[at]);
  if (state_.least[at] <= rest) return true;

  const problem::Bytes reach = rest + model_.sizes[at];
  const auto top_of = [this](int e) {
    return state_.least[static_cast<size_t>(e)] + model_.sizes[static_cast<size_t>(e)];
  };
  const bool supported =
      !options_.support || (support_[at] >= 0 && top_of(support_[at]) <= state_.least[at]);
  const bool witnessed =
      !options_.witness ||
      (witness_[at] >= 0 && state_.least[static_cast<size_t>(witness_[at])] < reach);
  if (supported && witnessed) return true;
  if (!work_.Continues(static_cast<int64_t>(model_.neighbours[buffer].size()))) return false;

  problem::Bytes lowest = allocate::kNoPosition, lowest_top = allocate::kNoPosition;
  for (const int e : model_.neighbours[buffer]) {
    const problem::Bytes least = state_.least[static_cast<size_t>(e)];
    if (least < lowest) {
      lowest = least;
      witness_[at] = e;
    }
    if (top_of(e) < lowest_top) {
      lowest_top = top_of(e);
      support_[at] = e;
    }
  }
  if (options_.witness && lowest >= reach) return FailWitness(buffer, rest);
  if (options_.support && model_.positions[at].AtLeast(lowest_top) > state_.least[at]) {
    raised = true;
    return Raise(buffer, lowest_top, Cause::kSupport, 0);
  }
  return true;
}

bool Propagator::FailWitness(int buffer, problem::Bytes rest) {
  analysis_.Levels().Clear();
  analysis_.Need(buffer, rest + 1);
  analysis_.NeedNoWitness(buffer, rest + model_.sizes[static_cast<size_t>(buffer)]);
  analysis_.Resolve();
  return false;
}

}  // namespace tessera::search::engines::canonical
