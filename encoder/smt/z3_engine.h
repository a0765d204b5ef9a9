// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tessera/encoder/formulation/backend.h"
#include "tessera/encoder/formulation/constraint.h"
#include "tessera/problem/engine.h"

namespace tessera::encoder::smt {

struct Z3Options {
  uint64_t seed = 0;
  formulation::Constraints constraints = {};  // in addition to those of the Problem
};

// The engine "z3": the whole formulation with addresses as bit-vectors. It serves as a second
// opinion on every other engine. Supports every Problem. Budget units are conflicts; Z3's resource
// limit applies in addition. Hints are ignored, because Z3 has no call to set a value to try first.
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

// Returns a factory of the backend alone, for sessions that count its constraints.
formulation::BackendFactory Z3Backends(const Z3Options& options);

// Returns the version of the library: "4.8.12".
std::string Z3Version();

}  // namespace tessera::encoder::smt
