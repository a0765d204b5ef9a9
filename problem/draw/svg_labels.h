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

// As much of the text as fits into `width`, or nothing if the rest would not be readable.
std::string Fit(std::string_view whole, double width);

// The smallest value of 1, 2 or 5 times a power of ten (a power of two for bytes) that makes at
// most `most` ticks.
int64_t TickOf(int64_t extent, int64_t most, bool binary);

// An address on an axis with ticks `tick` apart. All labels of the axis use one unit.
std::string AddressLabel(Bytes address, Bytes tick);

// "a (conv1), weights: 4 bytes at [8, 12), lives [0, 2)"
std::string TooltipOf(const Buffer& buffer, Bytes offset);

// "; bank_groups: b0 b1 | b2 b3", or nothing.
std::string BankSetsIn(const Memory& memory);

// The distinct roles in the order of their first appearance. Colours follow this order.
std::vector<std::string_view> RolesOf(const Problem& problem);

// Loops with their nesting depth, outermost 0.
std::vector<std::pair<Loop, int>> LoopsByDepth(const Problem& problem);

}  // namespace tessera::problem::draw
