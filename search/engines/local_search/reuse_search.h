// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/base/stop.h"
#include "tessera/problem/problem.h"
#include "tessera/search/allocate/conflict_model.h"

namespace tessera::search::engines::local_search {

// The penalties of one memory, as pairs of buffers. The buffers of a model have the first numbers;
// the anchors, which have a fixed offset, have the next ones.
struct PenalisedPairs {
  struct Pair {
    int first = 0;
    int second = 0;
    int64_t weight = 1;
  };
  struct Anchor {
    problem::Bytes offset = 0;
    problem::Bytes size = 0;
  };
  std::vector<Pair> pairs;  // none of them is in conflict
  std::vector<Anchor> anchors;
};

PenalisedPairs PenalisedPairsOf(const problem::Problem& problem, int memory,
                                const allocate::ConflictModel& model);

// A local search for placements in which buffers that never live together share few addresses
// (problem::CostKind::kReuse). It minimises the sum of the weights of the pairs that share an
// address.
//
// The search only visits placements: no two buffers in conflict ever overlap. A step removes some
// buffers (ruin) and inserts them again one by one, each where it adds the least cost (recreate;
// Schrimpf et al., 2000, Christiaens and Vanden Berghe, 2020):
//
//     address          0 . . . . . . . . . . . . . . . capacity
//     in conflict      ###aaaaaaa#####bbbb#                    no offset of c in #, a or b
//     penalties        3333.......555555........2222           cost of the offsets that are left
//     c                       ^ none      ^ ^ cost 5  ^ none: drawn among the cheapest
//
// The first removed buffer is drawn among those that have a cost. The others share a penalised
// address with it or are in conflict with it, so that places become free where it would cost less.
// The result is accepted if it is not much worse: the tolerated loss falls during a round
// (simulated annealing, Kirkpatrick et al., 1983), and each round starts from the best placement so
// far and is longer than the one before. Otherwise the buffers return to their places.
//
// Cost of a step: for each removed buffer of d neighbours and penalties O(d log d).
class ReuseSearch {
 public:
  // `model` must outlive this object.
  ReuseSearch(const allocate::ConflictModel& model, const PenalisedPairs& penalties,
              problem::Bytes capacity, uint64_t seed);

  // Starts from the buffers of the model at these offsets, which must be a placement within the
  // capacity.
  void Start(std::span<const problem::Bytes> offsets);

  // Takes at most `limit` steps. Ends earlier if the cost is 0, or after several rounds in sequence
  // without an improvement. Returns the number of steps.
  int64_t Improve(int64_t limit, const base::Stop& stop);

  // The cost of the cheapest placement so far.
  int64_t LeastCost() const { return least_cost_; }
  // The offsets of that placement, by model number.
  const std::vector<problem::Bytes>& Best() const { return best_; }

 private:
  // A buffer that must not be overlapped (a conflict) or should not be (a penalty, which has a
  // weight). The two overlap if the offset of this buffer lies in the open range (the other offset
  // - below, the other offset + above).
  struct Neighbour {
    int other = 0;
    bool conflicts = false;
    problem::Bytes below = 0;
    problem::Bytes above = 0;
    int64_t weight = 0;
  };

  // A change of the cost and of the number of conflicts from this offset on.
  struct Event {
    problem::Bytes at = 0;
    int64_t cost = 0;
    int conflicts = 0;
  };

  struct Place {
    int buffer = 0;
    problem::Bytes offset = 0;
  };

  void RebuildInOrders(const base::Stop& stop);
  bool Rebuild(std::span<const int> order);
  void RunRound(int64_t steps, const base::Stop& stop);
  void Step(double tolerated);
  void ChooseRemoved();
  void AddRemoved(int buffer);
  bool Recreate();
  void Undo();
  void Keep();
  void Insert(int buffer, problem::Bytes offset);
  void Remove(int buffer);
  void CountPenalties(int buffer, int sign);
  void ChangeCost(int buffer, int64_t change);
  problem::Bytes FindCheapest(int buffer);
  Event SortEvents(int buffer, problem::Bytes beyond);
  bool Pays(const Neighbour& neighbour, problem::Bytes offset) const;

  const allocate::ConflictModel& model_;
  base::Random random_;

  std::vector<problem::Bytes> offset_;  // kAbsent if removed; anchors never are
  std::vector<problem::Bytes> highest_;
  std::vector<int64_t> cost_;  // of the pairs of the buffer
  std::vector<size_t> index_in_costly_;
  std::vector<int> costly_;  // buffers that are placed and cost something
  allocate::CompressedLists<Neighbour> neighbours_;
  allocate::CompressedLists<Neighbour> penalties_;  // those of them that are penalties
  int64_t total_ = 0;                               // of all pairs

  int64_t least_cost_ = 0;
  std::vector<problem::Bytes> best_;
  int64_t steps_ = 0;
  int64_t limit_ = 0;

  // Of the current step.
  std::vector<Place> removed_;
  std::vector<int> order_;
  std::vector<Event> events_;
};

}  // namespace tessera::search::engines::local_search
