// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tessera/problem/engine.h"

namespace tessera::search::engines::order_search {

// The engine "order-search", for thousands to millions of buffers. It places buffers one by one in
// some order, never moves them, and searches for an order that yields a low peak (CoreSearch). It
// makes no list of conflicting pairs, so memory grows with the number of buffers and not with their
// density. It cannot prove infeasibility; if a peak equals the load, that bound proves it least.
//
// Answers kFeasible or kUnknown; LowerPeak (problem/engine.h) continues the search of the session.
// Supports alignment, and several memories in permissive modes. Answers kUnsupported for fixed
// offsets, reserved ranges, gaps in lives, relations, and rules, banks, modes and ports that
// restrict something. Hints are not tried. Budget units are counted as nodes: the time to place
// kPlacementsPerUnit buffers on a skyline.
class OrderSearchEngine final : public problem::Engine {
 public:
  static constexpr int64_t kPlacementsPerUnit = 32;

  explicit OrderSearchEngine(uint64_t seed = 0) : seed_(seed) {}

  std::string_view Name() const override { return "order-search"; }
  bool Refutes() const override { return false; }
  size_t Strands() const override;
  std::unique_ptr<problem::Session> Open(const problem::Problem& problem,
                                         const problem::Ladder* ladder) const override;

 private:
  uint64_t seed_;
};

}  // namespace tessera::search::engines::order_search
