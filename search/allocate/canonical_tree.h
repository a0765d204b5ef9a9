#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/result.h"
#include "tessera/search/allocate/canonical_cache.h"
#include "tessera/search/allocate/canonical_model.h"
#include "tessera/search/allocate/canonical_order.h"
#include "tessera/search/allocate/canonical_propagation.h"
#include "tessera/search/allocate/canonical_state.h"

namespace tessera::search {

enum class TreeOutcome : uint8_t { kPlaced, kExhausted, kLimit, kStopped };

// Depth-first search over place-or-delay decisions for one memory and one capacity.
//
// At each node a buffer c with the least offset of all that are open is either placed there or delayed: it
// must then rest on something that is placed later. Since c is lowest, nothing unplaced fits under it, and
// the two branches together lose no allocation with a least sum of offsets. Of all cliques on the lowest
// floor the one with the fewest candidates is served, the tightest of equals.
//
// Where no unplaced buffer's conflicts cross a border in time, both sides are independent: they are searched
// one after the other, and because a failure on one side never blames decisions of the other, backjumping
// leaps over those.
//
// When neither branch of a node led anywhere its state is remembered (canonical_cache.h), and a node in such a
// state fails at once; to blame are then the placed neighbours of its unplaced buffers and whatever raised
// their least offsets.
//
// The stack of decisions is explicit: its depth is the number of buffers, not that of the machine's stack.
class CanonicalTree {
 public:
  CanonicalTree(const CanonicalModel& model, Bytes capacity, const CanonicalOptions& options);

  // Searches anew from the root, at most `limit` nodes. `ranks` orders candidates; of equally good cliques the
  // first is served, or the last when searching backwards. kExhausted is a proof.
  TreeOutcome Search(const std::vector<int>& ranks, Direction direction, int64_t limit,
                     const base::Stop& stop);

  // Offsets by model number, after kPlaced.
  const std::vector<Bytes>& Offsets() const { return state_.offset; }
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

  const CanonicalModel& model_;
  CanonicalOptions options_;
  Bytes capacity_;
  Direction direction_ = Direction::kForwards;
  CanonicalState state_;
  Propagator propagator_;
  bool contradiction_;
  std::vector<Decision> decisions_;
  std::vector<OpenRange> ranges_;
  int open_ = -1;
  bool remembers_ = false;             // the search at hand has spent enough nodes to want the cache
  std::optional<FailureCache> cache_;  // once one did
  std::vector<Bytes> described_;       // by DescribeState
  problem::Statistics statistics_;
};

}  // namespace tessera::search
