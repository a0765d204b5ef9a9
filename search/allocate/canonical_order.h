#pragma once

#include <cstdint>
#include <vector>

#include "tessera/search/allocate/canonical_model.h"

namespace tessera::search {

// Which of several candidates on the floor of a clique is tried first.
enum class CanonicalOrder : uint8_t {
  kSectionsAreaLoad,  // most sections, then greatest size times lifetime, then greatest load lived through
  kSizeSectionsLoad,  // largest, then most sections, then greatest load
  kEndSize,           // latest death (backwards: earliest birth), then largest
};

// With the steps of the Problem or against them: a program that resists one way often yields the other.
enum class Direction : uint8_t { kForwards, kBackwards };

struct CanonicalStrategy {
  CanonicalOrder order;
  Direction direction;
};

// One round of restarts: each order both ways. Either half holds every order and both directions.
inline constexpr CanonicalStrategy kCanonicalStrategies[] = {
    {CanonicalOrder::kSectionsAreaLoad, Direction::kForwards},
    {CanonicalOrder::kSizeSectionsLoad, Direction::kBackwards},
    {CanonicalOrder::kEndSize, Direction::kForwards},
    {CanonicalOrder::kSectionsAreaLoad, Direction::kBackwards},
    {CanonicalOrder::kSizeSectionsLoad, Direction::kForwards},
    {CanonicalOrder::kEndSize, Direction::kBackwards}};

// The rank of each buffer, 0 first. A seed other than 0 shakes every measure (not points in time) by up to 30 %,
// the same way on every machine.
std::vector<int> RankBuffers(const problem::Problem& problem, const CanonicalModel& model,
                             CanonicalStrategy strategy, uint64_t seed);

}  // namespace tessera::search
