#pragma once

#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/result.h"
#include "tessera/search/engines/lazy/axis.h"
#include "tessera/search/engines/lazy/clause_learning.h"
#include "tessera/search/engines/lazy/decisions.h"
#include "tessera/search/engines/lazy/lazy_options.h"
#include "tessera/search/engines/lazy/packing.h"
#include "tessera/search/engines/lazy/pair_rules.h"
#include "tessera/search/engines/lazy/proof_log.h"
#include "tessera/search/engines/lazy/section_pair_cuts.h"
#include "tessera/search/engines/lazy/section_rules.h"
#include "tessera/search/engines/lazy/trail.h"

namespace tessera::search::engines::lazy {

// The constants of one question about a packing.
struct PackingQuery {
  std::vector<Bound> sizes;
  std::vector<Bound> ceilings;  // of each memory, none negative
};

// Whether every placement that answers `tight` answers `loose`, so that what is learned under
// `loose` holds under `tight`: larger buffers under lower ceilings. Sizes must be the same where
// buffers rest on each other or are adjacent: a larger one moves its neighbour.
bool Implies(const PackingQuery& tight, const PackingQuery& loose, bool sizes_may_differ);

// Conflict-driven search over bounds of offsets and orders of pairs (literal.h).
//
//     propagate to a fixpoint: clauses and pair rules on each change; section-pair cuts, energy, edge finding
//       conflict?  learn, return to where the lesson is news; at the root: infeasible
//       none:      restart when it is time, else assume what is asked for, else decide; nothing left: feasible
//
// Bounds that chase each other around a cycle of orders and ties rise to the capacity, perhaps a
// byte at a time. After many changes in a row such a cycle is looked for (cycles.h), and is a
// conflict itself.
//
// The cheap rules run dry before a dear one is asked. Infeasible is said only when the empty clause
// has been derived, or a clause of assumptions alone. Everything happens in the order of the input
// and the seed, so the same calls give the same answers.
//
// Clauses over any literal can be added, integers and booleans of the caller's own among them.
class Solver {
 public:
  enum class Verdict : uint8_t { kFeasible, kInfeasible, kUnknown };

  // `proof` may be null; else it records how everything was derived, and only one question may be
  // asked. `stop` may be null, and ends the construction early; what is then left out only makes
  // the search weaker.
  Solver(const Packing& packing, const LazyOptions& options, PackingQuery question,
         ProofLog* proof = nullptr, const base::Stop* stop = nullptr);

  // A fresh {0, 1} integer for the caller's clauses; OrderLiteral(2 * it) says that it is 1.
  int AddBoolean() { return trail_.AddBoolean(); }
  // A clause that holds under every question. Literals may repeat; a clause without open literals
  // makes everything infeasible. A clause about offsets or orders may tell buffers apart that are
  // alike to the packing, up from down, and a resting buffer from a floating one: the first such
  // clause ends, with all that was learned, what the options say of interchangeable and mirrored
  // pairs and of resting.
  void AddClause(std::span<const BoundLiteral> literals);

  // Exchanges the constants; learned clauses stay where they follow. Needs sizes for the same
  // buffers.
  void Ask(PackingQuery question);

  // Decides the question under the assumptions. Budget units are conflicts.
  Verdict Solve(std::span<const BoundLiteral> assumptions, const base::Budget& budget,
                const base::Stop& stop);

  // Whether the last kUnknown is due to bounds that rose in more steps than are followed. More
  // budget does not help.
  bool GaveUp() const { return gave_up_; }

  // After kFeasible, until the next call.
  Bound OffsetOf(int buffer) const { return solution_[static_cast<size_t>(buffer)]; }
  // Holds whatever is assumed, as does every bound at the root.
  Bound LeastAtRoot(View view);

  const problem::Statistics& statistics() const { return statistics_; }

 private:
  struct Formulated {
    PackingQuery question;
    bool contradicted = false;
  };
  struct Unit {
    BoundLiteral literal;
    int question = kGiven;
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
  bool rests_;             // whether the resting rule is asked
  bool symmetric_ = true;  // nothing but the packing tells buffers and directions apart
  Decisions decisions_;
  ConflictAnalysis analysis_;

  std::vector<Formulated> questions_;  // the last one is in force
  std::vector<Unit> units_;
  bool refuted_ = false;  // the given clauses contradict each other
  bool gave_up_ = false;
  int processed_ = 0;  // changes that were dispatched
  int64_t restarts_ = 0;
  int64_t next_restart_ = 0;  // in conflicts, as the next
  int64_t next_reduction_ = kReduction;
  int64_t reduction_interval_ = kReduction;
  std::vector<Bound> solution_;
  problem::Statistics statistics_;
};

}  // namespace tessera::search::engines::lazy
