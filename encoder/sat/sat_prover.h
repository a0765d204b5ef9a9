// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "tessera/problem/proof/prover.h"

namespace tessera::encoder::sat {

// CaDiCaL as a prover of infeasibility by banks, modes, ports and relations. The steps are: a plain
// formula (plain_formula.h) whose clauses are all axioms; one solve that records the trace of
// learned clauses (DRAT; Wetzler, Heule and Hunt 2014); and that trace with the antecedents of each
// clause added (unit_propagation.h).
//
//     Problem -> PlainFormula -> CaDiCaL -> DRAT -> UnitPropagation -> proof::Log
//
// Accepts every Problem, as long as it has few enough positions to write the formula. Budget units
// are conflicts. Deterministic.
class SatProver final : public problem::proof::Prover {
 public:
  explicit SatProver(uint64_t seed = 0) : seed_(seed) {}

  std::string_view Name() const override { return "cadical"; }
  problem::proof::Attempt Prove(const problem::Problem& problem, problem::Bytes capacity,
                                const base::Budget& budget, const base::Stop& stop) const override;

 private:
  uint64_t seed_;
};

}  // namespace tessera::encoder::sat
