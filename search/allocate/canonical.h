#pragma once

#include <cstdint>

#include "tessera/problem/engine.h"
#include "tessera/search/allocate/canonical_options.h"

namespace tessera::search {

// The canonical search: sound, complete, and quick on tight packings.
//
// Every feasible Problem has an allocation in which no buffer can move down (take one with the least sum of
// offsets), so only such allocations are searched: bottom up, placing or delaying one buffer at a time
// (canonical_tree.h), pruned by what resting on something means (canonical_propagation.h), leaping over
// innocent decisions (canonical_explain.h). Restarts under several orders with growing limits keep one bad
// early decision from costing everything; since limits grow for ever, the last tree is exhausted in the end,
// and that alone is the proof of kInfeasible.
//
// Honours alignments, fixed offsets, reserved ranges, gaps, separate, exclusive, and colocated buffers of one
// size (contraction.h). Answers kUnsupported on
// anything else that restricts a placement (constraints.h), kUnknown at a limit or beyond 8192 movable
// buffers in a memory. Hints are no constraints and are not used. Budget units are nodes. The same seed gives
// the same answer everywhere.
class CanonicalEngine final : public problem::Engine {
 public:
  explicit CanonicalEngine(uint64_t seed = 0) { options_.seed = seed; }
  explicit CanonicalEngine(const CanonicalOptions& options) : options_(options) {}

  std::string_view Name() const override { return "canonical"; }
  std::unique_ptr<problem::Session> Open(const problem::Problem& problem,
                                         const problem::Ladder* ladder) const override;

 private:
  CanonicalOptions options_;
};

}  // namespace tessera::search
