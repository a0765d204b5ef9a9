// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <ostream>
#include <sstream>

#include "command_line.h"

// Inputs of tests/data/faults that were once answered wrongly, as users asked about them.
namespace tessera::cli {
namespace {

struct Reported {
  std::string name;
  std::string command;  // "faults/", "examples/" and "hw_profiles/" are folders of the project
  int exit_code = 0;
  std::string says;  // a part of the output
};
void PrintTo(const Reported& each, std::ostream* out) { *out << each.command; }

class ReportedFault : public CommandLineTest, public testing::WithParamInterface<Reported> {};

TEST_P(ReportedFault, IsAnsweredRightly) {
  Arguments arguments;
  std::istringstream words(GetParam().command);
  for (std::string word; words >> word;) {
    if (word.starts_with("faults/")) word = Shipped("tests/data/" + word);
    if (word.starts_with("hw_profiles/") || word.starts_with("examples/")) word = Shipped(word);
    arguments.push_back(word);
  }
  const Outcome outcome = Run(arguments);
  EXPECT_EQ(outcome.exit_code, GetParam().exit_code) << outcome.err;
  EXPECT_THAT(outcome.out + outcome.err, testing::HasSubstr(GetParam().says));
}

std::string NameOf(const testing::TestParamInfo<Reported>& info) { return info.param.name; }

// Once "infeasible", or an exit code of 70, though there are plans.
INSTANTIATE_TEST_SUITE_P(
    Plans, ReportedFault,
    testing::Values(
        Reported{"BoundariesWithAHomeOnChip",
                 "plan faults/boundaries_on_chip.yaml --hw faults/boundaries_on_chip.hw.yaml"
                 " --transfers program",
                 0, "feasible, checked"},
        Reported{"Shuffle", "plan faults/shuffle.yaml --hw hw_profiles/edge_npu_1mib.yaml", 0,
                 "checked; score 808 910"},
        Reported{"Crop", "plan faults/crop.yaml --hw hw_profiles/ethos_u65_256.yaml --budget 20000",
                 0, "checked; score"},
        Reported{"RowsThatAReshapeRegroups",
                 "plan faults/frames.yaml --hw hw_profiles/edge_npu_64kib.yaml", 0,
                 "checked; score 21 502"},
        Reported{"NothingInTileMemory", "plan faults/zero.net.yaml --hw faults/zero.hw.yaml", 0,
                 "optimal, checked; score 320"},
        Reported{"PeakBelowItsBound", "plan faults/B.net.yaml --hw faults/B.hw.yaml", 0,
                 "optimal, checked; score 5"},
        Reported{"Pk7",
                 "plan faults/pk7.onnx --floats-as int8 --minimize peak --timeout 2"
                 " --hw hw_profiles/ethos_u55_256.yaml",
                 0, "checked; score"},
        Reported{"N80",
                 "plan faults/n80.onnx --floats-as int8 --minimize peak --timeout 2"
                 " --hw hw_profiles/ethos_u65_512.yaml",
                 0, "checked; score"},
        Reported{"N464",
                 "plan faults/n464.onnx --floats-as int8 --minimize energy"
                 " --hw hw_profiles/ethos_u65_256.yaml",
                 0, "checked; score"},
        Reported{"N575",
                 "plan faults/n575.onnx --floats-as int8 --minimize peak"
                 " --hw hw_profiles/ethos_u55_256.yaml",
                 0, "checked; score 3 696"},
        Reported{"M2090",
                 "plan faults/m2090.onnx --hw faults/m2090.hw.yaml --floats-as int8"
                 " --minimize peak",
                 0, "checked; score 224"},
        Reported{"M2120",
                 "plan faults/m2120.onnx --hw faults/m2120.hw.yaml --floats-as int8"
                 " --minimize peak",
                 0, "checked; score 38"},
        Reported{"Counter4",
                 "plan faults/counter4.json --hw faults/counters.hw.yaml"
                 " --limit peak=1156,macs=559104",
                 0, "optimal, checked"},
        Reported{"Counter9",
                 "plan faults/counter9.json --hw faults/counters.hw.yaml"
                 " --limit peak=824,macs=80560",
                 0, "optimal, checked"}),
    NameOf);

// Once "infeasible" or "optimal" without a proof.
INSTANTIATE_TEST_SUITE_P(
    Claims, ReportedFault,
    testing::Values(
        Reported{"ALimitBelowTheReadsOfTheInput",
                 "plan faults/c2_latency_1_4.json --hw hw_profiles/ethos_u65_256.yaml"
                 " --limit peak=53856,latency=29780 --timeout 1",
                 20, "latency is 54261 at least"},
        Reported{"LimitsThatNoEvenCutKeeps",
                 "plan faults/c2_latency_1_4.json --hw hw_profiles/ethos_u65_256.yaml"
                 " --limit peak=53856,latency=60000 --timeout 1",
                 10, "unknown"},
        Reported{"ALimitOneBelowTheOptimum",
                 "plan examples/networks/event_detector.yaml --hw hw_profiles/mcu_320k.yaml"
                 " --limit latency=6508163",
                 20, "latency is 6508164 at least"},
        Reported{"ALimitThatTakesManyTilesToRefute",
                 "plan faults/two_maps.yaml --hw faults/two_maps.hw.yaml"
                 " --limit off_chip_bytes=7047",
                 20, "off_chip_bytes is 7048 at least"},
        Reported{"ALimitThatLeavesABankOut",
                 "plan examples/networks/event_detector.yaml --hw"
                 " hw_profiles/three_bank_two_mode.yaml --limit peak=260912",
                 20, "of the banks that begin below byte 260912"},
        Reported{"LimitsThatOneTileKeeps",
                 "plan faults/c2_latency_1_4.json --hw hw_profiles/ethos_u65_256.yaml"
                 " --limit peak=53856,latency=79182 --transfers per-subgraph",
                 0, "optimal, checked; score 79 182"},
        Reported{"OrdersThatWereNotTried2049",
                 "plan faults/m2049.onnx --hw faults/m2049.hw.yaml --floats-as int8 --budget 1000"
                 " --timeout 1",
                 0, "feasible, checked"},
        Reported{"OrdersThatWereNotTried2096",
                 "plan faults/m2096.onnx --hw faults/m2096.hw.yaml --floats-as int8 --budget 1000"
                 " --timeout 1",
                 0, "feasible, checked"},
        Reported{"OrdersThatWereNotTried2104",
                 "plan faults/m2104.onnx --hw faults/m2104.hw.yaml --floats-as int8"
                 " --minimize off_chip_bytes",
                 0, "checked; score 24 437"}),
    NameOf);

// Once without the operators that compute an operand, or with no work.
INSTANTIATE_TEST_SUITE_P(
    Imports, ReportedFault,
    testing::Values(
        Reported{"ComputedBias", "plan faults/dynbias.onnx --hw hw_profiles/edge_npu_1mib.yaml", 0,
                 "y (Conv) is barrier y"},
        Reported{"ComputedBiasOfATransposedConv",
                 "plan faults/dynct.onnx --hw hw_profiles/edge_npu_1mib.yaml", 0,
                 "y (ConvTranspose) is barrier y"},
        Reported{"ComputedClip", "plan faults/dynclip.onnx --hw hw_profiles/edge_npu_1mib.yaml", 0,
                 "y (Clip) is barrier y"},
        Reported{"ComputedPad", "plan faults/dynpadval.onnx --hw hw_profiles/edge_npu_1mib.yaml", 0,
                 "y (Pad) is barrier y"},
        Reported{"ComputedScale", "plan faults/dynscale.onnx --hw hw_profiles/edge_npu_1mib.yaml",
                 0, "xq (QuantizeLinear) is barrier xq"},
        Reported{"TwoOutputsOfOneTensor",
                 "plan faults/dupout.onnx --hw hw_profiles/edge_npu_1mib.yaml", 0,
                 "this output is a copy of 'y1'"},
        Reported{"PoolsRoundedUp", "plan faults/ceilpool.onnx --hw hw_profiles/edge_npu_1mib.yaml",
                 0, "y (MaxPool) is operator y"},
        Reported{"NoPermutation", "plan faults/badperm.onnx --hw hw_profiles/edge_npu_1mib.yaml", 3,
                 "'perm' is [0, 0, 0]"},
        Reported{"ThreeAxes", "plan faults/conv3d.onnx --hw hw_profiles/edge_npu_1mib.yaml", 0,
                 "it slides over 3 axes"},
        Reported{"Recurrent", "plan faults/lstm.onnx --hw hw_profiles/edge_npu_1mib.yaml", 0,
                 "a recurrent operator"},
        Reported{"Einsum", "plan faults/einsum.onnx --hw hw_profiles/edge_npu_1mib.yaml", 0,
                 "an operator that import does not know"},
        Reported{"HugeRange", "plan faults/range.onnx --hw hw_profiles/edge_npu_1mib.yaml", 20,
                 "infeasible"},
        Reported{"HugeExpand", "plan faults/expand.onnx --hw hw_profiles/edge_npu_1mib.yaml", 20,
                 "it repeats an axis 1099511627776 times"}),
    NameOf);

// Once without an end, or out of memory.
INSTANTIATE_TEST_SUITE_P(
    Ends, ReportedFault,
    testing::Values(
        Reported{"LimitsOnAChain",
                 "plan faults/chain200.yaml --hw hw_profiles/edge_npu_1mib.yaml"
                 " --score latency=1,peak=1 --timeout 1"
                 " --limit energy=900000000,off_chip_bytes=9000000,macs=5700000000",
                 10, "unknown"},
        Reported{"ParallelOperators",
                 "plan faults/par400.json --hw hw_profiles/edge_npu_1mib.yaml --timeout 1", 0,
                 "feasible, checked"},
        Reported{"WideWindow",
                 "plan faults/big3.json --hw hw_profiles/edge_npu_1mib.yaml --timeout 3", 20,
                 "infeasible"},
        Reported{"ContradictoryColocations", "alloc faults/tie_repro.json --timeout 2", 20,
                 "'x' lies 1 byte above 'y'"},
        Reported{"ClimbingColocations", "alloc faults/climb1.json --engine lazy", 20,
                 "'x' and 'z' lie at the same offset"},
        Reported{"ResiduesThatContradict", "alloc faults/creep.json --timeout 3", 20,
                 "'b' lies 1 byte above 'a'"},
        Reported{"LargeModuli", "alloc faults/large_moduli.json --timeout 20", 20, "infeasible"},
        Reported{"FarOffsets", "alloc faults/x_1479.json --timeout 3", 20, "infeasible"},
        Reported{"AlignmentAndAdjacency", "alloc faults/adj.json", 20,
                 "aligned to 1 instead of 3"}),
    NameOf);

}  // namespace
}  // namespace tessera::cli
