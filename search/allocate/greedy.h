#pragma once

#include "tessera/problem/engine.h"

namespace tessera::search {

// Greedy orders: buffers laid down one by one, never moved again. Eight passes in different orders, by first
// or best fit (greedy_placement.h); no single order wins, as one that is perfect on one program can be a
// third above the best on another. The first pass that keeps within the capacity is the answer; what passes
// have found is kept for later calls.
//
// Answers kFeasible or kUnknown, and kInfeasible only when a bound proves it. Honours alignments, fixed
// offsets, reserved ranges, gaps, spans and allowed banks, separate, exclusive, colocated buffers of one size
// (contraction.h), and tries hints first; kUnsupported on other relations and on modes and ports that restrict
// something. Budget units are buffers placed. Fast: microseconds for a hundred buffers, no list of pairs for
// tens of thousands.
class GreedyEngine final : public problem::Engine {
 public:
  std::string_view Name() const override { return "greedy"; }
  std::unique_ptr<problem::Session> Open(const problem::Problem& problem,
                                         const problem::Ladder* ladder) const override;
};

}  // namespace tessera::search
