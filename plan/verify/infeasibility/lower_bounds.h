#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/residency.h"

// What no plan can do without, found in time linear in the network: the cheap part of a refutation.
namespace tessera::plan::verify::infeasibility {

// Bytes of the tile memory that some step of the interval needs, run as one subgraph: under every
// tile, policy and set of kept boundary tensors, whatever runs before and after. `plan` states
// network and profile. Cost: the tiles of one index along each axis that may be cut, twice.
int64_t FloorOf(const Plan& plan, const std::vector<Users>& users, graph::Interval interval);

// Whether some policy and lifespans let a result of the operator take the place of an operand.
bool MaySharePlace(const hw_profiles::Profile& profile, const graph::Operator& op);

// The least that any policy for weights but `split_k` holds of an operator's constants while it
// runs, in any subgraph.
int64_t LeastConstants(const Plan& plan, const std::vector<Users>& users, int op);

// The floor of the interval for tiles of that shape: where their halo is computed again, or where
// rows are kept. Cost: one tile.
int64_t FloorOf(const Plan& plan, const std::vector<Users>& users, graph::Interval interval,
                const std::vector<int64_t>& tile, bool keeps_rows);

// Why no plan of the network exists at all, in words with its numbers, where that follows for every
// order, cut, tile and policy from one of these: constants and states overflow a home; an
// operator's smallest part does not fit; the least work or traffic exceeds a limit. nullopt where
// none of them shows it. `room`: bytes of the tile memory that may be used.
std::optional<std::string> FindImpossible(const Plan& plan, const std::vector<Users>& users,
                                          int64_t room);

// Bytes of the tile memory that some step of a subgraph needs, whatever its weights and results in
// place: its tiles and halo count, and that nothing is held along K. `index` is that of the
// subgraph among plan.subgraphs. Cost: the tiles, once.
int64_t LoadOfShape(const Plan& plan, const std::vector<Users>& users, size_t index);

// The work and the traffic that no plan can save, in any order, with any cuts, tiles and policies:
// each operator whose whole result reaches an output of the network makes it at least once, each
// constant is read at least once, and each output of the network is written. `plan` states network
// and profile.
Metrics LeastMetrics(const Plan& plan, const std::vector<Users>& users);

// By tensor, whether every plan makes all of it, since all of it reaches an output of the network.
std::vector<char> FindNeededWhole(const graph::Graph& network, const std::vector<Users>& users);

// Whether a metric exceeds its limit by more than sums of doubles in another order may differ.
bool IsBeyond(double value, double limit);

}  // namespace tessera::plan::verify::infeasibility
