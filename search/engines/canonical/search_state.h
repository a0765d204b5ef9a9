#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tessera/search/allocate/conflict_model.h"
#include "tessera/search/engines/canonical/canonical.h"

// A partial answer of the canonical search that can be taken back step by step.
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

// Why the least offset of a buffer rose.
enum class Cause : uint8_t {
  kPlaced,  // subject: the neighbour that was placed and cannot lie above
  kDelayed,  // subject: index of the reason that forbids the former least offset; then the support bound
  kSupport,          // the support bound alone
  kInterchangeable,  // subject: the identical buffer that lies lower
};

struct BoundChange {
  int buffer;
  problem::Bytes before;
  Cause cause;
  int subject;
};

// A change as its own buffer sees it.
struct Rise {
  problem::Bytes before;
  int change;  // index in the log
};

// Where `Undo` goes back to.
struct Mark {
  size_t changes = 0;
  size_t saved = 0;
  size_t saved_floors = 0;
  size_t placed = 0;
  size_t delayed = 0;
};

// For each buffer its least offset under the decisions so far, for each clique its floor. The
// members are read by all techniques of the search and written by the functions below and by the
// propagator.
class CanonicalState {
 public:
  CanonicalState(const allocate::CanonicalModel& model, problem::Bytes capacity);

  bool IsPlaced(int buffer) const { return level[static_cast<size_t>(buffer)] >= 0; }

  // Changes the top below a buffer so that Undo restores it.
  void SetTopBelow(int buffer, problem::Bytes top) {
    saved_.push_back({buffer, top_below[static_cast<size_t>(buffer)]});
    top_below[static_cast<size_t>(buffer)] = top;
  }

  // Call before the floor or the candidates of a clique change: Undo restores them. Only the first
  // call of a decision does anything.
  void SaveFloor(int clique) {
    const auto at = static_cast<size_t>(clique);
    if (floor_saved_in_[at] == decision_) return;
    floor_saved_in_[at] = decision_;
    saved_floors_.push_back({clique, candidates[at], floor[at]});
  }

  // Lifts the least offset of `buffer` and notes why.
  void Raise(int buffer, problem::Bytes bound, Cause cause, int subject) {
    const auto at = static_cast<size_t>(buffer);
    rises[at].push_back({least[at], static_cast<int>(changes.size())});
    changes.push_back({buffer, least[at], cause, subject});
    least[at] = bound;
  }

  // Forbids `buffer` an offset because of the decisions in `levels`; returns the number of that
  // reason.
  int MarkDelayed(int buffer, const LevelSet& levels) {
    delayed.push_back(buffer);
    reasons_.insert(reasons_.end(), levels.Words().begin(), levels.Words().end());
    return static_cast<int>(delayed.size()) - 1;
  }

  // The decisions behind a delay.
  std::span<const uint64_t> Reason(int number) const {
    return {reasons_.data() + static_cast<size_t>(number) * words_, words_};
  }

  // Notes that `buffer` lies at its least offset by the decision `at_level`, and takes it out of
  // its cliques' loads.
  void MarkPlaced(int buffer, int at_level);

  // The present, before a decision.
  Mark BeginDecision() {
    ++decision_;
    return {changes.size(), saved_.size(), saved_floors_.size(), placed_.size(), delayed.size()};
  }
  void Undo(const Mark& mark);

  // Makes the present bounds the root: what they say needs no explanation any more, and no Undo
  // goes behind them.
  void FixRoot();

  // Per buffer.
  std::vector<problem::Bytes>
      least;  // least offset; kNoPosition once placed, so that minima over neighbours pass it by
  std::vector<problem::Bytes> top_below;  // the highest top of a placed neighbour
  std::vector<problem::Bytes> offset;     // where it is placed
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
  std::vector<int>
      crossings;  // unplaced buffers that reach over the boundary below this clique's number

  std::vector<BoundChange> changes;
  std::vector<int> delayed;  // buffers that must not lie at some offset that was open to them

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

  const allocate::CanonicalModel& model_;
  std::vector<SavedTop> saved_;
  std::vector<SavedFloor> saved_floors_;
  std::vector<int64_t> floor_saved_in_;  // by clique: the decision
  int64_t decision_ = 0;
  std::vector<int> placed_;
  size_t words_;                   // of one reason
  std::vector<uint64_t> reasons_;  // of the delays, one after the other
};

