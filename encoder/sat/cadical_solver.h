#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/backend.h"
#include "tessera/encoder/clause_sink.h"

namespace CaDiCaL {
class Solver;
}

namespace tessera::encoder {

// CaDiCaL behind its contract. The library aborts the process when it is called out of turn, and answers
// "false" for the value of a variable that it never saw. This class keeps the state machine below and refuses
// such calls itself.
//
//                          Decide finds a model
//               .---------------------------------------> kSatisfied   answers ValueOf
//     kOpen ----+
//       ^       '---------------------------------------> kRefuted     answers Failed
//       |                  Decide refutes
//       '--- from anywhere: Add, Prefer, or a Decide that met a limit
//
// Variables come from NewVariable alone; a clause with any other literal is refused, and so is, from then on,
// every Decide: a formula that lost a clause must not be answered.
class CadicalSolver : public ClauseSink, public Model {
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

  Literal NewVariable() override;

  void Prefer(Literal literal) override;

  // Budget units are conflicts; the limit holds for this call alone. `conflicts` counts learned clauses.
  Answer Decide(std::span<const Literal> assumptions, const base::Budget& budget, const base::Stop& stop);

  // In the model; nullopt unless the last Decide was satisfiable and nothing was added since, or for a
  // foreign literal.
  std::optional<bool> ValueOf(Literal literal) const;

  bool IsTrue(Literal literal) const override { return ValueOf(literal).value_or(false); }

  // Whether the assumption took part in the refutation; nullopt unless the last Decide refuted and assumed
  // it.
  std::optional<bool> Failed(Literal assumption) const;

 protected:
  void Store(std::span<const Literal> clause) override;

 private:
  enum class State : uint8_t { kOpen, kSatisfied, kRefuted };

  bool Knows(Literal literal) const { return literal.Variable() >= 1 && literal.Variable() <= variables_; }

  void SetUp(uint64_t seed, FirstTry first_try);
  template <typename Work>
  auto Guarded(const Work& work);

  std::unique_ptr<CaDiCaL::Solver> solver_;
  State state_ = State::kOpen;
  int32_t variables_ = 0;
  bool misused_ = false;
  std::vector<Literal> assumed_;
};

}  // namespace tessera::encoder
