#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

#include "random_batch.h"
#include "random_graph.h"
#include "random_sum.h"
#include "tessera/encoder/adapt/choice.h"
#include "tessera/encoder/adapt/halo.h"
#include "tessera/encoder/adapt/program.h"
#include "tessera/plan/check_partition.h"
#include "tessera/plan/check_program.h"
#include "tessera/plan/derivation.h"
#include "tessera/search/simulate/simulate.h"
#include "tessera/search/simulate/timeline.h"

// docs/program.md is derived twice: by encoder/adapt and search/simulate in closed form, by plan/ step by step. Random networks
// on random machines, cut in random ways: both must say the same.
namespace tessera::search {
namespace {

using base::OperatorKind;
using base::Random;
using hw_profiles::HaloStorage;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;

// Weights for most operators that may have them; some are used by two.
void AddWeights(Random& random, graph::Graph& graph) {
  std::vector<int> before;
  for (graph::Operator& op : graph.operators) {
    const bool convolves = op.kind == OperatorKind::kConv || op.kind == OperatorKind::kDepthwise;
    if (!convolves && op.kind != OperatorKind::kElementwise) continue;
    if (random.Chance(0.2)) continue;
    if (!before.empty() && random.Chance(0.1)) {
      op.weights = {before.back()};
      continue;
    }
    const graph::Shape& output = graph.tensors[static_cast<size_t>(op.outputs.front())].shape;
    graph::Tensor weights;
    weights.id = "w" + std::to_string(graph.tensors.size());
    weights.shape = {convolves ? output[1] : 3, random.Uniform(1, 4)};
    weights.constant = true;
    op.weights = {static_cast<int>(graph.tensors.size())};
    before.push_back(op.weights.front());
    graph.tensors.push_back(std::move(weights));
  }
}

hw_profiles::Memory MemoryOf(Random& random, std::string name) {
  hw_profiles::Memory memory;
  memory.name = std::move(name);
  memory.capacity_bytes = 1 << 30;
  memory.alignment_bytes = random.Chance(0.7) ? 1 : 8;
  return memory;
}

Profile AnyMachine(Random& random) {
  Profile profile;
  profile.name = "any";
  profile.clock_hz = 1e9;
  profile.memories = {MemoryOf(random, "dram"), MemoryOf(random, "sram")};
  profile.memories[0].direct_read = random.Chance(0.3);
  profile.memories[0].direct_write = random.Chance(0.3);
  profile.tile_memory = 1;
  hw_profiles::Link link;
  link.name = "dma";
  link.second = 1;
  link.alignment_bytes = random.Chance(0.7) ? 1 : 12;
  profile.links = {link};
  hw_profiles::Engine engine;
  engine.name = "pe";
  for (size_t kind = 0; kind < base::OperatorKindNames().size(); ++kind) {
    hw_profiles::Throughput throughput;
    throughput.kind = static_cast<OperatorKind>(kind);
    engine.throughputs.push_back(throughput);
  }
  profile.engines = {engine};
  profile.roles.resize(base::TensorRoleNames().size());
  for (hw_profiles::RoleLayout& role : profile.roles) {
    role.home = random.Chance(0.2) ? 1 : 0;
    role.alignment_bytes = random.Chance(0.7) ? 1 : 16;
    role.channel_block = random.Chance(0.7) ? 1 : 4;
    role.row_pitch_bytes = random.Chance(0.7) ? 1 : 8;
  }
  profile.roles[static_cast<size_t>(base::TensorRole::kFeature)].home = 1;
  profile.tiling.dma =
      random.Chance(0.5) ? hw_profiles::DmaSteps::kOwnSteps : hw_profiles::DmaSteps::kOverlapped;
  profile.tiling.axes = {
      {base::Axis::kRows, 1}, {base::Axis::kColumns, 1}, {base::Axis::kChannels, 1}, {base::Axis::kBatch, 1}};
  profile.tiling.weights = {WeightPolicy::kResident, WeightPolicy::kStreamed, WeightPolicy::kDirect};
  profile.tiling.halo = {HaloStorage::kRecompute, HaloStorage::kRing, HaloStorage::kCopy,
                         HaloStorage::kAdjacent};
  profile.tiling.implicit_padding = random.Chance(0.7);
  profile.tiling.weight_granule_channels = random.Uniform(1, 3);
  if (random.Chance(0.7)) profile.tiling.in_place = {OperatorKind::kElementwise, OperatorKind::kDepthwise};
  if (random.Chance(0.3)) {
    profile.scratch = {{OperatorKind::kConv,
                        2,
                        {hw_profiles::ScratchFactor::kOutRows, hw_profiles::ScratchFactor::kInChannels}}};
  }
  profile.table_bytes_per_channel = random.Chance(0.7) ? 0 : 5;
  return profile;
}

encoder::SubgraphChoice AnyChoice(Random& random, const graph::Graph& graph, const Profile& profile,
                                  graph::Interval interval) {
  const graph::Operator& last = graph.operators[static_cast<size_t>(interval.last)];
  const graph::Shape& output = graph.tensors[static_cast<size_t>(last.outputs.front())].shape;
  encoder::SubgraphChoice choice{interval, output, {}};
  for (size_t axis = 0; axis < output.size(); ++axis) {
    const bool rows = graph::AxisOf(output, graph::Axis::kRows) == axis;
    const bool named = rows || graph::AxisOf(output, graph::Axis::kColumns) == axis ||
                       graph::AxisOf(output, graph::Axis::kChannels) == axis ||
                       graph::AxisOf(output, graph::Axis::kBatch) == axis;
    if (!named || output[axis] < 2 || !random.Chance(rows ? 0.8 : 0.2)) continue;
    if (graph::CanCut(graph, interval, axis)) choice.tile[axis] = random.Uniform(1, output[axis] - 1);
  }
  choice.policy.weights = static_cast<WeightPolicy>(random.Uniform(0, 2));
  choice.policy.in_place = random.Chance(0.5);
  if (encoder::MayKeepRows(profile, output, choice.tile) && random.Chance(0.8))
    choice.policy.halo = static_cast<HaloStorage>(random.Uniform(1, 3));
  return choice;
}

// Some borders of this cut, which stay on chip.
std::vector<int> AnyKept(Random& random, const graph::Graph& graph, const Profile& profile,
                         const std::vector<encoder::SubgraphChoice>& choices) {
  std::vector<int> kept;
  if (hw_profiles::LayoutOf(profile, base::TensorRole::kBorder).home == profile.tile_memory) return kept;
  for (int tensor = 0; tensor < static_cast<int>(graph.tensors.size()); ++tensor) {
    const bool wanted = random.Chance(0.5);
    if (wanted && !encoder::FindUnkeepable(graph, choices, {&tensor, 1})) kept.push_back(tensor);
  }
  return kept;
}

// What the search would say of these choices, but for addresses.
plan::Plan AsPlan(const graph::Graph& graph, const Profile& profile,
                  const std::vector<encoder::SubgraphChoice>& choices, encoder::Program program) {
  plan::Plan plan;
  plan.network = graph;
  plan.profile = profile;
  plan.kept = encoder::KeptBy(choices);
  for (const encoder::SubgraphChoice& choice : choices) {
    const graph::TiledSubgraph tiling =
        encoder::CutTiles(graph, choice.interval, choice.tile, choice.policy.halo);
    plan::Subgraph& subgraph = plan.subgraphs.emplace_back();
    subgraph.interval = choice.interval;
    subgraph.tile = choice.tile;
    subgraph.tiles = tiling.tiles;
    subgraph.weights = choice.policy.weights;
    subgraph.in_place = choice.policy.in_place;
    subgraph.halo = choice.policy.halo;
    subgraph.depth = choice.policy.depth;
    subgraph.prefetch = choice.prefetch;
  }
  for (size_t i = 0; i < choices.size(); ++i) {
    const encoder::SubgraphChoice& choice = choices[i];
    plan.subgraphs[i].metrics =
        Simulate(graph, profile, encoder::CutTiles(graph, choice.interval, choice.tile, choice.policy.halo),
                 choice.policy, AheadOf(graph, profile, plan.subgraphs, i));
  }
  for (const encoder::ProgramBuffer& buffer : program.buffers) {
    plan.buffers.push_back({static_cast<plan::BufferKind>(buffer.kind), buffer.subgraph, buffer.tensor,
                            buffer.op, buffer.parity, buffer.slot});
  }
  for (const encoder::ProgramStep& step : program.steps) {
    plan.steps.push_back(
        {static_cast<plan::StepKind>(step.kind), step.subgraph, step.parity, step.op, step.transfers});
  }
  plan.problem = std::move(program.problem);
  return plan;
}

std::string Disagreements(const plan::Plan& plan) {
  plan::Findings findings(10);
  plan::CheckPartition(plan, findings);
  std::string text;
  if (findings.Empty()) {
    const plan::Derivation derivation = plan::Derive(plan);
    plan::CheckProgram(plan, derivation, findings);
    for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
      const plan::Metrics& told = plan.subgraphs[i].metrics;
      const plan::Work& found = derivation.work[i];
      if (told.macs != found.macs || told.recomputed_macs != found.recomputed_macs) text += "macs\n";
      for (const auto& [cause, bytes] : told.off_chip_by_cause) {
        const auto counted = found.off_chip.find(cause);
        if (bytes != (counted == found.off_chip.end() ? 0 : counted->second)) text += cause + "\n";
      }
    }
  }
  for (const plan::Violation& violation : findings.Take()) text += violation.message + "\n";
  return text;
}

// States whose next values lie in their place.
int64_t HandedOn(const plan::Plan& plan) {
  const std::vector<problem::Relation>& relations = plan.problem.relations;
  return std::count_if(relations.begin(), relations.end(), [&](const problem::Relation& relation) {
    const int result = plan.buffers[static_cast<size_t>(relation.second)].tensor;
    return relation.kind == problem::RelationKind::kColocate &&
           plan.network.tensors[static_cast<size_t>(result)].next_of >= 0;
  });
}

// Results in place that are smaller or larger than their operands, so channel by channel.
int64_t ByChannelOtherwiseSized(const plan::Plan& plan) {
  const std::vector<problem::Relation>& relations = plan.problem.relations;
  return std::count_if(relations.begin(), relations.end(), [&](const problem::Relation& relation) {
    const std::vector<problem::Buffer>& buffers = plan.problem.buffers;
    return relation.kind == problem::RelationKind::kColocate &&
           buffers[static_cast<size_t>(relation.first)].size !=
               buffers[static_cast<size_t>(relation.second)].size;
  });
}

// Costs differ by what they are made of: pace, latency, bursts, and starts that hide behind others or do not.
void VaryPaces(Random& random, Profile& profile) {
  for (hw_profiles::Memory& memory : profile.memories) {
    memory.port = {.read_bytes_per_cycle = static_cast<double>(random.Uniform(1, 16)),
                   .write_bytes_per_cycle = static_cast<double>(random.Uniform(1, 16)),
                   .shared = random.Chance(0.5),
                   .read_latency_cycles = random.Uniform(0, 9),
                   .write_latency_cycles = random.Uniform(0, 9),
                   .burst_bytes = random.Uniform(1, 8)};
    memory.read_pj_per_byte = static_cast<double>(random.Uniform(0, 9));
    memory.write_pj_per_byte = static_cast<double>(random.Uniform(0, 9));
    memory.leakage_mw = static_cast<double>(random.Uniform(0, 2));
  }
  profile.links[0].setup_cycles = random.Uniform(0, 9);
  profile.links[0].outstanding = static_cast<int>(random.Uniform(1, 3));
  profile.engines[0].mac_pj = 0.5;
  profile.engines[0].outstanding = static_cast<int>(random.Uniform(1, 3));
  for (hw_profiles::Throughput& throughput : profile.engines[0].throughputs) {
    throughput.start_cycles = random.Uniform(0, 9);
    throughput.cycles_per_output = random.Uniform(0, 2);
    throughput.unroll.out_rows = random.Uniform(1, 3);
    throughput.unroll.out_channels = random.Uniform(1, 3);
  }
}

// The graph, without weights, cut in any way on any machine; nullopt where that is no program.
std::optional<plan::Plan> AnyPlan(Random& random, graph::Graph graph) {
  if (random.Chance(0.5)) graph::DrawStates(random, graph);
  AddWeights(random, graph);
  const Profile profile = AnyMachine(random);
  std::vector<encoder::SubgraphChoice> choices;
  const auto operators = static_cast<int>(graph.operators.size());
  for (int first = 0; first < operators;) {
    const auto last = static_cast<int>(random.Uniform(first, operators - 1));
    choices.push_back(AnyChoice(random, graph, profile, {first, last}));
    first = last + 1;
  }
  const std::vector<int> kept = AnyKept(random, graph, profile, choices);
  for (encoder::SubgraphChoice& choice : choices) choice.policy.kept = kept;
  base::Expected<encoder::Program> program = encoder::BuildProgram(graph, profile, choices);
  if (!program) return std::nullopt;
  return AsPlan(graph, profile, choices, *std::move(program));
}

TEST(Derivations, AgreeOnRandomPrograms) {
  Random random(2026);
  std::array<int, 4> cached = {};  // subgraphs with a cached tensor, by storage
  int programs = 0;
  int keeping = 0;
  int64_t handed_on = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto plan = AnyPlan(random, graph::RandomGraph(random, static_cast<int>(random.Uniform(1, 7))));
    if (!plan) continue;
    ++programs;
    keeping += plan->kept.empty() ? 0 : 1;
    handed_on += HandedOn(*plan);
    ASSERT_EQ(Disagreements(*plan), "") << "round " << round;
    for (const plan::BufferUse& use : plan->buffers) {
      const bool keeps = use.kind == plan::BufferKind::kRing || use.kind == plan::BufferKind::kLine ||
                         use.kind == plan::BufferKind::kHalo;
      if (keeps) ++cached.at(static_cast<size_t>(plan->subgraphs[static_cast<size_t>(use.subgraph)].halo));
    }
  }
  EXPECT_GE(programs, 1000);
  EXPECT_GE(keeping, 300);
  EXPECT_GE(handed_on, 10);
  for (const size_t storage : {1, 2, 3}) EXPECT_GE(cached.at(storage), 50);
}

