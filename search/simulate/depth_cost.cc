#include "tessera/search/simulate/depth_cost.h"

#include <functional>

#include "tessera/base/vocabulary.h"
#include "tessera/encoder/adapt/assign_homes.h"
#include "tessera/search/simulate/cycles.h"
#include "tessera/search/simulate/saturating.h"

// A tile of D slices: the first of each factor comes before the operator's step, D - 1 more during it, the last of them shorter and,
// of the constant, with its table. In between the sums go to the tile memory and come back:
//
//     slice      0      1      2    ..    D-1
//     sums       write  r w    r w        read, then the result is written        D - 1 times each
namespace tessera::search {
namespace {

using encoder::DepthCut;
using hw_profiles::Profile;

// One slice on its way.
struct Piece {
  int64_t cycles = 0;
  int64_t bytes = 0;
};

void AddFlow(const SliceFlow& flow, SliceFlow& sum) {
  Accumulate(sum.first_cycles, flow.first_cycles);
  Accumulate(sum.first_bytes, flow.first_bytes);
  Accumulate(sum.later_cycles, flow.later_cycles);
  Accumulate(sum.later_bytes, flow.later_bytes);
}

SliceFlow FlowOf(const DepthCut& cut, const std::function<Piece(int64_t)>& piece_of) {
  SliceFlow flow;
  const Piece full = piece_of(cut.granule);
  const Piece last = piece_of(cut.Length(cut.Slices() - 1));
  const int64_t between = cut.Slices() - 2;
  flow.first_cycles = full.cycles;
  flow.first_bytes = full.bytes;
  flow.later_cycles = SaturatingAdd(SaturatingMul(full.cycles, between), last.cycles);
  flow.later_bytes = SaturatingAdd(SaturatingMul(full.bytes, between), last.bytes);
  return flow;
}

// Some channels of some depth, where the constant lies in row-major order.
Runs RunsOfConstant(const graph::Graph& graph, const DepthCut& cut, graph::ExtentsView result,
                    int64_t depth) {
  const graph::Tensor& constant = graph.tensors[static_cast<size_t>(cut.constant->tensor)];
  const int64_t bytes = encoder::ConstantSliceBytes(graph, cut, result, depth);
  const int64_t channels = result[cut.result_channels];
  const bool channels_inside = cut.constant_channels > cut.constant->axis;
  const int64_t runs = channels_inside ? depth : channels;
  const bool joins = channels_inside && channels == constant.shape[cut.constant_channels];
  if (joins || runs == 1) return OneRun(bytes);
  const int64_t elements = graph::ElementsOf(constant.shape) / constant.shape[cut.constant_channels] /
                           cut.depth * depth * channels / runs;
  return {.bytes = base::BytesOf(constant.type, elements), .count = runs, .loops = {runs}};
}

}  // namespace

DepthCost DepthCostOf(const graph::Graph& graph, const Profile& profile, const DepthCut& cut,
                      Passage constants, const std::vector<SlicedFeature>& features,
                      graph::ExtentsView result) {
  DepthCost cost;
  cost.memories.resize(profile.memories.size());
  for (const SlicedFeature& feature : features) {
    const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(profile, feature.route.role);
    const SliceFlow flow = FlowOf(cut, [&](int64_t depth) {
      const graph::Extents slice = encoder::SliceOf(feature.along, feature.needed, depth);
      return Piece{TransferCycles(profile, feature.route.home, Direction::kRead,
                                  RunsOf(*feature.tensor, slice, layout)),
                   PayloadBytes(*feature.tensor, slice, layout)};
    });
    AddFlow(flow, cost.memories[static_cast<size_t>(feature.route.home)]);
    Accumulate(cost.input_bytes, SaturatingAdd(flow.first_bytes, flow.later_bytes));
  }
  if (cut.constant) {
    const int home = encoder::HomeOf(graph, profile, cut.constant->tensor, base::TensorRole::kConstant);
    SliceFlow flow = FlowOf(cut, [&](int64_t depth) {
      return Piece{TransferCycles(profile, home, Direction::kRead, RunsOfConstant(graph, cut, result, depth)),
                   encoder::ConstantSliceBytes(graph, cut, result, depth)};
    });
    const int64_t table = encoder::ConstantTableBytes(profile, cut, result);
    Accumulate(flow.later_bytes, table);
    Accumulate(flow.later_cycles, TransferCycles(profile, home, Direction::kRead, OneRun(table)));
    cost.constant_bytes = SaturatingAdd(flow.first_bytes, flow.later_bytes);
    if (constants == Passage::kMoved) {
      AddFlow(flow, cost.memories[static_cast<size_t>(home)]);
      cost.weight_bytes = cost.constant_bytes;
    }
  }
  const graph::Operator& op = graph.operators[static_cast<size_t>(cut.op)];
  cost.sums_bytes = SaturatingMul(encoder::AccumulatorBytes(graph, op, result), cut.Slices() - 1);
  return cost;
}

}  // namespace tessera::search
