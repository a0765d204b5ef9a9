// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
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

// What is placed or left out as one: a buffer, or buffers at fixed distances. It has a value if one
// of its buffers has one; else it must be placed.
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
struct Items {
  std::vector<Item> all;        // by first section, then by first buffer
  std::vector<Bytes> capacity;  // by section
  int64_t total = 0;            // of all values
};

// `capacity`: of memories[0]; other memories have their own. Cost: O(n log n).
Items FindItems(const problem::Problem& problem, Bytes capacity);

// The problem of the chosen items alone. Relations, rules and costs of the others go with them.
// `buffers` receives the index in `problem` of each buffer.
problem::Problem ProblemOf(const problem::Problem& problem, const Items& items,
                           const std::vector<bool>& chosen, std::vector<int>& buffers);

int64_t ValueOf(const Items& items, const std::vector<bool>& chosen);

}  // namespace tessera::search::choose
