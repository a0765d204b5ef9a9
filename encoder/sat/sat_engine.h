#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tessera/encoder/backend.h"
#include "tessera/encoder/constraint.h"
#include "tessera/encoder/refinements.h"
#include "tessera/encoder/sat/integer_encoding.h"
#include "tessera/problem/engine.h"

namespace tessera::encoder {

struct SatOptions {
  uint64_t seed = 0;
  IntegerEncoding encoding = IntegerEncoding::kByMagnitude;
  Constraints constraints = {};  // beside what the Problem states
  Refinements refinements = {};  // all
};

// The engine "cadical": the whole formulation as clauses, decided by CaDiCaL. Supports everything that a
// Problem can state. Budget units are conflicts. Deterministic: the same calls on a session give the same
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

// The backend alone, for sessions that want to count its clauses.
BackendFactory CadicalBackends(const SatOptions& options);

}  // namespace tessera::encoder
