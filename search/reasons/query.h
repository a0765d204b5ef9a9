// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/explanation.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace tessera::search::reasons {

// A Problem and a capacity of memories[0].
struct Query {
  problem::Problem problem;
  problem::Bytes capacity = 0;
};

// Returns all conditions of the query that could be dropped, ascending. Conditions without effect
// are not listed: alignments of 1, capacities of at least Roomy, accesses if neither modes nor
// ports count them, loops if no memory limits its transitions.
std::vector<problem::Condition> ListConditions(const Query& query);

// The alignment to which a kept kAdjacent relation rounds up. The relation refers to the alignment
// of its second buffer, which is a separate condition and need not be kept.
enum class Rounding : uint8_t {
  kAsAsked,  // the alignment in the query: everything that the query allows is allowed
  kAsKept,   // the alignment that is kept
};

// Returns the query with only the conditions `kept`, which are ascending. docs/reasons.md defines
// what replaces the others. Conditions of a buffer that is not kept are void.
Query Keep(const Query& query, std::span<const problem::Condition> kept,
           Rounding rounding = Rounding::kAsAsked);

// Returns the interpretations of the kept conditions: one, or two if the roundings differ. The
// conditions conflict if all interpretations are infeasible.
std::vector<Query> Readings(const Query& query, std::span<const problem::Condition> kept);

// Returns the query without one condition, as if the user deleted it: a relation disappears with
// everything that it allows.
Query Strike(const Query& query, const problem::Condition& condition);

// Returns a capacity of the memory that suffices if there is a placement in unbounded memory: see
// conditions.cc.
problem::Bytes Roomy(const Query& query, int memory);

// Returns the query with another capacity of one memory.
Query WithCapacity(Query query, int memory, problem::Bytes capacity);

problem::Bytes CapacityOf(const Query& query, int memory);

// The following functions return the query with one additional or different element.

// With another alignment of the buffer of a kAlignment, or of the memory of a kMemoryAlignment.
Query WithAlignment(const Query& query, const problem::Condition& condition,
                    problem::Bytes alignment);

// Without alignments of buffers.
Query WithoutAlignments(const Query& query);

// With `ports` additional ports of each kind that is limited in the bank of a kPorts.
Query WithPorts(const Query& query, const problem::Condition& condition, int ports);

// With a copy of bank `item` added at EndOf. The copy has the same length, ports and permissions in
// every mode, is allowed to the same buffers, and is in the same sets of banks.
Query WithCopyOfBank(const Query& query, int memory, int item);

// With a bank of `length` bytes added at EndOf. Every mode allows every access in it, and all
// buffers may use it. It forms a separate set of banks.
Query WithFreeBank(const Query& query, int memory, problem::Bytes length);

// Returns the end of the memory: the greater of its capacities in the query and in the problem.
problem::Bytes EndOf(const Query& query, int memory);

// Whether WithCopyOfBank returns equivalent queries for both banks.
bool AreAlike(const Query& query, int memory, int bank, int other);

// Decides whether everything fits when memories[0] has `capacity` bytes: returns kFeasible or
// kOptimal with an allocation, kInfeasible only with a proof, any other status if unknown. May be a
// portfolio, one engine, or an enumeration.
using Decide = std::function<problem::Result(const problem::Problem& problem,
                                             problem::Bytes capacity, const base::Budget& budget)>;

// Passes queries to a Decide. One budget limits all of them together, counted in nodes, conflicts
// and the buffers of each query; another limits each query.
class Oracle {
 public:
  // `decide` and `stop` must outlive this object.
  Oracle(const Decide& decide, base::Budget all, base::Budget each, const base::Stop& stop)
      : decide_(decide), each_(each.units), left_(all.units), stop_(stop) {}

  // kFeasible with an allocation that problem::Validate accepts, kInfeasible, or kUnknown.
  problem::Result Solve(const Query& query);

  // Whether no further query is answered, unless more budget is granted.
  bool HasEnded() const { return left_ <= 0 || stop_.Requested(); }

  problem::Status Ask(const Query& query) { return Solve(query).status; }

  // Adds `units` to the budget of the following queries.
  void Grant(int64_t units) { left_ += units; }

 private:
  const Decide& decide_;
  int64_t each_;
  int64_t left_;
  const base::Stop& stop_;
};

}  // namespace tessera::search::reasons
