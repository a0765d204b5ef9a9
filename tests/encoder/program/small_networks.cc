// SPDX-License-Identifier: Apache-2.0

#include "small_networks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/problem/well_formed.h"

namespace tessera::encoder {
namespace {

std::string DescribeBuffer(const problem::Buffer& buffer) {
  std::string text = fmt::format("{}: {} bytes,", buffer.id, buffer.size);
  for (const problem::Lifespan& life : buffer.lifespans)
    text += fmt::format(" [{},{})", life.lower, life.upper);
  for (const problem::Access& access : buffer.accesses) {
    const char kind = access.kind == problem::AccessKind::kRead ? 'r' : 'w';
    text += fmt::format(", {} {} {}", access.step, access.engine, kind);
  }
  return text;
}

hw_profiles::Engine ProcessingElement() {
  hw_profiles::Engine engine;
  engine.name = "pe";
  for (const base::OperatorKind kind : {base::OperatorKind::kConv, base::OperatorKind::kElementwise,
                                        base::OperatorKind::kMatmul, base::OperatorKind::kPool}) {
    hw_profiles::Throughput throughput;
    throughput.kind = kind;
    engine.throughputs.push_back(throughput);
  }
  return engine;
}

hw_profiles::Memory MemoryOf(std::string name, int64_t capacity) {
  hw_profiles::Memory memory;
  memory.name = std::move(name);
  memory.capacity_bytes = capacity;
  return memory;
}

hw_profiles::Profile ProfileOf(std::string outside, int64_t capacity, base::TensorRole only,
                               bool inside) {
  hw_profiles::Profile profile;
  profile.name = "small";
  profile.memories = {MemoryOf(std::move(outside), 1 << 20), MemoryOf("sram", capacity)};
  profile.tile_memory = 1;
  profile.engines = {ProcessingElement()};
  profile.roles.resize(base::TensorRoleNames().size());
  for (hw_profiles::RoleLayout& role : profile.roles) role.home = inside ? 0 : 1;
  Layout(profile, only).home = inside ? 1 : 0;
  profile.tiling.axes = {{base::Axis::kRows, 1}};
  profile.tiling.weights = {hw_profiles::WeightPolicy::kResident,
                            hw_profiles::WeightPolicy::kStreamed,
                            hw_profiles::WeightPolicy::kDirect};
  return profile;
}

}  // namespace

int Network::Tensor(std::string id, graph::Shape shape) {
  graph::Tensor tensor;
  tensor.id = std::move(id);
  tensor.shape = std::move(shape);
  graph.tensors.push_back(std::move(tensor));
  return static_cast<int>(graph.tensors.size()) - 1;
}

int Network::Input(std::string id, graph::Shape shape) {
  const int tensor = Tensor(std::move(id), std::move(shape));
  graph.tensors.back().network_input = true;
  return tensor;
}

int Network::Constant(std::string id, graph::Shape shape) {
  const int tensor = Tensor(std::move(id), std::move(shape));
  graph.tensors.back().constant = true;
  return tensor;
}

int Network::State(std::string id, graph::Shape shape) {
  const int tensor = Tensor(std::move(id), std::move(shape));
  graph.tensors.back().state = true;
  return tensor;
}

void Network::Conv(std::string id, int input, int weights, int output, int64_t kernel,
                   int64_t pad) {
  graph::Operator op;
  op.id = std::move(id);
  op.kind = base::OperatorKind::kConv;
  op.inputs = {input};
  op.weights = {weights};
  op.outputs = {output};
  op.window.kernel = {kernel, 1};
  op.window.pad_low = {pad, 0};
  op.window.pad_high = {pad, 0};
  graph.operators.push_back(std::move(op));
}

void Network::Elementwise(std::string id, std::vector<int> inputs, int output) {
  graph::Operator op;
  op.id = std::move(id);
  op.kind = base::OperatorKind::kElementwise;
  op.inputs = std::move(inputs);
  op.outputs = {output};
  op.function = "add";
  graph.operators.push_back(std::move(op));
}

Network TwoConvs(int64_t rows) {
  Network net;
  const int x = net.Input("x", {1, 2, rows, 4});
  const int a = net.Tensor("a", {1, 4, rows, 4});
  const int y = net.Tensor("y", {1, 3, rows, 4});
  net.Output(y);
  const int w1 = net.Constant("w1", {4, 2, 3, 1});
  const int w2 = net.Constant("w2", {3, 4, 1, 1});
  net.Conv("conv1", x, w1, a, 3, 1);
  net.Conv("conv2", a, w2, y, 1, 0);
  return net;
}

hw_profiles::Profile TwoLevels(hw_profiles::DmaSteps dma, int64_t capacity) {
  hw_profiles::Profile profile =
      ProfileOf("dram", capacity, base::TensorRole::kFeature, /*inside=*/true);
  profile.tiling.dma = dma;
  hw_profiles::Link link;
  link.name = "dma";
  link.first = 0;
  link.second = 1;
  profile.links = {link};
  return profile;
}

hw_profiles::Profile OneSram(int64_t capacity) {
  hw_profiles::Profile profile =
      ProfileOf("flash", capacity, base::TensorRole::kConstant, /*inside=*/false);
  profile.memories[0].writable = false;
  profile.memories[0].direct_read = true;
  profile.tiling.weights = {hw_profiles::WeightPolicy::kDirect};
  return profile;
}

hw_profiles::RoleLayout& Layout(hw_profiles::Profile& profile, base::TensorRole role) {
  return profile.roles[static_cast<size_t>(role)];
}

std::vector<std::string> Describe(const problem::Problem& problem) {
  std::vector<std::string> lines;
  for (const problem::Buffer& buffer : problem.buffers) lines.push_back(DescribeBuffer(buffer));
  return lines;
}

std::string Describe(const problem::Problem& problem, const std::string& id) {
  for (const problem::Buffer& buffer : problem.buffers) {
    if (buffer.id == id) return DescribeBuffer(buffer);
  }
  return "";
}

std::vector<std::string> DescribeColocations(const problem::Problem& problem) {
  std::vector<std::string> pairs;
  for (const problem::Relation& relation : problem.relations) {
    if (relation.kind != problem::RelationKind::kColocate) continue;
    pairs.push_back(problem.buffers[static_cast<size_t>(relation.first)].id + " = " +
                    problem.buffers[static_cast<size_t>(relation.second)].id);
    if (relation.delta != 0) pairs.back() += " + " + std::to_string(relation.delta);
  }
  return pairs;
}

program::Program ProgramOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                           const program::SubgraphChoice& choice) {
  base::Expected<program::Program> program = program::BuildProgram(graph, profile, {&choice, 1});
  EXPECT_TRUE(program.has_value()) << base::Format(program.error());
  EXPECT_FALSE(problem::CheckWellFormed(program->problem).has_value());
  return *std::move(program);
}

