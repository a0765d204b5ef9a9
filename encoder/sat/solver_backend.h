#pragma once

#include <memory>
#include <span>
#include <utility>

#include "tessera/encoder/backend.h"
#include "tessera/encoder/sat/integer_encoding.h"

namespace tessera::encoder {

// Any SAT solver as a backend: a ClauseSink and Model that decides, with integers encoded for the magnitude at hand.
template <typename Solver>
class SolverBackend : public Backend {
 public:
  // What remains makes the solver.
  template <typename... Arguments>
  SolverBackend(IntegerEncoding encoding, const Magnitude& magnitude, Arguments&&... arguments)
      : solver_(std::forward<Arguments>(arguments)...),
        integers_(MakeIntegers(encoding, magnitude, solver_, solver_)) {}

  ClauseSink& Clauses() override { return solver_; }
  IntegerSink& Integers() override { return *integers_; }
  Answer Decide(std::span<const Literal> assumptions, const base::Budget& budget,
                const base::Stop& stop) override {
    return solver_.Decide(assumptions, budget, stop);
  }
  bool IsTrue(Literal literal) const override { return solver_.IsTrue(literal); }

 private:
  Solver solver_;
  std::unique_ptr<IntegerSink> integers_;
};

}  // namespace tessera::encoder
