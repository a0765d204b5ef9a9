// SPDX-License-Identifier: Apache-2.0

#include "plans.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/graph/ops/shape_inference.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/tests/draw_host.h"
#include "tessera/tests/draw_stages.h"
#include "tessera/tests/graph/random_graph.h"
#include "tessera/tests/hw_profiles/engines.h"

namespace tessera::plan::execute {
namespace {

using base::DataType;
using base::OperatorKind;
using base::Random;
using hw_profiles::HaloStorage;
using hw_profiles::Profile;

template <typename T, size_t n>
T OneOf(Random& random, const std::array<T, n>& values) {
  return values.at(static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(n) - 1)));
}

int AddConstant(graph::Graph& network, graph::Shape shape, DataType type) {
  graph::Tensor tensor;
  tensor.id = "w" + std::to_string(network.tensors.size());
  tensor.shape = std::move(shape);
  tensor.type = type;
  tensor.constant = true;
  network.tensors.push_back(std::move(tensor));
  return static_cast<int>(network.tensors.size()) - 1;
}

// Adds the filters of an operator that has any, a factor for some elementwise operators, and a
// second table for some. Two operators share a constant where both need the same shape.
void AddConstants(Random& random, graph::Graph& network, graph::Operator& op) {
  std::vector<graph::Shape> shapes;
  for (const int input : op.inputs)
    shapes.push_back(network.tensors[static_cast<size_t>(input)].shape);
  const graph::Shape out = network.tensors[static_cast<size_t>(op.outputs.front())].shape;
  if (const auto filters = graph::ops::WeightShapeOf(op, shapes, out)) {
    for (size_t i = 0; i < network.tensors.size(); ++i) {
      const bool same = network.tensors[i].constant && network.tensors[i].shape == *filters;
      if (same && op.weights.empty() && random.Chance(0.4))
        op.weights.push_back(static_cast<int>(i));
    }
    if (op.weights.empty())
      op.weights.push_back(AddConstant(
          network, *filters,
          OneOf(random, std::array{DataType::kInt8, DataType::kInt4, DataType::kInt16})));
    if (random.Chance(0.3))
      op.weights.push_back(AddConstant(network, {out.size() > 1 ? out[1] : 1}, DataType::kInt32));
  } else if (op.kind == OperatorKind::kElementwise && random.Chance(0.4)) {
    op.weights.push_back(AddConstant(network, {out.back()}, DataType::kInt8));
  }
}

// Adds an elementwise operator behind the last one: the first that may work in place.
void AddActivation(graph::Graph& network) {
  graph::Operator op;
  op.id = "act" + std::to_string(network.operators.size());
  op.kind = OperatorKind::kElementwise;
  op.inputs = {network.operators.back().outputs.front()};
  op.outputs = {static_cast<int>(network.tensors.size())};
  graph::Tensor tensor = network.tensors[static_cast<size_t>(op.inputs.front())];
  network.tensors[static_cast<size_t>(op.inputs.front())].network_output = false;
  tensor.id = op.id;
  tensor.network_output = true;
  network.tensors.push_back(std::move(tensor));
  network.operators.push_back(std::move(op));
}

// Gives each state without a next value the last free result of its type and rank.
void LinkStates(graph::Graph& network) {
  const std::vector<graph::Usage> usages = graph::UsagesOf(network);
  for (size_t state = 0; state < network.tensors.size(); ++state) {
    const auto linked =
        std::find_if(network.tensors.begin(), network.tensors.end(),
                     [&](const auto& next) { return next.next_of == static_cast<int>(state); });
    if (linked != network.tensors.end()) {
      linked->type = network.tensors[state].type;
      continue;
    }
    for (size_t i = network.tensors.size(); i-- > 0 && network.tensors[state].state;) {
      graph::Tensor& next = network.tensors[i];
      if (usages[i].producer < 0 || next.next_of >= 0 || next.type != network.tensors[state].type ||
          next.shape.size() != network.tensors[state].shape.size())
        continue;
      next.next_of = static_cast<int>(state);
      next.network_output = true;
      break;
    }
  }
}

