#pragma once

#include <cstdint>

#include "tessera/encoder/lazy/options.h"
#include "tessera/problem/proof/prover.h"

namespace tessera::encoder {

// The lazy engine with its steps written down (lazy/proof_log.h): every order, sum and bound that a learned clause
// rests on is an axiom, every learned clause is derived from axioms and clauses before it. It encodes plainly: no
// symmetries, no resting buffers.
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

}  // namespace tessera::encoder
