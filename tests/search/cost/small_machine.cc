// SPDX-License-Identifier: Apache-2.0

#include "small_machine.h"

#include <utility>

namespace tessera::search {

int NetworkBuilder::Tensor(std::string id, graph::Shape shape) {
  graph::Tensor tensor;
  tensor.id = std::move(id);
  tensor.shape = std::move(shape);
  graph_.tensors.push_back(std::move(tensor));
  return static_cast<int>(graph_.tensors.size()) - 1;
}

int NetworkBuilder::Input(graph::Shape shape) {
  const int tensor = Tensor("x", std::move(shape));
  graph_.tensors.back().network_input = true;
  return tensor;
}

int NetworkBuilder::Weights(graph::Shape shape) {
  const int tensor = Tensor("w" + std::to_string(graph_.tensors.size()), std::move(shape));
  graph_.tensors.back().constant = true;
  return tensor;
}

int NetworkBuilder::Conv(int input, int64_t kernel, int64_t channels, int64_t stride) {
  const int64_t in_channels = graph_.tensors[static_cast<size_t>(input)].shape[1];
  return ConvWith(input, Weights({channels, in_channels, kernel, 1}), kernel, stride);
}

int NetworkBuilder::ConvWith(int input, int weights, int64_t kernel, int64_t stride) {
  graph::Shape shape = graph_.tensors[static_cast<size_t>(input)].shape;
  const int64_t pad = kernel / 2;
  shape[1] = graph_.tensors[static_cast<size_t>(weights)].shape[0];
  shape[2] = (shape[2] + 2 * pad - kernel) / stride + 1;
  graph::Operator op;
  op.id = "conv" + std::to_string(graph_.operators.size());
  op.kind = base::OperatorKind::kConv;
  op.inputs = {input};
  op.weights = {weights};
  op.window.kernel = {kernel, 1};
  op.window.stride = {stride, 1};
  op.window.pad_low = {pad, 0};
  op.window.pad_high = {pad, 0};
  op.outputs = {Tensor("t" + std::to_string(graph_.operators.size()), std::move(shape))};
  graph_.operators.push_back(op);
  return op.outputs.front();
}

int NetworkBuilder::Add(int a, int b) {
  graph::Operator op;
  op.id = "add" + std::to_string(graph_.operators.size());
  op.kind = base::OperatorKind::kElementwise;
  op.function = "add";
  op.inputs = {a, b};
  op.outputs = {Tensor("t" + std::to_string(graph_.operators.size()),
                       graph_.tensors[static_cast<size_t>(a)].shape)};
  graph_.operators.push_back(op);
  return op.outputs.front();
}

graph::Graph NetworkBuilder::Finish(int output) {
  graph_.name = "small";
  graph_.tensors[static_cast<size_t>(output)].network_output = true;
  return graph_;
}

graph::Graph Pointwise() {
  NetworkBuilder net;
  return net.Finish(net.Conv(net.Input({1, 2, 4, 3}), 1, 2));
}

hw_profiles::Profile SmallMachine(hw_profiles::DmaSteps dma, int64_t capacity) {
  hw_profiles::Profile profile;
  profile.name = "small";
  profile.clock_hz = 1e9;
  hw_profiles::Memory dram;
  dram.name = "dram";
  dram.capacity_bytes = 1 << 30;
  dram.port = {.read_bytes_per_cycle = 4,
               .write_bytes_per_cycle = 2,
               .shared = true,
               .read_latency_cycles = 7,
               .write_latency_cycles = 5,
               .burst_bytes = 4};
  dram.read_pj_per_byte = 10;
  dram.write_pj_per_byte = 20;
  hw_profiles::Memory sram;
  sram.name = "sram";
  sram.capacity_bytes = capacity;
  sram.port.read_bytes_per_cycle = 1000;
  sram.port.write_bytes_per_cycle = 1000;
  sram.read_pj_per_byte = 1;
  sram.write_pj_per_byte = 2;
  profile.memories = {dram, sram};
  profile.tile_memory = 1;
  hw_profiles::Link link;
  link.name = "dma";
  link.second = 1;
  link.setup_cycles = 3;
  profile.links = {link};

  hw_profiles::Throughput conv;
  conv.kind = base::OperatorKind::kConv;
  conv.unroll.in_channels = 2;
  conv.unroll.out_channels = 2;
  conv.start_cycles = 5;
  hw_profiles::Throughput add;
  add.kind = base::OperatorKind::kElementwise;
  add.cycles_per_output = 0.5;
  hw_profiles::Engine engine;
  engine.name = "pe";
  engine.mac_pj = 0.5;
  engine.throughputs = {conv, add};
  profile.engines = {engine};

  profile.roles.resize(base::TensorRoleNames().size());
  LayoutIn(profile, base::TensorRole::kFeature).home = 1;
  profile.tiling.axes = {{base::Axis::kRows, 1}};
  profile.tiling.weights = {hw_profiles::WeightPolicy::kResident,
                            hw_profiles::WeightPolicy::kStreamed};
  profile.tiling.dma = dma;
  return profile;
}

hw_profiles::RoleLayout& LayoutIn(hw_profiles::Profile& profile, base::TensorRole role) {
  return profile.roles[static_cast<size_t>(role)];
}

}  // namespace tessera::search
