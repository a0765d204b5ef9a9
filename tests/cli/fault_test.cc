#include <gmock/gmock.h>

#include "command_line.h"

// Ten faults each in a profile, a network and a CSV, every one made by a single change to a sound file: the
// message names file, line and column, shows the place, and says what would have been right. The exit code is
// 3 and nothing is written.
namespace tessera::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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
  border: {home: dram}
  constant: {home: dram}
tiling:
  axes: [rows]
  weights: [resident]
  dma: overlapped
)";

const std::string kAlignedBuffers =
    "id,lower,upper,size,alignment\n"
    "a,0,3,16,4\n"
    "b,1,4,16,\n"
    "\n"
    "c,2,6,8,8\n";

// A change, where the complaint about it stands, and what the complaint says: the message, then lines below
// the picture of the place.
struct Fault {
  std::string name;
  std::string from;
  std::string to;
  int line;
  int column;
  std::string message;
  std::vector<std::string> cure;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

std::string LineOf(std::string text, int line) {
  for (; line > 1; --line) text.erase(0, text.find('\n') + 1);
  return text.substr(0, text.find('\n'));
}

// The line that is complained about, with a caret below the column.
std::string Picture(const std::string& text, const Fault& fault) {
  std::string picture = "     " + std::to_string(fault.line);
  picture.erase(0, picture.size() - 5);
  return picture + " | " + LineOf(text, fault.line) + "\n      | " +
         std::string(static_cast<size_t>(fault.column - 1), ' ') + "^\n";
}

void ExpectComplaint(const Outcome& outcome, const std::string& file, const std::string& text,
                     const Fault& fault) {
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.out, IsEmpty());
  std::string complaint = file + ":" + std::to_string(fault.line) + ":" + std::to_string(fault.column) +
                          ": error: " + fault.message + "\n";
  complaint += Picture(text, fault);
  for (const std::string& line : fault.cure) complaint += "  " + line + "\n";
  EXPECT_EQ(outcome.err, complaint);
}

class SoundFilesTest : public CommandLineTest {
 protected:
  Outcome Plan() const {
    return Run({"plan", "net.yaml", "--hw", "npu.yaml", "--output", "plan.json", "--output", "plan.svg",
                "--report", "plan.html"});
  }
};

class FaultTest : public SoundFilesTest, public testing::WithParamInterface<Fault> {};
class ProfileFaultTest : public FaultTest {};
class NetworkFaultTest : public FaultTest {};
class CsvFaultTest : public FaultTest {};

TEST_P(ProfileFaultTest, IsToldInFull) {
  const std::string profile = Replace(kProfile, GetParam().from, GetParam().to);
  Write("net.yaml", kNetwork);
  Write("npu.yaml", profile);
  ExpectComplaint(Plan(), "npu.yaml", profile, GetParam());
  EXPECT_THAT(Files(), ElementsAre("net.yaml", "npu.yaml"));
}

TEST_P(NetworkFaultTest, IsToldInFull) {
  const std::string network = Replace(kNetwork, GetParam().from, GetParam().to);
  Write("net.yaml", network);
  Write("npu.yaml", kProfile);
  ExpectComplaint(Plan(), "net.yaml", network, GetParam());
  EXPECT_THAT(Files(), ElementsAre("net.yaml", "npu.yaml"));
}

TEST_P(CsvFaultTest, IsToldInFull) {
  const std::string buffers = Replace(kAlignedBuffers, GetParam().from, GetParam().to);
  Write("buffers.csv", buffers);
  const Outcome outcome = Run({"alloc", "buffers.csv", "--capacity", "64", "--output", "answer.json",
                               "--output", "answer.csv", "--output", "answer.svg"});
  ExpectComplaint(outcome, "buffers.csv", buffers, GetParam());
  EXPECT_THAT(Files(), ElementsAre("buffers.csv"));
}

const std::string kColumns = "expected: one of id, lower, upper, size, alignment, offset, hint, gaps";

