#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/problem/problem.h"

namespace tessera::search::allocate {

// A peak below which no allocation of one memory can stay, and what makes it so.
struct Bound {
  problem::Bytes bytes = 0;
  std::optional<problem::Step>
      step;  // where the load proves it; nullopt when one buffer alone does
  std::vector<int>
      buffers;  // those that need the bytes: pairwise in conflict at `step`, or the one buffer
};

// The greatest of
// - the load of every section, that is the bytes of buffers that live together, with the padding
//   that common
//   alignments force between them and the reserved bytes beneath them. Buffers that may overlap (exclusive,
//   colocate) do not add up: of those only the largest of a section counts;
// - the lowest top that each buffer alone can have: its fixed offset or its first position, plus
//   its size. Never above the true minimum. Cost: O(n log n) for n lifespans.
Bound FindBound(const problem::Problem& problem, int memory);

// The same for a problem of which only sizes change: what does not depend on them is found once.
// The problem outlives it.
class BoundFinder {
 public:
  BoundFinder(const problem::Problem& problem, int memory);
  BoundFinder(BoundFinder&&) noexcept;
  BoundFinder& operator=(BoundFinder&&) noexcept;
  BoundFinder(const BoundFinder&) = delete;
  BoundFinder& operator=(const BoundFinder&) = delete;
  ~BoundFinder();

  // `sizes` are parallel to the problem's buffers.
  Bound Find(std::span<const problem::Bytes> sizes) const;

 private:
  struct Lives;
  const problem::Problem* problem_;
  int memory_;
  std::unique_ptr<const Lives> lives_;
};

// "at step 3 the buffers b1, b2, b3 need 14 bytes together; the memory holds 12"
std::string Explain(const problem::Problem& problem, const Bound& bound, problem::Bytes capacity);

// A number of bytes that divides some best peak of memories[0]: the greatest common divisor of its
// sizes, alignments above 1, fixed offsets, distances and boundaries. Rounding every offset down to
// a multiple of it breaks nothing, unless buffers must be adjacent or touch equal banks: then the
// answer is 1.
problem::Bytes GranularityOf(const problem::Problem& problem);

}  // namespace tessera::search::allocate
