// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/validator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "fixture.h"
#include "tessera/tests/hw_profiles/engines.h"

namespace tessera::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> Messages(const Plan& plan) {
  std::vector<std::string> messages;
  for (const verify::Violation& violation : verify::Validate(plan)) {
    messages.push_back(std::string(verify::NameOf(violation.kind)) + ": " + violation.message);
  }
  return messages;
}

TEST(PlanValidator, AcceptsOneConvolutionWithStepsOfTheirOwn) {
  EXPECT_THAT(Messages(OneConvPlan()), IsEmpty());
}

TEST(PlanValidator, AcceptsTwoConvolutionsWithDoubleBufferedTransfers) {
  EXPECT_THAT(Messages(TwoConvsPlan()), IsEmpty());
}

TEST(PlanValidator, AcceptsWholeBuffersInOneSram) {
  EXPECT_THAT(Messages(OneSramPlan()), IsEmpty());
}

TEST(PlanValidator, AcceptsBanksAndModes) { EXPECT_THAT(Messages(BankedPlan()), IsEmpty()); }

// One seeded fault: a change of a valid plan, and the message that must name it.
struct Fault {
  std::string name;
  Plan (*plan)();
  std::function<void(Plan&)> spoil;
  std::string message;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class SeededFault : public testing::TestWithParam<Fault> {};

TEST_P(SeededFault, IsNamed) {
  Plan plan = GetParam().plan();
  GetParam().spoil(plan);
  EXPECT_THAT(Messages(plan), testing::Contains(HasSubstr(GetParam().message)));
}

// Leaves the kind to a host.
void GiveToHost(Plan& plan, base::OperatorKind kind) {
  std::erase_if(plan.profile.engines[0].throughputs,
                [kind](const auto& entry) { return entry.kind == kind; });
  plan.profile.engines.push_back(hw_profiles::Host("host"));
}

// Buffers of TwoConvsPlan.
constexpr size_t kPing = 0;
constexpr size_t kPong = 1;
constexpr size_t kInnerPing = 2;
constexpr size_t kOutPing = 4;
constexpr size_t kOutPong = 5;
constexpr size_t kWeights = 6;

const std::vector<Fault> kFaults = {
    {"LifespanShortenedAtItsEnd", TwoConvsPlan,
     [](Plan& plan) {
       plan.problem.buffers[kWeights].lifespans = {{0, 4}};
     },
     "lifespan: buffer 's0/wa' lives [0, 4) but is needed at step 4"},
    {"LifespanShortenedAtItsBegin", TwoConvsPlan,
     [](Plan& plan) {
       plan.problem.buffers[kPong].lifespans = {{2, 4}};
       std::erase_if(plan.problem.buffers[kPong].accesses,
                     [](const auto& access) { return access.step == 1; });
     },
     "lifespan: buffer 's0/x@1' lives [2, 4) but is needed at step 1"},
    {"LifespanTooLong", TwoConvsPlan,
     [](Plan& plan) {
       plan.problem.buffers[kInnerPing].lifespans = {{1, 4}};
     },
     "lifespan: buffer 's0/m@0' lives [1, 4) but is not needed at step 3"},
    {"GapFilled", TwoConvsPlan,
     [](Plan& plan) {
       plan.problem.buffers[kPing].lifespans = {{0, 5}};
     },
     "lifespan: buffer 's0/x@0' lives [0, 5) but is not needed at step 2"},
    {"AccessDropped", TwoConvsPlan,
     [](Plan& plan) { plan.problem.buffers[kPing].accesses.pop_back(); },
     "access: buffer 's0/x@0' is written by 'dma' at step 4, which the plan does not say"},
    {"AccessInvented", TwoConvsPlan,
     [](Plan& plan) {
       plan.problem.buffers[kOutPing].accesses.push_back({3, "pe", problem::AccessKind::kRead});
     },
     "access: buffer 's0/y@0' is not read by 'pe' at step 3, as the plan says"},
    {"AccessByAnotherEngine", OneConvPlan,
     [](Plan& plan) { plan.problem.buffers[0].accesses[1].engine = "dsp"; },
     "access: buffer 's0/x@0' is read by 'pe' at step 2"},
    {"PingAndPongExchanged", TwoConvsPlan,
     [](Plan& plan) {
       std::swap(plan.problem.buffers[kPing].lifespans, plan.problem.buffers[kPong].lifespans);
     },
     "lifespan: buffer 's0/x@0' lives [1, 4) but is needed at step 0"},
    {"WrongPhaseLeavesAtTheEnd", TwoConvsPlan,
     [](Plan& plan) {
       problem::Buffer& pong = plan.problem.buffers[kOutPong];
       pong.lifespans = {{1, 3}, {4, 6}};
       pong.accesses.push_back({5, "dma", problem::AccessKind::kRead});
     },
     "lifespan: buffer 's0/y@1' lives [1, 3) [4, 6) but is not needed at step 5"},
    {"WrongExit", TwoConvsPlan, [](Plan& plan) { plan.problem.loops[0].exits = {5}; },
     "step: loop [1, 5) with exits 3 is missing"},
    {"LoopForgotten", TwoConvsPlan, [](Plan& plan) { plan.problem.loops.clear(); },
     "step: loop [1, 5) with exits 3 is missing"},
    {"LoopInvented", OneConvPlan,
     [](Plan& plan) {
       plan.problem.loops = {{1, 4, {4}}};
     },
     "step: loop [1, 4) with exits 4 is not in the program"},
    {"StepForgotten", OneConvPlan, [](Plan& plan) { plan.steps.pop_back(); },
     "step: the plan has 3 steps where the program has 4"},
    {"StepsExchanged", TwoConvsPlan, [](Plan& plan) { std::swap(plan.steps[1], plan.steps[2]); },
     "step: step 1 computes another operator than 'a'"},
    {"TransferForgotten", TwoConvsPlan, [](Plan& plan) { plan.steps[3].transfers = {0}; },
     "step: step 3 moves [x], but the program moves [x, y]"},
    {"OffsetShifted", TwoConvsPlan, [](Plan& plan) { plan.allocation.offsets[kPong] = 80; },
     "allocation: overlap: buffers 's0/x@0' and 's0/x@1' share addresses [80, 96)"},
    {"OffsetMisaligned", OneConvPlan, [](Plan& plan) { plan.allocation.offsets[2] = 72; },
     "allocation: alignment: offset 72 of buffer 's0/y@0' is not a multiple of 16"},
    {"BeyondTheCapacity", OneConvPlan, [](Plan& plan) { plan.allocation.offsets[1] = 880; },
     "allocation: bounds: buffer 's0/w' of 152 bytes at offset 880"},
    {"CapacityInvented", OneConvPlan, [](Plan& plan) { plan.problem.memories[0].capacity = 4096; },
     "memory: the bytes of capacity of the problem's memory differ"},
    {"SizeTooSmallByOne", OneConvPlan, [](Plan& plan) { plan.problem.buffers[2].size = 63; },
     "size: buffer 's0/y@0' has 63 bytes but needs 64"},
    {"SizeWithoutHalo", TwoConvsPlan, [](Plan& plan) { plan.problem.buffers[kPing].size = 64; },
     "size: buffer 's0/x@0' has 64 bytes but needs 96"},
    {"TablesForgotten", OneConvPlan, [](Plan& plan) { plan.problem.buffers[1].size = 144; },
     "size: buffer 's0/w' has 144 bytes but needs 152"},
    {"AlignmentTooSmall", OneConvPlan, [](Plan& plan) { plan.problem.buffers[0].alignment = 8; },
     "alignment: buffer 's0/x@0' is aligned to 8 bytes instead of 16"},
    {"SpanLoosened", BankedPlan,
     [](Plan& plan) { plan.profile.memories[0].span = problem::Span::kSingle; },
     "span: buffer 's0/x@0' is not bound to banks as its memory says"},
    {"ModeForbids", BankedPlan, [](Plan& plan) { plan.allocation.modes[0][2] = 1; },
     "allocation: mode: buffer 's0/x@0' is read at step 2 by 'pe' but mode 'down' forbids that"},
    {"TransitionForbidden", BankedPlan,
     [](Plan& plan) {
       plan.profile.memories[0].transitions = {{{0, 1}}};
       plan.problem.memories[0].transitions = {{{0, 1}}};
     },
     "allocation: transition: mode 'down' at step 1 may not be followed by mode 'up'"},
    {"BankMoved", BankedPlan,
     [](Plan& plan) { plan.problem.memories[0].banks[1].range.end = 1000; },
     "memory: the banks of the problem's memory differ"},
    {"InPlaceWhereValuesAreNeeded", TwoConvsPlan,
     [](Plan& plan) {
       plan.problem.relations = {{problem::RelationKind::kColocate, kInnerPing, kOutPing, 0}};
     },
     "in place: buffers 's0/m@0' and 's0/y@0' may not be related so"},
    {"InPlaceAgainstThePolicy", OneSramPlan, [](Plan& plan) { plan.subgraphs[1].in_place = false; },
     "in place: buffers 'm' and 'y' may not be related so"},
    {"InPlaceForgotten", OneSramPlan, [](Plan& plan) { plan.problem.relations.clear(); },
     "in place: buffers 'm' and 'y' should share one place"},
    {"InPlaceOfALiveTensor", OneSramPlan,
     [](Plan& plan) { plan.network.tensors[2].network_output = true; },
     "in place: buffers 'm' and 'y' may not be related so"},
    {"NextValueOfWhatIsNoState", OneSramPlan,
     [](Plan& plan) { plan.network.tensors[3].next_of = 0; },
     "network: tensor 'y' follows no state"},
    {"StateReadBesideItsReplacementInTiles", TwoConvsPlan,
     [](Plan& plan) {
       plan.network.tensors[0].network_input = false;
       plan.network.tensors[0].state = true;
       plan.network.tensors[4].next_of = 0;
     },
     "tile: operator 'a' reads a state that 'b' replaces, but subgraph 0 has several tiles"},
    {"StateReplacedByTilesThatOverlap", TwoConvsPlan,
     [](Plan& plan) {
       plan.network.tensors[0].network_input = false;
       plan.network.tensors[0].state = true;
       plan.network.tensors[3].next_of = 0;
       plan.network.tensors[3].network_output = true;
     },
     "tile: tiles of subgraph 0 make parts of 'm' twice, from a state that it replaces"},
    {"InPlaceApart", OneSramPlan, [](Plan& plan) { plan.allocation.offsets[2] = 128; },
     "allocation: relation: buffer 'm' at [64, 128) and buffer 'y' at [128, 192) are not 0 bytes "
     "apart"},
    {"WholeBufferEndsEarly", OneSramPlan,
     [](Plan& plan) {
       plan.problem.buffers[1].lifespans = {{0, 1}};
       plan.problem.buffers[1].accesses.pop_back();
     },
     "lifespan: buffer 'm' lives [0, 1) but is needed at step 1"},
    {"WrongTileCount", TwoConvsPlan, [](Plan& plan) { plan.subgraphs[0].tiles = 4; },
     "tile: subgraph 0 states 4 tiles, but tiles of [1, 4, 2, 4] cut 'y' into 5"},
    {"TileBeyondTheShape", TwoConvsPlan, [](Plan& plan) { plan.subgraphs[0].tile[2] = 11; },
     "tile: the tile of subgraph 0 takes 11 of the 10 along axis 2 of 'y'"},
    {"TileAlongAForbiddenAxis", TwoConvsPlan, [](Plan& plan) { plan.subgraphs[0].tile[3] = 2; },
     "tile: subgraph 0 cuts axis 3 of 'y', which the profile does not"},
    {"TileOffTheGranularity", TwoConvsPlan,
     [](Plan& plan) { plan.profile.tiling.axes[0].granularity = 4; },
     "tile: the tile of subgraph 0 has 2 rows, no multiple of 4"},
    {"KeptThoughAtHome", OneSramPlan, [](Plan& plan) { plan.kept = {2}; },
     "policy: tensor 'm' is kept on chip, which is its home"},
    {"KeptThoughNoBoundary", OneSramPlan, [](Plan& plan) { plan.kept = {3}; },
     "policy: tensor 'y' is kept on chip, but passes between no subgraphs"},
    {"KeptTwice", OneSramPlan,
     [](Plan& plan) {
       plan.kept = {2, 2};
     },
     "policy: the tensors kept on chip are no ascending list of tensors"},
    {"OperatorMissing", OneSramPlan, [](Plan& plan) { plan.subgraphs.pop_back(); },
     "coverage: operator 'relu' is in no subgraph"},
    {"OperatorTwice", OneSramPlan, [](Plan& plan) { plan.subgraphs[1].interval.first = 0; },
     "coverage: operator 'conv' stands in subgraph 1"},
    {"SubgraphsExchanged", OneSramPlan,
     [](Plan& plan) { std::swap(plan.subgraphs[0], plan.subgraphs[1]); },
     "coverage: operator 'conv' is in no subgraph at its turn"},
    {"ReadBeforeMade", TwoConvsPlan,
     [](Plan& plan) { std::swap(plan.network.operators[0], plan.network.operators[1]); },
     "network: operator 'b' reads 'm' before it is made"},
    {"PolicyThatTheProfileHasNot", TwoConvsPlan,
     [](Plan& plan) { plan.subgraphs[0].weights = hw_profiles::WeightPolicy::kDirect; },
     "policy: subgraph 0: 'wa' is read in memory 'dram', where engines cannot read"},
    {"NoEngine", OneSramPlan,
     [](Plan& plan) {
       std::erase_if(plan.profile.engines[0].throughputs,
                     [](const auto& t) { return t.kind == base::OperatorKind::kElementwise; });
     },
     "policy: no engine of the profile runs operator 'relu' (elementwise of int8)"},
    {"NoEngineForTheDataType", OneConvPlan,
     [](Plan& plan) {
       plan.profile.engines[0].throughputs[0].type = base::DataType::kInt8;
       plan.network.tensors[0].type = base::DataType::kFloat32;
     },
     "policy: no engine of the profile runs operator 'conv' (conv of float32)"},
    {"HostWithOtherOperators", TwoConvsPlan,
     [](Plan& plan) { GiveToHost(plan, base::OperatorKind::kConv); },
     "policy: subgraph 0 has several operators, of which the host runs one"},
    {"HostWithSeveralTiles", OneConvPlan,
     [](Plan& plan) {
       GiveToHost(plan, base::OperatorKind::kConv);
       plan.subgraphs[0].tile = {1, 4, 2, 4};
       plan.subgraphs[0].tiles = 2;
     },
     "policy: subgraph 0 is on the host, but has several tiles"},
    {"HostWithResidentWeights", OneConvPlan,
     [](Plan& plan) { GiveToHost(plan, base::OperatorKind::kConv); },
     "policy: subgraph 0 is on the host, but does not hold weights direct"},
    {"HostThatWorksInPlace", OneSramPlan,
     [](Plan& plan) { GiveToHost(plan, base::OperatorKind::kElementwise); },
     "policy: subgraph 1 is on the host, but puts results in place"},
    {"HostThatWritesFlash", OneConvPlan,
     [](Plan& plan) {
       GiveToHost(plan, base::OperatorKind::kConv);
       plan.subgraphs[0].weights = hw_profiles::WeightPolicy::kDirect;
       plan.profile.memories[1].writable = false;
     },
     "policy: subgraph 0: 'y' leaves to memory 'dram', which cannot be written"},
    {"HostWhereAnotherEngineRunsTheOperator", OneConvPlan,
     [](Plan& plan) {
       plan.profile.engines.insert(plan.profile.engines.begin(), hw_profiles::Host("host"));
       plan.subgraphs[0].weights = hw_profiles::WeightPolicy::kDirect;
     },
     "policy: subgraph 0: 'w' is read in memory 'dram', where engines cannot read"},
    {"MoreAtHomeThanTheMemoryHolds", OneConvPlan,
     [](Plan& plan) { plan.profile.memories[1].capacity_bytes = 279; },
     "memory: memory 'dram' is home to 280 bytes while subgraph 0 runs, and has room for 279"},
    {"ReservedBytesTakenForFree", OneConvPlan,
     [](Plan& plan) {
       plan.profile.memories[1].capacity_bytes = 300;
       plan.profile.memories[1].reserved = {{{0, 20}, "boot"}, {{10, 21}, "stack"}};
     },
     "memory: memory 'dram' is home to 280 bytes while subgraph 0 runs, and has room for 279"},
    {"ConstantsBeyondTheirFlash", OneSramPlan,
     [](Plan& plan) { plan.profile.memories[1].capacity_bytes = 151; },
     "memory: memory 'flash' is home to 152 bytes while subgraph 1 runs, and has room for 151"},
    {"BufferMissing", TwoConvsPlan,
     [](Plan& plan) {
       plan.problem.buffers.pop_back();
       plan.buffers.pop_back();
       plan.allocation.offsets.pop_back();
     },
     "buffer: buffer 's0/wb' is missing"},
    {"BufferTwice", TwoConvsPlan, [](Plan& plan) { plan.buffers[kPong] = plan.buffers[kPing]; },
     "buffer: buffer 's0/x@1' is there twice"},
    {"BufferOfAnotherTensor", OneConvPlan, [](Plan& plan) { plan.buffers[0].tensor = 7; },
     "buffer: buffer 's0/x@0' holds nothing that the program has"},
    {"BufferMisnamed", OneConvPlan, [](Plan& plan) { plan.problem.buffers[0].id = "x"; },
     "buffer: buffer 'x' should be called 's0/x@0'"},
    {"MacsWithoutHalo", TwoConvsPlan, [](Plan& plan) { plan.subgraphs[0].metrics.macs = 11520; },
     "metric: subgraph 0 states 11520 MACs where 16128 are counted"},
    {"OffChipBytesWithoutHalo", TwoConvsPlan,
     [](Plan& plan) { plan.subgraphs[0].metrics.off_chip_by_cause["inputs"] = 160; },
     "metric: subgraph 0 states 160 off-chip bytes of inputs where 416 are counted"},
    {"TotalsThatDoNotAddUp", OneSramPlan, [](Plan& plan) { plan.totals.latency_cycles = 2431; },
     "metric: the plan states 2431 cycles where 2432 are counted"},
    {"FewerCycles", TwoConvsPlan, [](Plan& plan) { --plan.subgraphs[0].metrics.latency_cycles; },
     "metric: subgraph 0 states 16527 cycles where 16528 are counted"},
    {"LessEnergy", OneConvPlan, [](Plan& plan) { plan.subgraphs[0].metrics.energy_pj = 5431; },
     "metric: subgraph 0 states an energy of 5431 where 5432 is computed"},
    {"LessEnergyInOnePart", OneConvPlan,
     [](Plan& plan) { plan.subgraphs[0].metrics.energy_by_part["dram"] -= 0.5; },
     "metric: subgraph 0 states an energy in 'dram' of 3439.5 where 3440 is computed"},
    {"EnergyWithoutAPart", OneConvPlan,
     [](Plan& plan) { plan.subgraphs[0].metrics.energy_by_part.erase("leakage"); },
     "metric: subgraph 0 states no energy in 'leakage'"},
    {"EnergyOfAnInventedPart", OneConvPlan,
     [](Plan& plan) { plan.subgraphs[0].metrics.energy_by_part["flash"] = 0; },
     "metric: subgraph 0 states an energy in 'flash', which is no part of it"},
    {"LessBandwidth", OneSramPlan,
     [](Plan& plan) { plan.subgraphs[0].metrics.peak_bytes_per_cycle = 0.0625; },
     "metric: subgraph 0 states a peak bandwidth of 0.0625 where"},
    {"AreaOfNothing", OneConvPlan, [](Plan& plan) { plan.profile_totals["area_mm2"] = 1; },
     "metric: the plan states a total area_mm2 of 1 where 0 is computed"},
    {"LessArea", OneConvPlan,
     [](Plan& plan) {
       plan.profile.memories[1].area_mm2 = 0.5;
       plan.profile.engines[0].area_mm2 = 2;
       plan.profile.links[0].area_mm2 = 4;
       plan.profile_totals["area_mm2"] = 2.5;
     },
     "metric: the plan states a total area_mm2 of 2.5 where 6.5 is computed"},
    {"NoArea", OneConvPlan, [](Plan& plan) { plan.profile.links[0].area_mm2 = 0.5; },
     "metric: the plan states a total area_mm2 of 0 where 0.5 is computed"},
    {"MacsThatDoNotAddUp", TwoConvsPlan, [](Plan& plan) { plan.totals.macs = 16127; },
     "metric: the plan states 16127 MACs where 16128 are counted"},
    {"PeakTooLow", OneConvPlan, [](Plan& plan) { plan.totals.peak_bytes = 100; },
     "metric: the plan states 100 bytes of peak where 280 are counted"},
    {"LessOffChipDuringASubgraph", OneSramPlan,
     [](Plan& plan) { plan.subgraphs[1].metrics.off_chip_peak_bytes = 151; },
     "metric: subgraph 1 states 151 bytes of off-chip peak where 152 are counted"},
    {"OffChipPeakWithoutGaps", OneConvPlan,
     [](Plan& plan) { plan.totals.off_chip_peak_bytes = 280; },
     "metric: the plan states 280 bytes of off-chip peak where 288 are counted"},
    {"BetterThanTheBound", OneConvPlan, [](Plan& plan) { plan.lower_bounds.off_chip_bytes = 281; },
     "metric: the plan's off_chip_bytes is 280, below its own lower bound of 281"},
    {"ScoreOfAMeanOfARatioWithoutABound", OneConvPlan,
     [](Plan& plan) {
       plan.objective.weights = {{"latency", 1}, {"power", 1}};
       plan.score = 7;
     },
     "metric: the plan states a score of 7 where"},
    {"BeyondALimit", OneConvPlan,
     [](Plan& plan) {
       plan.objective.limits = {{"peak", 279}};
     },
     "metric: the plan's peak is 280, beyond the limit of 279"},
    {"ScoreInvented", OneConvPlan, [](Plan& plan) { plan.score = 279; },
     "metric: the plan states a score of 279 where its parts give 280"},
};

INSTANTIATE_TEST_SUITE_P(Plan, SeededFault, testing::ValuesIn(kFaults),
                         [](const testing::TestParamInfo<Fault>& info) { return info.param.name; });

TEST(PlanValidator, StopsAfterTheGivenNumberOfViolations) {
  Plan plan = TwoConvsPlan();
  for (problem::Buffer& buffer : plan.problem.buffers) buffer.size += 16;
  EXPECT_EQ(verify::Validate(plan, 3).size(), 3U);
}

TEST(PlanValidator, RefusesTileCountsThatOverflow) {
  Plan plan = TwoConvsPlan();
  plan.network.tensors[0].shape = {1, 4, int64_t{1} << 50, 4};
  EXPECT_THAT(Messages(plan), ElementsAre(HasSubstr("network: tensor 'x' has a shape of")));
}

}  // namespace
}  // namespace tessera::plan
