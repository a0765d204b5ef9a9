// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/engine.h"
#include "tessera/problem/problem.h"
#include "tessera/search/allocate/occupancy.h"

namespace tessera::search::engines::greedy {

// The order of placement; earlier buffers lie lower.
enum class GreedyOrder : uint8_t {
  kSize,        // largest first
  kArea,        // greatest size times lifetime first
  kLifetime,    // longest first, then largest
  kContention,  // greatest load lived through first, then largest
  kBirth,       // in program order, larger first
  kDeath,       // against program order
};

// One memory, prepared for any number of greedy passes. Conflicts are found by time instead of by
// pairs, so tens of thousands of buffers are placed quickly.
class GreedyPlacement {
 public:
  GreedyPlacement(const problem::Problem& problem, int memory);

  // Returns the indices in the Problem of the memory's buffers. Place returns its offsets in this
  // order.
  const std::vector<int>& Buffers() const { return buffers_; }

  // Places buffers with a fixed offset, then the others one by one in the given order; with
  // `use_hints`, each at its hint if that is free. Returns offsets by position in Buffers();
  // nullopt if a buffer exceeds `capacity` or fits nowhere, or if `stop` was requested. Supports
  // alignment, reserved ranges, spans and allowed banks, gaps, separate and exclusive. Cost: O(log
  // sections) lists for each buffer, and the ranges passed in them.
  std::optional<std::vector<problem::Bytes>> Place(GreedyOrder order, allocate::Fit fit,
                                                   bool use_hints, problem::Bytes capacity,
                                                   const base::Stop& stop) const;

  bool HasHints() const;

 private:
  struct Pass;

  const problem::Buffer& BufferAt(size_t i) const {
    return problem_.buffers[static_cast<size_t>(buffers_[i])];
  }
  size_t NumberOf(int buffer) const;
  std::vector<size_t> Sequence(GreedyOrder order) const;
  bool PlaceOne(Pass& pass, size_t i, allocate::Fit fit, bool use_hints,
                problem::Bytes capacity) const;
  void Collect(Pass& pass, size_t i) const;

  const problem::Problem& problem_;
  std::vector<int> buffers_;
  allocate::Sections sections_;
  std::vector<allocate::Positions> positions_;
  std::vector<problem::Bytes> contention_;      // the greatest load that the buffer lives through
  std::vector<std::vector<size_t>> separate_;   // partners
  std::vector<std::vector<size_t>> exclusive_;  // partners
};

// The engine "greedy" places buffers one by one and never moves them. It runs eight passes in
// different orders, by first or best fit (GreedyPlacement). No single order is best: an order that
// is perfect for one program can be a third above the best peak of another. The first pass within
// the capacity is the answer. Results of passes are kept for later calls.
//
// Answers kFeasible or kUnknown, and kInfeasible only if a bound proves it. Supports alignments,
// fixed offsets, reserved ranges, gaps, spans and allowed banks, separate, exclusive, and colocated
// buffers of one size (contraction.h). Tries hints first. Answers kUnsupported for other relations,
// and for modes and ports that restrict something. Budget units are buffers placed. Fast:
// microseconds for a hundred buffers, and no list of pairs for tens of thousands.
class GreedyEngine final : public problem::Engine {
 public:
  std::string_view Name() const override { return "greedy"; }
  std::unique_ptr<problem::Session> Open(const problem::Problem& problem,
                                         const problem::Ladder* ladder) const override;
};

}  // namespace tessera::search::engines::greedy
