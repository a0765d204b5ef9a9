// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "fixture.h"
#include "tessera/problem/draw/pictures.h"

namespace tessera::problem {
namespace {

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(SvgTest, ATooltipStatesEverythingAboutABuffer) {
  Problem problem = PlainProblem({MakeBuffer("a", 0, 2, 4)});
  problem.buffers[0].name = "conv1";
  problem.buffers[0].role = "weights";
  problem.buffers[0].lifespans.push_back({3, 5});
  EXPECT_TRUE(Has(draw::WriteSvg(problem, {{8}, {}}, 16),
                  "<title>a (conv1), weights: 4 bytes at [8, 12), lives [0, 2) [3, 5)</title>"));
}

TEST(SvgTest, NamesAreEscaped) {
  Problem problem = PlainProblem({MakeBuffer("<a>&\"b\"\x01\xFF", 0, 2, 4)});
  problem.name = "</svg>";
  const std::string svg = draw::WriteSvg(problem, {{0}, {}}, 16);
  EXPECT_TRUE(Has(svg, "&lt;a&gt;&amp;&quot;b&quot;\\u0001\\xff"));
  EXPECT_EQ(svg.find("</svg>"), svg.size() - 7);
}

TEST(SvgTest, ShowsBanksModesLoopsAndReservedRanges) {
  Problem problem = BankedProblem({MakeBuffer("a", 0, 4, 4)});
  problem.loops = {{1, 3, {3}}};
  problem.memories[0].reserved = {{{12, 16}, "stack"}};
  const std::string svg = draw::WriteSvg(problem, {{0}, {{0, 1, 1, 0}}}, 16);
  for (const std::string_view part :
       {">low<", ">high<", "<title>wr</title>", "loop [1, 3)", "reserved [12, 16): stack"}) {
    EXPECT_TRUE(Has(svg, part)) << part;
  }
}

TEST(SvgTest, ShowsBankGroups) {
  Problem problem = BankedProblem({MakeBuffer("a", 0, 4, 4)});
  problem.memories[0].banks[1].name = "<high>";
  problem.memories[0].bank_sets["bank_groups"] = {{0}, {1}};
  const std::string svg = draw::WriteSvg(problem, {{0}, {{0, 1, 1, 0}}}, 16);
  for (const std::string_view part :
       {"bytes; bank_groups: low | &lt;high&gt;<", "<title>bank_groups 0</title>",
        "<title>bank_groups 1</title>"}) {
    EXPECT_TRUE(Has(svg, part)) << part;
  }
}

TEST(SvgTest, StacksMemoriesAndSaysWhereAddressesAreCutOff) {
  Problem problem = PlainProblem({MakeBuffer("a", 0, 4, 4), MakeBuffer("b", 0, 4, 4)});
  problem.memories.push_back(problem.memories[0]);
  problem.memories[1].capacity = 1 << 20;
  problem.buffers[1].memory = 1;
  const std::string svg = draw::WriteSvg(problem, {{0, 0}, {}}, 8);
  EXPECT_TRUE(Has(svg, "memory 0: peak 4 of 8 bytes<"));
  EXPECT_TRUE(Has(svg, "memory 1: peak 4 of 1048576 bytes, upper addresses cut off<"));
}

TEST(SvgTest, AnEmptyProblemIsAPictureToo) {
  EXPECT_TRUE(Has(draw::WriteSvg(PlainProblem({}), {{}, {}}, 16), "</svg>"));
}

}  // namespace
}  // namespace tessera::problem