hw_profiles::Memory MemoryOf(const std::string& name, int64_t capacity) {
  hw_profiles::Memory memory;
  memory.name = name;
  memory.capacity_bytes = capacity;
  return memory;
}

Subgraph SubgraphOf(const graph::Graph& network, const encoder::program::SubgraphChoice& choice) {
  Subgraph subgraph;
  subgraph.interval = choice.interval;
  subgraph.tile = choice.tile;
  subgraph.tiles = graph::tiling::Tile(network, choice.interval, choice.tile).tiles;
  subgraph.weights = choice.policy.weights;
  subgraph.in_place = choice.policy.in_place;
  subgraph.halo = choice.policy.halo;
  subgraph.k_extent = choice.policy.k_extent;
  subgraph.serialized = choice.policy.serialized;
  subgraph.second_stage = choice.policy.second_stage;
  subgraph.prefetch = choice.prefetch;
  return subgraph;
}

Plan PlanOf(const graph::Graph& network, const Profile& profile,
            const std::vector<encoder::program::SubgraphChoice>& choices,
            const encoder::program::Program& program) {
  Plan plan;
  plan.network = network;
  plan.profile = profile;
  for (const encoder::program::SubgraphChoice& choice : choices)
    plan.subgraphs.push_back(SubgraphOf(network, choice));
  plan.problem = program.problem;
  for (const encoder::program::BufferUse& buffer : program.buffers) {
    plan.buffers.push_back({static_cast<BufferKind>(buffer.kind), buffer.subgraph, buffer.tensor,
                            buffer.op, buffer.phase, buffer.slot});
  }
  for (const encoder::program::StepUse& step : program.steps) {
    plan.steps.push_back(
        {static_cast<StepKind>(step.kind), step.subgraph, step.phase, step.op, step.transfers});
  }
  return plan;
}

// Changes the choice to tiles one below the other that keep rows, where there are such tiles.
void KeepRows(Random& random, const graph::Graph& network, const Profile& profile,
              std::vector<graph::tiling::TileShape> shapes,
              encoder::program::SubgraphChoice& choice) {
  const graph::Operator& last = network.operators[static_cast<size_t>(choice.interval.last)];
  const graph::Shape& output = network.tensors[static_cast<size_t>(last.outputs.front())].shape;
  std::erase_if(shapes, [&](const graph::tiling::TileShape& tile) {
    return !encoder::program::MayKeepRows(profile, output, tile);
  });
  if (shapes.empty()) return;
  const auto tile = static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(shapes.size()) - 1));
  choice.tile = shapes[tile];
  choice.policy.halo = OneOf(random, std::array{HaloStorage::kRollingBuffer,
                                                HaloStorage::kLineBuffer, HaloStorage::kAdjacent});
}

std::optional<problem::Allocation> Allocate(const problem::Problem& problem) {
  const search::engines::greedy::GreedyEngine greedy;
  const search::engines::canonical::CanonicalEngine canonical;
  const encoder::sat::SatEngine sat;
  const std::vector<const problem::Engine*> engines = {&greedy, &canonical, &sat};
  search::allocate::AllocateOptions options;
  options.minimize = problem.memories.front().modes.empty();
  options.budget.units = problem.memories.front().modes.empty() ? 2000 : 200;
  const auto result = search::allocate::Allocate(problem, nullptr, 0, engines, options);
  if (!result) return std::nullopt;
  return result->allocation;
}

}  // namespace

std::optional<Plan> PlaceLow(const graph::Graph& network, const Profile& profile,
                             const std::vector<encoder::program::SubgraphChoice>& choices) {
  const auto program = encoder::program::BuildProgram(network, profile, choices);
  if (!program) return std::nullopt;
  std::optional<problem::Allocation> allocation = Allocate(program->problem);
  if (!allocation) return std::nullopt;
  Plan plan = PlanOf(network, profile, choices, *program);
  plan.allocation = *std::move(allocation);
  return plan;
}

