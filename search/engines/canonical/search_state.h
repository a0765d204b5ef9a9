// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/search/allocate/conflict_model.h"

// A partial answer of the canonical search that can be undone step by step.
namespace tessera::search::engines::canonical {

// Decisions by number, as a bit set.
class LevelSet {
 public:
  explicit LevelSet(int levels) : words_(static_cast<size_t>(levels) / 64 + 1, 0) {}

  void Add(int level) { words_[static_cast<size_t>(level) / 64] |= Bit(level); }
  void Remove(int level) { words_[static_cast<size_t>(level) / 64] &= ~Bit(level); }
  bool Has(int level) const { return (words_[static_cast<size_t>(level) / 64] & Bit(level)) != 0; }
  void Clear() { std::fill(words_.begin(), words_.end(), 0); }
  void Unite(std::span<const uint64_t> words) {
    for (size_t i = 0; i < words.size(); ++i) words_[i] |= words[i];
  }
  std::span<const uint64_t> Words() const { return words_; }

 private:
  static uint64_t Bit(int level) { return uint64_t{1} << (level % 64); }
  std::vector<uint64_t> words_;
};

// The reason why the least offset of a buffer rose.
enum class Cause : uint8_t {
  kPlaced,  // subject: the neighbour that was placed and cannot lie above
  // subject: index of the reason that forbids the former least offset; then the support bound
  kDelayed,
  kSupport,          // the support bound alone
  kInterchangeable,  // subject: the interchangeable buffer that lies lower
};

struct BoundChange {
  int buffer;
  problem::Bytes before;
  Cause cause;
  int subject;
};

// A change in the history of one buffer.
struct Rise {
  problem::Bytes before;
  int change;  // index in the log
};

// The point to which `Undo` returns.
struct Mark {
  size_t changes = 0;
  size_t saved = 0;
  size_t saved_floors = 0;
  size_t placed = 0;
  size_t delayed = 0;
};

// The least offset of each buffer under the current decisions, and the floor of each clique. All
// techniques of the search read the members; the functions below and the propagator write them.
class CanonicalState {
 public:
  CanonicalState(const allocate::ConflictModel& model, problem::Bytes capacity);

  bool IsPlaced(int buffer) const { return level[static_cast<size_t>(buffer)] >= 0; }

  // Changes the top below a buffer. Undo restores it.
  void SetTopBelow(int buffer, problem::Bytes top) {
    saved_.push_back({buffer, top_below[static_cast<size_t>(buffer)]});
    top_below[static_cast<size_t>(buffer)] = top;
  }

  // Must be called before the floor or the candidates of a clique change; Undo restores them. Only
  // the first call of a decision has an effect.
  void SaveFloor(int clique) {
    const auto at = static_cast<size_t>(clique);
    if (floor_saved_in_[at] == decision_) return;
    floor_saved_in_[at] = decision_;
    saved_floors_.push_back({clique, candidates[at], floor[at]});
  }

  // Raises the least offset of `buffer` and records the reason.
  void Raise(int buffer, problem::Bytes bound, Cause cause, int subject) {
    const auto at = static_cast<size_t>(buffer);
    rises[at].push_back({least[at], static_cast<int>(changes.size())});
    changes.push_back({buffer, least[at], cause, subject});
    least[at] = bound;
  }

  // Forbids `buffer` an offset because of the decisions in `levels`. Returns the number of that
  // reason.
  int MarkDelayed(int buffer, const LevelSet& levels) {
    delayed.push_back(buffer);
    reasons_.insert(reasons_.end(), levels.Words().begin(), levels.Words().end());
    return static_cast<int>(delayed.size()) - 1;
  }

  // Returns the decisions that caused a delay, as words of a LevelSet.
  std::span<const uint64_t> Reason(int number) const {
    return {reasons_.data() + static_cast<size_t>(number) * words_, words_};
  }

  // Records that the decision `at_level` places `buffer` at its least offset, and removes the
  // buffer from the loads of its cliques.
  void MarkPlaced(int buffer, int at_level);

