// SPDX-License-Identifier: Apache-2.0

#include "kept_plans.h"

#include <utility>

#include "../fixture.h"
#include "plans.h"
#include "tessera/plan/index_box.h"

namespace tessera::plan::execute {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::HaloStorage;

graph::Operator OfKind(base::OperatorKind kind, const std::string& id, std::vector<int> inputs,
                       int output) {
  graph::Operator op;
  op.id = id;
  op.kind = kind;
  op.inputs = std::move(inputs);
  op.outputs = {output};
  return op;
}

void SetWindow(graph::Operator& op, int64_t kernel, int64_t stride, int64_t pad) {
  op.window.kernel = {kernel, kernel};
  op.window.stride = {stride, stride};
  op.window.pad_low = op.window.pad_high = {pad, pad};
}

}  // namespace

Plan Keep(const graph::Graph& network, int64_t rows, const Keeping& keeping, int64_t images) {
  hw_profiles::Profile profile = SmallProfile();
  hw_profiles::Throughput resize = profile.engines[0].throughputs[0];
  resize.kind = base::OperatorKind::kResize;
  profile.engines[0].throughputs.push_back(resize);
  profile.memories[0].capacity_bytes = 8192;
  profile.tiling.dma = keeping.dma;
  profile.tiling.implicit_padding = !keeping.stored_pads;
  const auto last = static_cast<int>(network.operators.size()) - 1;
  graph::Shape tile =
      network.tensors[static_cast<size_t>(network.operators.back().outputs.front())].shape;
  tile[*RowAxisOf(tile.size())] = rows;
  if (images > 0) tile.front() = images;
  if (keeping.columns > 0) {
    profile.tiling.axes.push_back({base::Axis::kColumns, 1});
    tile[3] = keeping.columns;
  }
  return Spread(network, profile, {{{0, last}, tile, {keeping.weights, false, keeping.halo}}});
}

graph::Graph StridedConvs() {
  graph::Graph network = TwoConvs(16);
  network.tensors[3].shape = network.tensors[4].shape = {1, 4, 8, 2};
  network.operators[0].window.stride = {2, 2};
  network.operators[0].window.pad_high = {0, 0};
  return network;
}

graph::Graph Skip() {
  graph::Graph network = TwoConvs(10);
  network.tensors[4].network_output = false;
  network.tensors.push_back(FeatureTensor("sum", {1, 4, 10, 4}));
  network.tensors[5].network_output = true;
  network.operators.push_back(OfKind(base::OperatorKind::kElementwise, "add", {3, 4}, 5));
  network.operators.back().function = "add";
  return network;
}

graph::Graph LeavingMiddle() {
  graph::Graph network = TwoConvs(10);
  network.tensors[3].network_output = true;
  return network;
}

graph::Graph Upsampling() {
  graph::Graph network;
  network.tensors = {FeatureTensor("x", {1, 4, 4, 4}), ConstantTensor("w", {4, 4, 3, 3}),
                     FeatureTensor("m", {1, 4, 4, 4}), FeatureTensor("y", {1, 4, 8, 4})};
  network.tensors[0].network_input = true;
  network.tensors[3].network_output = true;
  network.operators = {Conv3x3("a", 0, 1, 2), OfKind(base::OperatorKind::kResize, "up", {2}, 3)};
  return network;
}

graph::Graph WideConv() {
  graph::Graph network;
  network.tensors = {FeatureTensor("x", {1, 4, 6, 4}), ConstantTensor("w", {4, 4, 5, 5}),
                     FeatureTensor("y", {1, 4, 6, 4})};
  network.tensors[0].network_input = true;
  network.tensors[2].network_output = true;
  network.operators = {Conv3x3("conv", 0, 1, 2)};
  SetWindow(network.operators[0], 5, 1, 2);
  return network;
}

graph::Graph SkippingConv() {
  graph::Graph network = TwoConvs(9);
  network.tensors[0].shape = {1, 4, 27, 12};
  network.tensors[1].shape = {4, 4, 2, 2};
  SetWindow(network.operators[0], 2, 3, 0);
  return network;
}

graph::Graph Images() {
  graph::Graph network = TwoConvs(7);
  for (const size_t map : {0, 3, 4}) network.tensors[map].shape.front() = 3;
  return network;
}

graph::Graph Heads() {
  graph::Graph network;
  network.tensors = {FeatureTensor("q", {3, 6, 4}), FeatureTensor("k", {3, 5, 4}),
                     FeatureTensor("v", {3, 5, 2}), FeatureTensor("scores", {3, 6, 5}),
                     FeatureTensor("mixed", {3, 6, 2})};
  for (const size_t input : {0, 1, 2}) network.tensors[input].network_input = true;
  network.tensors[4].network_output = true;
  network.operators = {OfKind(base::OperatorKind::kMatmul, "score", {0, 1}, 3),
                       OfKind(base::OperatorKind::kMatmul, "mix", {3, 2}, 4)};
  network.operators[0].MakeOwn<graph::MatmulAttributes>().transpose_second = true;
  return network;
}

Plan RollingBufferSerialized() { return Keep(TwoConvs(10), 4, {HaloStorage::kRollingBuffer}); }
Plan LineBufferSerialized() { return Keep(TwoConvs(10), 4, {HaloStorage::kLineBuffer}); }
Plan AdjacentSerialized() { return Keep(TwoConvs(10), 4, {HaloStorage::kAdjacent}); }
Plan RollingBufferDoubleBuffered() {
  return Keep(TwoConvs(10), 2, {HaloStorage::kRollingBuffer, DmaSteps::kDoubleBuffered});
}
Plan LineBufferDoubleBuffered() {
  return Keep(TwoConvs(10), 2, {HaloStorage::kLineBuffer, DmaSteps::kDoubleBuffered});
}
Plan AdjacentDoubleBuffered() {
  return Keep(TwoConvs(10), 2, {HaloStorage::kAdjacent, DmaSteps::kDoubleBuffered});
}
Plan AdjacentStoredPads() {
  return Keep(WideConv(), 1, {HaloStorage::kAdjacent, DmaSteps::kSerialized, /*stored_pads=*/true});
}
Plan RollingBufferOfImages() {
  return Keep(Images(), 3, {HaloStorage::kRollingBuffer, DmaSteps::kDoubleBuffered}, 1);
}
Plan LineBufferOfImages() {
  return Keep(Images(), 3, {HaloStorage::kLineBuffer, DmaSteps::kDoubleBuffered}, 1);
}
Plan RollingBufferOfHeads() {
  return Keep(Heads(), 2, {HaloStorage::kRollingBuffer, DmaSteps::kDoubleBuffered}, 1);
}
Plan RollingBufferStoredPads() {
  return Keep(WideConv(), 1,
              {HaloStorage::kRollingBuffer, DmaSteps::kSerialized, /*stored_pads=*/true});
}

}  // namespace tessera::plan::execute
