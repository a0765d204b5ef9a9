#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/lowered_program.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

// What somebody asks of a plan besides fitting (docs/demands.md).
namespace tessera::plan {

// How a subgraph runs, as far as somebody cares.
struct TileConfigConstraint {
  std::optional<std::vector<int64_t>> tile;
  std::optional<hw_profiles::WeightPolicy> weights;
  std::optional<bool> in_place;
  std::optional<hw_profiles::HaloStorage> halo;
  std::map<std::string, int64_t> addresses;  // of buffers, as plan.json names them behind "s0/"
  friend bool operator==(const TileConfigConstraint&, const TileConfigConstraint&) = default;
};

enum class PlanConstraintKind : uint8_t {
  kTogether,  // all operators of the interval run in one subgraph, whatever else does
  kApart,     // a subgraph begins with the interval's only operator
  kSubgraph,  // the interval is a subgraph, which runs as `config` says
  kKeep,      // the tensor stays on chip: inside a subgraph, or kept between its subgraphs
  kSpill,     // the tensor goes home wherever it passes from one subgraph to another
  kAddress,   // wherever the tensor lies whole in the memory, it is at the offset
};

// Operators and tensors are those of one network; of a plan, its own.
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

// The descriptions one after another.
std::string Describe(const graph::Graph& graph, const std::vector<PlanConstraint>& constraints);

// A plan: what `tessera plan` answers. It embeds the network and the profile that it was made for,
// so that checking it needs nothing else. docs/program.md defines the program it describes,
// docs/plan-format.md its JSON form.

// What a stretch of the program costs.
struct Metrics {
  int64_t latency_cycles = 0;
  double energy_pj = 0;
  std::map<std::string, double>
      energy_by_part;  // "mac", "leakage", and the name of each memory; adds up to energy_pj
  int64_t off_chip_bytes = 0;
  std::map<std::string, int64_t>
      off_chip_by_cause;  // "inputs", "outputs", "weights"; adds up to off_chip_bytes
  int64_t macs = 0;       // recomputed ones too
  int64_t recomputed_macs = 0;
  int64_t unknown_work =
      0;  // operators whose work is unknown: cycles, energy and multiply-accumulates are at least this
  int64_t peak_bytes = 0;           // in the tile memory
  double peak_bytes_per_cycle = 0;  // of the busiest off-chip memory, the most over tiles
  std::string bound_by;  // "compute", or the link that takes longest; "several" where parts differ
};

enum class RejectionCause : uint8_t {
  kScore,      // it is no better
  kRoom,       // proven not to fit
  kUndecided,  // the search ended before it was settled
};

// Another way to run the operators of a subgraph, alone or joined with those of the next, that the
// search rejected.
struct RejectedAlternative {
  graph::Interval interval;
  std::vector<int64_t>
      tile;  // as in Subgraph; empty where no tile stands for all: weights, halo and depth say nothing then
  hw_profiles::WeightPolicy weights = hw_profiles::WeightPolicy::kResident;
  hw_profiles::HaloStorage halo = hw_profiles::HaloStorage::kRecompute;
  int64_t k_extent = 0;  // as in Subgraph
  RejectionCause cause = RejectionCause::kScore;
  std::optional<double>
      score;  // of these operators alone, in the unit of Plan::score, or less; without where nobody asked
  double taken = 0;  // the same of what the plan has in its place
  int64_t needs_bytes =
      0;  // kRoom: at least, 0 where unknown; where there is as much, no placement exists
};

struct Subgraph {
  graph::Interval interval;
  std::vector<int64_t> tile;  // extents of the last operator's first output
  int64_t tiles = 0;
  hw_profiles::WeightPolicy weights = hw_profiles::WeightPolicy::kResident;
  bool in_place = false;
  hw_profiles::HaloStorage halo = hw_profiles::HaloStorage::kRecompute;
  int64_t k_extent =
      0;  // of one slice, where weights come in K slices; 0: the profile's granularity
  bool prefetch = false;  // constants that are loaded once arrive while the subgraph before runs
  bool largest_proven = false;  // no larger tile of this shape order is possible, by proof
  Metrics metrics;
  std::vector<RejectedAlternative> rejected_alternatives =
      {};  // for the reader: nothing follows from it
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

// What a buffer of the Problem holds; -1 where an index means nothing.
struct BufferUse {
  BufferKind kind = BufferKind::kTile;
  int subgraph = -1;
  int tensor = -1;
  int op = -1;
  int phase = 0;
  int slot = 0;
};

enum class StepKind : uint8_t { kPrologue, kLoad, kCompute, kStore, kEpilogue, kCopy };

// What happens at a step. kPrologue, kEpilogue: P and E of a double-buffered subgraph; the load
// steps before the pass of one with own steps are kLoad, like those inside.
struct StepUse {
  StepKind kind = StepKind::kCompute;
  int subgraph = 0;
  int phase = 0;               // of the pass; 0 outside
  int op = -1;                 // kCompute, kCopy: the operator; kLoad of a slice: its user; else -1
  std::vector<int> transfers;  // tensors that links move at this step, ascending, each once
};

// What was asked for: one metric to minimise, or weights for a mean of metrics each divided by its
// own lower bound.
struct Objective {
  std::map<std::string, double> weights;  // by metric name (MetricNames); one entry: minimise it
  std::map<std::string, double> limits;   // the most allowed of a metric
};

struct Plan;

// How a plan came to be: all that decides the answer besides network, profile, objective,
// constraints and seed, so that it can be made again.
struct Run {
  bool searched = false;  // false: the partition was given, and only engines and budget were used
  bool searches_order = true;
  std::optional<int> max_operators;  // in one subgraph; without: as many as the effort allows
  bool keeps_boundaries = true;  // on chip, where that is better; those that are required always
  bool prefetches = false;       // constants, where that is better
  int64_t effort = 0;            // in tile shapes times operators, where max_operators is left open
  std::optional<int64_t> most_work;       // in tile shapes times operators, of the whole search
  int64_t budget = 0;                     // of work, for each question put to an engine
  std::vector<std::string> engines;       // by name, in the order in which they are asked
  std::vector<std::string> switched_off;  // rules of the engines
  std::vector<int>
      file_order;  // operators in the order in which the file has them; empty: as they run
  std::shared_ptr<const Plan>
      before;            // the older plan that was to be changed little; nullptr: none
  bool cut_off = false;  // a deadline or an interrupt came before the end
};

// A sequence of single-operator subgraphs planned by the same search, to compare with.
struct Baseline {
  bool complete = false;        // every operator fits alone
  std::vector<int> do_not_fit;  // operators that do not fit alone
  Metrics totals;               // over those that do
  double score = 0;
};

// Where the tensors at home in one memory other than the tile memory lie, on a problem of its own:
// its steps are the subgraphs, its buffers bear the tensors' ids.
struct Home {
  int memory = 0;  // index into the profile's memories
  problem::Problem problem;
  problem::Allocation allocation;
  std::vector<int> tensors;  // parallel to problem.buffers
};

// What the search for a plan covered: of each kind of decision all that there are, or not. A text
// says what was left out and why; an empty one says that nothing was, or that bounds rule out a
// better plan among it.
struct Scope {
  std::string orders;        // of the operators
  std::string cuts;          // into subgraphs
  std::string tile_extents;  // of every subgraph
  std::string policies;      // for weights, halo and transfers
  std::string kept;          // sets of boundary tensors that stay in the tile memory

