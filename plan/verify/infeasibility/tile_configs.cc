// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/costs.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/infeasibility/lower_bounds.h"
#include "tessera/plan/verify/infeasibility/partition_paths.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/plan/verify/tiles.h"
#include "tessera/problem/files/problem_files.h"

// A tile configuration is derived as part of a program of the whole network: the operators before
// the interval are one subgraph of one tile, and so are the operators after it. These two need not
// be feasible. While the subgraph runs, the program is the same for any choice of them:
//
//     [ operators before ] [ the interval, so configured ] [ operators after ]
//                          '-------- these steps --------'
//
// So each placement of a plan with this subgraph and these kept tensors contains a placement of the
// Problem of these steps.
namespace tessera::plan::verify::infeasibility {
namespace {

using hw_profiles::HaloStorage;
using hw_profiles::WeightPolicy;

// Tiles times operators of one configuration. The walk over them does not poll the stop.
constexpr int64_t kMostTiles = 100'000;

int64_t Product(int64_t a, int64_t b) { return base::CheckedMul(a, b).value_or(base::kMaxTotal); }

// The subgraph as one tile.
Subgraph AsOneTile(const graph::Graph& network, graph::Interval interval) {
  Subgraph subgraph;
  subgraph.interval = interval;
  const int tiled = network.operators[static_cast<size_t>(interval.last)].outputs.front();
  subgraph.tile = network.tensors[static_cast<size_t>(tiled)].shape;
  subgraph.tiles = 1;
  return subgraph;
}

void PinBuffer(problem::Problem& problem, const std::string& id, int64_t offset) {
  for (problem::Buffer& buffer : problem.buffers) {
    if (buffer.id == id) buffer.offset = offset;
  }
}

}  // namespace

SubgraphConfigs::SubgraphConfigs(const Plan& question, std::span<const int> order, int64_t room,
                                 const base::Stop& stop)
    : order_(order.begin(), order.end()),
      room_(room),
      stop_(stop),
      may_cost_less_(HasOtherEngines(question) || SideBySide(question.profile) > 1) {
  probe_.network = question.network;
  probe_.profile = question.profile;
  probe_.objective = question.objective;
  probe_.constraints = question.constraints;
  probe_.run = question.run;
  for (size_t i = 0; i < order_.size(); ++i)
    probe_.network.operators[i] = question.network.operators[static_cast<size_t>(order_[i])];
  users_ = FindUsers(probe_.network);
}

// The extents that a tile may have along each axis.
std::vector<std::vector<int64_t>> SubgraphConfigs::ExtentsOf(graph::Interval interval) const {
  const Subgraph whole = AsOneTile(probe_.network, interval);
  std::vector<std::vector<int64_t>> extents;
  for (size_t axis = 0; axis < whole.tile.size(); ++axis) {
    std::vector<int64_t>& here = extents.emplace_back(1, whole.tile[axis]);
    if (IsOnHost(probe_, interval)) continue;
    for (const hw_profiles::AxisGranularity& cut : probe_.profile.tiling.axes) {
      const bool meant = MeaningOf(whole.tile.size(), axis) == cut.axis;
      if (!meant || !MayCut(probe_.network, users_, interval, axis)) continue;
      for (int64_t extent = cut.granularity; extent < whole.tile[axis]; extent += cut.granularity)
        here.push_back(extent);
    }
  }
  return extents;
}

std::vector<std::vector<int64_t>> SubgraphConfigs::TilesOf(graph::Interval interval) const {
  std::vector<std::vector<int64_t>> tiles = {{}};
  for (const std::vector<int64_t>& extents : ExtentsOf(interval)) {
    std::vector<std::vector<int64_t>> longer;
    for (const std::vector<int64_t>& tile : tiles) {
      for (const int64_t extent : extents) {
        longer.push_back(tile);
        longer.back().push_back(extent);
      }
    }
    tiles = std::move(longer);
  }
  return tiles;
}

std::vector<Subgraph> SubgraphConfigs::PoliciesOf(graph::Interval interval) const {
  const hw_profiles::Tiling& tiling = probe_.profile.tiling;
  if (IsOnHost(probe_, interval)) {
    Subgraph policy = AsOneTile(probe_.network, interval);
    policy.weights = WeightPolicy::kDirect;
    return {policy};
  }
  const std::vector<int> tensors = TensorsOf(probe_.network, interval);
  const bool has_constants = std::any_of(tensors.begin(), tensors.end(), [this](int tensor) {
    return probe_.network.tensors[static_cast<size_t>(tensor)].constant;
  });
  bool may_be_in_place = !tiling.in_place.empty();
  for (int op = interval.first; op <= interval.last; ++op)
    may_be_in_place =
        may_be_in_place || !probe_.network.operators[static_cast<size_t>(op)].in_place.empty();
  std::set<HaloStorage> halos(tiling.halo.begin(), tiling.halo.end());
  halos.insert(HaloStorage::kRecompute);
  std::vector<WeightPolicy> weights = tiling.weights;
  if (weights.empty()) weights.push_back(WeightPolicy::kResident);

  std::vector<Subgraph> policies;
  bool is_first = true;
  for (const WeightPolicy each : weights) {
    Subgraph policy = AsOneTile(probe_.network, interval);
    policy.weights = each;
    const bool split_k = each == WeightPolicy::kSplitK;
    if (!split_k && !std::exchange(is_first, false) && !has_constants) continue;
    const int64_t step = KStepOf(probe_, policy);
    for (int64_t k_extent = split_k ? step : 0;; k_extent += step) {
      policy.k_extent = k_extent;
      policy.halo = HaloStorage::kRecompute;
      if (split_k && !SplitKFault(probe_, policy).empty()) break;
      for (const HaloStorage halo : halos) {
        for (const bool in_place : {true, false}) {
          policy.halo = halo;
          policy.in_place = in_place;
          if (in_place && !may_be_in_place) continue;
          if (split_k && halo != HaloStorage::kRecompute) continue;
          for (const bool serialized : {true, false}) {
            policy.serialized = serialized;
            if (!serialized || tiling.may_serialize) policies.push_back(policy);
          }
        }
      }
      if (!split_k) break;
    }
  }
  return policies;
}

int64_t SubgraphConfigs::WorkOf(graph::Interval interval) const {
  int64_t work = interval.last - interval.first + 1;
  for (const std::vector<int64_t>& extents : ExtentsOf(interval))
    work = Product(work, static_cast<int64_t>(extents.size()));
  return work;
}

// Inserts the subgraph between the operators before and after it. Returns its index.
size_t SubgraphConfigs::Surround(const Subgraph& subgraph, const std::vector<int>& kept) {
  const auto operators = static_cast<int>(probe_.network.operators.size());
  probe_.kept = kept;
  probe_.subgraphs.clear();
  if (subgraph.interval.first > 0)
    probe_.subgraphs.push_back(AsOneTile(probe_.network, {0, subgraph.interval.first - 1}));
  const size_t index = probe_.subgraphs.size();
  probe_.subgraphs.push_back(subgraph);
  if (subgraph.interval.last + 1 < operators)
    probe_.subgraphs.push_back(
        AsOneTile(probe_.network, {subgraph.interval.last + 1, operators - 1}));
  return index;
}

// Tensors that share bytes tile by tile may need less than their sizes.
bool SubgraphConfigs::HomesHold(size_t index) {
  if (probe_.run.off_chip != OffChip::kWhole) return true;
  std::vector<int64_t> load(probe_.profile.memories.size());
  const auto step = static_cast<problem::Step>(index);
  for (const HomeStay& stay : FindHomeStays(probe_)) {
    int64_t& bytes = load[static_cast<size_t>(stay.memory)];
    if (stay.subgraphs.lower <= step && step < stay.subgraphs.upper)
      bytes = base::CheckedAdd(bytes, stay.size).value_or(base::kMaxTotal);
  }
  const auto limit = probe_.objective.limits.find("off_chip_peak");
  int64_t all = 0;
  for (size_t memory = 0; memory < load.size(); ++memory) {
    if (static_cast<int>(memory) == probe_.profile.tile_memory) continue;
    all = base::CheckedAdd(all, load[memory]).value_or(base::kMaxTotal);
    if (limit != probe_.objective.limits.end() && IsBeyond(static_cast<double>(all), limit->second))
      return false;
    const problem::Memory described = HomeMemory(probe_.profile, static_cast<int>(memory));
    if (load[memory] > FreeBytes(described, described.capacity)) return false;
  }
  return true;
}

// One subgraph may exceed the limit of a ratio if others compensate it. The true bytes per cycle
// are lower than computed if some work is unknown.
bool SubgraphConfigs::IsBeyondLimits(const Metrics& metrics) const {
  const bool known = IsWorkKnown(probe_.network);
  return std::any_of(kMetrics.begin(), kMetrics.end(), [&](const Metric& metric) {
    const auto limit = probe_.objective.limits.find(std::string(metric.name));
    return limit != probe_.objective.limits.end() && metric.joining != Joining::kRatio &&
           metric.name != "peak" && metric.name != "off_chip_peak" &&
           (known || metric.not_below_average_of == nullptr) &&
           IsBeyond(ValueOf(metrics, metric), limit->second);
  });
}

// Fixes the required addresses of tensors in that memory, and of buffers of the subgraph with that
// number.
void SubgraphConfigs::Pin(problem::Problem& problem, size_t subgraph) const {
  const std::string& memory = problem.memories.front().name;
  for (const PlanConstraint& constraint : probe_.constraints) {
    if (constraint.kind == PlanConstraintKind::kAddress && constraint.memory == memory)
      PinBuffer(problem, probe_.network.tensors[static_cast<size_t>(constraint.tensor)].id,
                constraint.offset);
  }
  if (memory != probe_.profile.memories[static_cast<size_t>(probe_.profile.tile_memory)].name)
    return;
  const PlanConstraint* constraint =
      ConstraintOn(probe_, order_, probe_.subgraphs[subgraph].interval);
  if (constraint == nullptr) return;
  for (const auto& [id, offset] : constraint->config.addresses)
    PinBuffer(problem, fmt::format("s{}/{}", subgraph, id), offset);
}

// If a constraint requires an address of a buffer, the buffer must exist.
bool SubgraphConfigs::HasRequiredBuffers(const problem::Problem& problem, size_t subgraph) const {
  const PlanConstraint* constraint =
      ConstraintOn(probe_, order_, probe_.subgraphs[subgraph].interval);
  if (constraint == nullptr) return true;
  return std::all_of(constraint->config.addresses.begin(), constraint->config.addresses.end(),
                     [&](const auto& address) {
                       const std::string id = fmt::format("s{}/{}", subgraph, address.first);
                       return std::any_of(
                           problem.buffers.begin(), problem.buffers.end(),
                           [&id](const problem::Buffer& buffer) { return buffer.id == id; });
                     });
}

problem::Problem SubgraphConfigs::ProblemOf(const SubgraphConfig& config,
                                            const std::vector<int>& kept) {
  const size_t index = Surround(config.subgraph, kept);
  const Derivation derivation = Derive(probe_);
  problem::Problem problem =
      verify::ProblemOf(probe_, derivation, derivation.trace.subgraph_steps[index]);
  Pin(problem, index);
  return problem;
}

std::vector<problem::Problem> SubgraphConfigs::ProblemsOf(const std::vector<Subgraph>& subgraphs,
                                                          const std::vector<int>& kept) {
  probe_.subgraphs = subgraphs;
  probe_.kept = kept;
  const Derivation derivation = Derive(probe_);
  const auto steps = static_cast<problem::Step>(derivation.trace.steps.size());
  std::vector<problem::Problem> problems = {verify::ProblemOf(probe_, derivation, {0, steps})};
  for (size_t i = 0; i < subgraphs.size(); ++i) Pin(problems.front(), i);
  if (probe_.run.off_chip != OffChip::kWhole) return problems;
  std::map<int, problem::Problem> homes;
  for (const HomeStay& stay : FindHomeStays(probe_)) {
    if (stay.memory == probe_.profile.tile_memory) continue;
    problem::Problem& home = homes[stay.memory];
    home.memories = {HomeMemory(probe_.profile, stay.memory)};
    problem::Buffer buffer;
    buffer.id = probe_.network.tensors[static_cast<size_t>(stay.tensor)].id;
    buffer.size = stay.size;
    buffer.alignment = stay.alignment;
    buffer.lifespans = {stay.subgraphs};
    buffer.span = probe_.profile.memories[static_cast<size_t>(stay.memory)].span;
    home.buffers.push_back(std::move(buffer));
  }
  for (auto& [memory, home] : homes) {
    Pin(home, 0);
    problems.push_back(std::move(home));
  }
  return problems;
}

std::optional<std::vector<SubgraphConfig>> SubgraphConfigs::Find(graph::Interval interval,
                                                                 const std::vector<int>& kept,
                                                                 int64_t& work) {
  std::vector<SubgraphConfig> configs;
  const Subgraph whole = AsOneTile(probe_.network, interval);
  if (!HomesHold(Surround(whole, kept))) return configs;
  if (WorkOf(interval) > work) return std::nullopt;
  const std::vector<Subgraph> policies = PoliciesOf(interval);
  const int64_t operators = interval.last - interval.first + 1;
  std::set<std::pair<Sums, std::string>> seen;
  for (const std::vector<int64_t>& tile : TilesOf(interval)) {
    const int64_t tiles = CountTiles(whole.tile, tile);
    if (Product(tiles, operators) > kMostTiles) return std::nullopt;
    std::map<std::pair<HaloStorage, bool>, bool> has_room;  // for all weight policies
    for (Subgraph subgraph : policies) {
      subgraph.tile = tile;
      subgraph.tiles = tiles;
      if (stop_.Requested()) return std::nullopt;
      const auto [room, is_new] = has_room.try_emplace({subgraph.halo, subgraph.serialized}, true);
      const auto serialized = has_room.find({subgraph.halo, true});
      // Double-buffered tiles load at least as much, in more slots and for longer.
      if (is_new)
        room->second =
            (serialized == has_room.end() || serialized->second) && HasRoom(subgraph, kept, work);
      if (work < 0) return std::nullopt;
      if (!room->second && subgraph.weights != WeightPolicy::kSplitK) continue;
      work -= std::min(work + 1, Product(Product(tiles, 2), operators));
      if (work < 0) return std::nullopt;
      if (std::optional<SubgraphConfig> config = Try(subgraph, kept, seen))
        configs.push_back(*std::move(config));
    }
  }
  return configs;
}

// Whether tiles of that shape may fit with that halo and these transfers, by their minimum needs.
bool SubgraphConfigs::HasRoom(const Subgraph& subgraph, const std::vector<int>& kept,
                              int64_t& work) {
  const bool keeps_rows = subgraph.halo != HaloStorage::kRecompute;
  const int64_t operators = subgraph.interval.last - subgraph.interval.first + 1;
  work -= std::min(work + 1, operators);
  if (keeps_rows && !MayCacheHalo(probe_.profile, AsOneTile(probe_.network, subgraph.interval).tile,
                                  subgraph.tile))
    return false;
  if (FloorOf(probe_, users_, subgraph.interval, subgraph.tile, keeps_rows) > room_) return false;
  // The kept rows are found row by row for each tile.
  constexpr int64_t kRowsATile = 64;
  const graph::Shape output = AsOneTile(probe_.network, subgraph.interval).tile;
  const int64_t rows =
      keeps_rows ? *std::max_element(output.begin(), output.end()) / kRowsATile + 1 : 1;
  work -= std::min(work + 1, Product(Product(subgraph.tiles, rows), operators));
  if (work < 0) return false;
  return LoadOfShape(probe_, users_, Surround(subgraph, kept)) <= room_;
}

std::optional<SubgraphConfig> SubgraphConfigs::Try(const Subgraph& subgraph,
                                                   const std::vector<int>& kept,
                                                   std::set<std::pair<Sums, std::string>>& seen) {
  if (!RunsAsRequired(probe_, order_, subgraph)) return std::nullopt;
  const size_t index = Surround(subgraph, kept);
  Findings findings(1);
  CheckSubgraph(probe_, index, findings);
  if (!findings.Empty()) return std::nullopt;
  const Derivation derivation = Derive(probe_);
  const problem::Problem problem =
      verify::ProblemOf(probe_, derivation, derivation.trace.subgraph_steps[index]);
  if (LeastLoad(problem) > FreeBytes(TileMemory(probe_.profile), room_)) return std::nullopt;
  if (!HasRequiredBuffers(problem, index)) return std::nullopt;
  SubgraphConfig config{subgraph, {}};
  if (!probe_.objective.limits.empty()) {
    Metrics metrics = CostOf(probe_, users_, static_cast<int>(index));
    if (may_cost_less_) {
      metrics.latency_cycles = 0;
      metrics.energy_pj = 0;
      metrics.peak_bytes_per_cycle = 0;
    }
    if (IsBeyondLimits(metrics)) return std::nullopt;
    config.sums = may_cost_less_ ? LeastSums(metrics, probe_) : SumsOf(metrics, probe_);
  }
  if (!seen.emplace(config.sums, problem::files::WriteProblem(problem)).second) return std::nullopt;
  return config;
}

}  // namespace tessera::plan::verify::infeasibility