// Conflict-directed backjumping (Prosser 1993), explained lazily.
//
// When a branch fails, the failure rests on a few statements of the form "the offset of d is at
// least v". Each was once derived: the log of bound changes says from what. Going through the log
// from its end, each statement is replaced by those it came from, weakened as far as the failure
// allows, until only decisions remain. Decisions outside that set are innocent: the search leaps
// over them without trying their other branch. No explanation is built unless a branch fails, and
// none for changes that played no part.
//
// Cost of one failure: the log's length / 64, plus for each change that took part a binary search
// among its buffer's changes or, where the support bound did it, one for each neighbour.
class ConflictAnalysis {
 public:
  ConflictAnalysis(const allocate::CanonicalModel& model, const CanonicalState& state);

  LevelSet& Levels() { return levels_; }

  // Call when the root of the state was fixed: its bounds need no explanation.
  void FixRoot();

  // Asks for the reasons of offset(buffer) >= bound, which must hold now.
  void Need(int buffer, problem::Bytes bound);

  // Asks why no unplaced neighbour of `buffer` reaches below `top`, and who its placed neighbours
  // are.
  void NeedNoWitness(int buffer, problem::Bytes top);

  // Resolves everything asked for into Levels(), which grows.
  void Resolve();

 private:
  void ResolveChange(size_t at, problem::Bytes bound);
  void NeedSupports(int buffer, problem::Bytes bound, size_t at);

  const allocate::CanonicalModel& model_;
  const CanonicalState& state_;
  LevelSet levels_;
  std::vector<problem::Bytes>
      covered_;  // by buffer: the bound asked for, or, when none is, that of the root
  std::vector<int> needed_at_;  // by buffer: the change that first met what is asked, or -1
  std::vector<uint64_t> open_;  // changes to explain, as bits
  size_t top_ = 0;              // words of open_ that may hold a bit
};

// What follows from placing or delaying a buffer.
//
// The search looks for an allocation with the least sum of offsets, in which therefore no buffer
// can move down. Let M be a buffer's least offset and up_d(v) the first position of d at or above v
// (alignment, reserved ranges, fixed buffers). Every placed neighbour of an unplaced d lies below
// it; let R be the highest of their tops.
//
//   Support bound.  If d lies above up_d(R) it rests on something unplaced: M(d) rises to the least
//                   up_d(M(e) + size(e)) over its unplaced neighbours e.
//   Witness.        For the same reason something unplaced must bar the position up_d(R): some e has
//                   M(e) < up_d(R) + size(d). If none can, the branch fails: d would fall down.
//   Section check.  The unplaced members of a clique stack up from the least of their M. If they then
//                   exceed the capacity, less what is blocked up there, the branch fails.
//
//      capacity ------------------     The delayed d hovers over R. It may stay there only if e can
//            .-----.                   reach into the dotted room, and will not lie lower than e's
//            |  d  |   .---.           lowest top.
//            '-----'...| e |
//            :         '---'
//        R --#######--------------
//
// The bounds are stated over up_d rather than over tops, which makes them hold for any set of
// positions that does not depend on other buffers.
//
// Each function returns false when the branch fails; Analysis().Levels() is then the set of
// decisions to blame.
class Propagator {
 public:
  Propagator(const allocate::CanonicalModel& model, CanonicalState& state, problem::Bytes capacity,
             const CanonicalOptions& options);

  ConflictAnalysis& Analysis() { return analysis_; }

  // Orders interchangeable buffers and brings all bounds to their fixpoint before any decision.
  bool Start();

  // Lays `buffer` at its least offset. No unplaced neighbour can lie below it there.
  bool Place(int buffer, int level);

  // Forbids the buffer its least offset, because of the decisions in Analysis().Levels().
  bool Delay(int buffer);

 private:
  bool Raise(int buffer, problem::Bytes bound, Cause cause, int subject);
  bool Propagate();
  bool CheckCliques();
  bool CheckClique(int clique);
  bool CheckDelayed(int buffer, bool& raised);
  bool FailWitness(int buffer, problem::Bytes rest);
  void LoseCandidate(int buffer, problem::Bytes floor);
  void ForgetDirty();
  problem::Bytes LeastOverload(int clique) const;

  const allocate::CanonicalModel& model_;
  CanonicalState& state_;
  CanonicalOptions options_;
  ConflictAnalysis analysis_;
  std::vector<int> dirty_;  // cliques whose floor has to be found again
  std::vector<char> is_dirty_;
  std::vector<problem::Bytes> capacity_;  // of a clique
  std::vector<int>
      support_;  // of a delayed buffer: a neighbour with the lowest top when last looked for
  std::vector<int> witness_;  // and one with the least offset
};

}  // namespace tessera::search::engines::canonical
