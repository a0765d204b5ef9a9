// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/formulation/backend.h"
#include "tessera/encoder/formulation/constraint.h"
#include "tessera/encoder/formulation/refinements.h"
#include "tessera/encoder/sat/integer_encoding.h"
#include "tessera/problem/engine.h"

namespace CaDiCaL {
class Solver;
}

namespace tessera::encoder::sat {

// A wrapper of CaDiCaL that enforces its contract. The library aborts the process when a call comes
// in the wrong state, and answers "false" for the value of an unknown variable. This class tracks
// the state below and refuses such calls itself.
//
//                          Decide finds a model
//               .---------------------------------------> kSatisfied   answers ValueOf
//     kOpen ----+
//       ^       '---------------------------------------> kRefuted     answers Failed
//       |                  Decide refutes
//       '--- from anywhere: Add, Prefer, or a Decide that met a limit
//
// Variables come from NewVariable only. A clause with any other literal is refused; from then on
// every Decide is refused too, because a formula that lost a clause must not be answered.
class CadicalSolver : public formulation::ClauseSink, public formulation::Model {
 public:
  // The default decisions of the search: which variables it decides first, and with which sign.
  struct FirstTry {
    bool oldest_first = false;  // if false, the variables made last come first
    bool positive = false;
  };

  // `seed` >= 0 varies the search; it is taken modulo the range of the library. `limit` as in
  // ClauseSink.
  CadicalSolver(uint64_t seed, int64_t limit) : CadicalSolver(seed, limit, FirstTry()) {}
  CadicalSolver(uint64_t seed, int64_t limit, FirstTry first_try);
  ~CadicalSolver() override;

  formulation::Literal NewVariable() override;

  void Prefer(formulation::Literal literal) override;

  // Budget units are conflicts. The limit holds for this call only. `conflicts` counts learned
  // clauses.
  formulation::Answer Decide(std::span<const formulation::Literal> assumptions,
                             const base::Budget& budget, const base::Stop& stop);

  // The value in the model. nullopt unless the last Decide was satisfiable and nothing was added
  // since; also for a literal that this solver did not make.
  std::optional<bool> ValueOf(formulation::Literal literal) const;

  bool IsTrue(formulation::Literal literal) const override {
    return ValueOf(literal).value_or(false);
  }

  // Whether the assumption took part in the refutation. nullopt unless the last Decide refuted the
  // formula under this assumption.
  std::optional<bool> Failed(formulation::Literal assumption) const;

 protected:
  void Store(std::span<const formulation::Literal> clause) override;

 private:
  enum class State : uint8_t { kOpen, kSatisfied, kRefuted };

  bool Knows(formulation::Literal literal) const {
    return literal.Variable() >= 1 && literal.Variable() <= variables_;
  }

  void SetUp(uint64_t seed, FirstTry first_try);
  template <typename Work>
  auto Guarded(const Work& work);

  std::unique_ptr<CaDiCaL::Solver> solver_;
  State state_ = State::kOpen;
  int32_t variables_ = 0;
  bool misused_ = false;
  std::vector<formulation::Literal> assumed_;
};

// The answer of CaDiCaL to a formula, with its proof.
struct TracedAnswer {
  formulation::Answer answer;
  std::string trace;  // DRAT as text, if the answer is kUnsatisfiable
};

using ClauseVisitor = std::function<void(std::span<const int>)>;

// Decides the clauses that `visit_all` passes to its argument, in one call of the solver. Literals
// are DIMACS. Budget units are conflicts.
TracedAnswer SolveTraced(const std::function<void(const ClauseVisitor&)>& visit_all, uint64_t seed,
                         const base::Budget& budget, const base::Stop& stop);

// One line of a trace.
struct TraceLine {
  bool deletes = false;
  std::vector<int> literals;
};

// Removes the next line from the front of the trace. Returns false at its end, and if the text is
// not a trace.
bool TakeTraceLine(std::string_view& trace, TraceLine& line);

struct SatOptions {
  uint64_t seed = 0;
  IntegerEncoding encoding = IntegerEncoding::kByMagnitude;
  formulation::Constraints constraints = {};  // in addition to those of the Problem
  formulation::Refinements refinements = {};  // all are on
};

// The engine "cadical": the whole formulation as clauses, decided by CaDiCaL. Supports every
// Problem. Budget units are conflicts. Deterministic: the same calls on a session return the same
// answers.
class SatEngine : public problem::Engine {
 public:
  SatEngine() = default;
  explicit SatEngine(const SatOptions& options) : options_(options) {}

  std::string_view Name() const override { return "cadical"; }
  std::unique_ptr<problem::Session> Open(const problem::Problem& problem,
                                         const problem::Ladder* ladder) const override;

 private:
  SatOptions options_;
};

// Returns a factory of the backend alone, for sessions that count its clauses.
formulation::BackendFactory CadicalBackends(const SatOptions& options);

// Returns the version that the library states: "sc2021", "1.9.5".
std::string CadicalVersion();

}  // namespace tessera::encoder::sat