TEST(Derivations, AgreeOnDepthwiseResultsInPlace) {
  Random random(2028);
  int64_t by_channel = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto plan =
        AnyPlan(random, graph::RandomDepthwiseChain(random, static_cast<int>(random.Uniform(1, 6))));
    if (!plan) continue;
    ASSERT_EQ(Disagreements(*plan), "") << "round " << round;
    by_channel += ByChannelOtherwiseSized(*plan);
  }
  EXPECT_GE(by_channel, 50);
}

// The encoder knows when constants arrive from the timeline of the subgraph before; plan/ sees it run. And what the one refuses to
// prefetch, the other refuses as well.
TEST(Derivations, AgreeOnPrefetchedConstants) {
  Random random(2032);
  std::array<int, 6> prefetched = {};  // subgraphs, by the tiles of the one before, up to 5
  int refused = 0;
  for (int round = 0; round < 16000; ++round) {
    const auto plain = AnyPlan(random, graph::RandomGraph(random, static_cast<int>(random.Uniform(2, 7))));
    if (!plain) continue;
    Profile profile = plain->profile;
    VaryPaces(random, profile);
    if (random.Chance(0.9)) profile.tiling.dma = hw_profiles::DmaSteps::kOverlapped;
    std::vector<encoder::SubgraphChoice> choices;
    for (const plan::Subgraph& subgraph : plain->subgraphs) {
      choices.push_back(
          {subgraph.interval,
           subgraph.tile,
           {subgraph.weights, subgraph.in_place, subgraph.halo, plain->kept},
           random.Chance(choices.empty() || subgraph.weights == WeightPolicy::kDirect ? 0.02 : 0.4)});
    }
    const auto program = encoder::BuildProgram(plain->network, profile, choices);
    const plan::Plan plan = AsPlan(plain->network, profile, choices, program ? *program : encoder::Program{});
    if (!program) {
      plan::Findings findings(10);
      plan::CheckPartition(plan, findings);
      ASSERT_FALSE(findings.Empty()) << "round " << round;
      ++refused;
      continue;
    }
    ASSERT_EQ(Disagreements(plan), "") << "round " << round;
    plan::Metrics totals;
    for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
      const plan::Subgraph& subgraph = plan.subgraphs[i];
      plan::Accumulate(totals, subgraph.metrics);
      const SubgraphTimeline timeline = TimelineOf(plan, i, kAllTiles);
      EXPECT_EQ(timeline.cycles, subgraph.metrics.latency_cycles) << "round " << round;
      if (subgraph.prefetch) ++prefetched.at(std::min<size_t>(5, plan.subgraphs[i - 1].tiles));
    }
    const int last = static_cast<int>(plan.network.operators.size()) - 1;
    const plan::Metrics bound = LowerBound(plan.network, profile, {0, last});
    if (plan.kept.empty()) {
      EXPECT_GE(totals.latency_cycles, bound.latency_cycles) << "round " << round;
    }
  }
  for (size_t tiles = 1; tiles < prefetched.size(); ++tiles) EXPECT_GE(prefetched[tiles], 10) << tiles;
  EXPECT_GE(refused, 500);
}

