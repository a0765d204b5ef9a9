#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/program_steps.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"

// Converts a partition of a network to a Problem over program time. docs/program.md defines every
// step and lifespan.
namespace tessera::encoder::program {

struct Policy {
  hw_profiles::WeightPolicy weights = hw_profiles::WeightPolicy::kResident;
  bool in_place = false;
  hw_profiles::HaloStorage halo = hw_profiles::HaloStorage::kRecompute;
  // Boundary tensors that stay on chip from their maker to their last reader, as if the tile memory
  // were their home; ascending. Lists those that the subgraph touches and those that pass over it.
  // Other tensors have no effect.
  std::vector<int> kept = {};
  // K extent of one slice for split-k: a multiple of the profile's granularity; 0 means the
  // granularity
  int64_t k_extent = 0;
  friend bool operator==(const Policy&, const Policy&) = default;
};

struct SubgraphChoice {
  graph::Interval interval;
  graph::tiling::TileShape tile;
  Policy policy;
  // the constants that are loaded once arrive while the previous subgraph runs
  bool prefetch = false;
};

using graph::BufferKind;
using graph::BufferUse;
using graph::StepKind;
using graph::StepUse;

// The Problem, with the meaning of each of its steps and buffers. Order of the buffers: whole ones
// by tensor; then, for each subgraph, resident constants, tiles by tensor and phase with the
// tensor's rolling buffer, line or halos, slices, scratch, accumulators; last, the scratch of
// operators that need one only to work channel by channel.
struct Program {
  problem::Problem problem;
  std::vector<StepUse> steps;      // step t of the Problem is steps[t]
  std::vector<BufferUse> buffers;  // parallel to Problem::buffers
};

// The program of consecutive choices: each begins where the previous one ends; they may cover a
// part of the network. Refuses what the profile cannot run, in the user's terms: an operator
// without an engine, a transfer without a link, a policy that a home does not allow, state without
// a place; and, if the choices cover the whole network, homes that overflow (homes.h). A tensor
// that one choice keeps on chip is kept by all choices.
base::Expected<Program> BuildProgram(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                     std::span<const SubgraphChoice> choices);

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

// The tiles to make under a policy with a cached halo: those that differ from the tiles of
// recomputing, or all that docs/program.md allows.
enum class TilesMade : uint8_t { kThatDiffer, kAll };

// One list of candidates for each distinct structure among the shapes. The structure is the number
// of tiles as far as steps depend on it, the results in place, and the tensors whose rows are
// cached. Shapes for which the policy makes no tiles (PolicyTiles) are omitted.
base::Expected<std::vector<SubgraphCandidates>> BuildCandidates(
    const graph::Graph& graph, const hw_profiles::Profile& profile, graph::Interval interval,
    const Policy& policy, std::span<const graph::tiling::TileShape> shapes);
base::Expected<std::vector<SubgraphCandidates>> BuildCandidates(
    const graph::Graph& graph, const hw_profiles::Profile& profile, graph::Interval interval,
    const Policy& policy, std::span<const graph::tiling::TileShape> shapes, const TileCutter& cut,
    TilesMade made = TilesMade::kThatDiffer);

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

// The first list of OfferPolicies.
std::vector<Policy> PoliciesOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                               graph::Interval interval, const std::vector<int>& kept = {});

// Every policy that docs/program.md allows for the interval, including those that make the same
// program as another one; perhaps none. For `split_k`, only the K extents of OfferPolicies.
std::vector<Policy> AllowedPolicies(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                    graph::Interval interval, const std::vector<int>& kept = {});

}  // namespace tessera::encoder::program
