// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/problem/fallback.h"
#include "tessera/problem/problem.h"

namespace tessera::search::choose {

using problem::Bytes;

// A part of the life of an item: bytes in sections [first, last).
struct Piece {
  int first = 0;
  int last = 0;
  Bytes size = 0;
};

// An item is placed or left out as one: a buffer, or buffers at fixed distances. It has a value if
// one of its buffers has one; else it must be placed.
struct Item {
  std::vector<int> buffers;  // of the problem
  std::vector<Piece> pieces;
  int64_t value = 0;
  bool is_optional = false;
};

// The question without addresses, as a relaxation of it: in every section the bytes of the chosen
// items are at most the capacity. Sections are those of occupancy.h, of one memory after the other.
// Buffers that may share addresses while they live together (exclusive, colocated on the same
// bytes) do not add up there, so only those are counted that certainly do.
//
// A fallback is worth something whatever is chosen, so an item has the value that it adds to that
// of its fallbacks. In the same memory it adds only the bytes beyond them, and all fallbacks are
// taken from the capacity. Fallbacks in other memories are not counted there.
struct Items {
  std::vector<Item> all;        // by first section, then by first buffer
  std::vector<Bytes> capacity;  // by section
  int64_t total = 0;            // of the values of all items
};

// `capacity`: of memories[0]; other memories have their own. `fallbacks` may be empty. Cost: O(n
// log n), with fallbacks n times the sections of a life.
Items FindItems(const problem::Problem& problem, Bytes capacity,
                const problem::Fallbacks& fallbacks = {});

// Chooses further items, in this order, each if it overfills no section; returns them.
std::vector<int> Admit(const Items& items, std::span<const int> order, std::vector<bool>& chosen);

int64_t ValueOf(const Items& items, const std::vector<bool>& chosen);

}  // namespace tessera::search::choose
