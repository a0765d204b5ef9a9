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
#include "tessera/encoder/program/state_aliasing.h"
#include "tessera/graph/regions.h"
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

Extents ExtentsOf(const graph::ops::Box& box) {
  Extents extents;
  for (const graph::ops::Extent& extent : box) extents.push_back(extent.Length());
  return extents;
}

enum class Scope : uint8_t { kAnyCut, kOneSubgraph };

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

class Bound {
 public:
  Bound(const graph::Graph& graph, const Profile& profile, const std::vector<graph::Usage>& usages,
        const Coverage& coverage, Scope scope, const std::vector<int>& kept,
        std::vector<char> on_host)
      : graph_(graph),
        profile_(profile),
        interval_(coverage.Whole().interval),
        scope_(scope),
        kept_(kept),
        usages_(usages),
        coverage_(coverage),
        divides_channels_(MayDivideChannels(graph, profile, coverage.Whole().interval)),
        on_host_(std::move(on_host)),
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

  plan::Metrics Find(std::span<const SubgraphBounds::Operator> operators,
                     std::span<const LoadedOnce> constants,
                     std::span<const SubgraphBounds::Weights> weights, Detail detail) {
    metrics_.clock_hz = profile_.clock_hz;
    engine_.reserve(operators.size());
    for (size_t i = 0; i < operators.size(); ++i)
      engine_.push_back(AddOperator(interval_.first + static_cast<int>(i), operators[i]));
    for (size_t i = 0; i < coverage_.Whole().tensors.size(); ++i) AddTensor(i);
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
  const graph::Usage& UsageOf(int tensor) const { return usages_[static_cast<size_t>(tensor)]; }
  const graph::tiling::TileClass& WholeTile() const { return coverage_.Whole().classes.front(); }

  SubgraphBounds::Operator FindOperator(int index) const;
  CertainWork AddOperator(int index, const SubgraphBounds::Operator& its);
  // Returns the axis of growth in some order of the operators, because bounds hold for all orders.
  std::optional<size_t> GrowthOf(const graph::Operator& op) const {
    return encoder::program::AxisOfGrowth(graph_, usages_, profile_, op,
                                          encoder::program::RunsIn::kSomeOrder);
  }
  const graph::Operator& OpAt(int op) const { return graph_.operators[static_cast<size_t>(op)]; }
  bool RunsOnHost(int op) const { return on_host_[static_cast<size_t>(op - interval_.first)] != 0; }
  // Returns whether the host makes or reads the tensor inside the interval. The host does so in the
  // tensor's home.
  bool IsUsedByHost(int tensor) const;
  ExtentsView MovedOf(int index, Extents& part) const;
  int64_t PortBytes(int tensor, ExtentsView extents, Direction direction) const;
  Touched TouchedBy(int index) const;
  int64_t PortBytesOfConstants(const graph::Operator& op) const;
  bool MayBeWrittenDirectly(const Route& route) const;
  void AddTensor(size_t index);
  void AddConstants(std::span<const LoadedOnce> constants);
  void AddCrossing(int home, Direction direction, int64_t bytes, bool moved);
  void AddLatency(std::span<const SubgraphBounds::Weights> weights);

  const graph::Graph& graph_;
  const Profile& profile_;
  graph::Interval interval_;
  Scope scope_;
  const std::vector<int>& kept_;
  const std::vector<graph::Usage>& usages_;
  const Coverage& coverage_;
  bool divides_channels_;
  std::vector<char> on_host_;        // parallel to the interval's operators
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
  const bool on_host = RunsOnHost(index);
  if (!on_host && !coverage_.MadeBy(index)) return found;
  const bool hull = on_host || coverage_.MakesTheHull(index);
  if (!hull && GrowthOf(op)) return found;
  found.is_certain = true;
  Extents part = hull ? Extents() : ExtentsOf(*coverage_.MadeBy(index));
  const ExtentsView made = hull ? MovedOf(index, part) : ExtentsView(part);
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

CertainWork Bound::AddOperator(int index, const SubgraphBounds::Operator& its) {
  CertainWork engine;
  if (!its.is_certain) return engine;
  engine.cycles = its.cycles;
  base::Accumulate(metrics_.macs, its.macs);
  metrics_.unknown_work += graph::HasUnknownWork(OpAt(index)) ? 1 : 0;
  mac_pj_ += its.mac_pj;
  if (its.all) {
    engine.all = true;
    engine.touched = TouchedBy(index);
    engine.constant_bytes = its.constant_bytes;
    Touched& here = touched_[static_cast<size_t>(profile_.tile_memory)];
    base::Accumulate(here.read, base::SaturatingAdd(engine.touched.read, engine.constant_bytes));
    base::Accumulate(here.written, engine.touched.written);
  }
  return engine;
}

// Returns the extents of the first result, without a state from which it grows in place. `part`
// stores them if there is such a state.
ExtentsView Bound::MovedOf(int index, Extents& part) const {
  const graph::Operator& op = OpAt(index);
  // The host makes all of a result, even if less is needed.
  const bool all = RunsOnHost(index);
  const auto extents_of = [this, all](int tensor) -> ExtentsView {
    return all ? ExtentsView(graph::ShapeOf(graph_, tensor)) : coverage_.NeededOf(tensor);
  };
  const ExtentsView made = extents_of(op.outputs.front());
  const std::optional<size_t> growth = GrowthOf(op);
  if (!growth) return made;
  part =
      WithoutStaying({made.begin(), made.end()}, *growth, extents_of(op.inputs.front())[*growth]);
  return part;
}

bool Bound::IsUsedByHost(int tensor) const {
  const graph::Usage& usage = UsageOf(tensor);
  const auto is_hosted = [this](int op) { return coverage_.Inside(op) && RunsOnHost(op); };
  return is_hosted(usage.producer) ||
         std::any_of(usage.consumers.begin(), usage.consumers.end(), is_hosted);
}

// Returns the bytes of a tensor that an operator certainly accesses in the tile memory and not in
// its home.
int64_t Bound::PortBytes(int tensor, ExtentsView extents, Direction direction) const {
  const graph::Tensor& facts = graph_.tensors[static_cast<size_t>(tensor)];
  const auto payload = [&](TensorRole role) {
    return PayloadBytes(facts, extents, hw_profiles::LayoutOf(profile_, role));
  };
  const Route route = RouteOf(graph_, profile_, UsageOf(tensor), tensor, interval_, kept_);
  if (scope_ == Scope::kOneSubgraph)
    return route.transfer == TransferKind::kDirect ? 0 : payload(route.role);
  const bool may_cross = route.role == TensorRole::kFeature;
  const TensorRole at_home = may_cross ? TensorRole::kBoundary : route.role;
  const bool may_be_direct = direction == Direction::kRead
                                 ? hw_profiles::MayReadAtHome(profile_, at_home)
                                 : hw_profiles::MayWriteAtHome(profile_, at_home);
  if (may_be_direct) return 0;
  return may_cross ? std::min(payload(route.role), payload(at_home)) : payload(at_home);
}

Touched Bound::TouchedBy(int index) const {
  const graph::Operator& op = OpAt(index);
  Touched touched;
  const bool first_stays = GrowthOf(op).has_value();
  for (size_t i = first_stays ? 1 : 0; i < op.inputs.size(); ++i) {
    base::Accumulate(touched.read,
                     PortBytes(op.inputs[i], coverage_.NeededOf(op.inputs[i]), Direction::kRead));
  }
  Extents part;
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    const ExtentsView made = i == 0 ? MovedOf(index, part) : coverage_.NeededOf(op.outputs[i]);
    base::Accumulate(touched.written, PortBytes(op.outputs[i], made, Direction::kWrite));
  }
  return touched;
}

// Tables that are stored with a constant do not count, because K slices come without them.
int64_t Bound::PortBytesOfConstants(const graph::Operator& op) const {
  if (hw_profiles::MayReadAtHome(profile_, TensorRole::kConstant)) return 0;
  int64_t bytes = 0;
  for (const int constant : std::set<int>(op.weights.begin(), op.weights.end()))
    base::Accumulate(bytes, encoder::program::ConstantBytes(graph_, profile_, constant, {}));
  return bytes;
}

// Returns whether an engine may write a result in its home although another operator of the
// interval reads it, because a cut may separate the two.
bool Bound::MayBeWrittenDirectly(const Route& route) const {
  return scope_ == Scope::kAnyCut && hw_profiles::MayWriteAt(profile_, route.role, route.home);
}

void Bound::AddTensor(size_t index) {
  const int tensor = coverage_.Whole().tensors[index];
  const Route route = RouteOf(graph_, profile_, UsageOf(tensor), tensor, interval_, kept_);
  if (route.transfer != TransferKind::kMoved && route.transfer != TransferKind::kDirect) return;
  const graph::Tensor& t = graph_.tensors[static_cast<size_t>(tensor)];
  const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(profile_, route.role);
  const bool moved = route.transfer == TransferKind::kMoved && !IsUsedByHost(tensor);
  if (coverage_.Inside(UsageOf(tensor).producer)) {
    const int64_t bytes = PayloadBytes(t, WholeTile().share[index], layout);
    AddCrossing(route.home, Direction::kWrite, bytes, moved && !MayBeWrittenDirectly(route));
    base::Accumulate(outputs_, bytes);
  } else if (const auto read = coverage_.ReadOf(tensor)) {
    const int64_t bytes = PayloadBytes(t, ExtentsOf(*read), layout);
    AddCrossing(route.home, Direction::kRead, bytes, moved);
    base::Accumulate(inputs_, bytes);
  }
}

void Bound::AddConstants(std::span<const LoadedOnce> constants) {
  for (const LoadedOnce& constant : constants) {
    if (constant.home == profile_.tile_memory) continue;
    const bool moved = !hw_profiles::MayReadAt(profile_, TensorRole::kConstant, constant.home) &&
                       !IsUsedByHost(constant.tensor);
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
  const std::vector<int> none;
  Bound bound(graph, profile, usages, coverage, Scope::kAnyCut, none,
              OnHost(graph, profile, interval));
  return bound.Find(bound.FindOperators(), ConstantsLoadedOnce(graph, profile, interval), {},
                    Detail::kParts);
}

SubgraphBounds::SubgraphBounds(const graph::Graph& graph, const Profile& profile,
                               const std::vector<graph::Usage>& usages, graph::Interval interval)
    : graph_(graph),
      profile_(profile),
      usages_(usages),
      coverage_(graph, usages, interval),
      on_host_(OnHost(graph, profile, interval)) {
  const std::vector<int> none;
  const Bound bound(graph, profile, usages, coverage_, Scope::kOneSubgraph, none, on_host_);
  operators_ = bound.FindOperators();
  constants_ = ConstantsLoadedOnce(graph, profile, interval);
  // Keeping tensors is never refused, so with all of them kept, the policies of every case are
  // included.
  for (const hw_profiles::WeightPolicy policy : encoder::program::WeightPoliciesOf(
           graph, usages, profile, interval, coverage_.Whole().tensors))
    weights_.push_back(FindWeights(graph, profile, usages, coverage_, policy));
}

plan::Metrics SubgraphBounds::Find(const std::vector<int>& kept, Detail detail) const {
  return Bound(graph_, profile_, usages_, coverage_, Scope::kOneSubgraph, kept, on_host_)
      .Find(operators_, constants_, weights_, detail);
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