Plan Spread(const graph::Graph& network, const Profile& profile,
            const std::vector<encoder::program::SubgraphChoice>& choices) {
  const auto program = encoder::program::BuildProgram(network, profile, choices);
  Plan plan = PlanOf(network, profile, choices, program.value());
  std::vector<int64_t>& offsets = plan.allocation.offsets;
  offsets.assign(plan.problem.buffers.size(), -1);
  int64_t end = 0;
  const auto place = [&](size_t i) {
    if (offsets[i] >= 0) return;
    offsets[i] = end;
    end = base::RoundUp(end + plan.problem.buffers[i].size, 16);
  };
  for (size_t i = 0; i < offsets.size(); ++i) {
    for (const problem::Relation& relation : plan.problem.relations) {
      if (relation.kind == problem::RelationKind::kAdjacent &&
          relation.second == static_cast<int>(i))
        place(static_cast<size_t>(relation.first));
    }
    place(i);
  }
  return plan;
}

namespace {

graph::Graph DrawGraph(Random& random, int operators, Kinds kinds) {
  switch (kinds) {
    case Kinds::kStaged:
    case Kinds::kAll:
      break;
    case Kinds::kDepthwise:
    case Kinds::kPadded:
      return graph::RandomDepthwiseChain(random, operators);
    case Kinds::kRecurrent:
      return graph::RandomRecurrence(random, operators);
    case Kinds::kFewElements: {
      graph::GraphBuilder builder;
      const int x = builder.AddInput({3});
      builder.Add(graph::OfKind(base::OperatorKind::kElementwise), {},
                  {builder.AddConcat({x, x}, 0)});
      return std::move(builder).Build();
    }
  }
  return graph::RandomGraph(random, operators);
}

}  // namespace

graph::Graph DrawNetwork(Random& random, int operators, Kinds kinds) {
  const auto count = static_cast<int>(random.Uniform(1, operators));
  graph::Graph network = DrawGraph(random, count, kinds);
  const DataType usual = OneOf(
      random, std::array{DataType::kInt8, DataType::kInt8, DataType::kInt16, DataType::kInt4});
  for (graph::Tensor& tensor : network.tensors) {
    tensor.type =
        random.Chance(0.85)
            ? usual
            : OneOf(random, std::array{DataType::kInt32, DataType::kInt4, DataType::kInt8});
    if (tensor.network_input && random.Chance(0.2)) {
      tensor.network_input = false;
      tensor.state = true;
    } else if (!tensor.network_input && random.Chance(0.15)) {
      tensor.network_output = true;
    }
  }
  for (int i = 0; i < operators / 2 && random.Chance(0.5); ++i) AddActivation(network);
  LinkStates(network);
  for (graph::Operator& op : network.operators) AddConstants(random, network, op);
  return network;
}

