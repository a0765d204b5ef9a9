// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/formulation/address_constraints.h"
#include "tessera/problem/engine.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::encoder::formulation {

// Optional additions to the formula that reduce the work of a solver. Each can be switched off.
// None changes an answer; some change which of several placements is found. docs/encoding.md
// reports the effect of each.
struct Refinements {
  bool positions = true;  // restrict offsets to normal positions (FindNormalPositions)
  bool symmetry = true;   // order interchangeable buffers (FindInterchangeable)
  bool bank_sums = true;  // the contents of a bank are never larger than the bank (WriteBankSums)
  bool decomposition = true;  // decide independent parts of a Problem separately (OpenInParts)

  // if candidates determine the size, an end may exceed offset + size where that helps no
  // constraint
  bool loose_ends = true;

  // The constraints of the Problem and nothing else; certificates need this.
  static Refinements None() { return {false, false, false, false, false}; }
};

// Groups of two or more interchangeable buffers, ascending by hint and index. The members of a
// group are equal in everything, for every candidate. Any solution may exchange the places of two
// members; so there is a solution in which each member lies below the next one. `ladder` may be
// null. Cost: O(n log n) comparisons of buffers.
std::vector<std::vector<int>> FindInterchangeable(const problem::Problem& problem,
                                                  const problem::Ladder* ladder);

// For each buffer, a list of sufficient offsets in units of the granularity, ascending. If the
// Problem has a solution for a candidate, then it has one in which every buffer lies at an offset
// of its list. An empty list is no restriction: some buffer of that memory has too many positions,
// or must not be moved. `ceilings` are the greatest requested capacities in bytes, for each memory.
// `ladder` may be null.
//
// A list is also empty if the work limit or the stop came first. Cost: for each candidate, at most
// a hundred positions per buffer times the number of buffers that live together; in total at most a
// few million steps for each memory.
std::vector<std::vector<problem::Bytes>> FindNormalPositions(
    const problem::Problem& problem, const problem::Ladder* ladder,
    const AddressConstraints& address_constraints, const std::vector<problem::Bytes>& ceilings,
    const base::Stop& stop);

// A part of a Problem: buffers that share nothing with the others, as a separate Problem.
struct Part {
  std::vector<size_t> buffers;  // indices in the whole Problem, ascending
  problem::Problem problem;     // of these buffers alone, in the same memories
  problem::Ladder ladder;       // without candidates if the whole Problem has no ladder
};

// Splits the Problem into independent parts, in the order of their first buffers. Parts of very few
// buffers are merged, because starting a solver has a cost. The result is one part if everything is
// connected. `ladder` may be null. Cost: O(n log n), and a copy of the Problem.
std::vector<Part> FindParts(const problem::Problem& problem, const problem::Ladder* ladder);

// Opens a session for one part. The arguments must outlive the session.
using PartOpener = std::function<std::unique_ptr<problem::Session>(const problem::Problem&,
                                                                   const problem::Ladder*)>;

// Opens a session that solves the parts one after the other and merges their answers. It stops at
// the first part that does not fit. If a limit cuts off a part, the whole is unknown, unless
// another part does not fit.
std::unique_ptr<problem::Session> OpenInParts(const problem::Problem& problem,
                                              const problem::Ladder* ladder,
                                              const PartOpener& open);

}  // namespace tessera::encoder::formulation
