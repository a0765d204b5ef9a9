// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/problem/problem.h"

namespace tessera::search::choose {

using problem::Bytes;

// A part of the life of an item: bytes in sections [first, last).
struct Piece {
  int first = 0;
  int last = 0;
  Bytes size = 0;
};

// A buffer, or buffers at fixed distances, that are placed or left out together. An item has a
// value if one of its buffers has one; else it must be placed.
struct Item {
  std::vector<int> buffers;  // of the problem
  std::vector<Piece> pieces;
  int64_t value = 0;
  bool is_optional = false;
};

// The items of a Problem, and a relaxation of the question which of them fit. The relaxation has no
// addresses: it only requires that in every section the bytes of the chosen items are at most the
// capacity. Sections are those of occupancy.h, of one memory after the other. Buffers that may
// share addresses while they live together (exclusive, or colocated on the same bytes) do not add
// up, so only buffers that certainly add up are counted.
//
// The value of a fallback is certain, whatever is chosen. So the value of an item is only the value
// that it adds to that of its fallbacks. In the same memory, the fallbacks are subtracted from the
// capacity, and an item adds only the bytes beyond its own. Fallbacks in other memories are not
// counted.
struct Items {
  std::vector<Item> all;        // by first section, then by first buffer
  std::vector<Bytes> capacity;  // by section
  int64_t total = 0;            // the sum of the values of all items
};

// Groups the buffers into items. `capacity` is that of memories[0]; other memories have the
// capacity in the Problem. `fallbacks` may be empty. Cost: O(n log n); with fallbacks, n times the
// sections of a life.
Items FindItems(const problem::Problem& problem, Bytes capacity,
                const problem::Fallbacks& fallbacks = {});

// Adds to `chosen` each item of `order`, in this order, that overfills no section. Returns the
// added items.
std::vector<int> Admit(const Items& items, std::span<const int> order, std::vector<bool>& chosen);

// Returns the sum of the values of the chosen items.
int64_t ValueOf(const Items& items, const std::vector<bool>& chosen);

// The fallbacks of left-out items that become part of the problem: all, or only those in the memory
// of their buffer.
enum class StandIns : uint8_t { kAll, kInPlace };

// The buffers that a choice places, as a problem.
struct Part {
  problem::Problem problem;
  std::vector<int> buffers;  // by buffer of `problem`: the index of the chosen buffer, or of the
                             // buffer whose fallback it is
  size_t chosen = 0;         // the number of chosen buffers, which come first; the others stand in
};

// Returns the problem of the chosen items and of the fallbacks of the others. The relations, rules
// and costs of buffers that are not chosen are left out. `fallbacks` may be empty.
Part PartOf(const problem::Problem& problem, const Items& items, const std::vector<bool>& chosen,
            const problem::Fallbacks& fallbacks, StandIns which = StandIns::kAll);

}  // namespace tessera::search::choose
