#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tessera/problem/engine.h"
#include "tessera/problem/proof/prover.h"
#include "tessera/search/engines/lazy/lazy_options.h"

namespace tessera::search::engines::lazy {

// The engine "lazy": conflict-driven clause learning over bounds and orders whose literals are
// created on demand (solver.h). It is best for tight packings and for proofs of infeasibility.
//
// Supports sizes, alignments, fixed offsets, hints, reserved ranges, gaps, several memories,
// separate, exclusive, colocate and adjacent. Answers kUnsupported for modes, ports, spans and
// banks that restrict something, and beyond the magnitudes of supported.h. kInfeasible requires a
// derived empty clause; kUnknown comes from the budget (conflicts) or the stop. The same calls on a
// session give the same answers.
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