TEST(SubgraphBound, HoldsForEveryProgram) {
  Random random(2027);
  int programs = 0;
  int closer = 0;
  for (int round = 0; round < 1500; ++round) {
    graph::Graph graph = graph::RandomGraph(random, static_cast<int>(random.Uniform(1, 6)));
    AddWeights(random, graph);
    Profile profile = AnyMachine(random);
    VaryPaces(random, profile);
    const auto last = static_cast<int>(graph.operators.size()) - 1;
    const graph::Interval interval{static_cast<int>(random.Uniform(0, last)), last};
    encoder::SubgraphChoice choice = AnyChoice(random, graph, profile, interval);
    choice.policy.kept = AnyKept(random, graph, profile, {choice});
    if (!encoder::BuildProgram(graph, profile, {&choice, 1})) continue;
    ++programs;
    const plan::Metrics cost = Simulate(
        graph, profile, encoder::CutTiles(graph, interval, choice.tile, choice.policy.halo), choice.policy);
    const plan::Metrics any_cut = LowerBound(graph, profile, interval);
    const plan::Metrics bound = SubgraphBound(graph, profile, interval, choice.policy.kept);
    for (const std::string_view metric : {"latency", "energy", "off_chip_bytes"}) {
      const double found = plan::ValueOf(bound, metric);
      EXPECT_LE(found, plan::ValueOf(cost, metric) * (1 + 1e-12)) << metric << ", round " << round;
      if (!choice.policy.kept.empty()) continue;
      EXPECT_LE(plan::ValueOf(any_cut, metric), found * (1 + 1e-12)) << metric << ", round " << round;
    }
    closer += bound.latency_cycles > any_cut.latency_cycles ? 1 : 0;
  }
  EXPECT_GE(programs, 500);
  EXPECT_GE(closer, 250);
}

