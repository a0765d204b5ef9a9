// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <string>

#include "command_line.h"
#include "faults.h"

// Ten faults each in a profile and in a network. The command writes nothing.
namespace tessera::cli {
namespace {

using testing::ElementsAre;

const std::string kNetwork = R"(schema: 1
name: two_layers
inputs:
  - {id: image, shape: [1, 3, 16, 16]}
operators:
  - {id: stem, kind: conv, inputs: [image], out_channels: 8, kernel: 3, pads: same}
  - {id: body, kind: depthwise, inputs: [stem], kernel: 3, pads: same}
  - {id: sum, kind: elementwise, function: add, inputs: [stem, body]}
  - {id: shrink, kind: pool, function: max, inputs: [sum], kernel: 2, stride: 2}
outputs: [shrink]
)";

const std::string kProfile = R"(schema: 1
name: small_npu
clock_hz: 500e6
memories:
  sram:
    capacity_bytes: 32Ki
    alignment_bytes: 16
    banks: 2
    modes:
      work: [rw, rw]
      rest: [hold, rw]
  dram:
    capacity_bytes: 1Mi
tile_memory: sram
engines:
  pe:
    operators:
      conv: {unroll: {out_channels: 8}}
      depthwise: {unroll: {out_channels: 8}}
      elementwise: {cycles_per_output: 0.5}
      pool: {cycles_per_output: 1}
links:
  dma: {between: [dram, sram], setup_cycles: 20}
roles:
  network_input: {home: dram}
  network_output: {home: dram}
  boundary: {home: dram}
  constant: {home: dram}
tiling:
  axes: [rows]
  weights: [resident]
  dma: double_buffered
)";

class SoundFilesTest : public CommandLineTest {
 protected:
  Outcome Plan() const {
    return Run({"plan", "net.yaml", "--hw", "npu.yaml", "--output", "plan.json", "--output",
                "plan.svg", "--report", "plan.html"});
  }
};

class FaultTest : public SoundFilesTest, public testing::WithParamInterface<Fault> {};
class ProfileFaultTest : public FaultTest {};
class NetworkFaultTest : public FaultTest {};

TEST_P(ProfileFaultTest, IsReportedInFull) {
  const std::string profile = Replace(kProfile, GetParam().from, GetParam().to);
  Write("net.yaml", kNetwork);
  Write("npu.yaml", profile);
  ExpectComplaint(Plan(), "npu.yaml", profile, GetParam());
  EXPECT_THAT(Files(), ElementsAre("net.yaml", "npu.yaml"));
}

TEST_P(NetworkFaultTest, IsReportedInFull) {
  const std::string network = Replace(kNetwork, GetParam().from, GetParam().to);
  Write("net.yaml", network);
  Write("npu.yaml", kProfile);
  ExpectComplaint(Plan(), "net.yaml", network, GetParam());
  EXPECT_THAT(Files(), ElementsAre("net.yaml", "npu.yaml"));
}

