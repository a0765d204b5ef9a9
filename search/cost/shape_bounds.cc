// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/shape_bounds.h"

#include <algorithm>
#include <limits>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/state_aliasing.h"
#include "tessera/graph/tiling/cached_halo.h"
#include "tessera/search/cost/cost_terms.h"

// Lower bounds of the score of a tile shape, from sums along its axes (axis_sums.cc).
//
// An engine takes at least as long for all tiles as for one box of these sums, by the argument for
// whole intervals (lower_bounds.cc). If the loops of an operator are unrolled axis by axis, each
// length is rounded up to the lanes before it is added. The bound also includes the start of an
// operator for each tile that it works on, the setup of each transfer, and constants that are moved
// again for every tile. As in the simulator, an operator takes the longest of its arithmetic, the
// port of the tile memory and the slices that arrive at the same time; the pass comes between the
// loads of the first tile and the stores of the last; and no port finishes earlier than its
// transfers.
//
// Cost: some multiplications for each operator and shape. Tests compare the bounds with the
// simulator.
namespace tessera::search::cost {
namespace {

using base::SaturatingAdd;
using base::SaturatingMul;
using graph::tiling::Extents;
using graph::tiling::Propagation;
using graph::tiling::TileShape;
using hw_profiles::WeightPolicy;

// An upper bound of the relative rounding error of sums and products of doubles.
constexpr double kRounding = 1e-9;

}  // namespace

struct ShapeBounds::Work {
  std::vector<Totals> slots;
  std::vector<Compute> computes;  // by operator: of the arithmetic of all tiles
  int64_t tiles = 1;
  int64_t repeats = 1;  // tiles with the same channels of the result
  // by memory
  std::vector<int64_t> loads;  // cycles of all tiles
  std::vector<int64_t> stores;
  std::vector<int64_t> first_loads;     // of the first tile
  std::vector<int64_t> first_unsliced;  // of these, what split-k does not slice
  std::vector<int64_t> first_slices;    // of what it does slice; empty: nothing is certain
  std::vector<int64_t> last_stores;
  int64_t off_chip_bytes = 0;  // without constants
};

ShapeBounds::ShapeBounds(const graph::Graph& graph, const hw_profiles::Profile& profile,
                         const std::vector<graph::Usage>& usages, graph::Interval interval,
                         std::span<const encoder::program::Policy> policies, AxisSums& sums)
    : graph_(graph), profile_(profile), interval_(interval), sums_(sums) {
  if (policies.empty() || encoder::program::RunsOnHost(graph, profile, interval)) return;
  divides_channels_ = MayDivideChannels(graph, profile, interval);
  graph::tiling::TiledSubgraph whole;
  whole.interval = interval;
  whole.tensors = sums.Regions().Tensors();
  for (const encoder::program::Policy& policy : policies) {
    const Kind kind{policy.weights, policy.halo != hw_profiles::HaloStorage::kRecompute};
    if (std::find(kinds_.begin(), kinds_.end(), kind) != kinds_.end()) continue;
    kinds_.push_back(kind);
    if (kind.weights == WeightPolicy::kSplitK && !split_k_)
      split_k_.emplace(graph, profile, interval, policies);
    const auto is_known = [&kind](const auto& known) { return known.first == kind.weights; };
    if (std::any_of(constants_.begin(), constants_.end(), is_known)) continue;
    TileCosts costs(graph, profile, usages, whole,
                    {.weights = policy.weights, .kept = policy.kept});
    std::vector<ConstantFlow> flows = costs.ConstantFlowsOf(policy.weights, {});
    constants_.emplace_back(
        policy.weights, std::make_unique<Constants>(Constants{std::move(costs), std::move(flows)}));
  }
  const auto inside = [interval](int op) { return interval.first <= op && op <= interval.last; };
  for (const int tensor : whole.tensors) {
    const graph::Usage& usage = usages[static_cast<size_t>(tensor)];
    const Route& route = routes_.emplace_back(
        RouteOf(graph, profile, usage, tensor, interval, policies.front().kept));
    if (route.role == base::TensorRole::kState) return;
    const bool direct = route.transfer == TransferKind::kDirect;
    const bool read = std::any_of(usage.consumers.begin(), usage.consumers.end(), inside);
    is_made_.push_back(static_cast<char>(inside(usage.producer)));
    crosses_in_.push_back(static_cast<char>(!inside(usage.producer) || (direct && read)));
  }
  for (int i = interval.first; i <= interval.last; ++i)
    workers_.push_back(BoundingWorkerOf(graph, profile, graph.operators[static_cast<size_t>(i)]));
  least_pj_ = std::numeric_limits<double>::infinity();
  for (size_t memory = 0; memory < profile.memories.size(); ++memory) {
    const hw_profiles::Memory& its = profile.memories[memory];
    leakage_pj_ += its.leakage_mw * 1e9 / std::max(1.0, profile.clock_hz);
    if (static_cast<int>(memory) == profile.tile_memory) continue;
    least_pj_ = std::min({least_pj_, its.read_pj_per_byte, its.write_pj_per_byte});
  }
  if (profile.clock_hz <= 0) leakage_pj_ = 0;
  if (profile.memories.size() <= 1) least_pj_ = 0;
  usable_ = true;
}

double ShapeBounds::Find(const TileShape& tile, const Tie& least, const Scale& scale) {
  const bool may_keep = encoder::program::MayKeepRows(profile_, sums_.Output(), tile);
  double score = std::numeric_limits<double>::infinity();
  for (const bool keeps_rows : {false, true}) {
    if (keeps_rows && !may_keep) continue;
    std::optional<Work> work;
    for (const Kind& kind : kinds_) {
      if (kind.keeps_rows != keeps_rows) continue;
      if (!work) FindTotals(tile, keeps_rows, work.emplace());
      score = std::min(score, scale.CostOf(MetricsOf(*work, kind, least)).score);
    }
  }
  return score * (1 - kRounding);
}

// Leaves the totals of all slots empty if nothing is certain.
void ShapeBounds::FindTotals(const TileShape& tile, bool keeps_rows, Work& work) {
  const graph::Shape& output = sums_.Output();
  const Propagation& regions = sums_.Regions();
  const std::optional<size_t> rows = graph::tiling::AxisOf(output, base::Axis::kRows);
  const auto constant = CutConstant();
  AxisSums::AxisSet cut = 0;
  for (size_t axis = 0; axis < output.size(); ++axis)
    cut |= tile[axis] < output[axis] ? AxisSums::SetOf(axis) : 0;
  if (!sums_.IsSeparable(cut)) return;
  std::vector<const AxisSums::Sums*> along(output.size(), nullptr);
  for (size_t axis = 0; axis < output.size(); ++axis) {
    if (tile[axis] >= output[axis]) continue;
    along[axis] = sums_.Of(axis, tile[axis], keeps_rows && rows == axis);
    if (along[axis] == nullptr) return;
    work.tiles = SaturatingMul(work.tiles, along[axis]->positions);
    if (!constant || axis != constant->channels)
      work.repeats = SaturatingMul(work.repeats, along[axis]->positions);
  }
  const auto sum_at = [&](size_t region) -> const AxisSums::Sums* {
    const std::optional<size_t> decider = sums_.DeciderOf(region, cut);
    return decider ? along[*decider] : nullptr;
  };
  work.slots.resize(regions.Tensors().size());
  for (size_t slot = 0; slot < work.slots.size(); ++slot) {
    // The number of tiles that need the same part of the tensor; 0 if all that is read of it lies
    // in pads.
    int64_t repeated = sums_.IsNeeded(slot) ? 1 : 0;
    int64_t asking = repeated;
    for (size_t axis = 0; axis < along.size(); ++axis) {
      if (along[axis] == nullptr) continue;
      asking = SaturatingMul(asking, along[axis]->asking[slot]);
      if (!sums_.IsDecidedBy(slot, axis))
        repeated = SaturatingMul(repeated, along[axis]->asking[slot]);
    }
    Totals totals{.elements = repeated, .made = repeated, .tiles = asking, .leaving = 1};
    for (size_t i = regions.Begin(slot); i < regions.Begin(slot + 1); ++i) {
      const AxisSums::Sums* sums = sum_at(i);
      const int64_t whole = sums_.WholeLength(i);
      totals.elements = SaturatingMul(totals.elements, sums == nullptr ? whole : sums->lengths[i]);
      totals.made = SaturatingMul(totals.made, sums == nullptr ? whole : sums->made[i]);
      if (!regions.Leaves(slot)) continue;
      const size_t axis = i - regions.Begin(slot);
      const std::optional<size_t> source = regions.ShareSource(slot, axis);
      totals.leaving = SaturatingMul(totals.leaving, source && along[*source] != nullptr
                                                         ? along[*source]->shares[i]
                                                         : regions.ShapeOf(slot)[axis]);
    }
    work.slots[slot] = totals;
  }
  Extents part;
  Extents stepped;
  for (size_t k = 0; k < workers_.size(); ++k) {
    const graph::Operator& op = graph_.operators[static_cast<size_t>(interval_.first) + k];
    const size_t slot = regions.SlotOf(op.outputs.front());
    part.clear();
    stepped.clear();
    for (size_t i = regions.Begin(slot); i < regions.Begin(slot + 1); ++i) {
      const AxisSums::Sums* sums = sum_at(i);
      part.push_back(sums == nullptr ? sums_.WholeLength(i) : sums->made[i]);
      stepped.push_back(sums == nullptr ? sums_.WholeSteps(i) : sums->steps[i]);
    }
    // Of one group, which may be rounded up.
    const bool in_one = divides_channels_ || op.groups <= 1;
    Compute compute = LeastComputeOf(graph_, workers_[k], op, part, stepped, in_one);
    for (size_t axis = 0; axis < along.size(); ++axis) {
      if (along[axis] != nullptr && !sums_.IsDecidedBy(slot, axis))
        compute.body = SaturatingMul(compute.body, along[axis]->asking[slot]);
    }
    const bool hides = compute.engine != nullptr && compute.engine->outstanding >= 2;
    compute.start = hides ? 0 : SaturatingMul(compute.start, work.slots[slot].tiles);
    work.computes.push_back(compute);
  }
  const std::vector<graph::ops::Extent> first = sums_.FirstTile(tile);
  AddCrossings(tile, first, keeps_rows, work);
  FindFirstSlices(first, work);
}

void ShapeBounds::FindFirstSlices(std::span<const graph::ops::Extent> first, Work& work) const {
  if (!split_k_) return;
  const Propagation& regions = sums_.Regions();
  const auto first_of = [&](size_t slot) {
    Extents extents;
    for (size_t i = regions.Begin(slot); i < regions.Begin(slot + 1); ++i)
      extents.push_back(first[i].Length());
    return extents;
  };
  work.first_slices = split_k_->FirstSlices(
      first_of(regions.LastSlot()), [&](int tensor) -> std::optional<SplitKBounds::Operand> {
        const size_t slot = regions.SlotOf(tensor);
        if (!IsSliced(slot)) return std::nullopt;
        return SplitKBounds::Operand{&routes_[slot], first_of(slot)};
      });
}

bool ShapeBounds::IsSliced(size_t slot) const {
  return split_k_ && routes_[slot].transfer == TransferKind::kMoved && is_made_[slot] == 0 &&
         split_k_->Takes(sums_.Regions().Tensors()[slot]);
}

std::optional<SplitKBounds::Constant> ShapeBounds::CutConstant() const {
  return split_k_ ? split_k_->CutConstant() : std::nullopt;
}

int64_t ShapeBounds::BytesOf(size_t slot, int64_t elements) const {
  const auto tensor = static_cast<size_t>(sums_.Regions().Tensors()[slot]);
  return base::BytesOf(graph_.tensors[tensor].type, elements);
}

// Returns a lower bound of the cycles of `transfers` transfers between a home and the tile memory
// that together move `bytes`.
int64_t ShapeBounds::CyclesOfAll(int home, bool reads, int64_t transfers, int64_t bytes) const {
  if (bytes == 0 || transfers == 0) return 0;
  const int64_t together =
      LeastTransferCycles(profile_, home, reads ? Direction::kRead : Direction::kWrite, bytes);
  const hw_profiles::Port& port = profile_.memories[static_cast<size_t>(home)].port;
  const hw_profiles::Link* link = hw_profiles::LinkBetween(profile_, home, profile_.tile_memory);
  const int64_t each = SaturatingAdd(reads ? port.read_latency_cycles : port.write_latency_cycles,
                                     link == nullptr ? 0 : link->setup_cycles);
  return SaturatingAdd(together, SaturatingMul(each, transfers - 1));
}

void ShapeBounds::AddCrossings(const TileShape& tile, std::span<const graph::ops::Extent> first,
                               bool keeps_rows, Work& work) const {
  const Propagation& regions = sums_.Regions();
  for (std::vector<int64_t>* cycles :
       {&work.loads, &work.stores, &work.first_loads, &work.first_unsliced, &work.last_stores})
    cycles->assign(profile_.memories.size(), 0);
  const graph::ops::Box last = sums_.LastBox(tile);
  Extents extents;
  for (size_t slot = 0; slot < routes_.size(); ++slot) {
    const Route& route = routes_[slot];
    const bool moved = route.transfer == TransferKind::kMoved;
    if (!moved && route.transfer != TransferKind::kDirect) continue;
    const auto home = static_cast<size_t>(route.home);
    const graph::Tensor& tensor = graph_.tensors[static_cast<size_t>(regions.Tensors()[slot])];
    const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(profile_, route.role);
    const Totals& totals = work.slots[slot];
    if (crosses_in_[slot] != 0) {
      const int64_t bytes = BytesOf(slot, totals.made);
      base::Accumulate(work.off_chip_bytes, bytes);
      if (moved) {
        base::Accumulate(work.loads[home], CyclesOfAll(route.home, true, totals.tiles, bytes));
        extents.clear();
        for (size_t i = regions.Begin(slot); i < regions.Begin(slot + 1); ++i)
          extents.push_back(first[i].Length());
        const int64_t cycles =
            TransferCycles(profile_, route.home, Direction::kRead, RunsOf(tensor, extents, layout));
        base::Accumulate(work.first_loads[home], cycles);
        base::Accumulate(work.first_unsliced[home], IsSliced(slot) ? 0 : cycles);
      }
    }
    if (is_made_[slot] != 0) {
      const int64_t bytes = BytesOf(slot, totals.leaving);
      base::Accumulate(work.off_chip_bytes, bytes);
      if (moved) {
        base::Accumulate(work.stores[home], CyclesOfAll(route.home, false, 1, bytes));
        extents.clear();
        for (size_t axis = 0; axis < tensor.shape.size(); ++axis)
          extents.push_back(regions.ShareAlong(slot, axis, last).Length());
        if (!keeps_rows || slot == regions.LastSlot())
          base::Accumulate(work.last_stores[home],
                           TransferCycles(profile_, route.home, Direction::kWrite,
                                          RunsOf(tensor, extents, layout)));
        if (slot == regions.LastSlot())
          base::Accumulate(work.stores[home],
                           SaturatingMul(CyclesOfAll(route.home, false, 2, 1) -
                                             CyclesOfAll(route.home, false, 1, 1),
                                         work.tiles - 1));
      }
    }
  }
}

// Returns a lower bound of the engine's steps of all tiles.
int64_t ShapeBounds::EnginePass(const Work& work, Kind kind, const Constants& constants) const {
  const Propagation& regions = sums_.Regions();
  const hw_profiles::Port& port = profile_.memories[static_cast<size_t>(profile_.tile_memory)].port;
  const TransferKind transfer = constants.costs.ConstantTransfer();
  const bool streams = kind.weights == WeightPolicy::kStreamed && transfer == TransferKind::kMoved;
  const size_t homes = constants.costs.ConstantHomes().size();
  int64_t pass = 0;
  int64_t idle = 0;
  for (size_t k = 0; k < workers_.size(); ++k) {
    const graph::Operator& op = graph_.operators[static_cast<size_t>(interval_.first) + k];
    const Compute& compute = work.computes[k];
    const size_t slot = regions.SlotOf(op.outputs.front());
    if (compute.engine != nullptr) idle = std::max(idle, compute.engine->idle_cycles_between_tiles);
    Touched touched;
    const auto is_here = [this](size_t at) {
      return routes_[at].transfer != TransferKind::kDirect;
    };
    // If the operator does nothing in some tile, perhaps only other operators read that tile's part
    // of a shared operand.
    const bool always_reads = work.slots[slot].tiles == work.tiles;
    for (const int input : op.inputs) {
      const size_t at = regions.SlotOf(input);
      if (is_here(at) && (always_reads || !sums_.IsShared(at)))
        base::Accumulate(touched.read, BytesOf(at, work.slots[at].elements));
    }
    for (const int result : op.outputs) {
      const size_t at = regions.SlotOf(result);
      if (is_here(at)) base::Accumulate(touched.written, BytesOf(at, work.slots[at].made));
    }
    if (kind.weights == WeightPolicy::kSplitK) {
      const int64_t sums = split_k_->SumsBytes(work.slots[regions.LastSlot()].made);
      base::Accumulate(touched.read, sums);
      base::Accumulate(touched.written, sums);
    }
    int64_t slices = 0;
    for (size_t home = 0; home < homes; ++home) {
      const std::span<const ConstantCost> costs = constants.costs.ConstantsIn(home);
      if (transfer != TransferKind::kDirect)
        base::Accumulate(touched.read, SaturatingMul(costs[k].bytes, work.slots[slot].tiles));
      if (!streams) continue;
      const size_t next = (k + 1) % workers_.size();
      slices =
          std::max(slices, SaturatingAdd(SaturatingMul(costs[k].later_slices_cycles, work.tiles),
                                         SaturatingMul(costs[next].first_slice_cycles,
                                                       next == 0 ? work.tiles - 1 : work.tiles)));
    }
    const int64_t arithmetic = SaturatingAdd(compute.body, compute.start);
    base::Accumulate(pass, std::max({arithmetic, slices, LeastPortCycles(port, touched)}));
  }
  return SaturatingAdd(pass, SaturatingMul(idle, work.tiles - 1));
}

plan::Metrics ShapeBounds::MetricsOf(const Work& work, Kind kind, const Tie& least) const {
  plan::Metrics metrics;
  metrics.clock_hz = profile_.clock_hz;
  metrics.latency_cycles = static_cast<int64_t>(least.latency);
  metrics.off_chip_bytes = static_cast<int64_t>(least.off_chip_bytes);
  metrics.energy_pj = least.energy;
  if (work.slots.empty()) return metrics;
  const auto found = std::find_if(constants_.begin(), constants_.end(),
                                  [&kind](const auto& each) { return each.first == kind.weights; });
  const Constants& constants = *found->second;
  int64_t bytes = work.off_chip_bytes;
  int64_t pass = EnginePass(work, kind, constants);
  int64_t prologue = 0;
  int64_t epilogue = 0;
  int64_t ports = 0;
  // If features come slice by slice, only the first slice must arrive before the pass.
  const bool is_sliced = kind.weights == WeightPolicy::kSplitK;
  const auto cut = CutConstant();
  for (size_t memory = 0; memory < work.loads.size(); ++memory) {
    int64_t arrives = work.first_loads[memory];
    if (is_sliced)
      arrives = work.first_slices.empty()
                    ? 0
                    : SaturatingAdd(work.first_unsliced[memory], work.first_slices[memory]);
    int64_t in = work.loads[memory];
    if (is_sliced && cut && cut->home == static_cast<int>(memory)) {
      const int64_t all = SaturatingMul(cut->bytes, work.repeats);
      base::Accumulate(bytes, all);
      base::Accumulate(
          in, CyclesOfAll(cut->home, true, SaturatingMul(cut->transfers, work.tiles), all));
    }
    for (const ConstantFlow& flow : constants.flows) {
      if (flow.home != static_cast<int>(memory)) continue;
      base::Accumulate(bytes, flow.BytesMoved(work.tiles));
      base::Accumulate(arrives, SaturatingAdd(flow.resident_cycles, flow.first_slice_cycles));
      base::Accumulate(
          in, SaturatingAdd(flow.resident_cycles, SaturatingMul(flow.streamed_cycles, work.tiles)));
    }
    prologue = std::max(prologue, arrives);
    epilogue = std::max(epilogue, work.last_stores[memory]);
    const int64_t out = work.stores[memory];
    ports = std::max(ports, WorksInTurn(profile_, static_cast<int>(memory)) ? SaturatingAdd(in, out)
                                                                            : std::max(in, out));
  }
  base::Accumulate(pass, SaturatingAdd(prologue, epilogue));
  metrics.latency_cycles = std::max({metrics.latency_cycles, pass, ports});
  metrics.off_chip_bytes = std::max(metrics.off_chip_bytes, bytes);
  metrics.energy_pj +=
      (static_cast<double>(metrics.off_chip_bytes) - least.off_chip_bytes) * least_pj_ +
      std::max(0.0, static_cast<double>(metrics.latency_cycles) - least.latency) * leakage_pj_;
  return metrics;
}

}  // namespace tessera::search::cost
