#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/base/stop.h"
#include "tessera/problem/engine.h"
#include "tessera/search/allocate/conflict_model.h"

namespace tessera::search::engines::local_search {

// An assignment of offsets in which buffers may overlap, and the local search that mends it.
//
// Every pair of conflicting buffers has a weight, 1 at first. A step draws a buffer that overlaps
// some neighbour and looks at all its offsets within the capacity: one costs the weights of the
// neighbours that the buffer would overlap there. That sum changes only where a neighbour stops or
// begins to be in the way:
//
//     address            0123456789012345678
//     neighbours of c    ..aaaaaaa......bbbb     c is three bytes long
//     offsets of c       #########....######     #: at the weight of a, or of b; .: free of cost
//
// so a sweep over those ends finds the cheapest offsets; all that are tried touch something. Where
// one of them is cheaper than the buffer's own, it moves there. Otherwise the weights of its
// overlaps grow by one: what cannot be mended becomes dear until something else makes way, which
// fills up the valley that the search is caught in (Morris, 1993, the breakout method; Egeblad,
// Nielsen and Odgaard, 2007, guide the overlaps of packings so). Weights are forgotten now and
// then: when all are large, one more hardly tilts anything.
//
// A step costs time in proportion to the neighbours of one buffer; their ends stay sorted from one
// step to the next but for the few that have moved since.
class LocalSearch {
 public:
  // Buffers lie as low as each can at first. `model` outlives the search.
  LocalSearch(const allocate::CanonicalModel& model, uint64_t seed);

  // Sets the capacity, and moves down what reaches beyond it; false when some buffer has no
  // position in it, and then Mend must not be called.
  bool Confine(problem::Bytes capacity);

  // Takes at most `limit` steps, until nothing overlaps; returns how many.
  int64_t Improve(int64_t limit, const base::Stop& stop);

  bool HasOverlaps() const { return !overlapping_.empty(); }

  // By model number.
  const std::vector<problem::Bytes>& Offsets() const { return offset_; }

 private:
  using Weight = int32_t;  // at most the steps before weights are forgotten
  using Cost = int64_t;    // a sum of weights

  // Of a neighbour.
  struct End {
    uint32_t edge;  // index in edges_, odd where it is the higher end
    uint32_t pair;
  };

  // Where the sweep meets an end.
  struct Event {
    problem::Bytes at;
    End end;
  };

  void PairUp();
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

  const allocate::CanonicalModel& model_;
  base::Random random_;
  int64_t steps_left_;  // until weights are forgotten

  // Per buffer.
  std::vector<problem::Bytes> offset_;
  std::vector<problem::Bytes> edges_;    // offset and top, one after the other
  std::vector<problem::Bytes> highest_;  // the greatest offset within the capacity
  std::vector<int> overlaps_;            // how many neighbours it overlaps
  std::vector<size_t> seat_;             // index in overlapping_, where it overlaps any
  std::vector<size_t> first_;            // its pairs are those from here to the next buffer's
  std::vector<int> overlapping_;

  // Per pair of a buffer and a neighbour: each is there twice.
  std::vector<int> neighbour_;
  std::vector<uint32_t> mirror_;  // the pair as the neighbour sees it
  std::vector<Weight> weight_;
  std::vector<End> ends_;  // two of each pair, those of a buffer as it last met them

  // Of the step at hand.
  std::vector<Event> events_;
  std::vector<Event> astray_;
  Cost own_ = 0;                          // cost of the buffer's own offset
  Cost least_ = 0;                        // cost of the cheapest
  std::vector<problem::Bytes> cheapest_;  // offsets
};

// Repair: everything is laid down at once, overlapping, and then mended (repair_search.h). It never
// knows that nothing fits, and on packings without any slack canonical search is far ahead; with a
// little slack, some percent of the capacity on average, it finds allocations that no tree search
// comes near, for it takes nothing back but what is in the way.
//
// Answers kFeasible or kUnknown. Each call goes on from the overlaps that the last one left,
// whatever its capacity. Honours what canonical search honours; takes as many buffers, and
// kMostPairs conflicts among them. Budget units, told as nodes, are a step for every
// kBuffersPerStep buffers, and at least one: about what a node of canonical search costs, which
// looks at all the memory where a step looks at one buffer's neighbours.
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
