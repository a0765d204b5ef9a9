// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

// How far addresses reach, and the room in which a search looks for a placement.
//
//     0 ........ least peak ........ FarthestNeeded ........ capacity ........ kNoPosition
//       a placement, if there is any, lies within this |        engines search no farther |
namespace tessera::search::allocate {

// Whether some address in the Problem, or the sum of its sizes, is not below kNoPosition
// (occupancy.h).
bool ReachesTooFar(const problem::Problem& problem);
// The same with other sizes, parallel to the buffers.
bool ReachesTooFar(const problem::Problem& problem, std::span<const problem::Bytes> sizes);

// An address of memories[0] within which a Problem has a placement if it has any; kNoPosition:
// open. A guess may be too near. Cost: linear.
struct Reach {
  problem::Bytes end = 0;
  bool is_guess = false;
};
Reach FarthestNeeded(const problem::Problem& problem);

// The room for a search of memories[0].
struct Room {
  problem::Bytes capacity = 0;
  // Whether a Problem that does not fit may fit into more: then the search is to be repeated
  // without guesses.
  bool is_guess = false;
  // Whether a Problem that does not fit does not fit into the stated capacity either.
  bool refutes = true;
};

// `stated`: bytes of the memory. `exact`: what fits into them is asked, not the least peak, for
// which no engine needs to look farther than FarthestNeeded: engines encode narrow numbers then,
// and begin nearer to that peak.
Room RoomFor(const problem::Problem& problem, problem::Bytes stated, bool exact, bool may_guess);

// Turns an infeasible answer of a search in this room into an open one where it refutes nothing.
// That of a guess stays: the search is repeated.
void Qualify(const Room& room, const problem::Problem& problem, problem::Result& result);

}  // namespace tessera::search::allocate
