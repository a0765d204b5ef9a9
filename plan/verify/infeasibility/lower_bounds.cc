#include "tessera/plan/verify/infeasibility/lower_bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/tiles.h"

// Sizes of tile buffers follow from the tiles and the halo alone, and so do the operators between
// which each buffer must live. So one walk over the tiles gives a bound for all policies for
// weights and for in-place results:
//
//     operator     0   1   2   3
//     x  loaded    ####                     read by 0; twice if the next tile arrives then
//     a            ############             made by 0, read by 1 and 2
//     b                ########             made by 1, read by 2
//     rolling buffer of c    ################         a rolling buffer lives throughout
//
// An operand and a result of an operator may share one place, so if that is possible only the
// larger counts. Constants, scratch and data that is copied between tiles are left out.
namespace tessera::plan::verify::infeasibility {

namespace {

using hw_profiles::HaloStorage;

// A buffer that lives at least at the steps of operators [first, last].
struct Stay {
  int tensor = 0;
  int64_t bytes = 0;
  int first = 0;
  int last = 0;
};

class ShapeLoad {
 public:
  ShapeLoad(const Plan& plan, const std::vector<Users>& users, size_t index)
      : plan_(plan),
        users_(users),
        index_(static_cast<int>(index)),
        subgraph_(plan.subgraphs[index]) {}

  int64_t Run() {
    FindSizes();
    for (const int tensor : TensorsOf(plan_.network, subgraph_.interval)) AddStay(tensor);
    int64_t most = 0;
    for (int op = subgraph_.interval.first; op <= subgraph_.interval.last; ++op)
      most = std::max(most, LoadAt(op));
    return most;
  }

 private:
  void FindSizes() {
    ForEachTile(plan_.network, users_, subgraph_, [&](const Tile& tile) { maxima_.Add(tile); });
  }

  bool Overlaps() const { return IsDoubleBuffered(plan_, subgraph_); }

  // Whether some tile has one before it and one behind it in the program's steps, so that all
  // buffers that live from tile to tile are alive.
  bool HasMiddle() const { return subgraph_.tiles > (Overlaps() ? 2 : 1); }

  int64_t SizeOf(BufferKind kind, int tensor) const {
    const BufferUse use = {kind, kind == BufferKind::kWhole ? -1 : index_, tensor, -1, 0, 0};
    return FootprintOf(plan_, users_, use, maxima_.Extents(), maxima_.Rows()).size;
  }

  void AddStay(int tensor) {
    const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(tensor)];
    if (facts.constant || IsStateInTileMemory(plan_, tensor)) return;
    const Held held = ResidencyOf(plan_, users_, subgraph_, tensor);
    const Users& users = users_[static_cast<size_t>(tensor)];
    const graph::Interval all = subgraph_.interval;
    const graph::Interval touched = TouchedIn(users, all);
    Stay stay{tensor, 0, touched.first, touched.last};
    if (held.residency == Residency::kWhole) {
      const bool is_wanted_later =
          facts.network_output || (!users.readers.empty() && users.readers.back() > all.last);
      if (!held.made) stay.first = all.first;
      if (is_wanted_later) stay.last = all.last;
      // With several tiles, the tensors that are read stay for the last tile.
      if (subgraph_.tiles > 1 && !held.made) stay.last = all.last;
      stay.bytes = SizeOf(BufferKind::kWhole, tensor);
    } else if (held.residency == Residency::kInner || held.residency == Residency::kLoaded ||
               held.residency == Residency::kStored) {
      const bool is_cached =
          subgraph_.halo != HaloStorage::kRecompute && IsCached(held, tensor, maxima_.Rows());
      const bool is_rolling_buffer = is_cached && subgraph_.halo == HaloStorage::kRollingBuffer;
      if (is_rolling_buffer && HasMiddle()) stay = {tensor, 0, all.first, all.last};
      const auto extents = maxima_.Extents().find(tensor);
      if (extents == maxima_.Extents().end() ||
          std::count(extents->second.begin(), extents->second.end(), 0) > 0)
        return;
      stay.bytes =
          SizeOf(is_rolling_buffer ? BufferKind::kRollingBuffer : BufferKind::kTile, tensor);
      const bool crosses = held.residency != Residency::kInner && !is_rolling_buffer;
      if (crosses && Overlaps() && HasMiddle())
        stays_.push_back({tensor, stay.bytes, all.first, all.last});
    }
    if (stay.bytes > 0 && stay.first <= stay.last) stays_.push_back(stay);
  }

