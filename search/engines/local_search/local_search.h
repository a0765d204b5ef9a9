// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/base/stop.h"
#include "tessera/problem/engine.h"
#include "tessera/search/allocate/conflict_model.h"

namespace tessera::search::engines::local_search {

// An assignment of offsets in which buffers may overlap, and the local search that repairs it.
//
// Every pair of conflicting buffers has a weight, initially 1. A step draws a buffer that overlaps
// some neighbour and evaluates all its offsets within the capacity: the cost of an offset is the
// sum of the weights of the neighbours that the buffer would overlap there. That sum changes only
// where the range of a neighbour ends or begins:
//
//     address            0123456789012345678
//     neighbours of c    ..aaaaaaa......bbbb     c is three bytes long
//     offsets of c       #########....######     #: at the weight of a, or of b; .: free of cost
//
// So a sweep over these ends finds the cheapest offsets; all offsets that it tries touch a
// neighbour or a limit. If one of them is cheaper than the buffer's current offset, the buffer
// moves there. Otherwise the weights of its overlaps grow by one. Overlaps that persist become
// expensive until another buffer moves away; this leads the search out of local minima (Morris,
// 1993, the breakout method; Egeblad, Nielsen and Odgaard, 2007, guide the overlaps of packings in
// this way). Weights are reset periodically: when all are large, an increment has little effect.
//
// A step costs time in proportion to the neighbours of one buffer. Their ends stay sorted from one
// step to the next, except for the few that have moved since.
class LocalSearch {
 public:
  // Places each buffer as low as possible. `model` must outlive this object.
  LocalSearch(const allocate::ConflictModel& model, uint64_t seed);

  // Sets the capacity and moves buffers beyond it down. Returns false if some buffer has no
  // position within it; then Improve must not be called.
  bool Confine(problem::Bytes capacity);

  // Takes at most `limit` steps, until nothing overlaps. Returns the number of steps.
  int64_t Improve(int64_t limit, const base::Stop& stop);

  bool HasOverlaps() const { return !overlapping_.empty(); }

  // By model number.
  const std::vector<problem::Bytes>& Offsets() const { return offset_; }

 private:
  using Weight = int32_t;  // at most the number of steps between resets
  using Cost = int64_t;    // a sum of weights

  // An end of a neighbour.
  struct End {
    uint32_t edge;  // index in edges_, odd if it is the higher end
    uint32_t pair;
  };

  // The address at which the sweep meets an end.
  struct Event {
    problem::Bytes at;
    End end;
  };

  // Makes the lists of pairs. Returns false at a stop; then the lists are not complete.
  bool PairUp(const base::Stop& stop);
  size_t FirstPairOf(int buffer) const {
    return model_.neighbours.Begins()[static_cast<size_t>(buffer)];
  }
  void Lay(int buffer, problem::Bytes offset);
  void Step();
  void SortEvents(int buffer);
  void FindCheapest(int buffer);
  void Offer(const allocate::Positions& positions, problem::Bytes from, problem::Bytes to,
             Cost cost);
  void Move(int buffer, problem::Bytes offset);
  void CountOverlaps(int buffer, int change);
  void ChangeCount(int buffer, int change);
  void RaiseWeights(int buffer);
  bool Overlap(int a, int b) const;

  const allocate::ConflictModel& model_;
  base::Random random_;
  int64_t steps_left_;  // until weights are reset
  bool is_paired_ = false;

  // Per buffer.
  std::vector<problem::Bytes> offset_;
  std::vector<problem::Bytes> edges_;         // offset and top, one after the other
  std::vector<problem::Bytes> highest_;       // the greatest offset within the capacity
  std::vector<int> overlaps_;                 // number of neighbours that it overlaps
  std::vector<size_t> index_in_overlapping_;  // index in overlapping_, if it overlaps any
  std::vector<int> overlapping_;

  // Per pair of a buffer and a neighbour, in the order of the model's lists. Each pair is stored
  // twice.
  std::vector<uint32_t> mirror_;  // the same pair from the neighbour's side
  std::vector<Weight> weight_;
  std::vector<End> ends_;  // two of each pair; those of a buffer in the order of its last sweep

  // Of the current step.
  std::vector<Event> events_;
  std::vector<Event> astray_;
  Cost own_ = 0;                          // cost of the buffer's current offset
  Cost least_ = 0;                        // cost of the cheapest
  std::vector<problem::Bytes> cheapest_;  // offsets
};

// The engine "local-search" places all buffers immediately, with overlaps, and then repairs the
// overlaps (LocalSearch). It cannot prove infeasibility. On packings without slack, canonical
// search is much better. With a little slack, some per cent of the capacity on average, it finds
// allocations that tree search does not reach, because it moves only buffers that overlap.
//
// Answers kFeasible or kUnknown. Each call continues from the overlaps of the previous one, at any
// capacity. Supports what canonical search supports, with the same number of buffers and at most
// kMostPairs conflicts. Budget units are counted as nodes: one step for every kBuffersPerStep
// buffers, and at least one. This is about the cost of a node of canonical search, which considers
// the whole memory, while a step considers the neighbours of one buffer.
class LocalSearchEngine final : public problem::Engine {
 public:
  static constexpr int64_t kMostPairs = 2'000'000;
  static constexpr int64_t kBuffersPerStep = 25;

  explicit LocalSearchEngine(uint64_t seed = 0) : seed_(seed) {}

  std::string_view Name() const override { return "local-search"; }
  bool Refutes() const override { return false; }
  std::unique_ptr<problem::Session> Open(const problem::Problem& problem,
                                         const problem::Ladder* ladder) const override;

 private:
  uint64_t seed_;
};

}  // namespace tessera::search::engines::local_search