  // Begins a decision and returns the current state, for Undo.
  Mark BeginDecision() {
    ++decision_;
    return {changes.size(), saved_.size(), saved_floors_.size(), placed_.size(), delayed.size()};
  }
  void Undo(const Mark& mark);

  // Makes the current bounds the root. They need no explanation from now on, and Undo never goes
  // below them.
  void FixRoot();

  // Per buffer.
  // Least offset; kNoPosition once placed, so that minima over neighbours ignore it.
  std::vector<problem::Bytes> least;
  std::vector<problem::Bytes> top_below;  // the highest top of a placed neighbour
  std::vector<problem::Bytes> offset;     // its offset if placed
  std::vector<problem::Bytes> highest;    // the greatest offset within the capacity
  std::vector<problem::Bytes> root;       // least offset before any decision
  std::vector<int> level;                 // the decision that placed it, or -1
  std::vector<size_t> placed_at;          // length of `changes` when it was placed
  std::vector<std::vector<Rise>> rises;   // its part of `changes`

  // Per clique.
  std::vector<problem::Bytes> load;   // bytes of unplaced members
  std::vector<problem::Bytes> floor;  // least offset of an unplaced member
  std::vector<int> candidates;        // unplaced members whose least offset is the floor
  std::vector<int> unplaced;          // unplaced members
  std::vector<int> crossings;  // unplaced buffers that span the boundary below this clique's number

  std::vector<BoundChange> changes;
  std::vector<int> delayed;  // buffers that must not use an offset that was open to them

 private:
  struct SavedTop {
    int buffer;
    problem::Bytes top;
  };
  struct SavedFloor {
    int clique;
    int candidates;
    problem::Bytes floor;
  };

  const allocate::ConflictModel& model_;
  std::vector<SavedTop> saved_;
  std::vector<SavedFloor> saved_floors_;
  std::vector<int64_t> floor_saved_in_;  // by clique: the decision
  int64_t decision_ = 0;
  std::vector<int> placed_;
  size_t words_;                   // of one reason
  std::vector<uint64_t> reasons_;  // of the delays, concatenated
};

// Conflict-directed backjumping (Prosser 1993) with lazy explanations.
//
// When a branch fails, the failure depends on a few statements of the form "the offset of d is at
// least v". Each was derived earlier, and the log of bound changes records from what. The analysis
// goes through the log from its end and replaces each statement by those that it was derived from,
// weakened as far as the failure allows, until only decisions remain. Decisions outside that set
// did not contribute: the search jumps over them without trying their other branch. An explanation
// is built only when a branch fails, and only for changes that took part.
//
// Cost of one failure: the log's length / 64; plus, for each change that took part, a binary search
// among the changes of its buffer or, for the support bound, one such search for each neighbour.
class ConflictAnalysis {
 public:
  // Counts the buffers that it considers in `work`.
  ConflictAnalysis(const allocate::ConflictModel& model, const CanonicalState& state,
                   base::PolledWork& work);

  LevelSet& Levels() { return levels_; }

  // Must be called when the root of the state is fixed: its bounds need no explanation.
  void FixRoot();

  // Requests the reasons of offset(buffer) >= bound. The statement must hold now.
  void Need(int buffer, problem::Bytes bound);

  // Requests the reasons why no unplaced neighbour of `buffer` reaches below `top`, and the
  // decisions that placed its other neighbours.
  void NeedNoWitness(int buffer, problem::Bytes top);

  // Resolves all requests into Levels(), which grows. After a stop the requests are dropped, and
  // the levels mean nothing.
  void Resolve();

 private:
  void ResolveChange(size_t at, problem::Bytes bound);
  void NeedSupports(int buffer, problem::Bytes bound, size_t at);

  const allocate::ConflictModel& model_;
  const CanonicalState& state_;
  base::PolledWork& work_;
  LevelSet levels_;
  // By buffer: the requested bound, or, if there is none, that of the root.
  std::vector<problem::Bytes> covered_;
  std::vector<int> needed_at_;  // by buffer: the change that first met the request, or -1
  std::vector<uint64_t> open_;  // changes to explain, as bits
  size_t top_ = 0;              // words of open_ that may hold a bit
};

}  // namespace tessera::search::engines::canonical