  int64_t LoadAt(int op) const {
    const graph::Operator& facts = plan_.network.operators[static_cast<size_t>(op)];
    const auto has = [](const std::vector<int>& list, int tensor) {
      return std::find(list.begin(), list.end(), tensor) != list.end();
    };
    int64_t read = 0;
    int64_t made = 0;
    int64_t others = 0;
    std::set<int> counted;  // an operand's second buffer does not share a place
    for (auto stay = stays_.rbegin(); stay != stays_.rend(); ++stay) {
      if (op < stay->first || stay->last < op) continue;
      const bool is_first = counted.insert(stay->tensor).second;
      int64_t& sum = is_first && has(facts.inputs, stay->tensor)    ? read
                     : is_first && has(facts.outputs, stay->tensor) ? made
                                                                    : others;
      sum = Plus(sum, stay->bytes);
    }
    others = Plus(others, LeastConstants(plan_, users_, op, Overlaps()));
    return Plus(others,
                MaySharePlace(plan_.profile, facts) ? std::max(read, made) : Plus(read, made));
  }

  const Plan& plan_;
  const std::vector<Users>& users_;
  const int index_;
  const Subgraph& subgraph_;
  TileMaxima maxima_;
  std::vector<Stay> stays_;
};

}  // namespace

int64_t LoadOfShape(const Plan& plan, const std::vector<Users>& users, size_t index) {
  return ShapeLoad(plan, users, index).Run();
}

