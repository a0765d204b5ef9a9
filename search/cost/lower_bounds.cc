// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/lower_bounds.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/layout.h"
#include "tessera/encoder/program/memory_lower_bound.h"
#include "tessera/graph/regions.h"
#include "tessera/search/cost/certain_traffic.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/latency_bounds.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/cost/traffic.h"

// The bound for every tile and policy is the cost of one tile of the whole output, counting only
// the work that the tiles of every other tiling also do (Coverage). Ceilings preserve the bound.
// Boxes that cover a box need at least as many unroll steps: each step of the whole has its lattice
// point in some tile, and a tile has no more lattice points than steps; for loops that fold see
// docs/program.md 14.2.13. They also have at least as many bytes, blocks and cycles of a port.
// Groups of a convolution are an exception, if tiles may divide them (LeastComputeOf). An operator
// on the host is always one whole tile, for which nothing is moved.
//
// An operator takes the longest of its arithmetic, its reads in the homes of network inputs, and
// its use of the tile memory's port. If the interval is cut further, inner tensors become boundary
// tensors, and where engines may read or write those in their home, the port is not certain. Some
// constants arrive late, and as one subgraph the interval gets its constants under one of few
// policies (latency_bounds.cc).
namespace tessera::search::cost {
namespace {

using base::TensorRole;
using graph::tiling::Extents;
using graph::tiling::ExtentsView;
using hw_profiles::Profile;

// Parallel to the operators of the interval.
std::vector<char> OnHost(const graph::Graph& graph, const Profile& profile,
                         graph::Interval interval) {
  std::vector<char> on_host;
  for (int op = interval.first; op <= interval.last; ++op) {
    on_host.push_back(static_cast<char>(
        encoder::program::RunsOnHost(graph, profile, graph.operators[static_cast<size_t>(op)])));
  }
  return on_host;
}

// Which of the coverage's tensors are kept, and the traffic with none and with all of them kept.
struct TrafficOfKept {
  const CertainTraffic::Parts& spilled;
  const CertainTraffic::Parts& kept;
  std::span<const char> is_kept;  // by tensor

  const CertainTraffic::Parts& Of(size_t tensor) const {
    return is_kept[tensor] != 0 ? kept : spilled;
  }
};

class Bound {
 public:
  Bound(const graph::Graph& graph, const Profile& profile, const std::vector<graph::Usage>& usages,
        const Coverage& coverage, Scope scope, std::span<const char> on_host)
      : graph_(graph),
        profile_(profile),
        interval_(coverage.Whole().interval),
        scope_(scope),
        usages_(usages),
        coverage_(coverage),
        traffic_(graph, profile, usages, coverage, scope, on_host),
        divides_channels_(MayDivideChannels(graph, profile, coverage.Whole().interval)),
        ports_(profile.memories.size()),
        dma_(profile.memories.size()),
        touched_(profile.memories.size()) {}

  // The parts that do not depend on the kept tensors.
  std::vector<SubgraphBounds::Operator> FindOperators() const {
    std::vector<SubgraphBounds::Operator> operators;
    for (int op = interval_.first; op <= interval_.last; ++op)
      operators.push_back(FindOperator(op));
    return operators;
  }

  // The traffic with these tensors kept.
  CertainTraffic::Parts FindTraffic(std::span<const SubgraphBounds::Operator> operators,
                                    const std::vector<int>& kept) const {
    std::vector<char> all;
    for (const SubgraphBounds::Operator& each : operators)
      all.push_back(static_cast<char>(each.is_certain && each.all));
    return traffic_.Find(kept, all);
  }

