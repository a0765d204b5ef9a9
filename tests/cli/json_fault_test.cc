// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "command_line.h"

// Faults in JSON. A syntax error has line and column, any other fault a JSON pointer.
namespace tessera::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kProblem = R"({
  "format": "tessera-problem",
  "version": 1,
  "memories": [{"name": "sram", "capacity": 64, "banks": [{"name": "b0", "range": [0, 32]}]}],
  "buffers": [
    {"id": "a", "size": 16, "lifespans": [[0, 2]]},
    {"id": "b", "size": 8, "lifespans": [[1, 4]], "alignment": 8}
  ],
  "relations": [{"kind": "separate", "first": "a", "second": "b"}]
}
)";

const std::string kAllocation = R"({
  "format": "tessera-allocation",
  "version": 1,
  "status": "feasible",
  "capacity": 64,
  "offsets": {"a": 0, "b": 16}
}
)";

struct JsonFault {
  std::string name;
  std::string from;
  std::string to;
  std::string complaint;  // all of stderr
};

void PrintTo(const JsonFault& fault, std::ostream* out) { *out << fault.name; }

std::string NameOfJsonFault(const testing::TestParamInfo<JsonFault>& info) {
  return info.param.name;
}

class JsonFaultTest : public CommandLineTest, public testing::WithParamInterface<JsonFault> {
 protected:
  static void ExpectComplaint(const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_EQ(outcome.err, GetParam().complaint);
  }
};

class ProblemFaultTest : public JsonFaultTest {};
class AllocationFaultTest : public JsonFaultTest {};
class PlanFaultTest : public JsonFaultTest {};

TEST_P(ProblemFaultTest, IsReportedInFull) {
  Write("problem.json", Replace(kProblem, GetParam().from, GetParam().to));
  ExpectComplaint(
      Run({"alloc", "problem.json", "--output", "answer.json", "--output", "answer.svg"}));
  EXPECT_THAT(Files(), ElementsAre("problem.json"));
}

TEST_P(AllocationFaultTest, IsReportedInFull) {
  Write("problem.json", kProblem);
  Write("answer.json", Replace(kAllocation, GetParam().from, GetParam().to));
  ExpectComplaint(Run({"show", "answer.json", "--problem", "problem.json", "--output", "map.svg"}));
  EXPECT_THAT(Files(), ElementsAre("answer.json", "problem.json"));
}

