#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tessera/encoder/formulation/backend.h"
#include "tessera/encoder/formulation/constraint.h"
#include "tessera/problem/engine.h"

namespace tessera::encoder::smt {

struct Z3Options {
  uint64_t seed = 0;
  formulation::Constraints constraints = {};  // beside what the Problem states
};

// The engine "z3": the whole formulation with addresses as bit-vectors, a second opinion on every
// other engine. Supports everything that a Problem can state. Budget units are conflicts, with Z3's
// resource limit behind them. Hints are not passed on, as Z3 cannot be told a value to try first.
class Z3Engine : public problem::Engine {
 public:
  Z3Engine() = default;
  explicit Z3Engine(const Z3Options& options) : options_(options) {}

  std::string_view Name() const override { return "z3"; }
  std::unique_ptr<problem::Session> Open(const problem::Problem& problem,
                                         const problem::Ladder* ladder) const override;

 private:
  Z3Options options_;
};

// The backend alone, for sessions that want to count its constraints.
formulation::BackendFactory Z3Backends(const Z3Options& options);

}  // namespace tessera::encoder::smt