  plan::Metrics Find(std::span<const SubgraphBounds::Operator> operators,
                     const TrafficOfKept& traffic, std::span<const LoadedOnce> constants,
                     std::span<const SubgraphBounds::Weights> weights, Detail detail) {
    metrics_.clock_hz = profile_.clock_hz;
    engine_.reserve(operators.size());
    for (size_t i = 0; i < operators.size(); ++i) AddOperator(i, operators[i], traffic);
    for (size_t i = 0; i < traffic.is_kept.size(); ++i) AddTensor(traffic.Of(i).crossings[i]);
    AddConstants(constants);
    if (detail == Detail::kParts)
      metrics_.off_chip_by_cause = {
          {"inputs", inputs_}, {"outputs", outputs_}, {"weights", weights_}};
    metrics_.off_chip_bytes = base::SaturatingAdd(base::SaturatingAdd(inputs_, outputs_), weights_);
    AddLatency(weights);
    FillEnergy(profile_, mac_pj_, touched_, detail, metrics_);
    return std::move(metrics_);
  }

 private:
  const graph::tiling::TileClass& WholeTile() const { return coverage_.Whole().classes.front(); }

  SubgraphBounds::Operator FindOperator(int index) const;
  void AddOperator(size_t i, const SubgraphBounds::Operator& its, const TrafficOfKept& traffic);
  const graph::Operator& OpAt(int op) const { return graph_.operators[static_cast<size_t>(op)]; }
  int64_t PortBytesOfConstants(const graph::Operator& op) const;
  void AddTensor(const CertainTraffic::Crossing& crossing);
  void AddConstants(std::span<const LoadedOnce> constants);
  void AddCrossing(int home, Direction direction, int64_t bytes, bool moved);
  void AddLatency(std::span<const SubgraphBounds::Weights> weights);

