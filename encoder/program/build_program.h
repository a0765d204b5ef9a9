// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/encoder/program/program.h"
#include "tessera/encoder/program/residence.h"
#include "tessera/graph/graph.h"
#include "tessera/problem/tile_candidates.h"

// Converts choices to a Problem over program time, and lists the policies and the tile
// candidates of one subgraph.
namespace tessera::encoder::program {

// Builds the program of consecutive choices. Each begins where the previous one ends; they may
// cover a part of the network. Refuses what the profile cannot run, in the user's terms: an
// operator without an engine, a transfer without a link, a policy that a home does not allow, state
// without a place; and, if the choices cover the whole network, homes that overflow (homes.h). A
// tensor that one choice keeps on chip is kept by all choices.
base::Expected<Program> BuildProgram(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                     std::span<const SubgraphChoice> choices);

// The policies of an interval for a given set of kept boundary tensors, in the profile's order of
// preference. All of them keep exactly this set.
struct OfferedPolicies {
  std::vector<Policy> first;  // to be tried before all others; at least one
  // the others under which some tiles make a different program than under the first
  std::vector<Policy> further;
  bool all = true;  // false if some policies are omitted because there are too many
};
OfferedPolicies OfferPolicies(const graph::Graph& graph, const hw_profiles::Profile& profile,
                              graph::Interval interval, const std::vector<int>& kept = {});
// Does the same with given usages of the graph.
OfferedPolicies OfferPolicies(const graph::Graph& graph, const std::vector<graph::Usage>& usages,
                              const hw_profiles::Profile& profile, graph::Interval interval,
                              const std::vector<int>& kept);

// Returns the first list of OfferPolicies.
std::vector<Policy> PoliciesOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                               graph::Interval interval, const std::vector<int>& kept = {});

// The weight policies of that list, each once, ascending.
std::vector<hw_profiles::WeightPolicy> WeightPoliciesOf(const graph::Graph& graph,
                                                        const std::vector<graph::Usage>& usages,
                                                        const hw_profiles::Profile& profile,
                                                        graph::Interval interval,
                                                        const std::vector<int>& kept);

// Returns every policy that docs/program.md allows for the interval, including those that make the
// same program as another one. The list may be empty. For `split_k`, only the K extents of
// OfferPolicies.
std::vector<Policy> AllowedPolicies(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                    graph::Interval interval, const std::vector<int>& kept = {});

// Returns the policy of OfferPolicies that makes the same program for every tile; the given policy
// if it is offered itself, or if no offered one does.
Policy AsOffered(const graph::Graph& graph, const hw_profiles::Profile& profile,
                 graph::Interval interval, const Policy& policy);

// Tile shapes of one interval and policy whose Problems differ only in sizes, smallest first.
struct SubgraphCandidates {
  Program program;  // with the sizes of the first candidate
  problem::Ladder ladder;
  std::vector<std::shared_ptr<graph::tiling::TiledSubgraph>> tilings;  // parallel to the candidates
};

// Cuts the interval into tiles of a shape, as a policy with that halo does. Serves the candidates
// of several policies over the same shapes, which then share all data that does not depend on the
// policy. Returns nullptr if a stop came first; such shapes are omitted.
using TileCutter = std::function<std::shared_ptr<graph::tiling::TiledSubgraph>(
    const graph::tiling::TileShape&, hw_profiles::HaloStorage)>;

// The tiles to make under a policy with a cached halo: only those that differ from the tiles of
// recomputing, or all that docs/program.md allows.
enum class TilesMade : uint8_t { kThatDiffer, kAll };

// Returns one list of candidates for each distinct structure among the shapes. The structure is the
// number of tiles as far as steps depend on it, the results in place, and the tensors whose rows
// are cached. Shapes for which the policy makes no tiles (PolicyTiles) are omitted, and so are
// shapes that were not reached before the stop.
base::Expected<std::vector<SubgraphCandidates>> BuildCandidates(
    const graph::Graph& graph, const hw_profiles::Profile& profile, graph::Interval interval,
    const Policy& policy, std::span<const graph::tiling::TileShape> shapes);
base::Expected<std::vector<SubgraphCandidates>> BuildCandidates(
    const graph::Graph& graph, const std::vector<graph::Usage>& usages,
    const hw_profiles::Profile& profile, graph::Interval interval, const Policy& policy,
    std::span<const graph::tiling::TileShape> shapes, const TileCutter& cut,
    TilesMade made = TilesMade::kThatDiffer, const base::Stop* stop = nullptr);

// The tiles of one interval under one policy. Graph and profile must outlive this object.
class PolicyTiles {
 public:
  // Refuses an invalid interval, and everything that FindUses refuses. `usages` are those of the
  // graph.
  static base::Expected<PolicyTiles> Make(const graph::Graph& graph,
                                          const std::vector<graph::Usage>& usages,
                                          const hw_profiles::Profile& profile,
                                          graph::Interval interval, const Policy& policy,
                                          TilesMade made = TilesMade::kThatDiffer);

  // Returns nullptr for a shape that a policy with a cached halo refuses, or would cut into more
  // than 4096 tiles; with kThatDiffer also if the tiles are those of recomputing; and if `cut`
  // returns nullptr. After each call Uses() describes what tiles of the returned shape keep. The
  // shape must be valid (CheckWellFormed).
  std::shared_ptr<graph::tiling::TiledSubgraph> Cut(const graph::tiling::TileShape& tile,
                                                    const TileCutter& cut);

  // Whether the policy allows the shape, but Cut omits it because it has too many tiles.
  bool LeavesOut(const graph::tiling::TileShape& tile) const;

  // Whether the policy allows these tiles. Afterwards Uses() describes what they keep.
  bool Mark(const graph::tiling::TiledSubgraph& tiling);

  // Whether tiles of the last marked shape keep rows in a tile buffer.
  bool AnyCached() const;

  const SubgraphUses& Uses() const { return uses_; }

 private:
  PolicyTiles(const graph::Graph& graph, const hw_profiles::Profile& profile,
              hw_profiles::HaloStorage halo, TilesMade made, SubgraphUses uses)
      : graph_(&graph), profile_(&profile), halo_(halo), made_(made), uses_(std::move(uses)) {}

  const graph::Graph* graph_;
  const hw_profiles::Profile* profile_;
  hw_profiles::HaloStorage halo_;
  TilesMade made_;
  SubgraphUses uses_;
};

}  // namespace tessera::encoder::program
