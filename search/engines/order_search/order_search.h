// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tessera/problem/engine.h"
#include "tessera/search/engines/order_search/core_search.h"

namespace tessera::search::engines::order_search {

// Searches for a placement with a low peak in one memory of a Problem.
//
// Elementary cases (quick_placements.h) are solved directly. Otherwise one order places all
// buffers. Sections that share no buffer split the steps into independent components. The search
// then improves those above the target one by one, the highest first; the others stay unchanged.
//
//     ---------------------- target
//      .-----.                     .--.         Only the first component matters; the second and
//      |     |      .---.          |  |         the third stay as the first order left them.
//      |     |______|   |          |  |
//     -'-----'------'---'----------'--'----> time
class MemorySearch {
 public:
  // FindUnsupportedBuffer (instance.h) must accept the memory.
  MemorySearch(const problem::Problem& problem, size_t memory, uint64_t seed, size_t strand);

  // Searches until the peak is at most `target` or the effort is over. A later call continues the
  // search.
  void Lower(Bytes target, Effort& effort);

  bool HasPlacement() const { return peak_.has_value(); }
  Bytes Peak() const { return *peak_; }

  // Writes the offsets of the best placement, by index in the Problem.
  void CopyTo(std::vector<Bytes>& offsets) const;
  // Continues from these offsets, by index in the Problem, if their peak is lower.
  void Adopt(std::span<const Bytes> offsets);

 private:
  void LowerPlaced(Bytes aim, Effort& effort);
  void Split(Bytes aim);
  CoreSearch* Highest();
  void Measure();

  const problem::Problem& problem_;
  uint64_t seed_;
  size_t strand_;
  Bytes unit_;                     // all sizes in the search are multiples of it
  CoreSearch whole_;               // of all buffers, numbered as in its Instance
  std::vector<CoreSearch> parts_;  // components still to improve; empty: search the whole
  bool divided_ = false;           // whether the components were computed
  std::optional<Bytes> peak_;
};

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
