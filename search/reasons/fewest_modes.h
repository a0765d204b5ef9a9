// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "tessera/problem/result.h"
#include "tessera/search/reasons/query.h"

namespace tessera::search::reasons {

// Returns a smallest set, ascending, that has an element in common with every one of `sets`;
// nullopt if one of them is empty. Elements are numbers from 0; each set is ascending. The answer
// depends only on the sets. Cost: exponential in the size of the answer only, O(w^k) for sets of w
// elements and an answer of k elements.
std::optional<std::vector<int>> FindHittingSet(std::span<const std::vector<int>> sets);

// The modes of its memories that a chip does not need: docs/modes.md.

// A Problem that must stay solvable. All queries of a call have the same memories, banks and modes.
struct ModeQuery {
  problem::Problem problem;
  problem::Bytes capacity = 0;                              // of memories[0]
  std::optional<problem::Allocation> known = std::nullopt;  // a correct answer, if known
};

struct ModeId {
  int memory = 0;
  int mode = 0;
  friend bool operator==(const ModeId&, const ModeId&) = default;
  friend bool operator<(const ModeId& a, const ModeId& b) {
    return std::tie(a.memory, a.mode) < std::tie(b.memory, b.mode);
  }
};

// A reason why modes are needed: `query` is infeasible if none of `any_of` is present, even with
// all other modes.
struct ModeNeed {
  size_t query = 0;
  std::vector<ModeId> any_of;  // ascending
  bool proven = true;          // false: the query is not known to be infeasible
};

struct FewestModes {
  // kOptimal: `kept` suffices for all queries, and no smaller set does. kFeasible: it suffices, but
  // a smaller set may exist. kInfeasible: all modes together do not suffice. kUnknown: it was not
  // decided whether they do.
  problem::Status status = problem::Status::kUnknown;
  std::vector<ModeId> kept;     // ascending
  std::vector<ModeNeed> needs;  // if kOptimal: all are proven, and no smaller set meets all
  // Parallel to the queries, with the modes of `kept` only.
  std::vector<problem::Allocation> allocations;
  int64_t solves = 0;
};

struct FewestModesOptions {
  base::Budget budget = {200'000};  // of each solve, in the units of Decide
  const base::Stop* stop = nullptr;
};

// Finds the smallest set of modes with which every query has an answer; offsets and schedules are
// free. At least one mode of each memory that has modes is kept. Small queries that are often
// infeasible should come first.
FewestModes FindFewestModes(std::span<const ModeQuery> queries, const Decide& decide,
                            const FewestModesOptions& options);

// Returns the problem with the modes of `kept` only, renumbered in their order, and with the
// transitions between them.
problem::Problem WithModes(const problem::Problem& problem, std::span<const ModeId> kept);

// An access to a bank that some mode of the memory allows and no kept mode does. The hardware does
// not need it.
struct FreedAccess {
  int memory = 0;
  int bank = 0;
  problem::Permission access;
  friend bool operator==(const FreedAccess&, const FreedAccess&) = default;
};

std::vector<FreedAccess> FindFreedAccesses(const problem::Problem& problem,
                                           std::span<const ModeId> kept);

}  // namespace tessera::search::reasons