Profile DrawProfile(Random& random) {
  Profile profile;
  profile.name = "drawn";
  profile.clock_hz = 1e9;
  profile.memories = {MemoryOf("dram", int64_t{1} << 24), MemoryOf("sram", int64_t{1} << 18)};
  profile.tile_memory = 1;
  hw_profiles::Memory& dram = profile.memories[0];
  dram.direct_read = random.Chance(0.4);
  dram.direct_write = random.Chance(0.3);
  profile.memories[1].alignment_bytes = OneOf(random, std::array<int64_t, 3>{1, 4, 16});
  profile.engines = {hw_profiles::EngineForEveryKind("pe")};
  hw_profiles::Link link;
  link.name = "dma";
  link.second = 1;
  link.alignment_bytes = OneOf(random, std::array<int64_t, 2>{1, 8});
  profile.links = {link};
  for (size_t role = 0; role < base::TensorRoleNames().size(); ++role) {
    profile.roles.push_back({random.Chance(0.3) ? 1 : 0, 1,
                             OneOf(random, std::array<int64_t, 3>{1, 1, 4}),
                             OneOf(random, std::array<int64_t, 3>{1, 1, 8})});
  }
  profile.roles[static_cast<size_t>(base::TensorRole::kFeature)].home = 1;
  if (random.Chance(0.5)) profile.roles[static_cast<size_t>(base::TensorRole::kState)].home = 1;
  hw_profiles::Tiling& tiling = profile.tiling;
  tiling.axes = {{base::Axis::kRows, 1}, {base::Axis::kColumns, 1}, {base::Axis::kChannels, 1}};
  tiling.dma = random.Chance(0.6) ? hw_profiles::DmaSteps::kDoubleBuffered
                                  : hw_profiles::DmaSteps::kSerialized;
  tiling.weights = {hw_profiles::WeightPolicy::kResident, hw_profiles::WeightPolicy::kStreamed};
  if (dram.direct_read) tiling.weights.push_back(hw_profiles::WeightPolicy::kDirect);
  tiling.implicit_padding = random.Chance(0.7);
  if (random.Chance(0.6)) tiling.in_place = {OperatorKind::kElementwise, OperatorKind::kDepthwise};
  tiling.weight_granularity_channels = random.Uniform(1, 3);
  if (random.Chance(0.3)) {
    profile.scratch = {{OneOf(random, std::array{OperatorKind::kConv, OperatorKind::kElementwise}),
                        random.Uniform(1, 9),
                        {hw_profiles::ScratchFactor::kInChannels}}};
  }
  profile.table_bytes_per_channel = random.Chance(0.5) ? 0 : random.Uniform(1, 5);
  if (random.Chance(0.1)) DrawHost(random, profile);
  tiling.may_serialize = tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered && random.Chance(0.4);
  return profile;
}

void StorePads(Random& random, Profile& profile) {
  profile.tiling.implicit_padding = false;
  for (hw_profiles::RoleLayout& layout : profile.roles) {
    if (random.Chance(0.7)) layout.home = profile.tile_memory;
  }
}

void DrawModes(Random& random, Profile& profile) {
  hw_profiles::Memory& memory = profile.memories[static_cast<size_t>(profile.tile_memory)];
  memory.capacity_bytes = 3072;
  memory.alignment_bytes = 16;
  const int64_t banks = random.Uniform(2, 3);
  const int64_t each = memory.capacity_bytes / banks;
  for (int64_t bank = 0; bank < banks; ++bank) {
    memory.banks.push_back({"bank" + std::to_string(bank), {bank * each, (bank + 1) * each}, {}});
  }
  for (int64_t mode = 0; mode < 3; ++mode) {
    problem::Mode& drawn = memory.modes.emplace_back();
    drawn.name = "mode" + std::to_string(mode);
    for (int64_t bank = 0; bank < banks; ++bank) {
      problem::BankMode& state = drawn.banks.emplace_back();
      state.off = random.Chance(0.1);
      if (state.off) continue;
      if (random.Chance(0.7)) state.allowed.push_back({"", problem::AccessKind::kRead});
      if (random.Chance(0.7))
        state.allowed.push_back({random.Chance(0.5) ? "" : "pe", problem::AccessKind::kWrite});
    }
  }
  memory.span = problem::Span::kSingle;
}