namespace {

using base::TensorRole;

// Whether each element of the result is copied from an element of the operand, and no element is
// copied twice.
bool CopiesEachOnce(const graph::Graph& network, const graph::Operator& op) {
  const auto volume = [&network](const std::vector<int>& tensors) {
    return VolumeOf(WholeOf(network.tensors[static_cast<size_t>(tensors.front())].shape));
  };
  switch (op.kind) {
    case base::OperatorKind::kReshape:
    case base::OperatorKind::kDepthToSpace:
    case base::OperatorKind::kSpaceToDepth:
    case base::OperatorKind::kSpaceToBatch:
      return volume(op.inputs) == volume(op.outputs);
    case base::OperatorKind::kSlice:
      return true;
    case base::OperatorKind::kGather: {
      const std::vector<int64_t>& indices = op.Own<base::GatherAttributes>().indices;
      return std::set<int64_t>(indices.begin(), indices.end()).size() == indices.size();
    }
    default:
      return false;
  }
}

// Whether adjacent results lie at most one element of the operand apart, along each axis, so that
// no element between them is left out.
bool Upsamples(const graph::Graph& network, const graph::Operator& op) {
  if (op.kind != base::OperatorKind::kResize) return false;
  const graph::Shape& from = network.tensors[static_cast<size_t>(op.inputs.front())].shape;
  const graph::Shape& to = network.tensors[static_cast<size_t>(op.outputs.front())].shape;
  const auto& scales = op.Own<base::ResizeAttributes>().scales;
  return std::equal(from.begin(), from.end(), to.begin(), to.end(), std::less_equal()) &&
         std::all_of(scales.begin(), scales.end(),
                     [](const base::Ratio& scale) { return scale.numerator >= scale.denominator; });
}

// Definitions of reads visit the indices of an axis one by one. Longer axes are left out.
constexpr int64_t kLongestAxis = int64_t{1} << 22;

// The box of the operand that is read without gaps for that box of the result; nullopt if gaps are
// possible, if nothing is read, or if an axis is too long to visit.
std::optional<Box> ReadWithoutGaps(const graph::Graph& network, const graph::Operator& op,
                                   size_t operand, const Box& made) {
  const bool is_long = std::any_of(made.begin(), made.end(), [](const graph::ops::Extent& extent) {
    return extent.Length() > kLongestAxis;
  });
  if (is_long) return std::nullopt;
  const base::OperatorTraits& traits = base::TraitsOf(op.kind);
  const bool gapless =
      traits.reads_boxes || Upsamples(network, op) ||
      (traits.slides && op.window.dilation == std::array<int64_t, 2>{1, 1} &&
       op.window.stride[0] <= op.window.kernel[0] && op.window.stride[1] <= op.window.kernel[1]);
  Box read = NeedOf(network, op, operand, made);
  if (IsEmpty(read)) return std::nullopt;
  if (gapless || (CopiesEachOnce(network, op) && VolumeOf(read) == VolumeOf(made))) return read;
  return std::nullopt;
}

// The hull of two boxes if it holds no element besides theirs; otherwise the larger one.
Box Joined(const Box& a, const Box& b) {
  Box hull = a;
  Box common = a;
  for (size_t axis = 0; axis < a.size(); ++axis) {
    hull[axis] = {std::min(a[axis].begin, b[axis].begin), std::max(a[axis].end, b[axis].end)};
    const int64_t begin = std::max(a[axis].begin, b[axis].begin);
    common[axis] = {begin, std::max(begin, std::min(a[axis].end, b[axis].end))};
  }
  if (VolumeOf(hull) == VolumeOf(a) + VolumeOf(b) - VolumeOf(common)) return hull;
  return VolumeOf(a) < VolumeOf(b) ? b : a;
}

// A lower bound of the cycles of the operator's arithmetic for all tiles: the cycles of that box of
// its result, because boxes that cover a box have at least as many steps of the unrolled loops,
// those that fold included (docs/program.md 14.2.13). Tiles may split groups, and may run parts of
// several groups together, so of groups only the work counts.
int64_t LeastCyclesOf(const Plan& plan, const graph::Operator& op, const Box& box, int64_t macs) {
  graph::Shape made;
  for (const graph::ops::Extent& extent : box) made.push_back(extent.Length());
  const bool may_grow_in_place = IsStateInTileMemory(plan, op.outputs.front());
  if (may_grow_in_place) return 0;
  if (IsOnHost(plan, op)) {  // always one tile
    const Arithmetic whole = ArithmeticOf(plan, op, made, std::nullopt);
    return Plus(whole.start, whole.body);
  }
  if (op.groups <= 1) return ArithmeticOf(plan, op, made, std::nullopt).body;
  const hw_profiles::Engine* engine = EngineOf(plan, op);
  if (engine == nullptr) return 0;
  const base::DataType type = plan.network.tensors[static_cast<size_t>(op.inputs.front())].type;
  const hw_profiles::Throughput* throughput = hw_profiles::ThroughputFor(*engine, op.kind, type);
  const hw_profiles::Unroll& unroll = throughput->unroll;
  const double at_once =
      static_cast<double>(unroll.batch) * static_cast<double>(unroll.out_rows) *
      static_cast<double>(unroll.out_columns) * static_cast<double>(unroll.out_channels) *
      static_cast<double>(unroll.in_channels) * static_cast<double>(unroll.kernel_rows) *
      static_cast<double>(unroll.kernel_columns);
  return static_cast<int64_t>(static_cast<double>(macs) / at_once * throughput->cycles_per_step);
}

}  // namespace

std::vector<std::optional<Box>> FindNeeded(const graph::Graph& network,
                                           const std::vector<Users>& users) {
  std::vector<std::optional<Box>> needed(network.tensors.size());
  for (size_t i = 0; i < needed.size(); ++i) {
    const bool is_wanted =
        network.tensors[i].network_output || (users[i].readers.empty() && !users[i].makers.empty());
    if (is_wanted) needed[i] = WholeOf(network.tensors[i].shape);
  }
  for (auto op = network.operators.rbegin(); op != network.operators.rend(); ++op) {
    const std::optional<Box>& made = needed[static_cast<size_t>(op->outputs.front())];
    if (!made) continue;
    for (size_t operand = 0; operand < op->inputs.size(); ++operand) {
      const std::optional<Box> read = ReadWithoutGaps(network, *op, operand, *made);
      std::optional<Box>& known = needed[static_cast<size_t>(op->inputs[operand])];
      if (read) known = known ? Joined(*known, *read) : *read;
    }
  }
  return needed;
}

