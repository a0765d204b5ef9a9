#pragma once

#include <cstdint>

#include "tessera/problem/proof/prover.h"

namespace tessera::encoder::sat {

// CaDiCaL as a prover of what banks, modes, ports and relations forbid: a plain formula
// (plain_formula.h) of which every clause is an axiom, one solve with the trace of learned clauses
// on (DRAT; Wetzler, Heule and Hunt 2014), and that trace with the reasons of each clause filled in
// (unit_propagation.h).
//
//     Problem -> PlainFormula -> CaDiCaL -> DRAT -> UnitPropagation -> proof::Log
//
// Takes everything that a Problem can state, as long as positions are few enough to write down.
// Budget units are conflicts. Deterministic.
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
