// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/search/engines/lazy/axis.h"
#include "tessera/search/engines/lazy/clause_learning.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/engines/lazy/packing.h"
#include "tessera/search/engines/lazy/pair_rules.h"
#include "tessera/search/engines/lazy/section_pair_cuts.h"
#include "tessera/search/engines/lazy/section_rules.h"
#include "tessera/search/engines/lazy/trail.h"

namespace tessera::search::engines::lazy {

// The constants of one query about a packing.
struct PackingQuery {
  std::vector<Bound> sizes;
  std::vector<Bound> ceilings;  // of each memory, none negative
};

// Rules of the caller over any integers of the trail. They are told of every change, after the
// clauses.
class ForeignRules {
 public:
  ForeignRules() = default;
  ForeignRules(const ForeignRules&) = delete;
  ForeignRules& operator=(const ForeignRules&) = delete;
  virtual ~ForeignRules() = default;

  // Derives the consequences of a change. False on a conflict.
  virtual bool Follow(const Change& change) = 0;
};

// The consequences of bounds, orders and clauses: every rule of the engine, run to a fixpoint.
//
//     clauses and pair rules on each change; then section-pair cuts, energy, edge finding
//
// Cheap rules run to completion before an expensive one starts. Searches decide by opening a level
// of the trail and pushing a literal; this class derives the rest, explains it, and undoes it.
//
// Bounds that raise each other around a cycle of orders and ties rise to the capacity, perhaps one
// byte at a time. After many changes in a row Run searches for such a cycle (RefuteCycle), which is
// itself a conflict.
class Propagation {
 public:
  enum class Fixpoint : uint8_t { kReached, kConflict, kInterrupted };

  // Everything must outlive this object. `seeks_cycles` is false where a proof is recorded. `stop`
  // may be null; after a stop some rules are missing, which only weakens the search.
  Propagation(const Packing& packing, const LazyOptions& options, const PackingQuery& query,
              bool seeks_cycles, const base::Stop* stop);

  Trail& trail() { return trail_; }
  Axis& axis() { return axis_; }
  ClauseDatabase& clauses() { return clauses_; }
  const Packing& packing() const { return packing_; }

  // Starts from the first bounds of the query, with fixed offsets, ceilings and, if `symmetric`,
  // the orders of interchangeable and mirrored pairs, and buffers that rest on others. False if
  // they contradict each other. Clauses stay; the caller watches them again (ClauseDatabase::Keep).
  bool Start(const PackingQuery& query, bool symmetric);
  // At the root of another query with lower ceilings. False on a contradiction.
  bool AssertCeilings(const PackingQuery& query);
  // All sections are looked at again by the next Run.
  void WakeSections() { edges_.WakeAll(); }

  // Section energy pays while orders are decided.
  void WeighSections(bool weigh) { weighs_sections_ = weigh; }
  // Whether the bottom-left rule is used.
  bool Rests() const { return rests_; }
  // `rules` may be null.
  void Attach(ForeignRules* rules) { foreign_ = rules; }

  // kConflict: Trail::Conflict() holds the reason. kInterrupted: the stop came, or bounds rise in
  // more steps than are followed; the caller must return to the root and, in the second case, Start
  // again, because bounds raised at the root stay.
  Fixpoint Run(const base::Stop& stop);
  void BacktrackTo(int level);

  bool IsOrder(View view) const;

 private:
  bool AssertFacts(const PackingQuery& query, bool symmetric);
  bool AssertTiedOrders();
  bool PropagateRules();
  bool FollowChanges(const base::Stop& stop, bool& interrupted);
  bool Dispatch(const Change& change);
  void SetOrder(View view);
  void UndoOrder(View view);
  bool OffsetChanged(View view);
  bool OrderChanged(View view);
  bool CeilingChanged(int memory);
  void Sleep();

  const Packing& packing_;
  const LazyOptions& options_;
  const bool seeks_cycles_;
  Trail trail_;
  Axis axis_;
  ClauseDatabase clauses_;
  OrderMatrix orders_;
  PairRules pairs_;
  EdgeFinding edges_;
  SectionPairCuts section_pair_cuts_;
  SectionEnergy energy_;
  BottomLeftRule bottom_left_;
  bool rests_ = false;
  bool weighs_sections_ = false;
  ForeignRules* foreign_ = nullptr;
  int processed_ = 0;  // changes that were dispatched
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