std::string RefusalOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                      const std::vector<program::SubgraphChoice>& choices) {
  const base::Expected<program::Program> program = program::BuildProgram(graph, profile, choices);
  return program ? "accepted" : base::Format(program.error());
}

program::Program TwoConvsIn(const hw_profiles::Profile& profile, int64_t rows,
                            program::Policy policy, int64_t of) {
  return ProgramOf(TwoConvs(of).graph, profile, {{0, 1}, {1, 3, rows, 4}, std::move(policy)});
}

std::vector<std::string> ColocationsOf(const graph::Graph& graph,
                                       const hw_profiles::Profile& profile,
                                       graph::tiling::TileShape tile, program::Policy policy) {
  const program::SubgraphChoice choice = {
      {0, static_cast<int>(graph.operators.size()) - 1}, std::move(tile), policy};
  return DescribeColocations(program::BuildProgram(graph, profile, {&choice, 1}).value().problem);
}

std::vector<std::string> DescribeLoops(const problem::Problem& problem) {
  std::vector<std::string> lines;
  for (const problem::Loop& loop : problem.loops) {
    std::string line = fmt::format("[{},{}) exits", loop.begin, loop.end);
    for (const problem::Step exit : loop.exits) line += fmt::format(" {}", exit);
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> DescribeSteps(const graph::Graph& graph, const program::Program& program) {
  constexpr const char* kNames[] = {"prologue", "load", "compute", "store", "epilogue", "copy"};
  std::vector<std::string> lines;
  for (size_t step = 0; step < program.steps.size(); ++step) {
    const program::StepUse& at = program.steps[step];
    std::string line = fmt::format("{} {}", step, kNames[static_cast<size_t>(at.kind)]);
    if (at.op >= 0) line += " " + graph.operators[static_cast<size_t>(at.op)].id;
    if (!at.transfers.empty()) line += ":";
    for (const int tensor : at.transfers)
      line += " " + graph.tensors[static_cast<size_t>(tensor)].id;
    lines.push_back(line);
  }
  return lines;
}

}  // namespace tessera::encoder
