#pragma once

#include <optional>
#include <span>
#include <vector>

namespace tessera::encoder::reasons {

// A smallest set that has an element in common with every one of `sets`, ascending; nullopt when one of them is empty. Elements are
// numbers from 0 up; each set is ascending. The same sets give the same answer. Cost: exponential in the size of the answer alone,
// O(w^k) for sets of w elements and an answer of k.
std::optional<std::vector<int>> FindHittingSet(std::span<const std::vector<int>> sets);

}  // namespace tessera::encoder::reasons
