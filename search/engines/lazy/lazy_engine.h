// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tessera/problem/engine.h"
#include "tessera/problem/proof/prover.h"

namespace tessera::search::engines::lazy {

// The rules of the lazy engine. Each can be switched off. They change the running time but never an
// answer.
struct LazyOptions {
  uint64_t seed = 0;  // 0: heavier buffers first among equals; else shuffled by the seed

  bool edge_finding = true;
  int section_pair_cuts = 2;     // later sections that each section is compared with; 0: none
  bool section_energy = true;    // used only while orders are decided
  int energy_slack_percent = 5;  // the greatest slack of a section for section energy
  // every buffer rests on another (pair_rules.h), if offsets are not tied
  bool bottom_left = false;

  bool order_interchangeable = true;  // the first of interchangeable buffers lies below the next
  // in one heavy pair the first lies below, if the mirrored solution is also valid
  bool break_mirror = true;

  bool minimize_clauses = true;
  bool reduce_clauses = true;
  int restart_base = 300;    // conflicts; 0: never
  int orders_every = 3;      // one of this many runs between restarts decides orders; 0: none does
  bool follow_hints = true;  // until the first restart

  // If true, the capacity is an assumption of each call, so that learned clauses hold for every
  // capacity. If false, it is a constant of the query: learned clauses are shorter, but hold only
  // for the same and smaller capacities.
  bool assume_capacity = false;
  bool keep_clauses = true;  // from query to query, if they still hold
};

// The engine "lazy": conflict-driven clause learning over bounds and orders whose literals are
// created on demand (solver.h). It is best for tight packings and for proofs of infeasibility.
//
// Supports sizes, alignments, fixed offsets, hints, reserved ranges, gaps, several memories,
// separate, exclusive, colocate and adjacent. Answers kUnsupported for modes, ports, spans and
// banks that restrict something, and beyond the limits of packing.h. Answers kInfeasible only if it
// derived the empty clause, and kUnknown at the end of the budget (in conflicts) or after a stop.
// The same calls on a session give the same answers.
class LazyEngine final : public problem::Engine {
 public:
  LazyEngine() = default;
  explicit LazyEngine(const LazyOptions& options) : options_(options) {}

  std::string_view Name() const override { return "lazy"; }
  std::unique_ptr<problem::Session> Open(const problem::Problem& problem,
                                         const problem::Ladder* ladder) const override;

 private:
  LazyOptions options_;
};

// The lazy engine with a record of its steps (proof_log.h): every order, sum and bound that a
// learned clause depends on is an axiom, and every learned clause is derived from axioms and
// earlier clauses. Symmetries and the bottom-left rule are off.
//
// Supports the same Problems as the lazy engine. Budget units are conflicts. Deterministic.
class LazyProver final : public problem::proof::Prover {
 public:
  // Rules that a proof cannot express are switched off, whatever `options` say.
  explicit LazyProver(const LazyOptions& options = {});

  std::string_view Name() const override { return "lazy"; }
  problem::proof::Attempt Prove(const problem::Problem& problem, problem::Bytes capacity,
                                const base::Budget& budget, const base::Stop& stop) const override;

 private:
  LazyOptions options_;
};

}  // namespace tessera::search::engines::lazy
