// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tessera/problem/engine.h"
#include "tessera/search/engines/boxing/schedule.h"

namespace tessera::search::engines::boxing {

// The engine "boxing" (BoxSearch), which runs only if it is requested by name. It proves nothing;
// if a peak equals the load, that bound proves it least. Buffers that never live together, and
// buffers of one size, are placed at the load immediately.
//
// Answers kFeasible or kUnknown; LowerPeak continues the search of the session. Supports the same
// Problems as order search (order_search.h): alignment and several memories, but no fixed offsets,
// reserved ranges, gaps in lives or relations, and no rules, banks, modes and ports that restrict
// something. Hints are not tried. Budget units are those of order search.
class BoxingEngine final : public problem::Engine {
 public:
  explicit BoxingEngine(uint64_t seed = 0, const BoxingOptions& options = {})
      : seed_(seed), options_(options) {}

  std::string_view Name() const override { return "boxing"; }
  bool Refutes() const override { return false; }
  size_t Strands() const override { return 2; }
  std::unique_ptr<problem::Session> Open(const problem::Problem& problem,
                                         const problem::Ladder* ladder) const override;

 private:
  uint64_t seed_;
  BoxingOptions options_;
};

}  // namespace tessera::search::engines::boxing
