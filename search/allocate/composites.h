// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/problem.h"
#include "tessera/search/allocate/occupancy.h"

// Buffers at fixed distances from each other, placed as one unit.
//
// A tensor in off-chip memory is written and read tile by tile. Its chunks live at different times
// but move together: each is a buffer, and kColocate relations fix their distances. Such a group is
// a composite; a buffer without such relations is a composite of one part.
//
//     address ^  .------.                       Two composites may interlock. Their bases must not
//             |  |  a1  |.------.               differ by any d at which a part of one and a part
//             |  '------'|  b1  |               of the other share a step and a byte:
//             |  .---.   '------'.----.
//             |  |a0 |.---------.|    |           d = base(b) - base(a)
//             |  '---'|   b0    |'----'
//             '------------------------> step     |  free  |##| free |#####|  free ..
//
// For two plain buffers the forbidden distances are one range, and "b lies above a or below it" are
// the two choices. For composites they are several ranges with gaps between them.
namespace tessera::search::allocate {

struct CompositePart {
  int buffer = 0;  // index in the Problem
  Bytes at = 0;    // from the base of the composite
};

struct Composite {
  std::vector<CompositePart> parts;  // by `at`, which begins with 0
  Bytes extent = 0;                  // from the base to the highest end
  Bytes modulus = 1;                 // the base is residue modulo it
  Bytes residue = 0;
  std::optional<Bytes> fixed;  // base, from a fixed offset of a part
  std::optional<Bytes> hint;

  // AlignUp returns the least base >= `base` that the modulus allows; AlignDown returns the
  // greatest base <= `base`, which may be negative.
  Bytes AlignUp(Bytes base) const;
  Bytes AlignDown(Bytes base) const;
};

// The composites of one memory. Ranges are ascending, disjoint and do not touch.
struct Composites {
  struct Neighbour {
    int other = 0;
    RangeList forbidden;  // of base(other) - base(this)
  };

  std::vector<Composite> all;
  std::vector<std::vector<Neighbour>> neighbours;  // by composite, in both directions
  std::vector<RangeList> blocked;  // by composite: bases at which a part touches a reserved range
  std::string contradiction;       // why no placement exists, in words; empty if none was found
  bool are_exact = true;  // false: a common multiple of alignments was too large and is ignored

  // Writes the offsets of all parts for the given bases, by buffer of the Problem.
  void CopyTo(const std::vector<Bytes>& bases, std::vector<Bytes>& offsets) const;
  // Returns the highest end of a composite.
  Bytes PeakOf(const std::vector<Bytes>& bases) const;
};

// NextOutside returns the least value >= `at` outside the ranges; LastOutside returns the greatest
// value <= `at` outside them. Cost: O(log ranges).
Bytes NextOutside(const RangeList& ranges, Bytes at);
Bytes LastOutside(const RangeList& ranges, Bytes at);

// Returns whether the Problem has a kColocate relation. Contraction (contraction.h) removes those
// that a single buffer can represent.
bool HasFixedDistances(const problem::Problem& problem);

// Returns the composites of a memory without their neighbours. Does not look for contradictions
// between parts that overlap. The Problem must have no rules.
Composites FindComposites(const problem::Problem& problem, int memory);

// Returns the composites of a memory with their neighbours; nullopt after a stop. The Problem must
// have no rules, and FindUnsupported (engine_session.h) must accept it with
// DistanceSupport::kColocate. Cost: for each pair of composites that live together, the product of
// their numbers of parts.
std::optional<Composites> BuildComposites(const problem::Problem& problem, int memory,
                                          const base::Stop& stop);

}  // namespace tessera::search::allocate
