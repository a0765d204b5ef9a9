#pragma once

#include <span>
#include <vector>

#include "tessera/problem/explanation.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder::reasons {

// A Problem and the capacity of memories[0] that is asked about.
struct Query {
  problem::Problem problem;
  problem::Bytes capacity = 0;
};

// Everything that the question asks for and could leave out, ascending. What restricts nothing is not listed: alignments of 1,
// capacities beyond Roomy, accesses where neither modes nor ports count them. Nor are alignments in sight of a kAdjacent relation,
// where a lower one moves the neighbour and may do harm.
std::vector<problem::Condition> ListConditions(const Query& query);

// The question that asks for `kept` alone, which is ascending. Conditions of a buffer that is not kept are void. What is left out
// never makes a placement impossible: a colocate relation leaves behind the licence to overlap, a capacity becomes Roomy.
Query Keep(const Query& query, std::span<const problem::Condition> kept);

// The question without one condition, as a user would strike it out: a relation vanishes with all that it allows.
Query Strike(const Query& query, const problem::Condition& condition);

// A capacity of the memory that forces nothing to share addresses: all buffers, one after the other, find room above everything
// that is fixed, reserved or banked.
problem::Bytes Roomy(const Query& query, int memory);

// The question with another capacity of one memory.
Query WithCapacity(Query query, int memory, problem::Bytes capacity);

problem::Bytes CapacityOf(const Query& query, int memory);

}  // namespace tessera::encoder::reasons