  friend bool operator==(const Scope&, const Scope&) = default;
};

struct ScopePart {
  std::string_view name;  // in JSON
  std::string Scope::*left_out;
};
inline constexpr std::array<ScopePart, 5> kScopeParts = {{{"orders", &Scope::orders},
                                                          {"cuts", &Scope::cuts},
                                                          {"tile_extents", &Scope::tile_extents},
                                                          {"policies", &Scope::policies},
                                                          {"kept", &Scope::kept}}};

// Whether nothing was left out.
bool CoversAll(const Scope& scope);

struct Plan {
  std::string version;  // of the program that made it
  Run run;
  graph::Graph network;
  hw_profiles::Profile profile;
  Objective objective;
  std::vector<PlanConstraint> constraints;  // what it had to keep to
  uint64_t seed = 0;
  std::vector<Subgraph> subgraphs;
  std::vector<int>
      kept;  // boundary tensors that stay in the tile memory instead of at home: tensors, ascending
  problem::Problem problem;  // the joint one, over program time
  problem::Allocation allocation;
  std::vector<BufferUse> buffers;  // parallel to problem.buffers
  std::vector<StepUse> steps;      // step t of the problem
  std::vector<Home> homes;         // by memory; those to which no tensor is home are left out
  Metrics totals;
  Metrics lower_bounds;  // no plan for this network and profile does better on any one of them
  double score = 0;  // 1.0 is ideal for a weighted mean; the metric itself when one is minimised
  Baseline baseline;
  std::string status;  // "optimal": no plan scores better, by proof; or "feasible"
  Scope scope;
  bool proven = false;              // no plan within the scope scores better
  double bound = 0;                 // no plan scores less: the score of the lower bounds
  std::optional<Program> lowering;  // where it was asked for
  std::string digest;  // as its file states it (digest.h); empty where the plan is not from a file
  std::vector<std::string>
      notes;  // what the reader should know: caps, unproven candidates, unsupported wishes
};

// What is proven of a plan that is not optimal, in sentences: how much better another one could be,
// and what the proof leaves out.
std::vector<std::string> DescribeProof(const Plan& plan);

// "latency", "energy", "off_chip_bytes", "peak", "macs": the metrics that an objective may name,
// and their values.
std::vector<std::string_view> MetricNames();
double ValueOf(const Metrics& metrics, std::string_view metric);

// Whether the value of a plan in that objective is known: every operator's work is, or the
// objective looks, by weight or limit, at no metric that work is part of (latency, energy, macs).
// Else no plan is optimal.
bool IsKnownValue(const graph::Graph& network, const Objective& objective);

// What a reader should know of a network with operators of unknown work, which it names; nothing
// where there is none.
std::optional<std::string> NoteOnUnknownWork(const graph::Graph& network,
                                             const Objective& objective);

// Adds up sums and takes the greatest of maxima. A total that stands at zero latency has no bound
// yet and takes the part's.
void Accumulate(Metrics& total, const Metrics& part);

// The words of plan.json for what plan.h and problem.h enumerate, in the order of the enumerators.

inline constexpr std::array<std::string_view, 9> kBufferKindNames = {
    "tile",           "whole", "resident", "slice",      "scratch",
    "rolling_buffer", "line",  "halo",     "accumulator"};
inline constexpr std::array<std::string_view, 6> kStepKindNames = {
    "prologue", "load", "compute", "store", "epilogue", "copy"};
inline constexpr std::array<std::string_view, 4> kHaloNames = {"recompute", "rolling_buffer",
                                                               "line_buffer", "adjacent"};
inline constexpr std::array<std::string_view, 4> kWeightPolicyNames = {"resident", "streamed",
                                                                       "direct", "split_k"};
inline constexpr std::array<std::string_view, 2> kPlanStatusNames = {"optimal", "feasible"};
inline constexpr std::array<std::string_view, 3> kRejectionCauseNames = {"score", "room",
                                                                         "undecided"};
inline constexpr std::array<std::string_view, 2> kAccessKindNames = {"read", "write"};
inline constexpr std::array<std::string_view, 3> kSpanNames = {"any", "contiguous", "single"};
inline constexpr std::array<std::string_view, 6> kRelationKindNames = {
    "colocate", "adjacent", "same_bank", "different_bank", "separate", "exclusive"};

template <typename Kind, size_t n>
std::string_view WordFor(Kind kind, const std::array<std::string_view, n>& names) {
  return names.at(static_cast<size_t>(kind));
}

}  // namespace tessera::plan