// One operator that adds up, held by depth or as else it may be, whatever makes its operands by itself before it.
struct Sum {
  graph::Graph graph;
  Profile profile;
  std::vector<encoder::SubgraphChoice> choices;  // the last is the sum's
};

Sum AnySum(Random& random) {
  Sum sum{graph::RandomSum(random), AnyMachine(random), {}};
  VaryPaces(random, sum.profile);
  sum.profile.tiling.weights.push_back(WeightPolicy::kByDepth);
  sum.profile.tiling.depth_granule = random.Uniform(1, 5);
  for (hw_profiles::Throughput& throughput : sum.profile.engines[0].throughputs)
    throughput.unroll.in_channels = random.Uniform(1, 3);
  const auto operators = static_cast<int>(sum.graph.operators.size());
  for (int op = 0; op < operators; ++op)
    sum.choices.push_back(AnyChoice(random, sum.graph, sum.profile, {op, op}));
  encoder::SubgraphChoice& last = sum.choices.back();
  last.policy.halo = HaloStorage::kRecompute;
  last.policy.weights = WeightPolicy::kByDepth;
  last.policy.depth = sum.profile.tiling.depth_granule * random.Uniform(0, 3);
  const graph::Shape& output = encoder::OutputShape(sum.graph, last.interval);
  for (size_t axis = 0; axis < output.size(); ++axis) {
    const bool leading = axis + 2 < output.size() && output.size() != 4;
    const bool cuts = random.Chance(0.3) && output[axis] > 1 && !leading;
    if (cuts && graph::CanCut(sum.graph, last.interval, axis))
      last.tile[axis] = random.Uniform(1, output[axis] - 1);
  }
  const std::vector<int> kept = AnyKept(random, sum.graph, sum.profile, sum.choices);
  for (encoder::SubgraphChoice& choice : sum.choices) choice.policy.kept = kept;
  return sum;
}

