#include "tessera/encoder/sat/sat_engine.h"

#include "tessera/encoder/encoded_session.h"
#include "tessera/encoder/sat/bit_encoding.h"
#include "tessera/encoder/sat/cadical_solver.h"
#include "tessera/encoder/sat/order_encoding.h"

namespace tessera::encoder {
namespace {

// Measured on 30 to 60 random buffers (see order_encoding.cc): above it, writing order clauses costs more
// than their stronger propagation saves.
constexpr int64_t kMostOrderPositions = 512;

// A clause of three literals costs CaDiCaL about 80 bytes with its watches: 640 MB.
constexpr int64_t kClauseLimit = 8'000'000;

std::unique_ptr<IntegerSink> MakeEncoding(IntegerEncoding encoding, const Magnitude& magnitude,
                                          CadicalSolver& solver) {
  const int64_t order_clauses = (2 * magnitude.pairs + 1) * std::min(magnitude.positions, kClauseLimit);
  const bool order_fits = order_clauses <= kClauseLimit;
  const bool order_pays = encoding == IntegerEncoding::kOrder || magnitude.positions <= kMostOrderPositions;
  if (encoding != IntegerEncoding::kBits && order_fits && order_pays) {
    return std::make_unique<OrderEncoding>(solver);
  }
  return std::make_unique<BitEncoding>(solver);
}

class CadicalBackend : public Backend {
 public:
  CadicalBackend(const SatOptions& options, const Magnitude& magnitude)
      : solver_(options.seed, kClauseLimit), integers_(MakeEncoding(options.encoding, magnitude, solver_)) {}

  ClauseSink& Clauses() override { return solver_; }
  IntegerSink& Integers() override { return *integers_; }
  Answer Decide(std::span<const Literal> assumptions, const base::Budget& budget,
                const base::Stop& stop) override {
    return solver_.Decide(assumptions, budget, stop);
  }
  bool IsTrue(Literal literal) const override { return solver_.ValueOf(literal).value_or(false); }

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
  return std::make_unique<EncodedSession>("cadical", problem, ladder, CadicalBackends(options_));
}

}  // namespace tessera::encoder