  const graph::Graph& graph_;
  const Profile& profile_;
  graph::Interval interval_;
  Scope scope_;
  const std::vector<graph::Usage>& usages_;
  const Coverage& coverage_;
  CertainTraffic traffic_;
  bool divides_channels_;
  std::vector<CertainWork> engine_;  // parallel to the interval's operators
  std::vector<Touched> ports_;       // bytes over each off-chip memory's port
  std::vector<Touched> dma_;         // the part of them that only DMA can move
  std::vector<Touched> touched_;     // bytes for energy
  int64_t inputs_ = 0;
  int64_t outputs_ = 0;
  int64_t weights_ = 0;
  double mac_pj_ = 0;
  plan::Metrics metrics_;
};

SubgraphBounds::Operator Bound::FindOperator(int index) const {
  const graph::Operator& op = OpAt(index);
  SubgraphBounds::Operator found;
  const bool on_host = traffic_.RunsOnHost(index);
  if (!on_host && !coverage_.MadeBy(index)) return found;
  const bool hull = on_host || coverage_.MakesTheHull(index);
  if (!hull && traffic_.GrowthOf(op)) return found;
  found.is_certain = true;
  Extents part = hull ? Extents() : ExtentsOf(*coverage_.MadeBy(index));
  const ExtentsView made = hull ? traffic_.MovedOf(index, part) : ExtentsView(part);
  found.macs = on_host ? graph::MacsOf(graph_, op)
               : hull  ? WholeTile().macs[static_cast<size_t>(index - interval_.first)]
                       : graph::MacsOf(graph_, op, *coverage_.MadeBy(index));
  const LeastWork least = LeastWorkOf(graph_, profile_, op, made, found.macs, divides_channels_);
  found.cycles = least.cycles;
  found.mac_pj = least.pj;
  found.all = !on_host && coverage_.ReadsAndMakesAll(index);
  if (found.all) {
    found.constant_bytes = PortBytesOfConstants(op);
    found.cycles = std::max(found.cycles, LeastCyclesAtHomes(graph_, profile_, coverage_, op));
  }
  return found;
}

void Bound::AddOperator(size_t i, const SubgraphBounds::Operator& its,
                        const TrafficOfKept& traffic) {
  CertainWork& engine = engine_.emplace_back();
  if (!its.is_certain) return;
  engine.cycles = its.cycles;
  base::Accumulate(metrics_.macs, its.macs);
  metrics_.unknown_work +=
      graph::HasUnknownWork(OpAt(interval_.first + static_cast<int>(i))) ? 1 : 0;
  mac_pj_ += its.mac_pj;
  if (!its.all) return;
  engine.all = true;
  engine.constant_bytes = its.constant_bytes;
  const std::vector<CertainTraffic::Access>& spilled = traffic.spilled.accesses[i];
  for (size_t k = 0; k < spilled.size(); ++k) {
    const bool reads = spilled[k].direction == Direction::kRead;
    base::Accumulate(reads ? engine.touched.read : engine.touched.written,
                     traffic.Of(spilled[k].tensor).accesses[i][k].bytes);
  }
  Touched& here = touched_[static_cast<size_t>(profile_.tile_memory)];
  base::Accumulate(here.read, base::SaturatingAdd(engine.touched.read, engine.constant_bytes));
  base::Accumulate(here.written, engine.touched.written);
}

// Tables that are stored with a constant do not count, because K slices come without them.
int64_t Bound::PortBytesOfConstants(const graph::Operator& op) const {
  if (hw_profiles::MayReadAtHome(profile_, TensorRole::kConstant)) return 0;
  int64_t bytes = 0;
  for (const int constant : std::set<int>(op.weights.begin(), op.weights.end()))
    base::Accumulate(bytes, encoder::program::ConstantBytes(graph_, profile_, constant, {}));
  return bytes;
}

void Bound::AddTensor(const CertainTraffic::Crossing& crossing) {
  if (!crossing.home) return;
  AddCrossing(*crossing.home, crossing.direction, crossing.bytes, crossing.moved);
  base::Accumulate(crossing.direction == Direction::kRead ? inputs_ : outputs_, crossing.bytes);
}

void Bound::AddConstants(std::span<const LoadedOnce> constants) {
  for (const LoadedOnce& constant : constants) {
    if (constant.home == profile_.tile_memory) continue;
    const bool moved = !hw_profiles::MayReadAt(profile_, TensorRole::kConstant, constant.home) &&
                       !traffic_.IsUsedByHost(constant.tensor);
    AddCrossing(constant.home, Direction::kRead, constant.bytes, moved);
    base::Accumulate(weights_, constant.bytes);
  }
}

void Bound::AddCrossing(int home, Direction direction, int64_t bytes, bool moved) {
  const auto memory = static_cast<size_t>(home);
  const bool in = direction == Direction::kRead;
  base::Accumulate(in ? ports_[memory].read : ports_[memory].written, bytes);
  base::Accumulate(in ? touched_[memory].read : touched_[memory].written, bytes);
  if (!moved) return;
  Touched& here = touched_[static_cast<size_t>(profile_.tile_memory)];
  base::Accumulate(in ? dma_[memory].read : dma_[memory].written, bytes);
  base::Accumulate(in ? here.written : here.read, bytes);
}

// If transfers are serialized, those that only DMA can do add to the engines' work. Otherwise the
// busiest resource decides.
void Bound::AddLatency(std::span<const SubgraphBounds::Weights> weights) {
  const std::vector<int64_t> passes = EnginePasses(profile_, engine_);
  int64_t in_turn = 0;
  for (const int64_t pass : passes) base::Accumulate(in_turn, pass);
  metrics_.latency_cycles = in_turn;
  if (scope_ == Scope::kAnyCut) {
    metrics_.latency_cycles = 0;
    for (const std::vector<int64_t>& each : PassesInTurn(graph_, profile_, interval_, passes)) {
      metrics_.latency_cycles =
          std::max(metrics_.latency_cycles,
                   LatencyWithLateConstants(graph_, profile_, usages_, coverage_, each));
    }
  }
  for (size_t memory = 0; memory < ports_.size(); ++memory) {
    const hw_profiles::Port& port = profile_.memories[memory].port;
    // Work that takes more than n - 1 cycles takes n, so a quotient that is rounded to n is a bound
    // too.
    const auto cycles_of = [&port](const Touched& bytes, bool one_by_one) {
      const double read = static_cast<double>(bytes.read) / port.read_bytes_per_cycle;
      const double written = static_cast<double>(bytes.written) / port.write_bytes_per_cycle;
      return static_cast<int64_t>(one_by_one ? read + written : std::max(read, written));
    };
    metrics_.latency_cycles =
        std::max(metrics_.latency_cycles, cycles_of(ports_[memory], port.shared));
    base::Accumulate(in_turn, cycles_of(dma_[memory], true));
  }
  if (profile_.tiling.dma == hw_profiles::DmaSteps::kSerialized) {
    metrics_.latency_cycles = std::max(metrics_.latency_cycles, in_turn);
  } else if (scope_ == Scope::kOneSubgraph) {
    std::optional<int64_t> least;
    for (const SubgraphBounds::Weights& each : weights)
      least = std::min(least.value_or(base::kMaxTotal), EnginePass(profile_, engine_, each));
    metrics_.latency_cycles = std::max(metrics_.latency_cycles, least.value_or(0));
  }
}

}  // namespace

plan::Metrics LowerBound(const graph::Graph& graph, const Profile& profile,
                         graph::Interval interval) {
  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  const Coverage coverage(graph, usages, interval);
  const std::vector<char> on_host = OnHost(graph, profile, interval);
  Bound bound(graph, profile, usages, coverage, Scope::kAnyCut, on_host);
  const std::vector<SubgraphBounds::Operator> operators = bound.FindOperators();
  const CertainTraffic::Parts spilled = bound.FindTraffic(operators, {});
  const std::vector<char> none(coverage.Whole().tensors.size());
  return bound.Find(operators, {spilled, spilled, none},
                    ConstantsLoadedOnce(graph, profile, interval), {}, Detail::kParts);
}

SubgraphBounds::SubgraphBounds(const graph::Graph& graph, const Profile& profile,
                               const std::vector<graph::Usage>& usages, graph::Interval interval)
    : graph_(graph),
      profile_(profile),
      usages_(usages),
      coverage_(graph, usages, interval),
      on_host_(OnHost(graph, profile, interval)) {
  const Bound bound(graph, profile, usages, coverage_, Scope::kOneSubgraph, on_host_);
  operators_ = bound.FindOperators();
  spilled_ = bound.FindTraffic(operators_, {});
  kept_ = bound.FindTraffic(operators_, coverage_.Whole().tensors);
  constants_ = ConstantsLoadedOnce(graph, profile, interval);
  // Keeping tensors is never refused, so with all of them kept, the policies of every case are
  // included.
  for (const hw_profiles::WeightPolicy policy : encoder::program::WeightPoliciesOf(
           graph, usages, profile, interval, coverage_.Whole().tensors))
    weights_.push_back(FindWeights(graph, profile, usages, coverage_, policy));
}

plan::Metrics SubgraphBounds::Find(const std::vector<int>& kept, Detail detail) const {
  std::vector<char> is_kept;
  for (const int tensor : coverage_.Whole().tensors)
    is_kept.push_back(static_cast<char>(std::binary_search(kept.begin(), kept.end(), tensor)));
  return Bound(graph_, profile_, usages_, coverage_, Scope::kOneSubgraph, on_host_)
      .Find(operators_, {spilled_, kept_, is_kept}, constants_, weights_, detail);
}

plan::Metrics FindLowerBounds(const graph::Graph& graph, const hw_profiles::Profile& profile,
                              const PeakLowerBound& peak) {
  plan::Metrics bounds =
      LowerBound(graph, profile, {0, static_cast<int>(graph.operators.size()) - 1});
  bounds.peak_bytes = peak.bytes;
  bounds.off_chip_peak_bytes = encoder::program::BytesAtHomes(graph, profile).LeastPeak();
  return bounds;
}

plan::Metrics FindLowerBounds(const graph::Graph& graph, const hw_profiles::Profile& profile) {
  return FindLowerBounds(graph, profile, FindPeakLowerBound(graph, profile));
}

}  // namespace tessera::search::cost
