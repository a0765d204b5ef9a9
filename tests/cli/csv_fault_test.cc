// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <string>

#include "command_line.h"
#include "faults.h"

// Ten faults in a CSV of buffers. The command writes nothing.
namespace tessera::cli {
namespace {

using testing::ElementsAre;

const std::string kAlignedBuffers =
    "id,lower,upper,size,alignment\n"
    "a,0,3,16,4\n"
    "b,1,4,16,\n"
    "\n"
    "c,2,6,8,8\n";

class CsvFaultTest : public CommandLineTest, public testing::WithParamInterface<Fault> {};

TEST_P(CsvFaultTest, IsReportedInFull) {
  const std::string buffers = Replace(kAlignedBuffers, GetParam().from, GetParam().to);
  Write("buffers.csv", buffers);
  const Outcome outcome = Run({"alloc", "buffers.csv", "--capacity", "64", "--output",
                               "answer.json", "--output", "answer.csv", "--output", "answer.svg"});
  ExpectComplaint(outcome, "buffers.csv", buffers, GetParam());
  EXPECT_THAT(Files(), ElementsAre("buffers.csv"));
}

const std::string kColumns =
    "expected: one of id, lower, upper, size, alignment, offset, hint, value, fallback, gaps";

INSTANTIATE_TEST_SUITE_P(
    Of, CsvFaultTest,
    testing::Values(
        Fault{"end_column",
              "upper",
              "end",
              1,
              10,
              "the column 'end' is ambiguous",
              {kColumns, "found: end",
               "hint: some tools count 'end' as the last step of the life, others as the step "
               "after it; if it is the "
               "step after, rename it to 'upper', else add 1 as well; or state --lifetimes"}},
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

// The counterpart of the table above: the command takes the same file without a fault.
class SoundBuffersTest : public CommandLineTest {};

TEST_F(SoundBuffersTest, AreTaken) {
  Write("buffers.csv", kAlignedBuffers);
  EXPECT_EQ(Run({"alloc", "buffers.csv", "--capacity", "64", "--output", "answer.json"}).exit_code,
            0);
  EXPECT_THAT(Files(), ElementsAre("answer.json", "buffers.csv"));
}

}  // namespace
}  // namespace tessera::cli
