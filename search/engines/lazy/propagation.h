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

// Rules of the caller over any integers of the trail. Propagation calls Follow for every change,
// after the clauses and the rules of the packing.
class ForeignRules {
 public:
  ForeignRules() = default;
  ForeignRules(const ForeignRules&) = delete;
  ForeignRules& operator=(const ForeignRules&) = delete;
  virtual ~ForeignRules() = default;

  // Derives the consequences of a change. Returns false on a conflict.
  virtual bool Follow(const Change& change) = 0;
};

// The consequences of bounds, orders and clauses: every rule of the engine, run to a fixpoint.
//
//     clauses and pair rules on each change; then section-pair cuts, energy, edge finding,
//     bottom-left rule
//
// Cheap rules run to completion before an expensive one starts. A search decides by opening a level
// of the trail and pushing a literal; this class derives, explains and undoes the consequences.
//
// Bounds that raise each other around a cycle of orders and ties rise up to the capacity, possibly
// one unit at a time. After many changes in a row, Run searches for such a cycle (RefuteCycle),
// which is a conflict.
class Propagation {
 public:
  enum class Fixpoint : uint8_t { kReached, kConflict, kInterrupted };

  // `packing` and `options` must outlive this object. `seeks_cycles` must be false if a proof is
  // recorded. `stop` may be null; after a stop some rules are missing, which only weakens the
  // search.
  Propagation(const Packing& packing, const LazyOptions& options, const PackingQuery& query,
              bool seeks_cycles, const base::Stop* stop);

  Trail& trail() { return trail_; }
  Axis& axis() { return axis_; }
  ClauseDatabase& clauses() { return clauses_; }
  const Packing& packing() const { return packing_; }

  // Starts from the initial bounds of the query: fixed offsets and ceilings. If `symmetric`, it
  // also asserts the orders of interchangeable and mirrored pairs, and enables the bottom-left rule
  // if the options include it. Returns false on a contradiction. Clauses stay; the caller must
  // watch them again (ClauseDatabase::Keep).
  bool Start(const PackingQuery& query, bool symmetric);
  // Asserts the ceilings of the query, at the root; later calls may lower them. Returns false on a
  // contradiction.
  bool AssertCeilings(const PackingQuery& query);
  // Makes the next Run apply edge finding to all sections again.
  void WakeSections() { edges_.WakeAll(); }

  // Enables the section energy rule; it pays only while orders are decided.
  void WeighSections(bool weigh) { weighs_sections_ = weigh; }
  // Returns whether the bottom-left rule is used.
  bool Rests() const { return rests_; }
  // Sets the rules of the caller; null removes them.
  void Attach(ForeignRules* rules) { foreign_ = rules; }

  // Runs all rules to a fixpoint. After kConflict, Trail::Conflict() holds the reason. kInterrupted
  // means that a stop was requested, or that bounds rise in more steps than are followed. The
  // caller must then return to the root and, in the second case, Start again, because bounds raised
  // at the root stay.
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

// Returns the ties for the current sizes. Cost: O(buffers + differences) and, for each group, the
// square of the number of different alignments.
Ties FindTies(const Packing& packing, const Axis& axis);

// Searches for cycles of orders and ties that require a buffer to lie above itself. Considers the
// buffers whose least offsets rose since change `start` of the trail, or all buffers if `start` is
// nullopt. If it finds a cycle, makes its orders the conflict of the trail and returns false. Cost:
// O(buffers * orders and ties among them) in the worst case.
bool RefuteCycle(const Packing& packing, const Axis& axis, std::optional<int> start);

}  // namespace tessera::search::engines::lazy
