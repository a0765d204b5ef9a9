// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/program_steps.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/lowered_program.h"
#include "tessera/plan/metrics.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

// A plan, and the user's further requirements on it (docs/constraints.md).
namespace tessera::plan {

// How a subgraph must run; unset fields are free.
struct TileConfigConstraint {
  std::optional<std::vector<int64_t>> tile;
  std::optional<hw_profiles::WeightPolicy> weights;
  std::optional<bool> in_place;
  std::optional<hw_profiles::HaloStorage> halo;
  std::optional<bool> serialized = {};
  std::map<std::string, int64_t> addresses;  // of buffers, by their names in plan.json after "s0/"
  friend bool operator==(const TileConfigConstraint&, const TileConfigConstraint&) = default;
};

enum class PlanConstraintKind : uint8_t {
  kTogether,  // all operators of the interval run in one subgraph, possibly with others
  kApart,     // a subgraph begins with the interval's only operator
  kSubgraph,  // the interval is a subgraph, which runs as `config` states
  kKeep,      // the tensor stays on chip: inside a subgraph, or kept between its subgraphs
  kSpill,     // the tensor goes home at every boundary that it crosses
  kAddress,   // wherever the tensor is stored whole in the memory, it is at the offset
};

// Operators and tensors refer to one network; in a plan, to its own.
struct PlanConstraint {
  PlanConstraintKind kind = PlanConstraintKind::kTogether;
  graph::Interval interval;     // kTogether, kApart, kSubgraph
  int tensor = -1;              // kKeep, kSpill, kAddress
  TileConfigConstraint config;  // kSubgraph
  std::string memory;           // kAddress: its name in the profile
  int64_t offset = 0;           // kAddress
  friend bool operator==(const PlanConstraint&, const PlanConstraint&) = default;
};

// "operators 'a' to 'c' in one subgraph".
std::string Describe(const graph::Graph& graph, const PlanConstraint& constraint);

// All descriptions, one after another.
std::string Describe(const graph::Graph& graph, const std::vector<PlanConstraint>& constraints);

enum class RejectionCause : uint8_t {
  kScore,      // its score is not better
  kRoom,       // proven not to fit
  kUndecided,  // the search ended before it was decided
};

// A rejected alternative: another way to run the operators of a subgraph, alone or joined with
// those of the next subgraph.
struct RejectedAlternative {
  graph::Interval interval;
  // as in Subgraph; empty if no single tile is representative, and then weights, halo, k_extent and
  // serialized are unused
  std::vector<int64_t> tile;
  hw_profiles::WeightPolicy weights = hw_profiles::WeightPolicy::kResident;
  hw_profiles::HaloStorage halo = hw_profiles::HaloStorage::kRecompute;
  int64_t k_extent = 0;     // as in Subgraph
  bool serialized = false;  // as in Subgraph
  RejectionCause cause = RejectionCause::kScore;
  // of these operators alone, in the unit of Plan::score, or a lower bound of it; unset if it was
  // not computed
  std::optional<double> score;
  double taken = 0;  // the score of the plan's choice for the same operators
  // kRoom: required bytes at least, 0 if unknown; if the capacity is as large, no placement exists
  int64_t needs_bytes = 0;
};

struct Subgraph {
  graph::Interval interval;
  std::vector<int64_t> tile;  // extents of the last operator's first output
  int64_t tiles = 0;
  hw_profiles::WeightPolicy weights = hw_profiles::WeightPolicy::kResident;
  bool in_place = false;
  hw_profiles::HaloStorage halo = hw_profiles::HaloStorage::kRecompute;
  int64_t k_extent = 0;  // of one slice if weights come in K slices; 0: the profile's granularity
  // transfers have separate steps although the profile double-buffers
  bool serialized = false;
  // Operators from this one of the interval on form a second stage: while they run on a tile, the
  // operators before them run on the next tile. 0: there is one stage.
  int second_stage = 0;
  // Each constant that is loaded once is cut into prefetch.size() equal parts along its first axis.
  // Part i arrives while the subgraph prefetch[i] positions earlier runs, or when this one begins
  // if prefetch[i] is 0. The values never ascend. Empty: all constants arrive when this one begins.
  // If weights are streamed and there is one tile, the first slices of each constant in slices
  // arrive so too, each in eight of the parts, and each in a slot of its own.
  std::vector<int> prefetch = {};
  bool largest_proven = false;  // it is proven that no larger tile of this shape order is possible
  Metrics metrics;
  // for the reader; nothing is derived from it
  std::vector<RejectedAlternative> rejected_alternatives = {};
};

using graph::BufferKind;
using graph::BufferUse;
using graph::StepKind;
using graph::StepUse;

// The objective: one metric to minimise, or weights for a mean of metrics, each divided by its own
// lower bound.
struct Objective {
  // by name (kMetrics); with one entry, that metric is minimised
  std::map<std::string, double> weights;
  std::map<std::string, double> limits;  // the maximum allowed value of a metric
};

struct Plan;

// How tensors at home share addresses.
enum class OffChip : uint8_t {
  kWhole,      // a tensor keeps all its bytes from the subgraph that makes it to its last reader
  kPaper,      // a byte is free once no tile needs it; placed by the published tile-aware method
  kTileAware,  // the same, placed by the engines
};
inline constexpr std::array<std::string_view, 3> kOffChipNames = {"whole", "paper", "tile-aware"};

// How a plan was produced: everything that determines the answer apart from network, profile,
// objective, constraints and seed, so that the plan can be reproduced.
struct Run {
  bool searched = false;  // false: the partition was given, and only engines and budget were used
  bool searches_order = true;
  std::optional<int> max_operators;  // per subgraph; unset: as many as the effort allows
  bool keeps_boundaries = true;      // on chip, if that is better; required ones are always kept
  bool prefetches = false;           // constants, if that is better
  OffChip off_chip = OffChip::kWhole;
  int64_t effort = 0;                // in tile shapes times operators, if max_operators is unset
  std::optional<int64_t> most_work;  // in tile shapes times operators, for the whole search
  int64_t budget = 0;                // work per call of an engine
  std::vector<std::string> engines;  // by name, in the order in which they are called
  std::vector<std::string> switched_off;  // rules of the engines
  std::vector<int> file_order;  // operators in the order of the file; empty: the execution order
  // the previous plan, from which the answer should differ little; nullptr: none
  std::shared_ptr<const Plan> before;
  bool cut_off = false;  // a deadline or an interrupt came before the end
};

// A sequence of single-operator subgraphs planned by the same search, for comparison (layer by
// layer).
struct Baseline {
  bool complete = false;  // every operator fits alone, and the memories hold all tensors between
  std::vector<int> do_not_fit;  // operators that do not fit alone
  Metrics totals;               // over the operators that fit
  double score = 0;
};

// The addresses of the tensors at home in one memory other than the tile memory. They form a
// Problem of their own: its steps are the subgraphs, and its buffers have the ids of the tensors.
struct Home {
  int memory = 0;  // index into the profile's memories
  problem::Problem problem;
  problem::Allocation allocation;
  std::vector<int> tensors;  // parallel to problem.buffers
  // Tensors may share addresses tile by tile (docs/program.md, "Homes by tiles"). The offsets are
  // then a placement by tiles, and not one of the problem.
  bool by_tiles = false;
  problem::Bytes lower_bound = 0;  // if by_tiles: no placement by tiles has a lower peak
};

// One past the highest byte in use of a home.
problem::Bytes PeakOf(const Home& home);

// The peaks of all homes added: Metrics::off_chip_peak_bytes of a plan.
problem::Bytes OffChipPeakOf(std::span<const Home> homes);

// The coverage of a search: whether all decisions of each kind were covered. A text states what was
// left out and why. An empty text means that nothing was left out, or that bounds rule out a better
// plan among the rest.
struct Scope {
  std::string orders;        // of the operators
  std::string cuts;          // into subgraphs
  std::string tile_extents;  // of every subgraph
  std::string policies;      // for weights, halo and transfers
  std::string kept;          // sets of boundary tensors that stay in the tile memory
  std::string engines;       // for operators that several may run

