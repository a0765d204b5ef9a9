#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/problem/tile_candidates.h"

// The limits of the lazy engine, and the description of Problems beyond them.
namespace tessera::search::engines::lazy {

inline constexpr size_t kMostBuffers = 4096;
inline constexpr int64_t kMostPairs = 2'000'000;
inline constexpr int64_t kBytesPerPair = 200;  // of memory
inline constexpr problem::Bytes kFarthest = problem::Bytes{1} << 60;

// Number of pairs of buffers that live together. Pairs with several lifespans may count more than
// once.
int64_t CountPairs(const problem::Problem& problem);

// The first requirement that the engine does not support, in words, or nullopt: modes, ports,
// spans, allowed banks and bank relations that restrict something, and magnitudes beyond the limits
// above.
std::optional<std::string> FindUnsupported(const problem::Problem& problem,
                                           const problem::Ladder* ladder);

// The highest fixed boundary or hint plus everything else stacked on top, for the candidates where
// it is largest; nullopt beyond kFarthest. Unless offsets are tied to each other, a Problem that
// does not fit below this height does not fit at all.
std::optional<problem::Bytes> HeightThatSuffices(const problem::Problem& problem,
                                                 const problem::Ladder* ladder);

}  // namespace tessera::search::engines::lazy
