#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tessera/problem/engine.h"
#include "tessera/problem/proof/prover.h"
#include "tessera/search/engines/lazy/lazy_options.h"

namespace tessera::search::engines::lazy {

// The engine "lazy": conflict-driven clause learning over bounds and orders that come into being on
// demand (lazy/solver.h). At its best on tight packings and on proofs that nothing fits.
//
// Honours sizes, alignments, fixed offsets, hints, reserved ranges, gaps, several memories,
// separate, exclusive, colocate and adjacent; answers kUnsupported on modes, ports, spans and banks
// that restrict something, and beyond the magnitudes of lazy/support.h. kInfeasible comes of a
// derived empty clause alone; kUnknown of the budget (conflicts) or the stop. The same calls on a
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

// The lazy engine with its steps written down (lazy/proof_log.h): every order, sum and bound that a
// learned clause rests on is an axiom, every learned clause is derived from axioms and clauses
// before it. It encodes plainly: no symmetries, no resting buffers.
//
// Takes what the lazy engine takes. Budget units are conflicts. Deterministic.
class LazyProver final : public problem::proof::Prover {
 public:
  // The rules that a proof cannot tell are switched off, whatever `options` say.
  explicit LazyProver(const LazyOptions& options = {});

  std::string_view Name() const override { return "lazy"; }
  problem::proof::Attempt Prove(const problem::Problem& problem, problem::Bytes capacity,
                                const base::Budget& budget, const base::Stop& stop) const override;

 private:
  LazyOptions options_;
};

}  // namespace tessera::search::engines::lazy
