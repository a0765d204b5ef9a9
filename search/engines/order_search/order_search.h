// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tessera/problem/engine.h"

namespace tessera::search::engines::order_search {

// Order search, for thousands to millions of buffers: buffers are placed one by one in some order
// and never moved, and the search is for an order that leaves a low peak (CoreSearch). No list of
// conflicting pairs is made, so memory grows with the number of buffers and not with their density.
// It cannot prove infeasibility; where it meets the load, the peak is proven least by that bound.
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
