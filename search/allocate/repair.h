#pragma once

#include <cstdint>

#include "tessera/problem/engine.h"

namespace tessera::search {

// Repair: everything is laid down at once, overlapping, and then mended (repair_search.h). It never knows that
// nothing fits, and on packings without any slack canonical search is far ahead; with a little slack, some
// percent of the capacity on average, it finds allocations that no tree search comes near, for it takes nothing
// back but what is in the way.
//
// Answers kFeasible or kUnknown. Each call goes on from the overlaps that the last one left, whatever its
// capacity. Honours what canonical search honours; takes as many buffers, and kMostPairs conflicts among them.
// Budget units, told as nodes, are a step for every kBuffersPerStep buffers, and at least one: about what a node of
// canonical search costs, which looks at all the memory where a step looks at one buffer's neighbours.
class RepairEngine final : public problem::Engine {
 public:
  static constexpr int64_t kMostPairs = 2'000'000;
  static constexpr int64_t kBuffersPerStep = 25;

  explicit RepairEngine(uint64_t seed = 0) : seed_(seed) {}

  std::string_view Name() const override { return "repair"; }
  bool Refutes() const override { return false; }
  std::unique_ptr<problem::Session> Open(const problem::Problem& problem,
                                         const problem::Ladder* ladder) const override;

 private:
  uint64_t seed_;
};

}  // namespace tessera::search
