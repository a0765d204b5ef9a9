// SPDX-License-Identifier: Apache-2.0

#include "fixture.h"

namespace tessera::plan {
namespace {

using base::DataType;
using base::OperatorKind;
using problem::AccessKind;

constexpr AccessKind kRead = AccessKind::kRead;
constexpr AccessKind kWrite = AccessKind::kWrite;

hw_profiles::Memory MemoryOf(const std::string& name, int64_t capacity, double read_pj) {
  hw_profiles::Memory memory;
  memory.name = name;
  memory.capacity_bytes = capacity;
  memory.alignment_bytes = 16;
  memory.read_pj_per_byte = read_pj;
  memory.write_pj_per_byte = 2 * read_pj;
  return memory;
}

hw_profiles::Throughput ThroughputOf(OperatorKind kind) {
  hw_profiles::Throughput throughput;
  throughput.kind = kind;
  return throughput;
}

// The role that follows from the tensor itself; else the other one.
std::string RoleWord(const graph::Tensor& tensor, const std::string& otherwise) {
  if (tensor.constant) return "constant";
  if (tensor.network_input) return "network_input";
  return tensor.network_output ? "network_output" : otherwise;
}

// A buffer with its contents and its offset. A tile buffer of a tensor that is made inside holds a
// feature, a whole one a boundary tensor.
void Add(Plan& plan, BufferUse use, const std::string& id, int64_t size, int64_t offset,
         std::vector<problem::Lifespan> lifespans, std::vector<problem::Access> accesses) {
  const graph::Tensor& tensor = plan.network.tensors[static_cast<size_t>(use.tensor)];
  problem::Buffer buffer;
  buffer.id = id;
  buffer.name = tensor.id;
  buffer.role = RoleWord(tensor, use.kind == BufferKind::kWhole ? "boundary" : "feature");
  buffer.size = size;
  buffer.alignment = 16;
  buffer.lifespans = std::move(lifespans);
  buffer.accesses = std::move(accesses);
  plan.problem.buffers.push_back(std::move(buffer));
  plan.buffers.push_back(use);
  plan.allocation.offsets.push_back(offset);
}

BufferUse TileUse(int tensor, int phase) { return {BufferKind::kTile, 0, tensor, -1, phase, 0}; }
BufferUse ResidentUse(int tensor) { return {BufferKind::kResident, 0, tensor, -1, 0, 0}; }
BufferUse WholeUse(int tensor) { return {BufferKind::kWhole, -1, tensor, -1, 0, 0}; }

// Work and traffic, then their costs.
void SetWork(Metrics& metrics, int64_t macs, int64_t recomputed,
             std::map<std::string, int64_t> off_chip, int64_t peak) {
  metrics.off_chip_by_cause = std::move(off_chip);
  for (const auto& [cause, bytes] : metrics.off_chip_by_cause) metrics.off_chip_bytes += bytes;
  metrics.macs = macs;
  metrics.recomputed_macs = recomputed;
  metrics.peak_bytes = peak;
}

void SetCosts(Metrics& metrics, int64_t cycles, int64_t exposed, double peak_bytes_per_cycle,
              std::map<std::string, double> energy, const std::string& bound_by) {
  metrics.latency_cycles = cycles;
  metrics.exposed_cycles = exposed;
  metrics.peak_bytes_per_cycle = peak_bytes_per_cycle;
  metrics.energy_by_part = std::move(energy);
  for (const auto& [part, picojoules] : metrics.energy_by_part) metrics.energy_pj += picojoules;
  metrics.bound_by = bound_by;
}

void SetTotals(Plan& plan) {
  for (const Subgraph& subgraph : plan.subgraphs) Accumulate(plan.totals, subgraph.metrics);
  plan.lower_bounds.off_chip_bytes = plan.totals.off_chip_bytes / 2;
  plan.objective.weights = {{"off_chip_bytes", 1}};
  plan.score = static_cast<double>(plan.totals.off_chip_bytes);
  plan.version = "0.1";
  plan.status = "optimal";
  plan.seed = 7;
  plan.notes = {"subgraphs of at most 12 operators"};
  plan.baseline = Baseline{.complete = true, .do_not_fit = {}, .totals = plan.totals};
}

problem::Memory SramOf(const hw_profiles::Profile& profile) {
  const hw_profiles::Memory& sram = profile.memories.front();
  problem::Memory memory;
  memory.name = sram.name;
  memory.capacity = sram.capacity_bytes;
  memory.alignment = sram.alignment_bytes;
  memory.banks = sram.banks;
  memory.modes = sram.modes;
  memory.transitions = sram.transitions;
  return memory;
}

// One tensor of a home, aligned to 16.
struct Resident {
  int tensor = 0;
  int64_t size = 0;
  int64_t offset = 0;
  problem::Lifespan subgraphs;
};

void AddHome(Plan& plan, const std::vector<Resident>& residents) {
  Home home;
  home.memory = 1;
  problem::Memory memory;
  memory.name = plan.profile.memories[1].name;
  memory.capacity = plan.profile.memories[1].capacity_bytes;
  memory.alignment = plan.profile.memories[1].alignment_bytes;
  home.problem.memories = {memory};
  for (const Resident& resident : residents) {
    problem::Buffer buffer;
    const graph::Tensor& tensor = plan.network.tensors[static_cast<size_t>(resident.tensor)];
    buffer.id = tensor.id;
    buffer.role = RoleWord(tensor, "boundary");
    buffer.size = resident.size;
    buffer.alignment = 16;
    buffer.lifespans = {resident.subgraphs};
    home.problem.buffers.push_back(std::move(buffer));
    home.allocation.offsets.push_back(resident.offset);
    home.tensors.push_back(resident.tensor);
    int64_t& end = plan.totals.off_chip_peak_bytes;
    end = std::max(end, resident.offset + resident.size);
    for (problem::Step s = resident.subgraphs.lower; s < resident.subgraphs.upper; ++s)
      plan.subgraphs[static_cast<size_t>(s)].metrics.off_chip_peak_bytes += resident.size;
  }
  plan.homes = {std::move(home)};
}

graph::Operator Relu(const std::string& id, int input, int output) {
  graph::Operator op;
  op.id = id;
  op.kind = OperatorKind::kElementwise;
  op.inputs = {input};
  op.outputs = {output};
  op.function = "relu";
  return op;
}

}  // namespace

graph::Tensor FeatureTensor(const std::string& id, graph::Shape shape) {
  graph::Tensor tensor;
  tensor.id = id;
  tensor.shape = std::move(shape);
  return tensor;
}

graph::Tensor ConstantTensor(const std::string& id, graph::Shape shape) {
  graph::Tensor tensor = FeatureTensor(id, std::move(shape));
  tensor.constant = true;
  return tensor;
}

graph::Operator Conv3x3(const std::string& id, int input, int weights, int output) {
  graph::Operator op;
  op.id = id;
  op.kind = OperatorKind::kConv;
  op.inputs = {input};
  op.weights = {weights};
  op.outputs = {output};
  op.window.kernel = {3, 3};
  op.window.pad_low = {1, 1};
  op.window.pad_high = {1, 1};
  return op;
}

graph::Operator Concat(int axis, std::vector<int> inputs, int output) {
  graph::Operator op;
  op.id = "concat";
  op.kind = OperatorKind::kConcat;
  op.axis = axis;
  op.inputs = std::move(inputs);
  op.outputs = {output};
  return op;
}

hw_profiles::Profile SmallProfile() {
  hw_profiles::Profile profile;
  profile.name = "small";
  profile.clock_hz = 1e9;
  profile.memories = {MemoryOf("sram", 1024, 1), MemoryOf("dram", 1 << 20, 10)};
  hw_profiles::Engine engine;
  engine.name = "pe";
  engine.mac_pj = 0.5;
  engine.throughputs = {ThroughputOf(OperatorKind::kConv), ThroughputOf(OperatorKind::kElementwise),
                        ThroughputOf(OperatorKind::kMatmul)};
  profile.engines = {engine};
  hw_profiles::Link link;
  link.name = "dma";
  link.first = 1;
  link.second = 0;
  link.alignment_bytes = 8;
  profile.links = {link};
  profile.roles.assign(base::TensorRoleNames().size(), {1, 16, 1, 1});
  profile.roles[static_cast<size_t>(base::TensorRole::kFeature)].home = 0;
  profile.roles[static_cast<size_t>(base::TensorRole::kState)].home = 0;
  profile.tiling.axes = {{base::Axis::kRows, 1}};
  profile.tiling.halo = {hw_profiles::HaloStorage::kRecompute};
  profile.tiling.weights = {hw_profiles::WeightPolicy::kResident,
                            hw_profiles::WeightPolicy::kStreamed};
  profile.tiling.weight_granularity_channels = 2;
  profile.table_bytes_per_channel = 2;
  return profile;
}

hw_profiles::Profile OneSramProfile() {
  hw_profiles::Profile profile = SmallProfile();
  profile.name = "one_sram";
  profile.memories[1].name = "flash";
  profile.memories[1].writable = false;
  profile.memories[1].direct_read = true;
  for (hw_profiles::RoleLayout& layout : profile.roles) layout.home = 0;
  profile.roles[static_cast<size_t>(base::TensorRole::kConstant)].home = 1;
  profile.tiling.weights = {hw_profiles::WeightPolicy::kDirect};
  profile.tiling.dma = hw_profiles::DmaSteps::kDoubleBuffered;
  profile.tiling.in_place = {OperatorKind::kElementwise};
  return profile;
}

graph::Graph TwoConvs(int64_t rows) {
  graph::Graph network;
  network.name = "two_convs";
  network.tensors = {FeatureTensor("x", {1, 4, rows, 4}), ConstantTensor("wa", {4, 4, 3, 3}),
                     ConstantTensor("wb", {4, 4, 3, 3}), FeatureTensor("m", {1, 4, rows, 4}),
                     FeatureTensor("y", {1, 4, rows, 4})};
  network.tensors[0].network_input = true;
  network.tensors[4].network_output = true;
  network.operators = {Conv3x3("a", 0, 1, 3), Conv3x3("b", 3, 2, 4)};
  return network;
}

Plan OneConvPlan() {
  Plan plan;
  plan.network.name = "one_conv";
  plan.network.tensors = {FeatureTensor("x", {1, 4, 4, 4}), ConstantTensor("w", {4, 4, 3, 3}),
                          FeatureTensor("y", {1, 4, 4, 4})};
  plan.network.tensors[0].network_input = true;
  plan.network.tensors[2].network_output = true;
  plan.network.operators = {Conv3x3("conv", 0, 1, 2)};
  plan.profile = SmallProfile();
  plan.problem.name = "one_conv";
  plan.problem.memories = {SramOf(plan.profile)};
  Subgraph subgraph;
  subgraph.interval = {0, 0};
  subgraph.tile = {1, 4, 4, 4};
  subgraph.tiles = 1;
  SetWork(subgraph.metrics, 64 * 36, 0, {{"inputs", 64}, {"outputs", 64}, {"weights", 152}}, 280);
  // Ports move a byte a cycle. Both ends touch 280 bytes: 216 arrive and 64 leave.
  SetCosts(
      subgraph.metrics, 152 + 64 + 64 * 36 + 64, 152 + 64 + 64, 280.0 / 2584,
      {{"mac", 1152}, {"leakage", 0}, {"dram", 216 * 10 + 64 * 20}, {"sram", 280 * 1 + 280 * 2}},
      "compute");
  plan.subgraphs = {subgraph};
  plan.steps = {{StepKind::kLoad, 0, 0, -1, {1}},
                {StepKind::kLoad, 0, 0, -1, {0}},
                {StepKind::kCompute, 0, 0, 0, {}},
                {StepKind::kStore, 0, 0, -1, {2}}};
  Add(plan, TileUse(0, 0), "s0/x@0", 64, 0, {{1, 3}}, {{1, "dma", kWrite}, {2, "pe", kRead}});
  Add(plan, ResidentUse(1), "s0/w", 152, 128, {{0, 3}}, {{0, "dma", kWrite}, {2, "pe", kRead}});
  Add(plan, TileUse(2, 0), "s0/y@0", 64, 64, {{2, 4}}, {{2, "pe", kWrite}, {3, "dma", kRead}});
  AddHome(plan, {{0, 64, 0, {0, 1}}, {1, 152, 64, {0, 1}}, {2, 64, 224, {0, 1}}});
  SetTotals(plan);
  return plan;
}

Plan TwoConvsPlan() {
  Plan plan;
  plan.network = TwoConvs(10);
  plan.profile = SmallProfile();
  plan.profile.tiling.dma = hw_profiles::DmaSteps::kDoubleBuffered;
  plan.problem.name = "two_convs";
  plan.problem.memories = {SramOf(plan.profile)};
  plan.problem.loops = {{1, 5, {3}}};
  Subgraph subgraph;
  subgraph.interval = {0, 1};
  subgraph.tile = {1, 4, 2, 4};
  subgraph.tiles = 5;
  SetWork(subgraph.metrics, 28 * 16 * 36, 8 * 16 * 36,
          {{"inputs", 416}, {"outputs", 160}, {"weights", 304}}, 696);
  // P loads 4 rows of x and the weights. Then a makes 3, 4, 4, 4 and 3 rows and b 2 each time, and
  // E stores 2. P and slot 0 move 464 bytes. Read in SRAM are x, wa, m, wb and y, those with 5
  // tiles; written are x, the weights, m and y.
  constexpr int64_t kCycles = (64 + 304) + 28 * 16 * 36 + 32;
  SetCosts(subgraph.metrics, kCycles, 64 + 304 + 32, 464.0 / (368 + 5 * 16 * 36),
           {{"mac", 8064},
            {"leakage", 0},
            {"dram", 720 * 10 + 160 * 20},
            {"sram", (416 + 5 * 152 + 288 + 5 * 152 + 160) * 1 + (720 + 288 + 160) * 2}},
           "compute");
  plan.subgraphs = {subgraph};
  plan.steps = {{StepKind::kPrologue, 0, 0, -1, {0, 1, 2}}, {StepKind::kCompute, 0, 0, 0, {0, 4}},
                {StepKind::kCompute, 0, 0, 1, {0, 4}},      {StepKind::kCompute, 0, 1, 0, {0, 4}},
                {StepKind::kCompute, 0, 1, 1, {0, 4}},      {StepKind::kEpilogue, 0, 0, -1, {4}}};
  Add(plan, TileUse(0, 0), "s0/x@0", 96, 0, {{0, 2}, {3, 5}},
      {{0, "dma", kWrite}, {1, "pe", kRead}, {3, "dma", kWrite}, {4, "dma", kWrite}});
  Add(plan, TileUse(0, 1), "s0/x@1", 96, 96, {{1, 4}},
      {{1, "dma", kWrite}, {2, "dma", kWrite}, {3, "pe", kRead}});
  Add(plan, TileUse(3, 0), "s0/m@0", 64, 192, {{1, 3}}, {{1, "pe", kWrite}, {2, "pe", kRead}});
  Add(plan, TileUse(3, 1), "s0/m@1", 64, 256, {{3, 5}}, {{3, "pe", kWrite}, {4, "pe", kRead}});
  Add(plan, TileUse(4, 0), "s0/y@0", 32, 320, {{2, 6}},
      {{2, "pe", kWrite}, {3, "dma", kRead}, {4, "dma", kRead}, {5, "dma", kRead}});
  Add(plan, TileUse(4, 1), "s0/y@1", 32, 352, {{1, 3}, {4, 5}},
      {{1, "dma", kRead}, {2, "dma", kRead}, {4, "pe", kWrite}});
  Add(plan, ResidentUse(1), "s0/wa", 152, 384, {{0, 5}},
      {{0, "dma", kWrite}, {1, "pe", kRead}, {3, "pe", kRead}});
  Add(plan, ResidentUse(2), "s0/wb", 152, 544, {{0, 5}},
      {{0, "dma", kWrite}, {2, "pe", kRead}, {4, "pe", kRead}});
  AddHome(
      plan,
      {{0, 160, 0, {0, 1}}, {1, 152, 160, {0, 1}}, {2, 152, 320, {0, 1}}, {4, 160, 480, {0, 1}}});
  SetTotals(plan);
  return plan;
}

Plan OneSramPlan() {
  Plan plan;
  plan.network.name = "one_sram";
  plan.network.tensors = {FeatureTensor("x", {1, 4, 4, 4}), ConstantTensor("w", {4, 4, 3, 3}),
                          FeatureTensor("m", {1, 4, 4, 4}), FeatureTensor("y", {1, 4, 4, 4})};
  plan.network.tensors[0].network_input = true;
  plan.network.tensors[3].network_output = true;
  plan.network.operators = {Conv3x3("conv", 0, 1, 2), Relu("relu", 2, 3)};
  plan.profile = OneSramProfile();
  plan.problem.name = "one_sram";
  plan.problem.memories = {SramOf(plan.profile)};
  Subgraph first;
  first.interval = {0, 0};
  first.tile = {1, 4, 4, 4};
  first.tiles = 1;
  first.weights = hw_profiles::WeightPolicy::kDirect;
  SetWork(first.metrics, 64 * 36, 0, {{"weights", 152}}, 128);
  SetCosts(first.metrics, 64 * 36, 0, 152.0 / 2304,
           {{"mac", 1152}, {"leakage", 0}, {"flash", 152 * 10}, {"sram", 64 * 1 + 64 * 2}},
           "compute");
  Subgraph second = first;
  second.interval = {1, 1};
  second.in_place = true;
  second.metrics = {};
  SetWork(second.metrics, 0, 0, {}, 128);
  SetCosts(second.metrics, 64 + 64, 0, 0,
           {{"mac", 0}, {"leakage", 0}, {"flash", 0}, {"sram", 64 * 1 + 64 * 2}}, "sram");
  plan.subgraphs = {first, second};
  plan.steps = {{StepKind::kCompute, 0, 0, 0, {}}, {StepKind::kCompute, 1, 0, 1, {}}};
  Add(plan, WholeUse(0), "x", 64, 0, {{0, 1}}, {{0, "pe", kRead}});
  Add(plan, WholeUse(2), "m", 64, 64, {{0, 2}}, {{0, "pe", kWrite}, {1, "pe", kRead}});
  Add(plan, WholeUse(3), "y", 64, 64, {{1, 2}}, {{1, "pe", kWrite}});
  plan.problem.relations = {{problem::RelationKind::kColocate, 1, 2, 0}};
  AddHome(plan, {{1, 152, 0, {0, 2}}});
  SetTotals(plan);
  return plan;
}

Plan BankedPlan() {
  Plan plan = OneConvPlan();
  hw_profiles::Memory& sram = plan.profile.memories.front();
  sram.banks = {{"low", {0, 512}, {}}, {"high", {512, 1024}, {}}};
  const problem::BankMode read{false, {{"", kRead}}};
  const problem::BankMode write{false, {{"", kWrite}}};
  sram.modes = {{"up", {read, write}}, {"down", {write, read}}};
  sram.transitions = {{{0, 1}, {1, 0}}};
  plan.problem.memories = {SramOf(plan.profile)};
  plan.allocation.offsets = {0, 128, 512};
  plan.allocation.modes = {{1, 1, 0, 1}};
  plan.subgraphs[0].metrics.peak_bytes = 576;
  plan.totals.peak_bytes = 576;
  return plan;
}

}  // namespace tessera::plan
