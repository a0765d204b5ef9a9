#include "tessera/encoder/sat/ipasir_engine.h"

#include "tessera/encoder/encoded_session.h"
#include "tessera/encoder/sat/ipasir.h"
#include "tessera/encoder/sat/ipasir_solver.h"

namespace tessera::encoder {
namespace {

class IpasirBackend : public Backend {
 public:
  IpasirBackend(const IpasirOptions& options, const Magnitude& magnitude)
      : solver_(kClauseLimit), integers_(MakeIntegers(options.encoding, magnitude, solver_, solver_)) {}

  ClauseSink& Clauses() override { return solver_; }
  IntegerSink& Integers() override { return *integers_; }
  Answer Decide(std::span<const Literal> assumptions, const base::Budget& budget,
                const base::Stop& stop) override {
    return solver_.Decide(assumptions, budget, stop);
  }
  bool IsTrue(Literal literal) const override { return solver_.IsTrue(literal); }

 private:
  IpasirSolver solver_;
  std::unique_ptr<IntegerSink> integers_;
};

}  // namespace

std::string_view IpasirEngine::Signature() { return ipasir_signature(); }

std::unique_ptr<problem::Session> IpasirEngine::Open(const problem::Problem& problem,
                                                     const problem::Ladder* ladder) const {
  return std::make_unique<EncodedSession>("ipasir", problem, ladder,
                                          [options = options_](const Magnitude& magnitude) {
                                            return std::make_unique<IpasirBackend>(options, magnitude);
                                          });
}

}  // namespace tessera::encoder
