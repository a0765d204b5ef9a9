#pragma once

#include <cstdint>

#include "tessera/problem/engine.h"

namespace tessera::search::engines::canonical {

// Rules of the canonical search, each of which may be switched off: answers stay right, only slower
// to come. What each rule says stands with the code that applies it.
struct CanonicalOptions {
  uint64_t seed = 0;            // shakes the orders of all restarts but the first round
  bool support = true;          // support bound, kept up to date (canonical_propagation.h)
  bool witness = true;          // (canonical_propagation.h)
  bool sections = true;         // section check (canonical_propagation.h)
  bool backjumping = true;      // else back to the last decision, whether or not it is to blame
  bool interchangeable = true;  // identical buffers lie in order
  bool decomposition = true;    // independent stretches of time are searched one by one
  bool cache = true;            // refuted states are remembered (canonical_cache.h)
  int64_t cache_after = 4096;  // nodes of one search; short ones end sooner, and pay nothing for it
  bool both_directions = true;  // restarts against time as well
};

// The canonical search: sound, complete, and quick on tight packings.
//
// Every feasible Problem has an allocation in which no buffer can move down (take one with the
// least sum of offsets), so only such allocations are searched: bottom up, placing or delaying one
// buffer at a time (canonical_tree.h), pruned by what resting on something means
// (canonical_propagation.h), leaping over innocent decisions (canonical_explain.h), remembering
// what failed (canonical_cache.h). Restarts under several orders, with and against time, with
// growing limits keep one bad early decision from costing everything; since limits grow for ever,
// the last tree is exhausted in the end, and that alone is the proof of kInfeasible.
//
// Whose ideas: MiniMalloc (Moffitt, 2023) searches canonical allocations too. Its section inference
// is the section check here, its dominance (no buffer may leave room for another beneath it) is
// covered by the witness rule, its dynamic decomposition is done at every node (canonical_tree.h).
// The support bound, backjumping with lazy explanations, and the cache of full states are this
// search's own. Each rule can be switched off.
//
// Honours alignments, fixed offsets, reserved ranges, gaps, separate, exclusive, and colocated
// buffers of one size (contraction.h). Answers kUnsupported on anything else that restricts a
// placement (constraints.h), kUnknown at a limit or beyond 8192 movable buffers in a memory. Hints
// are no constraints and are not used. Budget units are nodes; another call for the same capacity
// goes on with the restarts. The same seed and calls give the same answers everywhere.
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

}  // namespace tessera::search::engines::canonical
