// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "networks.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/tests/search/cost/small_machine.h"

// Constraints in a file, and the faults of such files.
namespace tessera::search {
namespace {

base::Expected<std::vector<plan::PlanConstraint>> Read(const std::string& text,
                                                       std::optional<int> max_operators = {}) {
  return partition::constraints::ReadConstraints("schema: 1\n" + text, "constraints.yaml", Chain(6),
                                                 SmallMachine(hw_profiles::DmaSteps::kSerialized),
                                                 max_operators);
}

std::string TextOf(const std::string& text) {
  const auto constraints = Read(text);
  if (!constraints) return base::Format(constraints.error());
  return Describe(Chain(6), *constraints);
}

TEST(PlanConstraintFiles, SayWhatIsRequired) {
  EXPECT_EQ(
      TextOf(
          "together: [[conv0, conv2]]\n"
          "apart: [conv4]\n"
          "subgraphs:\n"
          "  - {operators: [conv3], tile: [1, 2, 4, 4], weights: resident, in_place: false, halo: "
          "recompute}\n"
          "keep: [t0]\n"
          "spill: [t4]\n"
          "x-why: a wish\n"),
      "operators 'conv0' to 'conv2' in one subgraph; a subgraph that begins with operator 'conv4'; "
      "operator 'conv3' as a subgraph with tiles of 1x2x4x4, weights resident, no result in place, "
      "halo recompute; "
      "tensor 't0' on chip; tensor 't4' at home between subgraphs");
  EXPECT_EQ(TextOf(""), "");
}

TEST(PlanConstraintFiles, SayWhereThingsLie) {
  EXPECT_EQ(TextOf("subgraphs: [{operators: [conv1], addresses: {t1@0: 0x40, w3: 1Ki}}]\n"
                   "addresses: [{tensor: x, memory: dram, offset: 64}]\n"),
            "operator 'conv1' as a subgraph, t1@0 at address 64, w3 at address 1024; "
            "tensor 'x' at address 64 wherever it lies whole in memory dram");
}

TEST(PlanConstraintFiles, OperatorsMayStandInAnyOrder) {
  EXPECT_EQ(TextOf("together: [[conv3, conv1, conv2]]\n"),
            "operators 'conv1' to 'conv3' in one subgraph");
}

struct Fault {
  std::string text;
  int line = 0;
  int column = 0;
  std::string message;
  std::string hint;
};

TEST(PlanConstraintFiles, FaultsHaveAPlaceAndACure) {
  const std::vector<Fault> faults = {
      {"togehter: []\n", 2, 1, "unknown key 'togehter'", "did you mean 'together'?"},
      {"apart: [conv1, covn2]\n", 2, 16, "the network has no operator 'covn2'",
       "did you mean 'conv2'?"},
      {"keep:\n  - tt1\n", 3, 5, "the network has no tensor 'tt1'", "did you mean 't1'?"},
      {"together: [[]]\n", 2, 12, "no operators", ""},
      {"together: [[conv1]]\n", 2, 12, "these are no operators to put together", ""},
      {"subgraphs:\n  - {operators: [conv1], halo: roling_buffer}\n", 3, 32,
       "unknown name 'roling_buffer'", "did you mean 'rolling_buffer'?"},
      {"subgraphs:\n  - operators: [conv1]\n    tile: [1, 2, 9, 4]\n", 3, 5,
       "[1, 2, 9, 4] is no tile of an output [1, 2, 8, 4]", ""},
      {"subgraphs:\n  - {operators: [conv1], addresses: {t2@0: 0}}\n", 3, 5,
       "the subgraph has no buffer 't2@0'", "did you mean 't0@0'?"},
      {"addresses: [{tensor: x, memory: drum, offset: 0}]\n", 2, 33, "unknown name 'drum'",
       "did you mean 'dram'?"},
      {"together: [[conv0, conv2]]\napart: [conv2]\n", 3, 9,
       "a subgraph that begins with operator 'conv2' contradicts what else is required", ""},
  };
  for (const Fault& fault : faults) {
    const auto constraints = Read(fault.text);
    ASSERT_FALSE(constraints) << fault.text;
    const base::Diagnostic& found = constraints.error();
    EXPECT_EQ(found.file, "constraints.yaml");
    EXPECT_EQ(found.line, fault.line) << base::Format(found);
    EXPECT_EQ(found.column, fault.column) << base::Format(found);
    EXPECT_EQ(found.message, fault.message);
    EXPECT_EQ(found.hint, fault.hint);
  }
}

TEST(PlanConstraintFiles, KeepToTheMostOperators) {
  EXPECT_TRUE(Read("together: [[conv0, conv2]]\n", 3));
  EXPECT_FALSE(Read("together: [[conv0, conv2]]\n", 2));
}

}  // namespace
}  // namespace tessera::search