INSTANTIATE_TEST_SUITE_P(
    Of, ProfileFaultTest,
    testing::Values(
        Fault{"schema_that_is_not_known",
              "schema: 1",
              "schema: 2",
              1,
              9,
              "out of range",
              {"expected: 1", "found: '2'"}},
        Fault{"misspelt_key",
              "capacity_bytes: 32Ki",
              "capacity_byte: 32Ki",
              6,
              5,
              "unknown key 'capacity_byte'",
              {"expected: one of capacity_bytes, alignment_bytes, writable, direct_read, "
               "direct_write, port, "
               "read_pj_per_byte, write_pj_per_byte, leakage_mw, area_mm2, reserved, banks, "
               "bank_ports, "
               "modes, transitions, span, bank_groups",
               "hint: did you mean 'capacity_bytes'?"}},
        Fault{"unit_that_is_none",
              "32Ki",
              "32Kb",
              6,
              21,
              "not an integer",
              {"expected: an integer from 1 up", "found: '32Kb'",
               "hint: write 393216, 393_216, 0x60000 or 384Ki"}},
        Fault{"negative_alignment",
              "alignment_bytes: 16",
              "alignment_bytes: -16",
              7,
              22,
              "out of range",
              {"expected: an integer from 1 to 1073741824", "found: '-16'"}},
        Fault{"banks_that_do_not_divide",
              "banks: 2",
              "banks: 3",
              8,
              12,
              "the banks would not be of equal size",
              {"expected: a divisor of the capacity, 32768", "found: '3'",
               "hint: write a map of banks with their ranges"}},
        Fault{"unknown_state_of_a_bank",
              "work: [rw, rw]",
              "work: [rw, rx]",
              10,
              18,
              "unknown state of a bank",
              {"expected: one of r, w, rw, hold, off, or a list such as [pe.read, dma.write]",
               "found: 'rx'"}},
        Fault{"memory_given_twice",
              "  dram:\n",
              "  sram:\n",
              12,
              3,
              "repeated key 'sram'",
              {"expected: each key once", "hint: it stands on line 5 already"}},
        Fault{"unknown_tile_memory",
              "tile_memory: sram",
              "tile_memory: srma",
              14,
              14,
              "no memory is called 'srma'",
              {"expected: one of sram, dram", "found: 'srma'", "hint: did you mean 'sram'?"}},
        Fault{"link_to_nowhere",
              "[dram, sram]",
              "[dram, flash]",
              23,
              25,
              "no memory is called 'flash'",
              {"expected: one of sram, dram", "found: 'flash'"}},
        Fault{"direct_weights_without_a_path",
              "[resident]",
              "[direct]",
              31,
              13,
              "engines cannot read weights directly from 'dram', the home of constants",
              {"expected: direct_read: true at that memory", "found: 'direct'",
               "hint: add direct_read there, or remove direct here"}}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Of, NetworkFaultTest,
    testing::Values(
        Fault{"misspelt_kind",
              "kind: depthwise",
              "kind: dephtwise",
              7,
              22,
              "unknown name 'dephtwise'",
              {"expected: one of conv, depthwise, transposed_conv, pool, global_pool, reduce, "
               "elementwise, concat, "
               "slice, pad, gather, matmul, softmax, layer_norm, reshape, resize, transpose, "
               "depth_to_space, space_to_depth, cumsum, space_to_batch, top_k, opaque",
               "found: 'dephtwise'", "hint: did you mean 'depthwise'?"}},
        Fault{"misspelt_key",
              "stride: 2",
              "strde: 2",
              9,
              71,
              "unknown key 'strde'",
              {"expected: one of id, kind, inputs, output, shape, dtype, activation, weights, "
               "measured, engine, engine_chosen, function, kernel, stride, pads, dilation, "
               "ceil_mode, size",
               "hint: did you mean 'stride'?"}},
        Fault{"unknown_input",
              "inputs: [stem], ",
              "inputs: [stme], ",
              7,
              42,
              "unknown input 'stme'",
              {"expected: a network input or the output of an operator", "found: 'stme'",
               "hint: did you mean 'stem'?"}},
        Fault{"operator_given_twice",
              "id: body",
              "id: stem",
              7,
              10,
              "duplicate operator id 'stem'",
              {"expected: a name of its own", "found: 'stem'"}},
        Fault{"empty_shape",
              "[1, 3, 16, 16]",
              "[1, 3, 0, 16]",
              4,
              31,
              "out of range",
              {"expected: an integer from 1 to 72057594037927936", "found: '0'"}},
        Fault{"shapes_that_disagree",
              "inputs: [stem, body]",
              "inputs: [stem, image]",
              8,
              57,
              "shapes [1, 8, 16, 16] and [1, 3, 16, 16] do not agree",
              {"expected: equal extents, or 1, on every axis counted from the right",
               "found: [stem, image]"}},
        Fault{"cycle",
              "inputs: [image]",
              "inputs: [sum]",
              8,
              57,
              "operators depend on each other in a cycle: sum -> stem -> sum",
              {"expected: inputs that are made before", "found: [stem, body]"}},
        Fault{"kernel_larger_than_its_input",
              "kernel: 2, stride",
              "kernel: 17, stride",
              9,
              68,
              "kernel reaches over 17 rows of a padded input of 16",
              {"expected: at most the padded input", "found: '17'",
               "hint: make the kernel or its dilation smaller, or pad more"}},
        Fault{"indices_that_their_dtype_does_not_hold",
              "kind: pool, function: max, inputs: [sum], kernel: 2, stride: 2",
              "kind: top_k, inputs: [sum], axis: 3, k: 2, result: indices, dtype: int4",
              9,
              85,
              "operator 'shrink' makes indices up to 15 of dtype int4",
              {"expected: one of int8, uint8, int16, int32, int64", "found: 'int4'",
               "hint: the smallest is dtype: int8"}},
        Fault{"misspelt_output",
              "outputs: [shrink]",
              "outputs: [shrnk]",
              10,
              11,
              "unknown output 'shrnk'",
              {"expected: the name of a tensor", "found: 'shrnk'", "hint: did you mean 'shrink'?"}},
        Fault{"result_without_a_reader",
              "outputs: [shrink]",
              "outputs: [sum]",
              9,
              10,
              "no operator reads tensor 'shrink', and it is no network output",
              {"expected: a reader, or an entry in 'outputs'", "found: 'shrink'"}}),
    NameOf);

// The counterpart of the tables above: the command takes the same files without a fault.
TEST_F(SoundFilesTest, AreTaken) {
  Write("net.yaml", kNetwork);
  Write("npu.yaml", kProfile);
  const Outcome plan = Plan();
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(Files(), ElementsAre("net.yaml", "npu.yaml", "plan.html", "plan.json", "plan.svg"));
}

}  // namespace
}  // namespace tessera::cli
