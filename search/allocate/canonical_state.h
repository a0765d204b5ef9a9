#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tessera/search/allocate/canonical_model.h"

// A partial answer of the canonical search that can be taken back step by step.
namespace tessera::search {

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
  kPlaced,   // subject: the neighbour that was placed and cannot lie above
  kDelayed,  // subject: index of the reason that forbids the former least offset; then the support bound
  kSupport,  // the support bound alone
  kTwin,     // subject: the identical buffer that lies lower
};

struct BoundChange {
  int buffer;
  Bytes before;
  Cause cause;
  int subject;
};

// A change as its own buffer sees it.
struct Rise {
  Bytes before;
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

// For each buffer its least offset under the decisions so far, for each clique its floor. The members are
// read by all techniques of the search and written by the functions below and by the propagator.
class CanonicalState {
 public:
  CanonicalState(const CanonicalModel& model, Bytes capacity);

  bool IsPlaced(int buffer) const { return level[static_cast<size_t>(buffer)] >= 0; }

  // Changes the top below a buffer so that Undo restores it.
  void SetTopBelow(int buffer, Bytes top) {
    saved_.push_back({buffer, top_below[static_cast<size_t>(buffer)]});
    top_below[static_cast<size_t>(buffer)] = top;
  }

  // Call before the floor or the candidates of a clique change: Undo restores them. Only the first call of a
  // decision does anything.
  void SaveFloor(int clique) {
    const auto at = static_cast<size_t>(clique);
    if (floor_saved_in_[at] == decision_) return;
    floor_saved_in_[at] = decision_;
    saved_floors_.push_back({clique, candidates[at], floor[at]});
  }

  // Lifts the least offset of `buffer` and notes why.
  void Raise(int buffer, Bytes bound, Cause cause, int subject) {
    const auto at = static_cast<size_t>(buffer);
    rises[at].push_back({least[at], static_cast<int>(changes.size())});
    changes.push_back({buffer, least[at], cause, subject});
    least[at] = bound;
  }

  // Forbids `buffer` an offset because of the decisions in `levels`; returns the number of that reason.
  int MarkDelayed(int buffer, const LevelSet& levels) {
    delayed.push_back(buffer);
    reasons_.insert(reasons_.end(), levels.Words().begin(), levels.Words().end());
    return static_cast<int>(delayed.size()) - 1;
  }

  // The decisions behind a delay.
  std::span<const uint64_t> Reason(int number) const {
    return {reasons_.data() + static_cast<size_t>(number) * words_, words_};
  }

  // Notes that `buffer` lies at its least offset by the decision `at_level`, and takes it out of its cliques'
  // loads.
  void MarkPlaced(int buffer, int at_level);

  // The present, before a decision.
  Mark BeginDecision() {
    ++decision_;
    return {changes.size(), saved_.size(), saved_floors_.size(), placed_.size(), delayed.size()};
  }
  void Undo(const Mark& mark);

  // Makes the present bounds the root: what they say needs no explanation any more, and no Undo goes behind
  // them.
  void FixRoot();

  // Per buffer.
  std::vector<Bytes> least;  // least offset; kNowhere once placed, so that minima over neighbours pass it by
  std::vector<Bytes> top_below;          // the highest top of a placed neighbour
  std::vector<Bytes> offset;             // where it is placed
  std::vector<Bytes> highest;            // the greatest offset within the capacity
  std::vector<Bytes> root;               // least offset before any decision
  std::vector<int> level;                // the decision that placed it, or -1
  std::vector<size_t> placed_at;         // length of `changes` when it was placed
  std::vector<std::vector<Rise>> rises;  // its part of `changes`

  // Per clique.
  std::vector<Bytes> load;      // bytes of unplaced members
  std::vector<Bytes> floor;     // least offset of an unplaced member
  std::vector<int> candidates;  // unplaced members whose least offset is the floor
  std::vector<int> unplaced;    // unplaced members
  std::vector<int> crossings;   // unplaced buffers that reach over the border below this clique's number

  std::vector<BoundChange> changes;
  std::vector<int> delayed;  // buffers that must not lie at some offset that was open to them

 private:
  struct SavedTop {
    int buffer;
    Bytes top;
  };
  struct SavedFloor {
    int clique;
    int candidates;
    Bytes floor;
  };

  const CanonicalModel& model_;
  std::vector<SavedTop> saved_;
  std::vector<SavedFloor> saved_floors_;
  std::vector<int64_t> floor_saved_in_;  // by clique: the decision
  int64_t decision_ = 0;
  std::vector<int> placed_;
  size_t words_;                   // of one reason
  std::vector<uint64_t> reasons_;  // of the delays, one after the other
};

}  // namespace tessera::search
