// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/problem/problem.h"

// The labels of an SVG picture: its texts, the ticks of its axes, and the order of its legend.
// Internal to this module.
namespace tessera::problem::draw {

inline constexpr double kLetter = 6.2;  // mean advance of the 10 pixel font

// Returns the text, shortened if it does not fit into `width`; empty if fewer than three letters
// would remain.
std::string Fit(std::string_view whole, double width);

// Returns the smallest distance between ticks that leads to at most `most` of them: 1, 2 or 5 times
// a power of ten, or a power of two if `binary`.
int64_t TickOf(int64_t extent, int64_t most, bool binary);

// Returns the label of an address on an axis whose ticks are `tick` bytes apart. All labels of the
// axis use one unit.
std::string AddressLabel(Bytes address, Bytes tick);

// Returns "a (conv1), weights: 4 bytes at [8, 12), lives [0, 2)".
std::string TooltipOf(const Buffer& buffer, Bytes offset);

// Returns "; bank_groups: b0 b1 | b2 b3"; empty if the memory lists no sets.
std::string BankSetsIn(const Memory& memory);

// The distinct roles in the order of their first appearance. Colours follow this order.
std::vector<std::string_view> RolesOf(const Problem& problem);

// Loops with their nesting depth, outermost 0.
std::vector<std::pair<Loop, int>> LoopsByDepth(const Problem& problem);

}  // namespace tessera::problem::draw