TEST_P(PlanFaultTest, IsReportedInFull) {
  const Outcome made =
      PlanPatentChain("edge_npu_1mib", {"--transfers", "per-subgraph", "--output", "plan.json"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  Write("plan.json", Replace(Read("plan.json"), GetParam().from, GetParam().to));
  ExpectComplaint(Run({"show", "plan.json", "--output", "map.svg"}));
  EXPECT_THAT(Files(), ElementsAre("plan.json"));
}

INSTANTIATE_TEST_SUITE_P(
    Of, ProblemFaultTest,
    testing::Values(
        JsonFault{
            "missing_comma", "\"size\": 8,", "\"size\": 8",
            "problem.json:7:27: error: syntax error while parsing object - unexpected string "
            "literal\n"
            "    7 |     {\"id\": \"b\", \"size\": 8 \"lifespans\": [[1, 4]], \"alignment\": 8}\n"
            "      |                           ^\n"
            "  expected: '}'\n"},
        JsonFault{"open_brace", "\"alignment\": 8}", "\"alignment\": 8",
                  "problem.json:8:3: error: syntax error while parsing object - unexpected ']'\n"
                  "    8 |   ],\n"
                  "      |   ^\n"
                  "  expected: '}'\n"},
        JsonFault{"another_version", "\"version\": 1", "\"version\": 2",
                  "problem.json: at /version: error: this version of the format is not known\n"
                  "  expected: 1\n"
                  "  found: 2\n"},
        JsonFault{"key_given_twice", "\"size\": 8,", "\"size\": 8, \"size\": 9,",
                  "problem.json: at /buffers/1/size: error: the key 'size' is given twice\n"
                  "  expected: each key once\n"},
        JsonFault{"text_for_a_number", "\"size\": 16", "\"size\": \"16\"",
                  "problem.json: at /buffers/0/size: error: the value is not what belongs here\n"
                  "  expected: an integer from 1 to 4611686018427387904\n"
                  "  found: \"16\"\n"},
        JsonFault{"life_that_ends_before_it_begins", "[[0, 2]]", "[[2, 0]]",
                  "problem.json: at /buffers/0/lifespans/0: error: the lifespan [2, 0) is empty\n"
                  "  expected: lower < upper\n"},
        JsonFault{"misspelt_relation", "\"separate\"", "\"seperate\"",
                  "problem.json: at /relations/0/kind: error: unknown name 'seperate'\n"
                  "  expected: one of colocate, adjacent, same_bank, different_bank, separate, "
                  "exclusive\n"
                  "  found: \"seperate\"\n"
                  "  hint: did you mean 'separate'?\n"},
        JsonFault{"relation_to_unknown_buffer", "\"second\": \"b\"", "\"second\": \"c\"",
                  "problem.json: at /relations/0/second: error: there is no buffer 'c'\n"
                  "  expected: the id of a buffer\n"
                  "  found: \"c\"\n"
                  "  hint: did you mean 'a'?\n"},
        JsonFault{"group_of_an_unknown_bank",
                  "\"banks\":", "\"bank_groups\": [[\"b1\"]], \"banks\":",
                  "problem.json: at /memories/0/bank_groups/0/0: error: there is no bank 'b1'\n"
                  "  expected: one of b0\n"
                  "  found: \"b1\"\n"
                  "  hint: did you mean 'b0'?\n"},
        JsonFault{"bank_in_two_groups",
                  "\"banks\":", "\"bank_groups\": [[\"b0\"], [\"b0\"]], \"banks\":",
                  "problem.json: at /memories/0/bank_groups/1/0: error: bank 'b0' is listed twice\n"
                  "  expected: each bank once\n"},
        JsonFault{"bank_beyond_its_memory", "[0, 32]", "[0, 65]",
                  "problem.json: at /memories/0/banks/0: error: bank [0, 65) is empty or leaves "
                  "its memory\n"
                  "  expected: 0 <= begin < end <= 64\n"}),
    NameOfJsonFault);

INSTANTIATE_TEST_SUITE_P(
    Of, AllocationFaultTest,
    testing::Values(
        JsonFault{"list_for_an_object", "\"offsets\": {", "\"offsets\": [",
                  "answer.json:6:18: error: syntax error while parsing array - unexpected ':'\n"
                  "    6 |   \"offsets\": [\"a\": 0, \"b\": 16}\n"
                  "      |                  ^\n"
                  "  expected: ']'\n"},
        JsonFault{"offset_of_unknown_buffer", "\"b\": 16", "\"c\": 16",
                  "answer.json: at /offsets/c: error: there is no buffer 'c'\n"
                  "  expected: the id of a buffer\n"
                  "  found: 16\n"
                  "  hint: did you mean 'a'?\n"},
        JsonFault{"buffer_without_an_offset", ", \"b\": 16", "",
                  "answer.json: at /offsets: error: buffer 'b' is missing\n"
                  "  expected: an entry for each buffer\n"
                  "  found: an object of 1\n"},
        JsonFault{
            "unknown_status", "\"feasible\"", "\"best\"",
            "answer.json: at /status: error: unknown name 'best'\n"
            "  expected: one of optimal, feasible, infeasible, unknown, invalid, unsupported\n"
            "  found: \"best\"\n"}),
    NameOfJsonFault);

INSTANTIATE_TEST_SUITE_P(
    Of, PlanFaultTest,
    testing::Values(
        JsonFault{
            "missing_comma", "\"version\": 1,", "\"version\": 1",
            "plan.json:4:3: error: syntax error while parsing object - unexpected string literal\n"
            "    4 |   \"made_by\": \"0.1.0\",\n"
            "      |   ^\n"
            "  expected: '}'\n"},
        JsonFault{
            "unknown_key", "\"seed\": 0,", "\"seed\": 0, \"sede\": 1,",
            "plan.json: at /sede: error: unknown key 'sede'\n"
            "  expected: one of format, version, network, profile, made_by, name, digest, status, "
            "score, bound, scope, proven_within, time_ms, objective, "
            "seed, totals, lower_bounds, profile_totals, baseline, notes, tensor_homes, run, "
            "constraints, kept, "
            "buffers, "
            "subgraphs, "
            "homes, loops, relations, rules, lowering\n"
            "  found: 1\n"
            "  hint: did you mean 'seed'?\n"},
        JsonFault{"unknown_operator", "[\"conv1\", \"conv2\", \"conv3\"]",
                  "[\"cnov1\", \"conv2\", \"conv3\"]",
                  "plan.json: at /subgraphs/0/operators/0: error: there is no operator 'cnov1'\n"
                  "  found: \"cnov1\"\n"},
        JsonFault{"first_step_that_is_not", "\"first_step\": 0", "\"first_step\": 1",
                  "plan.json: at /subgraphs/0/first_step: error: the subgraphs before this one end "
                  "elsewhere\n"
                  "  expected: 0\n"
                  "  found: 1\n"}),
    NameOfJsonFault);

}  // namespace
}  // namespace tessera::cli
