#include "tessera/encoder/sat/sat_engine.h"

#include "tessera/encoder/encoded_session.h"
#include "tessera/encoder/sat/cadical_solver.h"

namespace tessera::encoder {
namespace {

class CadicalBackend : public Backend {
 public:
  CadicalBackend(const SatOptions& options, const Magnitude& magnitude)
      : solver_(options.seed, kClauseLimit),
        integers_(MakeIntegers(options.encoding, magnitude, solver_, solver_)) {}

  ClauseSink& Clauses() override { return solver_; }
  IntegerSink& Integers() override { return *integers_; }
  Answer Decide(std::span<const Literal> assumptions, const base::Budget& budget,
                const base::Stop& stop) override {
    return solver_.Decide(assumptions, budget, stop);
  }
  bool IsTrue(Literal literal) const override { return solver_.IsTrue(literal); }

 private:
  CadicalSolver solver_;
  std::unique_ptr<IntegerSink> integers_;
};

}  // namespace

BackendFactory CadicalBackends(const SatOptions& options) {
  return
      [options](const Magnitude& magnitude) { return std::make_unique<CadicalBackend>(options, magnitude); };
}

std::unique_ptr<problem::Session> SatEngine::Open(const problem::Problem& problem,
                                                  const problem::Ladder* ladder) const {
  return std::make_unique<EncodedSession>("cadical", problem, ladder, CadicalBackends(options_),
                                          options_.constraints);
}

}  // namespace tessera::encoder
