// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/residency.h"

// Minimum needs of all plans, found in time linear in the network: the cheap part of a refutation.
namespace tessera::plan::verify::infeasibility {

// Bytes of the tile memory that some step of the interval needs if it runs as one subgraph: under
// every tile, policy and set of kept boundary tensors, for all subgraphs before and after. `plan`
// states network and profile. More than any memory has if the interval can be no subgraph. Cost:
// the tiles of one index along each axis that may be cut, twice.
int64_t FloorOf(const Plan& plan, const std::vector<Users>& users, graph::Interval interval);

// Bytes of the tile memory that some step of the operator needs in every subgraph, in any order of
// the operators. `needed`: a box of its first result that every plan makes; nullopt: not known.
int64_t NeedAnywhere(const Plan& plan, const std::vector<Users>& users, int op,
                     const std::optional<Box>& needed);

// Whether some policy and lifespans allow a result of the operator to take the place of an operand.
bool MaySharePlace(const hw_profiles::Profile& profile, const graph::Operator& op);

// The minimum over all weight policies but `split_k` of the bytes of an operator's constants while
// it runs, in any subgraph.
int64_t LeastConstants(const Plan& plan, const std::vector<Users>& users, int op, bool overlaps);

// The floor of the interval for tiles of that shape, with a recomputed halo or with kept rows.
// Cost: one tile.
int64_t FloorOf(const Plan& plan, const std::vector<Users>& users, graph::Interval interval,
                const std::vector<int64_t>& tile, bool keeps_rows);

// Why no plan of the network exists, in words with numbers, if that follows for every order, cut,
// tile and policy because constants, states and network inputs or outputs overflow a home. The
// network may be of any size.
std::optional<std::string> FindOverfullHome(const Plan& plan);

// The same, because in no mode the banks of the tile memory can hold what the operator reads and
// what it writes (unserved.cc). Its result must be needed. `end`: no buffer lies behind this byte.
// `needed`: as FindNeeded.
std::optional<std::string> FindUnservedOperator(const Plan& plan, int op, int64_t end,
                                                const std::vector<std::optional<Box>>& needed);

// The same, if that holds of an operator, an operator's smallest part does not fit, or the minimum
// work or traffic exceeds a limit. `room`: bytes of the tile memory that may be used, all below
// byte `end`.
std::optional<std::string> FindImpossible(const Plan& plan, const std::vector<Users>& users,
                                          int64_t room, int64_t end);

// The same, from the sets of operators that may be done before and after a subgraph with some
// operator, if no such subgraph has room (around_operator.cc). `most_work`: operators times tensors
// times subgraphs.
std::optional<std::string> FindNoRoomAround(const Plan& plan, const std::vector<Users>& users,
                                            int64_t room, int64_t most_work,
                                            const base::Stop& stop);

// Bytes of the tile memory that some step of a subgraph needs, for all weight policies and in-place
// choices. Its tiles and halo count, and without split K. `index` is that of the subgraph in
// plan.subgraphs. Cost: the tiles, once.
int64_t LoadOfShape(const Plan& plan, const std::vector<Users>& users, size_t index);

// Whether a metric exceeds its limit by more than the rounding of sums of doubles in different
// orders.
bool IsBeyond(double value, double limit);

}  // namespace tessera::plan::verify::infeasibility
