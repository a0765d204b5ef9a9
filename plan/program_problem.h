#pragma once

#include "tessera/plan/derivation.h"
#include "tessera/problem/problem.h"

namespace tessera::plan {

// The Problem of the tile memory that follows from a derivation, as far as it concerns the steps in
// `steps`: buffers that live then, with the parts of their lifespans and accesses that lie there,
// what relates them, and the rules about them. Step `steps.lower` becomes step 0. For all steps of
// the program this is the Problem that CheckProgram compares a plan's with; for some of them each
// placement of that one contains a placement of this one.
problem::Problem ProblemOf(const Plan& plan, const Derivation& derivation, problem::Lifespan steps);

// Bytes that some step needs at least in memories[0]: buffers that live then, those that share one
// place counted once. Cost: buffers times steps.
problem::Bytes LeastLoad(const problem::Problem& problem);

// Bytes of the memory that are not reserved.
problem::Bytes FreeBytes(const problem::Memory& memory, problem::Bytes capacity);

}  // namespace tessera::plan
