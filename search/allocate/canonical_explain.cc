#include "tessera/search/allocate/canonical_explain.h"

#include <algorithm>
#include <bit>

namespace tessera::search {
namespace {

size_t WordOf(int change) { return static_cast<size_t>(change) / 64; }
uint64_t BitOf(int change) { return uint64_t{1} << (change % 64); }

}  // namespace

ConflictAnalysis::ConflictAnalysis(const CanonicalModel& model, const CanonicalState& state)
    : model_(model),
      state_(state),
      levels_(model.Count()),
      covered_(state.root),
      needed_at_(static_cast<size_t>(model.Count()), -1) {}

void ConflictAnalysis::Need(int buffer, Bytes bound) {
  const auto at = static_cast<size_t>(buffer);
  if (bound <= covered_[at]) return;
  // Whatever exceeds the position below the bound reaches the bound: the weakest statement of the same
  // meaning.
  const Bytes weakest = model_.positions[at].Below(bound) + 1;
  if (weakest <= covered_[at]) return;
  const std::vector<Rise>& rises = state_.rises[at];
  const auto met = std::partition_point(rises.begin(), rises.end(),
                                        [weakest](const Rise& rise) { return rise.before < weakest; });
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

void ConflictAnalysis::NeedNoWitness(int buffer, Bytes top) {
  for (const int e : model_.neighbours[buffer]) {
    if (state_.IsPlaced(e)) {
      levels_.Add(state_.level[static_cast<size_t>(e)]);
    } else {
      Need(e, top);
    }
  }
}

void ConflictAnalysis::Resolve() {
  // What a change needs was settled before it, so bits are only ever set below the one at hand.
  while (top_ > 0) {
    uint64_t& word = open_[top_ - 1];
    if (word == 0) {
      --top_;
      continue;
    }
    const size_t at = top_ * 64 - 1 - static_cast<size_t>(std::countl_zero(word));
    word &= ~BitOf(static_cast<int>(at));
    const auto buffer = static_cast<size_t>(state_.changes[at].buffer);
    const Bytes bound = covered_[buffer];
    covered_[buffer] = state_.root[buffer];
    needed_at_[buffer] = -1;
    ResolveChange(at, bound);
  }
}

void ConflictAnalysis::ResolveChange(size_t at, Bytes bound) {
  const BoundChange& change = state_.changes[at];
  const auto subject = static_cast<size_t>(change.subject);
  const Bytes size = model_.sizes[static_cast<size_t>(change.buffer)];
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
    case Cause::kTwin:
      Need(change.subject, bound - model_.sizes[subject]);
      break;
  }
}

// Why nothing on which the buffer could rest lets it lie below `bound`: each neighbour's top is too high for
// that, or the neighbour was placed by then, with its top beneath the buffer's offset already.
void ConflictAnalysis::NeedSupports(int buffer, Bytes bound, size_t at) {
  for (const int e : model_.neighbours[buffer]) {
    const auto neighbour = static_cast<size_t>(e);
    const Bytes offset = bound - model_.sizes[neighbour];
    if (offset <= 0) continue;
    const bool placed = state_.IsPlaced(e) && state_.placed_at[neighbour] <= at;
    if (placed && state_.offset[neighbour] < offset) {
      levels_.Add(state_.level[neighbour]);
    } else {
      Need(e, offset);
    }
  }
}

}  // namespace tessera::search