  friend bool operator==(const Scope&, const Scope&) = default;
};

struct ScopePart {
  std::string_view name;  // in JSON
  std::string Scope::*left_out;
  bool is_always_written = true;  // otherwise only if something was left out
};
inline constexpr auto kScopeParts =
    std::to_array<ScopePart>({{"orders", &Scope::orders},
                              {"cuts", &Scope::cuts},
                              {"tile_extents", &Scope::tile_extents},
                              {"policies", &Scope::policies},
                              {"kept", &Scope::kept},
                              {"engines", &Scope::engines, /*is_always_written=*/false}});

// Whether nothing was left out.
bool CoversAll(const Scope& scope);

// A plan: the answer of `tessera plan`. It embeds the network and the profile for which it was
// made, so that checking it needs nothing else. docs/program.md defines the program that it
// describes, docs/plan-format.md its JSON form.
struct Plan {
  std::string version;  // of the program that made the plan
  Run run;
  graph::Graph network;
  hw_profiles::Profile profile;
  Objective objective;
  std::vector<PlanConstraint> constraints;  // the constraints that the plan satisfies
  uint64_t seed = 0;
  std::vector<Subgraph> subgraphs;
  // boundary tensors that stay in the tile memory instead of their home, ascending
  std::vector<int> kept;
  problem::Problem problem;  // the joint one, over program time
  problem::Allocation allocation;
  std::vector<BufferUse> buffers;  // parallel to problem.buffers
  std::vector<StepUse> steps;      // step t of the problem
  std::vector<Home> homes;         // by memory; memories that hold no tensors are left out
  Metrics totals;
  Metrics lower_bounds;  // no plan for this network and profile is better in any single metric
  std::map<std::string, double> profile_totals;  // hw_profiles::TotalsOf the profile
  double score = 0;                  // 1.0 is ideal for a weighted mean; with one metric, its value
  std::optional<Baseline> baseline;  // absent: the search was cut off before it was known
  std::string status;                // "optimal": proven that no plan scores better; or "feasible"
  Scope scope;
  bool proven = false;              // no plan within the scope scores better
  double bound = 0;                 // no plan scores less: the score of the lower bounds
  std::optional<Program> lowering;  // if it was requested
  std::string digest;  // as stated in the file; empty if the plan was not read from a file
  // information for the reader: caps, unproven candidates, unsupported requests
  std::vector<std::string> notes;
};

// The proven statements about a plan that is not optimal, in sentences: by how much another plan
// could be better, and what the proof leaves out.
std::vector<std::string> DescribeProof(const Plan& plan);

// Whether the value of a plan in that objective is known. It is known if every operator's work is
// known, or if the objective uses, by weight or limit, no metric that depends on work (latency,
// energy, macs). Otherwise no plan is optimal.
bool IsKnownValue(const graph::Graph& network, const Objective& objective);

// A note for the reader about a network with operators of unknown work, with their names; empty if
// there are none.
std::optional<std::string> NoteOnUnknownWork(const graph::Graph& network,
                                             const Objective& objective);

// The words of plan.json for the enumerations of plan.h and problem.h, in the order of the
// enumerators.

inline constexpr std::array<std::string_view, 9> kBufferKindNames = {
    "tile",           "whole", "resident", "slice",      "scratch",
    "rolling_buffer", "line",  "halo",     "accumulator"};
inline constexpr std::array<std::string_view, 6> kStepKindNames = {
    "prologue", "load", "compute", "store", "epilogue", "copy"};
inline constexpr std::array<std::string_view, 2> kPlanStatusNames = {"optimal", "feasible"};
inline constexpr std::array<std::string_view, 3> kRejectionCauseNames = {"score", "room",
                                                                         "undecided"};

template <typename Kind, size_t n>
std::string_view WordFor(Kind kind, const std::array<std::string_view, n>& names) {
  return names.at(static_cast<size_t>(kind));
}

struct FrontPoint {
  Objective objective;  // a search with it finds the plan again
  Plan plan;
};

// Plans of one network of which none is better than another in every metric of the front
// (Metric::is_of_front).
struct PartitionFront {
  std::vector<FrontPoint> points;  // by latency, ascending
  int searches = 0;
  bool complete = false;  // no remaining search could find a plan far from the existing ones
};

}  // namespace tessera::plan
