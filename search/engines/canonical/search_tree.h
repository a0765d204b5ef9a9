#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/result.h"
#include "tessera/search/allocate/conflict_model.h"
#include "tessera/search/allocate/occupancy.h"
#include "tessera/search/engines/canonical/search_state.h"

namespace tessera::search::engines::canonical {

// Which of several candidates on the floor of a clique is tried first.
enum class CanonicalOrder : uint8_t {
  kSectionsAreaLoad,  // most sections, then greatest size times lifetime, then greatest load lived through
  kSizeSectionsLoad,  // largest, then most sections, then greatest load
  kEndSize,           // latest death (backwards: earliest birth), then largest
};

// With the steps of the Problem or against them: a program that resists one way often yields the
// other.
enum class Direction : uint8_t { kForwards, kBackwards };

struct CanonicalStrategy {
  CanonicalOrder order;
  Direction direction;
};

// One round of restarts: each order both ways. Either half holds every order and both directions.
inline constexpr CanonicalStrategy kCanonicalStrategies[] = {
    {CanonicalOrder::kSectionsAreaLoad, Direction::kForwards},
    {CanonicalOrder::kSizeSectionsLoad, Direction::kBackwards},
    {CanonicalOrder::kEndSize, Direction::kForwards},
    {CanonicalOrder::kSectionsAreaLoad, Direction::kBackwards},
    {CanonicalOrder::kSizeSectionsLoad, Direction::kForwards},
    {CanonicalOrder::kEndSize, Direction::kBackwards}};

// The rank of each buffer, 0 first. A seed other than 0 shakes every measure (not points in time)
// by up to 30 %, the same way on every machine.
std::vector<int> RankBuffers(const problem::Problem& problem, const allocate::CanonicalModel& model,
                             CanonicalStrategy strategy, uint64_t seed);

// States of the canonical search that are known to lead nowhere.
//
// What can still come of a stretch of time depends on its unplaced buffers alone: on which they
// are, on the least offset M of each, and on the real top R beneath it, for whether a buffer must
// rest on something unplaced depends on both (canonical_propagation.h). Two branches that agree in
// these triples agree in their answer; (buffer, M) alone would not do. The order in which a search
// tries candidates plays no part, so states stay refuted over restarts.
//
// A table of fixed size, one state a slot, the last one wins. States are compared in full: equal
// hashes alone prove nothing. Cost: O(length) a look-up; at most kMostWords words of memory.
class FailureCache {
 public:
  FailureCache() : slots_(kSlots) {}

  bool Holds(std::span<const problem::Bytes> state) const;
  void Insert(std::span<const problem::Bytes> state);

 private:
  static constexpr size_t kSlots = size_t{1} << 14;
  static constexpr size_t kMostWords = size_t{1} << 22;

  static size_t SlotOf(std::span<const problem::Bytes> state);

  std::vector<std::vector<problem::Bytes>> slots_;
  size_t words_ = 0;
};

enum class TreeOutcome : uint8_t { kPlaced, kExhausted, kLimit, kStopped };

// Depth-first search over place-or-delay decisions for one memory and one capacity.
//
// At each node a buffer c with the least offset of all that are open is either placed there or
// delayed: it must then rest on something that is placed later. Since c is lowest, nothing unplaced
// fits under it, and the two branches together lose no allocation with a least sum of offsets. Of
// all cliques on the lowest floor the one with the fewest candidates is served, the tightest of
// equals.
//
// Where no unplaced buffer's conflicts cross a boundary in time, both sides are independent: they
// are searched one after the other, and because a failure on one side never blames decisions of the
// other, backjumping leaps over those.
//
// When neither branch of a node led anywhere its state is remembered (canonical_cache.h), and a
// node in such a state fails at once; to blame are then the placed neighbours of its unplaced
// buffers and whatever raised their least offsets.
//
// The stack of decisions is explicit: its depth is the number of buffers, not that of the machine's
// stack.
class CanonicalTree {
 public:
  CanonicalTree(const allocate::CanonicalModel& model, problem::Bytes capacity,
                const CanonicalOptions& options);

  // Searches anew from the root, at most `limit` nodes. `ranks` orders candidates; of equally good
  // cliques the first is served, or the last when searching backwards. kExhausted is a proof.
  TreeOutcome Search(const std::vector<int>& ranks, Direction direction, int64_t limit,
                     const base::Stop& stop);

  // Offsets by model number, after kPlaced.
  const std::vector<problem::Bytes>& Offsets() const { return state_.offset; }
  const problem::Statistics& Statistics() const { return statistics_; }

 private:
  // Cliques [first, last) that still have to be served, and the next such range; -1 ends the list.
  struct OpenRange {
    int first;
    int last;
    int next;
  };
  struct Decision {
    int buffer;
    Mark mark;
    int open;            // head of the list of ranges before the decision
    size_t open_ranges;  // ranges_.size() before it
  };

  int Select(const std::vector<int>& ranks);
  int SelectIn(const OpenRange& range, const std::vector<int>& ranks) const;
  int SelectClique(const OpenRange& range) const;
  bool Decide(int buffer);
  bool Backtrack();
  bool DelayAndRemember(int buffer);
  bool IsKnownToFail();
  void DescribeState();
  void SplitOpenRange(int first, int last);
  int CountUnplaced(int first, int last) const;

  const allocate::CanonicalModel& model_;
  CanonicalOptions options_;
  problem::Bytes capacity_;
  Direction direction_ = Direction::kForwards;
  CanonicalState state_;
  Propagator propagator_;
  bool contradiction_;
  std::vector<Decision> decisions_;
  std::vector<OpenRange> ranges_;
  int open_ = -1;
  bool remembers_ = false;  // the search at hand has spent enough nodes to want the cache
  std::optional<FailureCache> cache_;      // once one did
  std::vector<problem::Bytes> described_;  // by DescribeState
  problem::Statistics statistics_;
};

}  // namespace tessera::search::engines::canonical
