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

// A lower bound of the bytes of the tile memory that some step needs if the interval runs as one
// subgraph. It holds for every tile, policy and set of kept boundary tensors, and for all subgraphs
// before and after. `plan` states network and profile. The result exceeds every memory if the
// interval cannot be a subgraph. Cost: the tiles of one index along each axis that may be cut,
// twice.
int64_t FloorOf(const Plan& plan, const std::vector<Users>& users, graph::Interval interval);

// A lower bound of the bytes of the tile memory that some step of the operator needs in every
// subgraph and every order of the operators. `needed`: a box of its first result that every plan
// makes; nullopt: not known.
int64_t NeedAnywhere(const Plan& plan, const std::vector<Users>& users, int op,
                     const std::optional<Box>& needed);

// Whether some policy and lifespans allow a result of the operator to take the place of an operand.
bool MaySharePlace(const hw_profiles::Profile& profile, const graph::Operator& op);

// The minimum bytes of an operator's constants while it runs, over all subgraphs and all weight
// policies except `split_k`.
int64_t LeastConstants(const Plan& plan, const std::vector<Users>& users, int op, bool overlaps);

// The floor of the interval for tiles of that shape, with a recomputed halo or with kept rows.
// Cost: one tile.
int64_t FloorOf(const Plan& plan, const std::vector<Users>& users, graph::Interval interval,
                const std::vector<int64_t>& tile, bool keeps_rows);

// Returns why no plan of the network exists, in words with numbers, if constants, states and
// network inputs or outputs overflow a home for every order, cut, tile and policy. The network may
// be of any size.
std::optional<std::string> FindOverfullHome(const Plan& plan);

// Returns why no plan exists, if in no mode the banks of the tile memory can hold what the operator
// reads and writes (impossible.cc). Its result must be needed. `end`: no buffer lies beyond this
// byte. `needed`: the result of FindNeeded.
std::optional<std::string> FindUnservedOperator(const Plan& plan, int op, int64_t end,
                                                const std::vector<std::optional<Box>>& needed);

// Returns why no plan exists, if FindUnservedOperator holds for an operator, if the smallest part
// of an operator does not fit, or if the minimum work or traffic exceeds a limit. `room`: bytes of
// the tile memory that may be used, all below byte `end`.
std::optional<std::string> FindImpossible(const Plan& plan, const std::vector<Users>& users,
                                          int64_t room, int64_t end);

// Returns why no plan exists, if for some operator no subgraph that contains it has room, whichever
// operators are done before and after (around_operator.cc). `most_work`: operators times tensors
// times subgraphs.
std::optional<std::string> FindNoRoomAround(const Plan& plan, const std::vector<Users>& users,
                                            int64_t room, int64_t most_work,
                                            const base::Stop& stop);

// A lower bound of the bytes of the tile memory that some step of a subgraph needs, over all weight
// policies except split K and all in-place choices. The subgraph's tile and halo policy are used.
// `index` is that of the subgraph in plan.subgraphs. Cost: the tiles, once.
int64_t LoadOfShape(const Plan& plan, const std::vector<Users>& users, size_t index);

// Whether a metric exceeds its limit by more than the rounding of sums of doubles in different
// orders.
bool IsBeyond(double value, double limit);

}  // namespace tessera::plan::verify::infeasibility
