#include "tessera/encoder/sat/sat_engine.h"

#include "tessera/encoder/decomposition.h"
#include "tessera/encoder/encoded_session.h"
#include "tessera/encoder/sat/cadical_solver.h"
#include "tessera/encoder/sat/solver_backend.h"

namespace tessera::encoder {
namespace {

// Measured (docs/encoding.md). The variables made last are banks and modes; the oldest are offsets. Easy rungs want
// offsets, high ones first, in the order of the buffers; without a ladder, Problems that reach this engine are
// decided by banks and modes.
CadicalSolver::FirstTry FirstTryOf(const Magnitude& magnitude) {
  return {.oldest_first = magnitude.ladder, .positive = magnitude.ladder};
}

}  // namespace

BackendFactory CadicalBackends(const SatOptions& options) {
  return [options](const Magnitude& magnitude) {
    return std::make_unique<SolverBackend<CadicalSolver>>(options.encoding, magnitude, options.seed,
                                                          ClauseLimitFor(magnitude), FirstTryOf(magnitude));
  };
}

std::unique_ptr<problem::Session> SatEngine::Open(const problem::Problem& problem,
                                                  const problem::Ladder* ladder) const {
  const auto open = [options = options_](const problem::Problem& part,
                                         const problem::Ladder* rungs) -> std::unique_ptr<problem::Session> {
    return std::make_unique<EncodedSession>("cadical", part, rungs, CadicalBackends(options),
                                            options.constraints, options.refinements);
  };
  const bool cut = options_.refinements.decomposition && options_.constraints.empty();
  if (cut) return OpenInParts(problem, ladder, open);
  return open(problem, ladder);
}

}  // namespace tessera::encoder