Metrics LeastMetrics(const Plan& plan, const std::vector<Users>& users) {
  const graph::Graph& network = plan.network;
  const hw_profiles::Profile& profile = plan.profile;
  const std::vector<std::optional<Box>> needed = FindNeeded(network, users);
  Metrics least;
  least.clock_hz = profile.clock_hz;
  for (auto op = network.operators.rbegin(); op != network.operators.rend(); ++op) {
    const std::optional<Box>& made = needed[static_cast<size_t>(op->outputs.front())];
    if (!made) continue;
    const int64_t macs = MacsFor(network, *op, *made);
    least.macs = Plus(least.macs, macs);
    least.latency_cycles = Plus(least.latency_cycles, LeastCyclesOf(plan, *op, *made, macs));
    if (const hw_profiles::Engine* engine = EngineOf(plan, *op))
      least.energy_pj += engine->mac_pj * static_cast<double>(macs);
  }
  const auto count = [&](size_t tensor, TensorRole role, int64_t bytes) {
    const int home = HomeOf(plan, static_cast<int>(tensor));
    if (home == profile.tile_memory) return;
    const hw_profiles::Memory& memory = profile.memories[static_cast<size_t>(home)];
    const double pj =
        role == TensorRole::kConstant ? memory.read_pj_per_byte : memory.write_pj_per_byte;
    least.off_chip_bytes = Plus(least.off_chip_bytes, bytes);
    least.energy_pj += pj * static_cast<double>(bytes);
  };
  const graph::Interval everything{0, static_cast<int>(network.operators.size()) - 1};
  for (size_t i = 0; i < network.tensors.size(); ++i) {
    const graph::Tensor& facts = network.tensors[i];
    if (facts.constant && !users[i].readers.empty()) {
      count(i, TensorRole::kConstant, ConstantBytes(plan, users, static_cast<int>(i), everything));
    } else if (facts.network_output && !facts.network_input && !facts.state) {
      const TensorRole role = RoleAtHome(facts);
      const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(profile, role);
      count(i, role, StoredBytes(NameExtents(facts.shape), facts.type, layout.channel_block, 1));
    }
  }
  const double seconds =
      profile.clock_hz > 0 ? static_cast<double>(least.latency_cycles) / profile.clock_hz : 0;
  for (const hw_profiles::Memory& memory : profile.memories)
    least.energy_pj += memory.leakage_mw * 1e9 * seconds;
  return least;
}

bool IsBeyond(double value, double limit) {
  constexpr double kTolerance = 1e-6;
  return value > limit + kTolerance * std::max({1.0, std::abs(value), std::abs(limit)});
}

bool MaySharePlace(const hw_profiles::Profile& profile, const graph::Operator& op) {
  const std::vector<base::OperatorKind>& kinds = profile.tiling.in_place;
  return !op.in_place.empty() || std::find(kinds.begin(), kinds.end(), op.kind) != kinds.end();
}

// While an operator works with one slice of its weights, the next one arrives, if transfers
// overlap.
int64_t LeastConstants(const Plan& plan, const std::vector<Users>& users, int op, bool overlaps) {
  const graph::Operator& facts = plan.network.operators[static_cast<size_t>(op)];
  std::optional<int64_t> least;
  for (const hw_profiles::WeightPolicy weights : plan.profile.tiling.weights) {
    if (weights == hw_profiles::WeightPolicy::kSplitK) continue;
    Subgraph subgraph;
    subgraph.interval = {op, op};
    subgraph.weights = weights;
    int64_t bytes = 0;
    for (const int constant : std::set<int>(facts.weights.begin(), facts.weights.end())) {
      const Held held = ResidencyOf(plan, users, subgraph, constant);
      if (held.residency == Residency::kResident)
        bytes = Plus(bytes, ConstantBytes(plan, facts, constant));
      if (held.residency != Residency::kStreamed) continue;
      const int64_t slots = overlaps && SlicingOf(plan, facts, constant).slices > 1 ? 2 : 1;
      bytes = Plus(bytes, Times(slots, SliceBytes(plan, facts, constant)));
    }
    least = std::min(least.value_or(bytes), bytes);
  }
  return least.value_or(0);
}

}  // namespace tessera::plan::verify::infeasibility
