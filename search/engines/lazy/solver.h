#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/result.h"
#include "tessera/search/engines/lazy/axis.h"
#include "tessera/search/engines/lazy/clause_learning.h"
#include "tessera/search/engines/lazy/decisions.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/engines/lazy/packing.h"
#include "tessera/search/engines/lazy/pair_rules.h"
#include "tessera/search/engines/lazy/proof_log.h"
#include "tessera/search/engines/lazy/section_pair_cuts.h"
#include "tessera/search/engines/lazy/section_rules.h"
#include "tessera/search/engines/lazy/trail.h"

namespace tessera::search::engines::lazy {

// The constants of one query about a packing.
struct PackingQuery {
  std::vector<Bound> sizes;
  std::vector<Bound> ceilings;  // of each memory, none negative
};

// Whether every placement that satisfies `tight` satisfies `loose`: larger buffers under lower
// ceilings. Then clauses learned under `loose` hold under `tight`. Sizes must be equal if buffers
// rest on each other or are adjacent, because a larger buffer moves its neighbour.
bool Implies(const PackingQuery& tight, const PackingQuery& loose, bool sizes_may_differ);

// Conflict-driven search over bounds of offsets and orders of pairs (trail.h).
//
//     propagate to a fixpoint: clauses and pair rules on each change; section-pair cuts, energy,
//     edge finding
//       conflict?  learn, return to the level where the lesson implies a literal; at the root:
//                  infeasible
//       none:      restart if due, else assume the next assumption, else decide; nothing left:
//                  feasible
//
// Bounds that raise each other around a cycle of orders and ties rise to the capacity, perhaps one
// byte at a time. After many changes in a row the solver searches for such a cycle
// (RefuteCycle), which is itself a conflict.
//
// Cheap rules run to completion before an expensive one starts. The answer infeasible requires the
// derivation of the empty clause, or of a clause of assumptions alone. Everything happens in the
// order of the input and the seed, so the same calls give the same answers.
//
// Clauses over any literal can be added, including integers and booleans of the caller.
class Solver {
 public:
  enum class Verdict : uint8_t { kFeasible, kInfeasible, kUnknown };

  // `proof` may be null; otherwise it records every derivation, and only one query is allowed.
  // `stop` may be null. It ends the construction early; rules omitted then only weaken the search,
  // and the next Ask or Solve does the rest.
  Solver(const Packing& packing, const LazyOptions& options, PackingQuery query,
         ProofLog* proof = nullptr, const base::Stop* stop = nullptr);

  // A new {0, 1} integer for the caller's clauses; OrderLiteral(2 * it) means that it is 1.
  int AddBoolean() { return trail_.AddBoolean(); }
  // Adds a clause that holds for every query. Literals may repeat. A clause without open literals
  // makes everything infeasible. A clause about offsets or orders may distinguish buffers that are
  // interchangeable in the packing, up from down, and a resting buffer from a floating one. So the
  // first such clause disables the rules for interchangeable and mirrored pairs and for resting,
  // and discards all learned clauses.
  void AddClause(std::span<const BoundLiteral> literals);

  // Replaces the constants. Learned clauses stay if they still hold. The sizes must be for the same
  // buffers.
  void Ask(PackingQuery query);

  // Decides the query under the assumptions. Budget units are conflicts.
  Verdict Solve(std::span<const BoundLiteral> assumptions, const base::Budget& budget,
                const base::Stop& stop);

  // Whether the last kUnknown is due to bounds that rose in more steps than the solver follows. A
  // larger budget does not help.
  bool GaveUp() const { return gave_up_; }

  // The solution after kFeasible, until the next call.
  Bound OffsetOf(int buffer) const { return solution_[static_cast<size_t>(buffer)]; }
  // The bound at the root; it holds for any assumptions.
  Bound LeastAtRoot(View view);

  const problem::Statistics& statistics() const { return statistics_; }

 private:
  struct Formulated {
    PackingQuery query;
    bool contradicted = false;
  };
  struct Unit {
    BoundLiteral literal;
    int query = kGiven;
  };
  static constexpr int kGiven = -1;
  static constexpr int64_t kReduction = 2000;
  static constexpr int64_t kReductionGrowth = 300;

  void Reset();
  void EndSymmetries();
  bool AssertFacts();
  bool AssertTiedOrders();
  bool AssertUnits(const std::vector<bool>& kept);
  bool AssertCeilings();
  std::vector<bool> FindKept() const;
  bool IsRefutedBefore() const;
  bool SizesMayDiffer() const;
  void SetFirstBounds();

  enum class Fixpoint : uint8_t { kReached, kConflict, kInterrupted };
  Fixpoint Propagate(const base::Stop& stop);
  bool PropagateRules();
  bool FollowChanges(const base::Stop& stop, bool& interrupted);
  bool Dispatch(const Change& change);
  void SetOrder(View view);
  void UndoOrder(View view);
  bool OffsetChanged(View view);
  bool OrderChanged(View view);
  bool IsOrder(View view) const;
  bool CeilingChanged(int memory);

  bool LearnFromConflict();
  void Restart();
  void ChangeMood();
  bool Extend(std::span<const BoundLiteral> assumptions, Verdict& verdict);
  void BacktrackTo(int level);
  void KeepSolution();

  const Packing& packing_;
  const LazyOptions options_;
  ProofLog* const proof_;
  Trail trail_;
  Axis axis_;
  ClauseDatabase clauses_;
  OrderMatrix orders_;
  PairRules pairs_;
  EdgeFinding edges_;
  SectionPairCuts section_pair_cuts_;
  SectionEnergy energy_;
  BottomLeftRule bottom_left_;
  bool rests_;             // whether the bottom-left rule is used
  bool symmetric_ = true;  // only the packing distinguishes buffers and directions
  Decisions decisions_;
  ConflictAnalysis analysis_;

  std::vector<Formulated> queries_;  // the last one is current
  std::vector<Unit> units_;
  bool refuted_ = false;  // the given clauses contradict each other
  bool gave_up_ = false;
  bool ready_ = false;  // the first bounds are set
  int processed_ = 0;   // changes that were dispatched
  int64_t restarts_ = 0;
  int64_t next_restart_ = 0;  // in conflicts, like the next
  int64_t next_reduction_ = kReduction;
  int64_t reduction_interval_ = kReduction;
  std::vector<Bound> solution_;
  problem::Statistics statistics_;
};

// Groups of buffers whose offsets differ by fixed distances: buffers that are colocated, or
// adjacent with an unaligned second buffer, directly or through others.
struct Ties {
  std::vector<int> group;       // of each buffer: the first buffer of its group
  std::vector<Bound> distance;  // its offset minus that of the group's first buffer, in units
  bool contradict = false;      // no placement satisfies them
};

// For the current sizes. Cost: O(buffers + differences) and, for each group, the square of the
// number of different alignments.
Ties FindTies(const Packing& packing, const Axis& axis);

// Searches for cycles of orders and ties that require a buffer to lie above itself. Considers the
// buffers whose least offsets rose since change `start` of the trail, or all. If it finds a cycle,
// the orders become the conflict of the trail, and the result is false. Cost: O(buffers * orders
// and ties among them) in the worst case.
bool RefuteCycle(const Packing& packing, const Axis& axis, std::optional<int> start);

}  // namespace tessera::search::engines::lazy
