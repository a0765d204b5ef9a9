// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>

#include "tessera/problem/engine.h"

namespace tessera::search::engines::canonical {

// The rules of the canonical search. Each can be switched off: answers stay correct, but take
// longer. The code that applies a rule explains it.
struct CanonicalOptions {
  uint64_t seed = 0;     // varies the orders of all restarts after the first round
  bool support = true;   // support bound, updated incrementally (propagator.h)
  bool witness = true;   // (propagator.h)
  bool sections = true;  // section check (propagator.h)
  bool gap_fill = true;  // (propagator.h)
  // If off, the search returns to the last decision, even if it did not contribute to the failure.
  bool backjumping = true;
  bool interchangeable = true;  // interchangeable buffers are ordered
  bool decomposition = true;    // independent periods of time are searched separately
  bool cache = true;            // refuted states are stored (search_tree.h)
  // Nodes of one search after which it uses the cache; shorter searches do not pay for it.
  int64_t cache_after = 4096;
  bool both_directions = true;  // restarts also against time
};

// The engine "canonical": a search that is sound, complete, and fast on tight packings.
//
// Every feasible Problem has an allocation in which no buffer can move down (take one with the
// least sum of offsets). So the search covers only such allocations, bottom up. It places or delays
// one buffer at a time (search_tree.h), prunes with the consequences of resting on another buffer,
// jumps back over decisions that did not contribute to a failure (propagator.h, search_state.h),
// and stores failed states (search_tree.h). Restarts under several orders, with and against time,
// with growing limits, keep one bad early decision from dominating the cost. Since limits grow
// without bound, the last tree is exhausted in the end; only that proves kInfeasible.
//
// Sources: MiniMalloc (Moffitt, 2023) searches canonical allocations too. Its section inference is
// the section check here. Its dominance (no buffer may leave space for another below it) is covered
// by the witness rule. Its dynamic decomposition happens at every node (search_tree.h). The support
// bound, backjumping with lazy explanations, and the cache of full states are contributions of this
// search.
//
// Supports alignments, fixed offsets, reserved ranges, gaps, separate, exclusive, and colocated
// buffers of one size (contraction.h). Answers kUnsupported for anything else that restricts a
// placement (engine_session.h), and kUnknown at a limit or if a memory has more than 8192 buffers
// or too many pairs of them that live together. Hints are not constraints and are ignored. Budget
// units are nodes. Another call for the same capacity continues the restarts. The same seed and
// calls give the same answers on every machine.
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

// Opens a session of the canonical engine for buffers at fixed distances (composites.h): a complete
// depth-first search over the gaps between forbidden distances. Answers kFeasible, kInfeasible
// after an exhausted search, or kUnknown. Budget units are nodes.
std::unique_ptr<problem::Session> OpenCompositeSearch(const problem::Problem& problem,
                                                      const problem::Ladder* ladder, uint64_t seed);

}  // namespace tessera::search::engines::canonical