// Tiles that go down the rows once for each part of the batch: images, or heads with their keys and values.
TEST(Derivations, AgreeOnSweepsThroughABatch) {
  Random random(2031);
  std::array<int, 4> cached = {};  // programs with a cached tensor, by storage
  for (int round = 0; round < 2000; ++round) {
    graph::Graph graph = graph::RandomBatch(random);
    AddWeights(random, graph);
    const Profile profile = AnyMachine(random);
    const graph::Interval interval = {0, static_cast<int>(graph.operators.size()) - 1};
    encoder::SubgraphChoice choice{interval, encoder::OutputShape(graph, interval), {}};
    for (const graph::Axis axis : {graph::Axis::kBatch, graph::Axis::kRows}) {
      int64_t& extent = choice.tile[*graph::AxisOf(choice.tile, axis)];
      extent = random.Uniform(1, extent - 1);
    }
    ASSERT_TRUE(encoder::MayKeepRows(profile, encoder::OutputShape(graph, interval), choice.tile));
    choice.policy.halo = static_cast<HaloStorage>(random.Uniform(1, 3));
    choice.policy.weights = static_cast<WeightPolicy>(random.Uniform(0, 1));
    base::Expected<encoder::Program> program = encoder::BuildProgram(graph, profile, {&choice, 1});
    if (!program) continue;
    const plan::Plan plan = AsPlan(graph, profile, {choice}, *std::move(program));
    ASSERT_EQ(Disagreements(plan), "") << "round " << round;
    const bool keeps = std::any_of(plan.buffers.begin(), plan.buffers.end(), [](const plan::BufferUse& use) {
      return use.kind == plan::BufferKind::kRing || use.kind == plan::BufferKind::kLine ||
             use.kind == plan::BufferKind::kHalo;
    });
    cached.at(static_cast<size_t>(choice.policy.halo)) += keeps ? 1 : 0;
  }
  EXPECT_GE(cached[1], 200);
  EXPECT_GE(cached[2], 200);
  EXPECT_GE(cached[3], 50);
}

