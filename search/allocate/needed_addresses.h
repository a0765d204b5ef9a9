// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

// How far addresses reach, and how much room a search needs to find a placement.
//
//     0 ........ least peak ........ FarthestNeeded ........ capacity ........ kNoPosition
//       a placement, if there is any, lies within this |        engines search no farther |
namespace tessera::search::allocate {

// Returns whether some address in the Problem, or the sum of its sizes, is not below kNoPosition
// (occupancy.h).
bool ReachesTooFar(const problem::Problem& problem);
// As above, with `sizes` instead of the sizes of the Problem; parallel to the buffers.
bool ReachesTooFar(const problem::Problem& problem, std::span<const problem::Bytes> sizes);

// An address of memories[0] within which a Problem has a placement if it has any; kNoPosition if no
// such address is known. A guess may be too low.
struct NeededAddresses {
  problem::Bytes end = 0;
  bool is_guess = false;
};
// Computes them for a Problem. Cost: linear.
NeededAddresses FarthestNeeded(const problem::Problem& problem);

// The room of a search in memories[0].
struct Room {
  problem::Bytes capacity = 0;
  // Whether a Problem that does not fit may fit into more. The caller must then repeat the search
  // without guesses.
  bool is_guess = false;
  // Whether a Problem that does not fit into this room does not fit into the stated capacity
  // either.
  bool refutes = true;
  // Whether these are the stated bytes. Otherwise the buffers cannot use more of them.
  bool is_stated = true;
};

// Returns the room for a search. `stated` is the capacity of the memory in bytes. If `exact`, the
// query is whether the Problem fits into these bytes. Otherwise it is the least peak, and no engine
// needs to search farther than FarthestNeeded: engines then encode narrower numbers and begin
// nearer to that peak. `may_guess` allows a reach that is a guess.
Room RoomFor(const problem::Problem& problem, problem::Bytes stated, bool exact, bool may_guess);

// Turns an infeasible answer of a search in this room into an open one if the room refutes nothing.
// Leaves the answer of a guess unchanged, because the caller repeats the search.
void Qualify(const Room& room, const problem::Problem& problem, problem::Result& result);

}  // namespace tessera::search::allocate