std::optional<Plan> DrawPlan(Random& random, bool with_modes, Kinds kinds) {
  graph::Graph network = DrawNetwork(random, with_modes ? 3 : 6, kinds);
  Profile profile = DrawProfile(random);
  if (kinds == Kinds::kStaged) DrawTwoEngines(random, network, profile);
  if (kinds == Kinds::kPadded) StorePads(random, profile);
  if (with_modes) DrawModes(random, profile);
  const auto operators = static_cast<int>(network.operators.size());
  const int skipped = random.Chance(0.2) ? static_cast<int>(random.Uniform(0, operators - 1)) : 0;
  std::vector<encoder::program::SubgraphChoice> choices;
  for (int first = skipped; first < operators;) {
    const graph::Interval interval = WithoutHosted(
        network, profile, {first, static_cast<int>(random.Uniform(first, operators - 1))});
    const int last = interval.last;
    const bool on_host = IsHosted(network, profile, first);
    std::vector<graph::tiling::CutAxis> axes;
    for (const hw_profiles::AxisGranularity& axis : profile.tiling.axes)
      axes.push_back({axis.axis, axis.granularity});
    const std::vector<graph::tiling::TileShape> shapes =
        graph::tiling::ShapesOf(graph::tiling::TileShapes(network, {first, last}, axes));
    const auto tile =
        static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(shapes.size()) - 1));
    const auto& weights = profile.tiling.weights;
    const auto policy =
        static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(weights.size()) - 1));
    encoder::program::SubgraphChoice& choice = choices.emplace_back();
    choice.interval = interval;
    choice.tile = on_host ? shapes.back() : shapes[tile];
    choice.policy = {weights[policy], random.Chance(0.6)};
    choice.policy.serialized = profile.tiling.may_serialize && random.Chance(0.5);
    if (on_host) choice.policy = {hw_profiles::WeightPolicy::kDirect, false};
    if (!on_host && random.Chance(0.9)) KeepRows(random, network, profile, shapes, choice);
    if (!on_host && kinds == Kinds::kStaged) DrawStage(random, network, profile, choice);
    first = last + 1;
  }
  return PlaceLow(network, profile, choices);
}

namespace {

base::TensorRole RoleOutside(const graph::Tensor& tensor) {
  using base::TensorRole;
  if (tensor.constant) return TensorRole::kConstant;
  if (tensor.state || tensor.next_of >= 0) return TensorRole::kState;
  if (tensor.network_input) return TensorRole::kNetworkInput;
  return tensor.network_output ? TensorRole::kNetworkOutput : TensorRole::kBoundary;
}

}  // namespace

Plan WithHomes(Plan plan) {
  std::map<int, Home> homes;
  std::map<int, int64_t> ends;
  for (size_t i = 0; i < plan.network.tensors.size(); ++i) {
    const graph::Tensor& tensor = plan.network.tensors[i];
    const hw_profiles::RoleLayout& layout =
        hw_profiles::LayoutOf(plan.profile, RoleOutside(tensor));
    if (layout.home == plan.profile.tile_memory) continue;
    Home& home = homes[layout.home];
    home.memory = layout.home;
    const int64_t channels =
        tensor.shape.empty() ? 1 : std::max(tensor.shape.front(), tensor.shape.back());
    problem::Buffer buffer;
    buffer.id = tensor.id;
    buffer.size = verify::StoredBytes(verify::NameExtents(tensor.shape), tensor.type,
                                      layout.channel_block, layout.row_pitch_bytes) +
                  plan.profile.table_bytes_per_channel * channels;
    buffer.lifespans = {{0, static_cast<int64_t>(plan.subgraphs.size())}};
    home.problem.buffers.push_back(buffer);
    home.allocation.offsets.push_back(ends[layout.home]);
    home.tensors.push_back(static_cast<int>(i));
    ends[layout.home] += base::RoundUp(buffer.size, 16);
  }
  plan.homes.clear();
  for (const auto& [memory, home] : homes) {
    plan.homes.push_back(home);
    int64_t& capacity = plan.profile.memories[static_cast<size_t>(memory)].capacity_bytes;
    capacity = std::max(capacity, ends[memory]);
  }
  return plan;
}

std::vector<std::string> MessagesOf(const Plan& plan) {
  return MessagesOf(lowering::Execute(WithHomes(plan)));
}

std::vector<std::string> MessagesOf(const lowering::Report& report) {
  if (!report.obstacle.empty()) return {"obstacle: " + report.obstacle};
  std::vector<std::string> messages;
  for (const lowering::Finding& finding : report.findings)
    messages.push_back(std::string(NameOf(finding.kind)) + ": " + finding.message);
  return messages;
}

}  // namespace tessera::plan::execute
