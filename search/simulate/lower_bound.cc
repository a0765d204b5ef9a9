#include <algorithm>

#include "tessera/search/simulate/cycles.h"
#include "tessera/search/simulate/energy.h"
#include "tessera/search/simulate/saturating.h"
#include "tessera/search/simulate/simulate.h"
#include "tessera/search/simulate/traffic.h"

// A bound under every tile, policy and cut.
//
// Tiles overlap, so together they do at least what one tile of the whole output does, provided that they leave no holes: a
// convolution with a stride beyond its kernel skips rows, and small tiles then ask its producer for less than the hull that one
// large tile asks for. So an operator counts when somebody outside reads its result, or when an operator that counts reads it
// without holes; the rest counts nothing. Ceilings keep the bound: boxes that cover a box hold at least as many unroll steps
// (each step of the whole has its lattice point in some tile, and a tile has no more lattice points than steps).
namespace tessera::search {
namespace {

using graph::Extents;
using hw_profiles::Profile;

bool SlidesWithoutHoles(const graph::Window& window) {
  for (size_t axis = 0; axis < 2; ++axis) {
    if (window.dilation[axis] != 1 && window.kernel[axis] > 1) return false;
    if (window.stride[axis] > window.kernel[axis]) return false;
  }
  return true;
}

// Whether a cover of the output asks for a cover of the input's hull; `whole_output`: of all the output. Kinds that put every
// element in another place leave holes in parts alone.
bool ReadsWithoutHoles(const graph::Graph& graph, const graph::Operator& op, int input, bool whole_output) {
  switch (op.kind) {
    case base::OperatorKind::kResize: {
      const graph::Shape& from = graph.tensors[static_cast<size_t>(input)].shape;
      const graph::Shape& to = graph.tensors[static_cast<size_t>(op.outputs.front())].shape;
      return op.resize.scales.empty() &&
             std::equal(from.begin(), from.end(), to.begin(), to.end(), std::less_equal<>());
    }
    case base::OperatorKind::kSlice:
      return std::all_of(op.steps.begin(), op.steps.end(),
                         [](int64_t step) { return step == 1 || step == -1; });
    case base::OperatorKind::kPad:
      return whole_output || op.padding.mode != graph::PadMode::kWrap;
    case base::OperatorKind::kReshape:
    case base::OperatorKind::kDepthToSpace:
    case base::OperatorKind::kSpaceToDepth:
      return whole_output;
    case base::OperatorKind::kGather:
      return false;
    case base::OperatorKind::kOpaque:
      return std::all_of(op.accesses.begin(), op.accesses.end(), [](const graph::OperandAccess& access) {
        return SlidesWithoutHoles(access.window);
      });
    default:
      return SlidesWithoutHoles(op.window);
  }
}

class Bound {
 public:
  Bound(const graph::Graph& graph, const Profile& profile, graph::Interval interval)
      : graph_(graph),
        profile_(profile),
        interval_(interval),
        usages_(graph::UsagesOf(graph)),
        ports_(profile.memories.size()),
        dma_(profile.memories.size()),
        touched_(profile.memories.size()) {
    const graph::Operator& last = graph.operators[static_cast<size_t>(interval.last)];
    whole_ = graph::Tile(graph, interval, graph.tensors[static_cast<size_t>(last.outputs.front())].shape);
    FindCounted();
  }

  plan::Metrics Find() {
    for (int op = interval_.first; op <= interval_.last; ++op) {
      if (CountsAt(op)) AddOperator(op);
    }
    for (size_t i = 0; i < whole_.tensors.size(); ++i) AddTensor(i);
    AddConstants();
    metrics_.off_chip_by_cause = {{"inputs", inputs_}, {"outputs", outputs_}, {"weights", weights_}};
    metrics_.off_chip_bytes = SaturatingAdd(SaturatingAdd(inputs_, outputs_), weights_);
    AddLatency();
    FillEnergy(profile_, mac_pj_, touched_, metrics_);
    return metrics_;
  }

 private:
  const graph::Operator& OpAt(int op) const { return graph_.operators[static_cast<size_t>(op)]; }
  const graph::Usage& UsageOf(int tensor) const { return usages_[static_cast<size_t>(tensor)]; }
  bool Inside(int op) const { return interval_.first <= op && op <= interval_.last; }
  bool CountsAt(int op) const { return counted_[static_cast<size_t>(op - interval_.first)]; }

  const Extents& NeededOf(int tensor) const {
    const auto at = std::lower_bound(whole_.tensors.begin(), whole_.tensors.end(), tensor);
    return whole_.classes.front().needed[static_cast<size_t>(at - whole_.tensors.begin())];
  }

  bool IsNeededWhole(const graph::Operator& op) const {
    const int output = op.outputs.front();
    return NeededOf(output) == graph_.tensors[static_cast<size_t>(output)].shape;
  }

  // Some counted operator inside reads all of the hull.
  bool SurelyRead(int tensor) const {
    const std::vector<int>& consumers = UsageOf(tensor).consumers;
    return std::any_of(consumers.begin(), consumers.end(), [&](int op) {
      return Inside(op) && CountsAt(op) &&
             ReadsWithoutHoles(graph_, OpAt(op), tensor, IsNeededWhole(OpAt(op)));
    });
  }

  bool LeavesInterval(int tensor) const {
    return graph::RoleIn(graph_, UsageOf(tensor), tensor, interval_) != base::TensorRole::kFeature;
  }

