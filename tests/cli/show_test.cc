// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <sstream>

#include "command_line.h"

// `tessera show` draws maps as SVG and in letters.
namespace tessera::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ShowTest : public CommandLineTest {
 protected:
  void WritePlan() const {
    const Outcome outcome = PlanPatentChain("three_bank_two_mode", {"--output", "plan.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
};

TEST_F(ShowTest, DrawsAnAllocationInLetters) {
  Write("placed.csv", "id,lower,upper,size,offset\na,0,3,16,0\nb,1,4,16,16\nc,3,6,8,0\n");
  EXPECT_EQ(Run({"show", "placed.csv", "--capacity", "32", "--format", "text"}).out,
            "memory 0: peak 32 of 32 bytes\n"
            "    step  0        1        3        4\n"
            "16 .. 32  .........aaaaaaaaaaaaaaaaaa.........\n"
            " 8 .. 16  bbbbbbbbbbbbbbbbbb..................\n"
            " 0 ..  8  bbbbbbbbbbbbbbbbbbcccccccccccccccccc\n"
            "a  b 16 bytes [16, 32), steps [1, 4)\n"
            "b  a 16 bytes [0, 16), steps [0, 3)\n"
            "c  c 8 bytes [0, 8), steps [3, 6)\n");
}

TEST_F(ShowTest, APlanIsShownSubgraphBySubgraphWithinAHundredColumns) {
  WritePlan();
  const Outcome outcome = Run({"show", "plan.json", "--format", "text"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("subgraph 0: conv1"));
  const size_t subgraphs = ReadJson("plan.json").at("subgraphs").size();
  EXPECT_THAT(outcome.out, HasSubstr("subgraph " + std::to_string(subgraphs - 1) + ":"));
  EXPECT_THAT(outcome.out, HasSubstr("\nmode "));
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST_F(ShowTest, OneSubgraphOfAPlanAlone) {
  WritePlan();
  const Outcome text = Run({"show", "plan.json", "--format", "text", "--subgraph", "0"});
  EXPECT_THAT(text.out, StartsWith("subgraph 0: conv1"));
  EXPECT_THAT(text.out, Not(HasSubstr("subgraph 1")));
  EXPECT_THAT(Run({"show", "plan.json", "--subgraph", "0"}).out, StartsWith("<svg "));
  EXPECT_EQ(Run({"show", "plan.json", "--subgraph", "99"}).exit_code, 2);
}

TEST_F(ShowTest, BankGroupsOfAProfileAreInEveryPicture) {
  Write("grouped.yaml", "extends: " + Shipped("hw_profiles/three_bank_two_mode.yaml") +
                            "\nmemories: {sram: {bank_groups: [[bank0, bank1], [bank2]]}}\n");
  const Outcome plan = Run({"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                            "grouped.yaml", "--output", "plan.json", "--report", "plan.html"});
  ASSERT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(Run({"show", "plan.json", "--format", "text"}).out,
              HasSubstr("\nbank_groups: bank0 bank1 | bank2\n"));
  const std::string svg = Run({"show", "plan.json", "--subgraph", "0"}).out;
  EXPECT_THAT(svg, HasSubstr("; bank_groups: bank0 bank1 | bank2<"));
  EXPECT_THAT(svg, HasSubstr("<title>bank_groups 1</title>"));
  EXPECT_THAT(Read("plan.html"), HasSubstr("[\"bank_groups\",\"bank0, bank1\"]"));
}

TEST_F(ShowTest, OnlyPlansHaveSubgraphs) {
  Write("placed.csv", "id,lower,upper,size,offset\na,0,3,16,0\n");
  EXPECT_EQ(Run({"show", "placed.csv", "--capacity", "32", "--subgraph", "0"}).exit_code, 2);
}

}  // namespace
}  // namespace tessera::cli