TEST(Derivations, AgreeOnSumsByDepth) {
  Random random(2028);
  std::array<int, 2> programs = {};  // by how transfers run
  int tables = 0;
  int several = 0;  // tiles
  for (int round = 0; round < 4000; ++round) {
    const Sum sum = AnySum(random);
    base::Expected<encoder::Program> program = encoder::BuildProgram(sum.graph, sum.profile, sum.choices);
    if (!program) continue;
    const plan::Plan plan = AsPlan(sum.graph, sum.profile, sum.choices, *std::move(program));
    ASSERT_EQ(Disagreements(plan), "") << "round " << round;
    ++programs.at(static_cast<size_t>(sum.profile.tiling.dma));
    tables += sum.profile.table_bytes_per_channel > 0 ? 1 : 0;
    several += plan.subgraphs.back().tiles > 1 ? 1 : 0;
    EXPECT_TRUE(std::any_of(plan.buffers.begin(), plan.buffers.end(), [](const plan::BufferUse& use) {
      return use.kind == plan::BufferKind::kAccumulator;
    }));
  }
  EXPECT_GE(programs[0], 300);
  EXPECT_GE(programs[1], 300);
  EXPECT_GE(tables, 100);
  EXPECT_GE(several, 300);
}

// What the encoder refuses to hold by depth, plan/ refuses as well, and the other way round.
TEST(Derivations, AgreeOnWhatMayBeHeldByDepth) {
  Random random(2029);
  std::array<int, 2> seen = {};
  for (int round = 0; round < 2500; ++round) {
    graph::Graph graph = random.Chance(0.5) ? graph::RandomSum(random) : graph::RandomGraph(random, 2);
    AddWeights(random, graph);
    Profile profile = AnyMachine(random);
    profile.tiling.weights.push_back(WeightPolicy::kByDepth);
    profile.tiling.depth_granule = random.Uniform(1, 5);
    const auto operators = static_cast<int>(graph.operators.size());
    std::vector<encoder::SubgraphChoice> choices;
    for (int op = 0; op < operators; ++op)
      choices.push_back({{op, op}, encoder::OutputShape(graph, {op, op}), {WeightPolicy::kResident}});
    const bool together = operators > 1 && random.Chance(0.2);
    if (together) choices = {{{0, operators - 1}, encoder::OutputShape(graph, {0, operators - 1}), {}}};
    const base::Expected<encoder::Program> resident = encoder::BuildProgram(graph, profile, choices);
    if (!resident) continue;
    choices.back().policy.weights = WeightPolicy::kByDepth;
    choices.back().policy.depth = random.Chance(0.5) ? 0 : random.Uniform(1, 6);
    const base::Expected<encoder::Program> program = encoder::BuildProgram(graph, profile, choices);
    plan::Plan plan = AsPlan(graph, profile, choices, program ? *program : *resident);
    plan::Findings findings(10);
    plan::CheckPartition(plan, findings);
    ASSERT_EQ(findings.Empty(), program.has_value()) << "round " << round;
    ++seen.at(program ? 1 : 0);
  }
  EXPECT_GE(seen[0], 200);
  EXPECT_GE(seen[1], 200);
}

