// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/result.h"
#include "tessera/search/engines/lazy/clause_learning.h"
#include "tessera/search/engines/lazy/decisions.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/engines/lazy/packing.h"
#include "tessera/search/engines/lazy/proof_log.h"
#include "tessera/search/engines/lazy/propagation.h"
#include "tessera/search/engines/lazy/trail.h"

namespace tessera::search::engines::lazy {

// Returns whether every placement that satisfies `tight` satisfies `loose`, because `tight` has no
// smaller buffers and no higher ceilings. Clauses learned under `loose` then hold under `tight`.
// Sizes must be equal if buffers rest on each other or are adjacent, because a larger buffer moves
// its neighbour.
bool Implies(const PackingQuery& tight, const PackingQuery& loose, bool sizes_may_differ);

// Conflict-driven search over bounds of offsets and orders of pairs (trail.h).
//
//     propagate to a fixpoint (propagation.h)
//       conflict?  learn, return to the level where the lesson implies a literal; at the root:
//                  infeasible
//       none:      restart if due, else assume the next assumption, else decide; nothing left:
//                  feasible
//
// The answer infeasible requires the derivation of the empty clause, or of a clause of assumptions
// alone. The search depends only on the order of the input and the seed, so the same calls return
// the same answers.
//
// The caller can add clauses over any literals, including those of booleans that it adds.
class Solver {
 public:
  enum class SolveOutcome : uint8_t { kFeasible, kInfeasible, kUnknown };

  // `proof` may be null; otherwise it records every derivation, and only one query is allowed.
  // `stop` may be null. A stop ends the construction early. The omitted rules only weaken the
  // search, and the next Ask or Solve does the rest.
  Solver(const Packing& packing, const LazyOptions& options, PackingQuery query,
         ProofLog* proof = nullptr, const base::Stop* stop = nullptr);

  // Adds a {0, 1} integer b for the caller's clauses and returns its index; OrderLiteral(2 * b)
  // means that it is 1.
  int AddBoolean() { return propagation_.trail().AddBoolean(); }
  // Adds a clause that holds for every query. Literals may repeat. A clause without open literals
  // makes everything infeasible. A clause about offsets or orders may distinguish buffers that are
  // interchangeable in the packing, up from down, and a resting buffer from a floating one. So the
  // first such clause disables the rules for interchangeable and mirrored pairs and for resting,
  // and discards all learned clauses.
  void AddClause(std::span<const BoundLiteral> literals);

  // Replaces the constants of the query. Learned clauses stay if they still hold. The sizes must be
  // for the same buffers.
  void Ask(PackingQuery query);

  // Decides the query under the assumptions. Budget units are conflicts.
  SolveOutcome Solve(std::span<const BoundLiteral> assumptions, const base::Budget& budget,
                     const base::Stop& stop);

  // Returns whether the last kUnknown is due to bounds that rose in more steps than the solver
  // follows. A larger budget does not help then.
  bool GaveUp() const { return gave_up_; }

  // Returns the offset in the solution; valid after kFeasible until the next call.
  Bound OffsetOf(int buffer) const { return solution_[static_cast<size_t>(buffer)]; }
  // Returns the bound at the root, which holds for any assumptions.
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
  bool AssertUnits(const std::vector<bool>& kept);
  std::vector<bool> FindKept() const;
  bool IsRefutedBefore() const;
  bool SizesMayDiffer() const;
  Propagation::Fixpoint Propagate(const base::Stop& stop);

  bool LearnFromConflict();
  void Restart();
  void ChangeMood();
  bool Extend(std::span<const BoundLiteral> assumptions, SolveOutcome& verdict);
  void BacktrackTo(int level);
  void KeepSolution();

  const Packing& packing_;
  const LazyOptions options_;
  ProofLog* const proof_;
  Propagation propagation_;
  Trail& trail_;
  ClauseDatabase& clauses_;
  bool symmetric_ = true;  // only the packing distinguishes buffers and directions
  Decisions decisions_;
  ConflictAnalysis analysis_;

  std::vector<Formulated> queries_;  // the last one is current
  std::vector<Unit> units_;
  bool refuted_ = false;  // the given clauses contradict each other
  bool gave_up_ = false;
  bool ready_ = false;  // the first bounds are set
  int64_t restarts_ = 0;
  int64_t next_restart_ = 0;  // in conflicts, like the next
  int64_t next_reduction_ = kReduction;
  int64_t reduction_interval_ = kReduction;
  std::vector<Bound> solution_;
  problem::Statistics statistics_;
};

}  // namespace tessera::search::engines::lazy
