#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"

// A partition of a network becomes a Problem over program time (docs/program.md defines every step
// and lifespan).
namespace tessera::encoder::program {

struct Policy {
  hw_profiles::WeightPolicy weights = hw_profiles::WeightPolicy::kResident;
  bool in_place = false;
  hw_profiles::HaloStorage halo = hw_profiles::HaloStorage::kRecompute;
  // Boundary tensors that stay on chip from their maker to their last reader, as if the tile memory
  // were their home: tensors, ascending. Those that the subgraph touches and those that pass over
  // it; of others nothing follows.
  std::vector<int> kept = {};
  int64_t k_extent =
      0;  // of one slice, where weights come in K slices: a multiple of the profile's granularity; 0: that
  friend bool operator==(const Policy&, const Policy&) = default;
};

struct SubgraphChoice {
  graph::Interval interval;
  graph::tiling::TileShape tile;
  Policy policy;
  bool prefetch =
      false;  // the constants that are loaded once arrive while the subgraph before runs
};

enum class StepKind : uint8_t { kPrologue, kLoad, kCompute, kStore, kEpilogue, kCopy };

// What happens at one step of the program.
struct ProgramStep {
  StepKind kind = StepKind::kCompute;
  int subgraph = 0;  // index into the choices
  int phase = 0;     // of the pass; 0 outside passes
  int op =
      -1;  // kCompute: index into Graph::operators; kLoad of a streamed constant: its user; kCopy:
           // the operator by whose side it stands
  std::vector<int> transfers;  // tensors that the DMA moves at this step, each once, ascending
};

enum class BufferKind : uint8_t {
  kTile,
  kWhole,
  kResident,
  kSlice,
  kScratch,
  kRollingBuffer,
  kLine,
  kHalo,
  kAccumulator
};

// What a buffer of the Problem holds.
struct ProgramBuffer {
  BufferKind kind = BufferKind::kTile;
  int subgraph = -1;  // -1: kWhole
  int tensor = -1;    // -1: kScratch, kAccumulator
  int op = -1;        // kSlice, kScratch and kAccumulator: the user
  int phase = 0;
  int slot = 0;  // kSlice
};

// The Problem with what each of its steps and buffers means. Buffers stand in the order: whole ones
// by tensor, then subgraph by subgraph resident constants, tiles by tensor and phase with the
// tensor's rolling buffer, line or halos, slices, scratch, accumulators; last of all, the scratch
// of operators that need one only to work channel by channel.
struct Program {
  problem::Problem problem;
  std::vector<ProgramStep> steps;      // step t of the Problem is steps[t]
  std::vector<ProgramBuffer> buffers;  // parallel to Problem::buffers
};

// The program of consecutive choices (each begins where the one before ends; they may cover a part
// of the network). Refuses what the profile cannot run, in the user's words: an operator without an
// engine, a transfer without a link, a policy that a home does not allow, state without a place;
// and, where the choices cover the whole network, homes that overflow (homes.h). What one choice
// keeps on chip, all do.
base::Expected<Program> BuildProgram(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                     std::span<const SubgraphChoice> choices);

// Tile shapes of one interval and policy whose Problems differ in sizes alone, smallest first.
struct SubgraphCandidates {
  Program program;  // with the sizes of the first candidate
  problem::Ladder ladder;
  std::vector<std::shared_ptr<graph::tiling::TiledSubgraph>> tilings;  // parallel to the candidates
};

// Cuts the interval into tiles of a shape, as a policy with that halo makes them: for ladders of
// several policies over the same shapes, which then share what does not depend on the policy.
// nullptr where a stop came first: such shapes are left out.
using TileCutter = std::function<std::shared_ptr<graph::tiling::TiledSubgraph>(
    const graph::tiling::TileShape&, hw_profiles::HaloStorage)>;

// Which tiles of a policy with a cached halo are wanted: those that recomputing does not make too,
// or all that docs/program.md allows.
enum class TilesMade : uint8_t { kThatDiffer, kAll };

// One ladder for each distinct structure (the number of tiles as far as steps depend on it, results
// in place, tensors whose rows are cached) among the shapes. Left out are shapes of which the
// policy makes no tiles (policy_tiles.h).
base::Expected<std::vector<SubgraphCandidates>> BuildCandidates(
    const graph::Graph& graph, const hw_profiles::Profile& profile, graph::Interval interval,
    const Policy& policy, std::span<const graph::tiling::TileShape> shapes);
base::Expected<std::vector<SubgraphCandidates>> BuildCandidates(
    const graph::Graph& graph, const hw_profiles::Profile& profile, graph::Interval interval,
    const Policy& policy, std::span<const graph::tiling::TileShape> shapes, const TileCutter& cut,
    TilesMade made = TilesMade::kThatDiffer);

// The policies of an interval where certain boundary tensors are kept on chip, in the profile's
// order of preference. All of them keep just these.
struct OfferedPolicies {
  std::vector<Policy> first;  // worth a look before all others; at least one
  std::vector<Policy>
      further;  // the rest of those under which some tiles make another program than under the first
  bool all = true;  // whether nothing was left out because there is too much of it
};
OfferedPolicies OfferPolicies(const graph::Graph& graph, const hw_profiles::Profile& profile,
                              graph::Interval interval, const std::vector<int>& kept = {});

// The first of them.
std::vector<Policy> PoliciesOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                               graph::Interval interval, const std::vector<int>& kept = {});

// Every policy that docs/program.md allows for the interval, those that make the same program as
// another one included, but of `split_k` the depths of OfferPolicies alone; perhaps none.
std::vector<Policy> AllowedPolicies(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                    graph::Interval interval, const std::vector<int>& kept = {});

}  // namespace tessera::encoder::program