std::string NameOf(const testing::TestParamInfo<Fault>& info) { return info.param.name; }

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
              {"expected: one of capacity_bytes, alignment_bytes, writable, direct_read, direct_write, port, "
               "read_pj_per_byte, write_pj_per_byte, leakage_mw, reserved, banks, bank_ports, modes, "
               "transitions, span",
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
        Fault{
            "unknown_state_of_a_bank",
            "work: [rw, rw]",
            "work: [rw, rx]",
            10,
            18,
            "unknown state of a bank",
            {"expected: one of r, w, rw, hold, off, or a list such as [pe.read, dma.write]", "found: 'rx'"}},
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
    testing::Values(Fault{"misspelt_kind",
                          "kind: depthwise",
                          "kind: dephtwise",
                          7,
                          22,
                          "unknown name 'dephtwise'",
                          {"expected: one of conv, depthwise, transposed_conv, pool, global_pool, reduce, "
                           "elementwise, concat, "
                           "slice, pad, gather, matmul, softmax, layer_norm, reshape, resize, transpose, "
                           "depth_to_space, space_to_depth, opaque",
                           "found: 'dephtwise'", "hint: did you mean 'depthwise'?"}},
                    Fault{"misspelt_key",
                          "stride: 2",
                          "strde: 2",
                          9,
                          71,
                          "unknown key 'strde'",
                          {"expected: one of id, kind, inputs, output, shape, dtype, activation, weights, "
                           "function, kernel, stride, pads, dilation, ceil_mode, size",
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
                          {"expected: equal extents, or 1, on every axis counted from the right"}},
                    Fault{"cycle",
                          "inputs: [image]",
                          "inputs: [sum]",
                          8,
                          57,
                          "operators depend on each other in a cycle: sum -> stem -> sum",
                          {"expected: inputs that are made before"}},
                    Fault{"kernel_larger_than_its_input",
                          "kernel: 2, stride",
                          "kernel: 17, stride",
                          9,
                          68,
                          "kernel reaches over 17 rows of a padded input of 16",
                          {"expected: at most the padded input", "found: '17'",
                           "hint: make the kernel or its dilation smaller, or pad more"}},
                    Fault{"misspelt_output",
                          "outputs: [shrink]",
                          "outputs: [shrnk]",
                          10,
                          11,
                          "unknown output 'shrnk'",
                          {"expected: the output of an operator", "found: 'shrnk'",
                           "hint: did you mean 'shrink'?"}},
                    Fault{"result_that_nobody_reads",
                          "outputs: [shrink]",
                          "outputs: [sum]",
                          9,
                          10,
                          "nobody reads tensor 'shrink', and it is no network output",
                          {"expected: a reader, or an entry in 'outputs'", "found: 'shrink'"}}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Of, CsvFaultTest,
    testing::Values(Fault{"start_column",
                          "lower",
                          "start",
                          1,
                          4,
                          "the column 'start' is not known",
                          {kColumns, "found: start",
                           "hint: 'start' is the first step of the life: rename it to 'lower'"}},
                    Fault{"end_column",
                          "upper",
                          "end",
                          1,
                          10,
                          "the column 'end' is ambiguous",
                          {kColumns, "found: end",
                           "hint: some tools count 'end' as the last step of the life, others as the step "
                           "after it; if it is the "
                           "step after, rename it to 'upper', else add 1 as well"}},
                    Fault{"misspelt_column",
                          "alignment",
                          "aligment",
                          1,
                          21,
                          "unknown column 'aligment'",
                          {kColumns, "found: aligment", "hint: did you mean 'alignment'?"}},
                    Fault{"column_given_twice",
                          ",alignment",
                          ",size",
                          1,
                          21,
                          "the column 'size' is given twice",
                          {"expected: each column once", "found: size"}},
                    Fault{"missing_field",
                          "a,0,3,16,4",
                          "a,0,3,16",
                          2,
                          9,
                          "the field 'alignment' is missing",
                          {"expected: 5 fields"}},
                    Fault{"field_too_many",
                          "b,1,4,16,",
                          "b,1,4,16,,9",
                          3,
                          11,
                          "a field beyond the last column",
                          {"expected: 5 fields", "found: 9"}},
                    Fault{"id_given_twice",
                          "c,2",
                          "a,2",
                          5,
                          1,
                          "the id 'a' is already that of line 2",
                          {"expected: ids that differ", "found: a"}},
                    Fault{"life_that_ends_before_it_begins",
                          "c,2,6",
                          "c,6,2",
                          5,
                          5,
                          "the life [6, 2) is empty",
                          {"expected: lower < upper", "found: 2", "hint: upper is the step after the last"}},
                    Fault{"size_with_a_unit",
                          "6,8,8",
                          "6,8 KB,8",
                          5,
                          7,
                          "size is not a whole number",
                          {"expected: decimal digits", "found: 8 KB"}},
                    Fault{"size_of_zero",
                          "6,8,8",
                          "6,0,8",
                          5,
                          7,
                          "size is too small",
                          {"expected: at least 1", "found: 0"}}),
    NameOf);

// The other half of the tables above: without a fault the same files are taken.
TEST_F(SoundFilesTest, AreTaken) {
  Write("net.yaml", kNetwork);
  Write("npu.yaml", kProfile);
  Write("buffers.csv", kAlignedBuffers);
  const Outcome plan = Plan();
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_EQ(Run({"alloc", "buffers.csv", "--capacity", "64", "--output", "answer.json"}).exit_code, 0);
  EXPECT_THAT(Files(), ElementsAre("answer.json", "buffers.csv", "net.yaml", "npu.yaml", "plan.html",
                                   "plan.json", "plan.svg"));
}

}  // namespace
}  // namespace tessera::cli
