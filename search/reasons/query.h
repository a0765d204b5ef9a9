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

// All conditions of the query that could be dropped, ascending. Conditions without effect are not
// listed: alignments of 1, capacities beyond Roomy, accesses if neither modes nor ports count them,
// loops if no memory limits its transitions.
std::vector<problem::Condition> ListConditions(const Query& query);

// A kAdjacent relation rounds up to the alignment of its second buffer, which is a condition of its
// own. If the relation is kept and the alignment is not, the rounding is undefined; this selects
// one.
enum class Rounding : uint8_t {
  kAsAsked,  // to the alignment in the query: everything that the query allows is allowed
  kAsKept,   // to the alignment that is kept
};

// The query with the conditions `kept` only, which are ascending. docs/reasons.md defines what
// happens to the rest. Conditions of a buffer that is not kept are void.
Query Keep(const Query& query, std::span<const problem::Condition> kept,
           Rounding rounding = Rounding::kAsAsked);

// The interpretations of the kept conditions: one, or two if the roundings differ. The conditions
// conflict if nothing fits in any of them.
std::vector<Query> Readings(const Query& query, std::span<const problem::Condition> kept);

// The query without one condition, as if the user deleted it: a relation disappears with everything
// that it allows.
Query Strike(const Query& query, const problem::Condition& condition);

// A capacity of the memory that suffices for any placement that is possible in unbounded memory:
// see conditions.cc.
problem::Bytes Roomy(const Query& query, int memory);

// The query with another capacity of one memory.
Query WithCapacity(Query query, int memory, problem::Bytes capacity);

problem::Bytes CapacityOf(const Query& query, int memory);

// Queries with one additional or different element.

// With another alignment of the buffer of a kAlignment, or of the memory of a kMemoryAlignment.
Query WithAlignment(const Query& query, const problem::Condition& condition,
                    problem::Bytes alignment);

// Without alignments of buffers.
Query WithoutAlignments(const Query& query);

// With `ports` additional ports of each kind that is limited in the bank of a kPorts.
Query WithPorts(const Query& query, const problem::Condition& condition, int ports);

// With a bank added after everything that the memory holds. It has the length and the permissions
// in every mode of bank `item`, is allowed to the same buffers, and is in the same sets of banks.
Query WithCopyOfBank(const Query& query, int memory, int item);

// With a bank of `length` bytes added after everything that the memory holds. Every mode allows
// every access in it, and all buffers may use it. It is a set of banks of its own.
Query WithFreeBank(const Query& query, int memory, problem::Bytes length);

// The address after everything that the memory holds.
problem::Bytes EndOf(const Query& query, int memory);

// Whether WithCopyOfBank gives the same query for both.
bool AreAlike(const Query& query, int memory, int bank, int other);

// Decides whether everything fits when memories[0] has `capacity` bytes: kFeasible or kOptimal with
// an allocation, kInfeasible only with a proof, any other status if unknown. A portfolio, one
// engine, or an enumeration.
using Decide = std::function<problem::Result(const problem::Problem& problem,
                                             problem::Bytes capacity, const base::Budget& budget)>;

// Passes queries to a Decide within one budget for all of them, counted in nodes, conflicts and the
// buffers of each query, and one budget for each.
class Oracle {
 public:
  // Decision and stop must outlive this object.
  Oracle(const Decide& decide, base::Budget all, base::Budget each, const base::Stop& stop)
      : decide_(decide), each_(each.units), left_(all.units), stop_(stop) {}

  // kFeasible with an allocation that problem::Validate accepts, kInfeasible, or kUnknown.
  problem::Result Solve(const Query& query);

  // Whether nothing will be answered any more, unless more budget is granted.
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
