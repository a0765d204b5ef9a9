// SPDX-License-Identifier: Apache-2.0

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
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/canonical/propagator.h"
#include "tessera/search/engines/canonical/search_state.h"

namespace tessera::search::engines::canonical {

// The order in which the candidates on the floor of a clique are tried.
enum class CanonicalOrder : uint8_t {
  // most sections, then greatest size times lifetime, then greatest load lived through
  kSectionsAreaLoad,
  kSizeSectionsLoad,  // largest, then most sections, then greatest load
  kEndSize,           // latest death (backwards: earliest birth), then largest
};

// The direction of a search, with or against the steps of the Problem. A program that is hard in
// one direction is often easy in the other.
enum class Direction : uint8_t { kForwards, kBackwards };

struct CanonicalStrategy {
  CanonicalOrder order;
  Direction direction;
};

// One round of restarts: each order in both directions. Each half of the round contains every order
// and both directions.
inline constexpr CanonicalStrategy kCanonicalStrategies[] = {
    {CanonicalOrder::kSectionsAreaLoad, Direction::kForwards},
    {CanonicalOrder::kSizeSectionsLoad, Direction::kBackwards},
    {CanonicalOrder::kEndSize, Direction::kForwards},
    {CanonicalOrder::kSectionsAreaLoad, Direction::kBackwards},
    {CanonicalOrder::kSizeSectionsLoad, Direction::kForwards},
    {CanonicalOrder::kEndSize, Direction::kBackwards}};

// Returns the rank of each buffer; rank 0 is tried first. A seed other than 0 perturbs every
// measure (except points in time) by up to 30 %, identically on every machine.
std::vector<int> RankBuffers(const problem::Problem& problem, const allocate::ConflictModel& model,
                             CanonicalStrategy strategy, uint64_t seed);

// States of the canonical search that are known to fail.
//
// The outcome of a period of time depends only on its unplaced buffers: on the set of them, on the
// least offset M of each, and on the real top R below it. R matters because M and R together decide
// whether a buffer must rest on an unplaced one (propagator.h). Two branches that agree in these
// triples have the same outcome; (buffer, M) alone would not suffice. The order in which a search
// tries candidates has no influence, so states stay refuted across restarts.
//
// The table has a fixed size, with one state per slot; a new state replaces the old one. States are
// compared in full, because equal hashes prove nothing. Cost: O(length) per look-up; at most
// kMostWords words of memory.
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
// At each node, a buffer c with the least offset of all open ones is either placed there or
// delayed. A delayed buffer must rest on a buffer that is placed later. Since c is lowest, no
// unplaced buffer fits below it, so the two branches together cover all allocations with a least
// sum of offsets. The search selects the clique with the fewest candidates among those on the
// lowest floor; among equal ones, the tightest.
//
// If no unplaced buffer's conflicts cross a boundary in time, both sides are independent. They are
// searched one after the other. A failure on one side never depends on decisions of the other, so
// backjumping skips those.
//
// When both branches of a node fail, its state is stored (FailureCache), and a later node in such a
// state fails immediately. The failure then depends on the placed neighbours of its unplaced
// buffers and on the decisions that raised their least offsets.
//
// The stack of decisions is explicit, because its depth is the number of buffers and could exceed
// the machine's stack.
class CanonicalTree {
 public:
  CanonicalTree(const allocate::ConflictModel& model, problem::Bytes capacity,
                const CanonicalOptions& options);

  // Searches from the root, at most `limit` nodes. `ranks` orders candidates. Among equal cliques
  // the first is selected, or the last when searching backwards. kExhausted proves that there is no
  // allocation.
  TreeOutcome Search(const std::vector<int>& ranks, Direction direction, int64_t limit,
                     const base::Stop& stop);

  // Offsets by model number, after kPlaced.
  const std::vector<problem::Bytes>& Offsets() const { return state_.offset; }
  const problem::Statistics& Statistics() const { return statistics_; }

 private:
  // Cliques [first, last) that are still open, and the next such range; -1 ends the list.
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
  problem::Bytes BlockedAbove(int clique, problem::Bytes floor) const;
  bool Decide(int buffer);
  int64_t WorkOfNode() const;
  bool Backtrack();
  bool DelayAndRemember(int buffer);
  bool IsKnownToFail();
  void DescribeState();
  void SplitOpenRange(int first, int last);
  int CountUnplaced(int first, int last) const;

  // Work is counted in buffers and cliques that are considered.
  static constexpr int64_t kWorkBetweenStops = 1 << 16;
  static constexpr int64_t kLeastWorkOfNode = 1 << 8;

  const allocate::ConflictModel& model_;
  CanonicalOptions options_;
  problem::Bytes capacity_;
  Direction direction_ = Direction::kForwards;
  CanonicalState state_;
  base::PolledWork work_{nullptr};  // of the current search
  Propagator propagator_;
  bool contradiction_;
  std::vector<Decision> decisions_;
  std::vector<OpenRange> ranges_;
  int open_ = -1;
  bool remembers_ = false;             // the current search has spent enough nodes to use the cache
  std::optional<FailureCache> cache_;  // created on first use
  std::vector<problem::Bytes> described_;  // by DescribeState
  problem::Statistics statistics_;
};

}  // namespace tessera::search::engines::canonical
