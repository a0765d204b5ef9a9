#include "tessera/encoder/sat/ipasir_engine.h"

#include "tessera/encoder/encoded_session.h"
#include "tessera/encoder/sat/ipasir.h"
#include "tessera/encoder/sat/ipasir_solver.h"
#include "tessera/encoder/sat/solver_backend.h"

namespace tessera::encoder {
std::string_view IpasirEngine::Signature() { return ipasir_signature(); }

std::unique_ptr<problem::Session> IpasirEngine::Open(const problem::Problem& problem,
                                                     const problem::Ladder* ladder) const {
  return std::make_unique<EncodedSession>("ipasir", problem, ladder,
                                          [options = options_](const Magnitude& magnitude) {
                                            return std::make_unique<SolverBackend<IpasirSolver>>(
                                                options.encoding, magnitude, ClauseLimitFor(magnitude));
                                          });
}

}  // namespace tessera::encoder
