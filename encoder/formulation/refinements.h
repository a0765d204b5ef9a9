#pragma once

#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/formulation/address_constraints.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::encoder::formulation {

// What a formulation may add to a Problem's own words so that a solver has less to do. Each can be
// switched off; none changes an answer, some change which of several placements is found.
// docs/encoding.md says what each is worth.
struct Refinements {
  bool positions = true;  // offsets that can matter (normal_positions.h)
  bool symmetry = true;   // of buffers alike in everything the first lies below (symmetry.h)
  bool bank_sums = true;  // what lies in a bank at once is no larger than the bank (bank_sums.h)
  bool decomposition =
      true;  // parts of a Problem that share nothing are decided apart (decomposition.h)

  bool loose_ends = true;  // an end that candidates size may be too high, where that can only hurt

  // The Problem's own words and nothing else: what a certificate needs.
  static Refinements None() { return {false, false, false, false, false}; }
};

// Groups of two and more buffers, ascending by hint and index, that are alike in everything, on
// every candidate: any solution can exchange the places of two of a group, so there is one in which
// each lies below the next of its group. `ladder` may be null. Cost: O(n log n) comparisons of
// buffers.
std::vector<std::vector<int>> FindInterchangeable(const problem::Problem& problem,
                                                  const problem::Ladder* ladder);

// For each buffer the offsets, in units of the granularity and ascending, of which one suffices: if
// the Problem has a solution on a candidate, then it has one in which every buffer lies at an
// offset of its list. An empty list says nothing about its buffer: in its memory some buffer has
// too many positions, or must not be moved. `ceilings` are the greatest capacities asked about, in
// bytes, for each memory; `ladder` may be null.
//
// A list is also empty where too much work came first, or the stop. Cost: for each candidate, at
// most a hundred positions a buffer times the number of buffers that live together, and in all at
// most a few million steps for each memory.
std::vector<std::vector<problem::Bytes>> FindNormalPositions(
    const problem::Problem& problem, const problem::Ladder* ladder,
    const AddressConstraints& address_constraints, const std::vector<problem::Bytes>& ceilings,
    const base::Stop& stop);

}  // namespace tessera::encoder::formulation