  void FindCounted() {
    counted_.assign(static_cast<size_t>(interval_.last - interval_.first) + 1, false);
    counted_.back() = true;
    for (int op = interval_.last - 1; op >= interval_.first; --op) {
      const std::vector<int>& outputs = OpAt(op).outputs;
      counted_[static_cast<size_t>(op - interval_.first)] =
          std::any_of(outputs.begin(), outputs.end(),
                      [&](int tensor) { return LeavesInterval(tensor) || SurelyRead(tensor); });
    }
  }

  void AddOperator(int index);
  void AddTensor(size_t index);
  void AddConstants();
  void AddLatency();
  void AddCrossing(int home, Direction direction, int64_t bytes, bool moved);

  const graph::Graph& graph_;
  const Profile& profile_;
  graph::Interval interval_;
  std::vector<graph::Usage> usages_;
  graph::TiledSubgraph whole_;
  std::vector<bool> counted_;
  std::vector<Touched> ports_;    // bytes over each off-chip memory's port
  std::vector<Touched> dma_;      // the part of them that only DMA can move
  std::vector<Touched> touched_;  // bytes for energy
  int64_t compute_ = 0;
  int64_t inputs_ = 0;
  int64_t outputs_ = 0;
  int64_t weights_ = 0;
  double mac_pj_ = 0;
  plan::Metrics metrics_;
};

// What an engine certainly reads and writes in the tile memory is left to AddTensor and to features inside.
void Bound::AddOperator(int index) {
  const graph::Operator& op = OpAt(index);
  const Compute compute = ComputeOf(graph_, profile_, op, NeededOf(op.outputs.front()));
  Accumulate(compute_, compute.body);
  if (compute.engine != nullptr && compute.engine->outstanding < 2) Accumulate(compute_, compute.start);
  const int64_t macs = whole_.classes.front().macs[static_cast<size_t>(index - interval_.first)];
  Accumulate(metrics_.macs, macs);
  mac_pj_ += MacEnergy(graph_, profile_, op, macs);
}

void Bound::AddTensor(size_t index) {
  const int tensor = whole_.tensors[index];
  const Route route = RouteOf(graph_, profile_, UsageOf(tensor), tensor, interval_);
  if (route.passage != Passage::kMoved && route.passage != Passage::kDirect) return;
  const graph::Tensor& t = graph_.tensors[static_cast<size_t>(tensor)];
  const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(profile_, route.role);
  const bool moved = route.passage == Passage::kMoved;
  if (Inside(UsageOf(tensor).producer)) {
    const int64_t bytes = PayloadBytes(t, whole_.classes.front().share[index], layout);
    AddCrossing(route.home, Direction::kWrite, bytes, moved);
    Accumulate(outputs_, bytes);
  } else if (SurelyRead(tensor)) {
    const int64_t bytes = PayloadBytes(t, whole_.classes.front().needed[index], layout);
    AddCrossing(route.home, Direction::kRead, bytes, moved);
    Accumulate(inputs_, bytes);
  }
}

void Bound::AddConstants() {
  const int home = hw_profiles::LayoutOf(profile_, base::TensorRole::kConstant).home;
  if (home == profile_.tile_memory) return;
  const bool moved = !profile_.memories[static_cast<size_t>(home)].direct_read;
  for (const int64_t bytes : ResidentBytes(graph_, profile_, interval_)) {
    AddCrossing(home, Direction::kRead, bytes, moved);
    Accumulate(weights_, bytes);
  }
}

void Bound::AddCrossing(int home, Direction direction, int64_t bytes, bool moved) {
  const auto memory = static_cast<size_t>(home);
  const bool in = direction == Direction::kRead;
  Accumulate(in ? ports_[memory].read : ports_[memory].written, bytes);
  Accumulate(in ? touched_[memory].read : touched_[memory].written, bytes);
  if (!moved) return;
  Touched& here = touched_[static_cast<size_t>(profile_.tile_memory)];
  Accumulate(in ? dma_[memory].read : dma_[memory].written, bytes);
  Accumulate(in ? here.written : here.read, bytes);
}

// Where transfers have steps of their own, those that only DMA can do come on top of the arithmetic; elsewhere the busiest of
// all decides.
void Bound::AddLatency() {
  metrics_.latency_cycles = compute_;
  int64_t in_turn = compute_;
  for (size_t memory = 0; memory < ports_.size(); ++memory) {
    const hw_profiles::Port& port = profile_.memories[memory].port;
    const auto cycles_of = [&port](const Touched& bytes, bool one_by_one) {
      const double read = static_cast<double>(bytes.read) / port.read_bytes_per_cycle;
      const double written = static_cast<double>(bytes.written) / port.write_bytes_per_cycle;
      return static_cast<int64_t>(one_by_one ? read + written : std::max(read, written));
    };
    metrics_.latency_cycles = std::max(metrics_.latency_cycles, cycles_of(ports_[memory], port.shared));
    Accumulate(in_turn, cycles_of(dma_[memory], true));
  }
  if (profile_.tiling.dma == hw_profiles::DmaSteps::kOwnSteps) {
    metrics_.latency_cycles = std::max(metrics_.latency_cycles, in_turn);
  }
}

}  // namespace

plan::Metrics LowerBound(const graph::Graph& graph, const Profile& profile, graph::Interval interval) {
  return Bound(graph, profile, interval).Find();
}

}  // namespace tessera::search
