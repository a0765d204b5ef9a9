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

// CaDiCaL behind its contract. The library aborts the process when it is called out of turn, and
// answers "false" for the value of a variable that it never saw. This class keeps the state machine
// below and refuses such calls itself.
//
//                          Decide finds a model
//               .---------------------------------------> kSatisfied   answers ValueOf
//     kOpen ----+
//       ^       '---------------------------------------> kRefuted     answers Failed
//       |                  Decide refutes
//       '--- from anywhere: Add, Prefer, or a Decide that met a limit
//
// Variables come from NewVariable alone; a clause with any other literal is refused, and so is,
// from then on, every Decide: a formula that lost a clause must not be answered.
class CadicalSolver : public formulation::ClauseSink, public formulation::Model {
 public:
  // Where nothing else guides the search: which variables it decides first, and how.
  struct FirstTry {
    bool oldest_first = false;  // or the variables made last
    bool positive = false;
  };

  // `seed` >= 0 varies the search, taken modulo the library's range. `limit` as in ClauseSink.
  CadicalSolver(uint64_t seed, int64_t limit) : CadicalSolver(seed, limit, FirstTry()) {}
  CadicalSolver(uint64_t seed, int64_t limit, FirstTry first_try);
  ~CadicalSolver() override;

  formulation::Literal NewVariable() override;

  void Prefer(formulation::Literal literal) override;

  // Budget units are conflicts; the limit holds for this call alone. `conflicts` counts learned
  // clauses.
  formulation::Answer Decide(std::span<const formulation::Literal> assumptions,
                             const base::Budget& budget, const base::Stop& stop);

  // In the model; nullopt unless the last Decide was satisfiable and nothing was added since, or
  // for a foreign literal.
  std::optional<bool> ValueOf(formulation::Literal literal) const;

  bool IsTrue(formulation::Literal literal) const override {
    return ValueOf(literal).value_or(false);
  }

  // Whether the assumption took part in the refutation; nullopt unless the last Decide refuted and
  // assumed it.
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

// What CaDiCaL answered to a formula, and how it got there.
struct TracedAnswer {
  formulation::Answer answer;
  std::string trace;  // DRAT as text, where the answer is kUnsatisfiable
};

using ClauseVisitor = std::function<void(std::span<const int>)>;

// Decides the clauses that `visit_all` hands to its argument, in one go. Literals are DIMACS.
// Budget units are conflicts.
TracedAnswer SolveTraced(const std::function<void(const ClauseVisitor&)>& visit_all, uint64_t seed,
                         const base::Budget& budget, const base::Stop& stop);

// One line of a trace.
struct TraceLine {
  bool deletes = false;
  std::vector<int> literals;
};

// Takes the next line off the trace. False at its end, and where the text is no trace.
bool TakeTraceLine(std::string_view& trace, TraceLine& line);

struct SatOptions {
  uint64_t seed = 0;
  IntegerEncoding encoding = IntegerEncoding::kByMagnitude;
  formulation::Constraints constraints = {};  // beside what the Problem states
  formulation::Refinements refinements = {};  // all
};

// The engine "cadical": the whole formulation as clauses, decided by CaDiCaL. Supports everything
// that a Problem can state. Budget units are conflicts. Deterministic: the same calls on a session
// give the same answers.
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

// The backend alone, for sessions that want to count its clauses.
formulation::BackendFactory CadicalBackends(const SatOptions& options);

}  // namespace tessera::encoder::sat
