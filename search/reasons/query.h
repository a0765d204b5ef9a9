#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/explanation.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace tessera::search::reasons {

// A Problem and the capacity of memories[0] that is asked about.
struct Query {
  problem::Problem problem;
  problem::Bytes capacity = 0;
};

// Everything that the question asks for and could leave out, ascending. What restricts nothing is
// not listed: alignments of 1, capacities beyond Roomy, accesses where neither modes nor ports
// count them, loops where no memory limits its transitions.
std::vector<problem::Condition> ListConditions(const Query& query);

// A kAdjacent relation rounds up to the alignment of its second buffer, which is a condition of its
// own. Where the relation is kept and that is not, it says no longer to what it rounds.
enum class Rounding : uint8_t {
  kAsAsked,  // to the alignment that the question has: what the question allows, this allows
  kAsKept,   // to the alignment that is kept
};

// The question that asks for `kept` alone, which is ascending; docs/reasons.md says what becomes of
// the rest. Conditions of a buffer that is not kept are void.
Query Keep(const Query& query, std::span<const problem::Condition> kept,
           Rounding rounding = Rounding::kAsAsked);

// The ways to read what is kept: one, or two where the roundings differ. The conditions collide if
// nothing fits in any.
std::vector<Query> Readings(const Query& query, std::span<const problem::Condition> kept);

// The question without one condition, as a user would strike it out: a relation vanishes with all
// that it allows.
Query Strike(const Query& query, const problem::Condition& condition);

// A capacity of the memory with which any placement in unbounded memory could do: see
// conditions.cc.
problem::Bytes Roomy(const Query& query, int memory);

// The question with another capacity of one memory.
Query WithCapacity(Query query, int memory, problem::Bytes capacity);

problem::Bytes CapacityOf(const Query& query, int memory);

// Questions with one more or one other thing than the one they are made from.

// With another alignment of the buffer of a kAlignment, or the memory of a kMemoryAlignment.
Query WithAlignment(const Query& query, const problem::Condition& condition,
                    problem::Bytes alignment);

// Without alignments of buffers.
Query WithoutAlignments(const Query& query);

// With `ports` more of each kind that is limited in the bank of a kPorts.
Query WithPorts(const Query& query, const problem::Condition& condition, int ports);

// With a bank more behind everything that the memory holds, as long as bank `item`, which does what
// that does in every mode, and is allowed to the same buffers.
Query WithCopyOfBank(const Query& query, int memory, int item);

// With a bank of `length` bytes more behind everything that the memory holds, in which every mode
// allows every access, and which is allowed to all buffers.
Query WithFreeBank(const Query& query, int memory, problem::Bytes length);

// The address behind everything that the memory holds.
problem::Bytes EndOf(const Query& query, int memory);

// Whether WithCopyOfBank of both asks the same.
bool AreAlike(const Query& query, int memory, int bank, int other);

// Decides whether everything fits when memories[0] has `capacity` bytes: kFeasible or kOptimal with
// an allocation, kInfeasible only with a proof, anything else where it does not know. A portfolio,
// one engine, or an enumeration.
using Decide = std::function<problem::Result(const problem::Problem& problem,
                                             problem::Bytes capacity, const base::Budget& budget)>;

// Puts questions to a Decide within one budget for all of them, counted in nodes, conflicts and the
// buffers of each question, and one for each.
class Oracle {
 public:
  // Decision and stop outlive this.
  Oracle(const Decide& decide, base::Budget all, base::Budget each, const base::Stop& stop)
      : decide_(decide), each_(each.units), left_(all.units), stop_(stop) {}

  // kFeasible with an allocation that problem::Validate accepts, kInfeasible, or kUnknown.
  problem::Result Solve(const Query& query);

  problem::Status Ask(const Query& query) { return Solve(query).status; }

  // Gives the questions that follow `units` more.
  void Grant(int64_t units) { left_ += units; }

 private:
  const Decide& decide_;
  int64_t each_;
  int64_t left_;
  const base::Stop& stop_;
};

}  // namespace tessera::search::reasons
