// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

// The pairs of an exploration in pieces, for processes that share the work.
namespace tessera::explore {

// "3/8": the third of eight.
struct Piece {
  size_t index = 1;  // from 1
  size_t count = 1;
};

// Returns nullopt unless 1 <= index <= count <= 10 000.
std::optional<Piece> ParsePiece(std::string_view text);

// Returns the piece of each part, from 1. The costliest part goes first, and each to the piece with
// the least cost so far; of equal pieces, to the first. So no piece costs more than the mean and
// one part more. The result depends only on the costs. Cost: O(n log n + n log count).
std::vector<size_t> DivideParts(std::span<const double> costs, size_t count);

}  // namespace tessera::explore