TEST(SumsByDepth, CostWhatTheTimelineSaysAndNoLessThanTheBounds) {
  Random random(2030);
  int programs = 0;
  for (int round = 0; round < 2000; ++round) {
    const Sum sum = AnySum(random);
    const encoder::SubgraphChoice& choice = sum.choices.back();
    if (!encoder::BuildProgram(sum.graph, sum.profile, sum.choices)) continue;
    ++programs;
    const graph::TiledSubgraph tiling = graph::Tile(sum.graph, choice.interval, choice.tile);
    const plan::Metrics cost = Simulate(sum.graph, sum.profile, tiling, choice.policy);
    const SubgraphTimeline timeline =
        TimelineOf(sum.graph, sum.profile, tiling, choice.policy, random.Uniform(2, 20));
    ASSERT_EQ(timeline.cycles, cost.latency_cycles) << "round " << round;
    const plan::Metrics bound = SubgraphBound(sum.graph, sum.profile, choice.interval, choice.policy.kept);
    for (const std::string_view metric : {"latency", "energy", "off_chip_bytes"}) {
      EXPECT_LE(plan::ValueOf(bound, metric), plan::ValueOf(cost, metric) * (1 + 1e-12))
          << metric << ", round " << round;
    }
  }
  EXPECT_GE(programs, 500);
}

}  // namespace
}  // namespace tessera::search
