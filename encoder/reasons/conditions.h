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
// capacities beyond Roomy, accesses where neither modes nor ports count them, loops where no memory limits its transitions.
std::vector<problem::Condition> ListConditions(const Query& query);

// A kAdjacent relation rounds up to the alignment of its second buffer, which is a condition of its own. Where the relation is kept
// and that is not, it says no longer to what it rounds.
enum class Rounding : uint8_t {
  kAsAsked,  // to the alignment that the question has: what the question allows, this allows
  kAsKept,   // to the alignment that is kept
};

// The question that asks for `kept` alone, which is ascending; docs/reasons.md says what becomes of the rest. Conditions of a buffer
// that is not kept are void.
Query Keep(const Query& query, std::span<const problem::Condition> kept,
           Rounding rounding = Rounding::kAsAsked);

// The ways to read what is kept: one, or two where the roundings differ. The conditions collide if nothing fits in any.
std::vector<Query> Readings(const Query& query, std::span<const problem::Condition> kept);

// The question without one condition, as a user would strike it out: a relation vanishes with all that it allows.
Query Strike(const Query& query, const problem::Condition& condition);

// A capacity of the memory with which any placement in unbounded memory could do: see conditions.cc.
problem::Bytes Roomy(const Query& query, int memory);

// The question with another capacity of one memory.
Query WithCapacity(Query query, int memory, problem::Bytes capacity);

problem::Bytes CapacityOf(const Query& query, int memory);

}  // namespace tessera::encoder::reasons
