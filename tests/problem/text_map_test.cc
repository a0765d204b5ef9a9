// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "fixture.h"
#include "tessera/problem/draw/pictures.h"

namespace tessera::problem {
namespace {

using testing::HasSubstr;

TEST(TextMapTest, RowsEndWhereBuffersDoAndColumnsWhereLivesDo) {
  const Problem problem = PlainProblem({MakeBuffer("x", 0, 2, 4), MakeBuffer("y", 1, 4, 8)});
  EXPECT_EQ(draw::WriteTextMap(problem, {{8, 0}, {}}, 16, 40),
            "memory 0: peak 12 of 16 bytes\n"
            "    step  0        1        2\n"
            "12 .. 16  ...........................\n"
            " 8 .. 12  aaaaaaaaaaaaaaaaaa.........\n"
            " 0 ..  8  .........bbbbbbbbbbbbbbbbbb\n"
            "a  x 4 bytes [8, 12), steps [0, 2)\n"
            "b  y 8 bytes [0, 8), steps [1, 4)\n");
}

TEST(TextMapTest, ShowsBanksModesRolesAndReservedRanges) {
  Problem problem = BankedProblem({MakeBuffer("x", 0, 2, 4)});
  problem.buffers[0].role = "weights";
  problem.memories[0].name = "sram";
  problem.memories[0].reserved = {{{12, 16}, "stack"}};
  EXPECT_EQ(draw::WriteTextMap(problem, {{0}, {{1, 0}}}, 16),
            "sram: peak 4 of 16 bytes\n"
            "          step  0        1\n"
            "12 .. 16  high  ##################\n"
            " 8 .. 12  high  ..................\n"
            " 4 ..  8  low   ..................\n"
            " 0 ..  4  low   aaaaaaaaaaaaaaaaaa\n"
            "mode            111111111000000000\n"
            "a  x (weights) 4 bytes [0, 4), steps [0, 2)\n"
            "mode 0  rw\n"
            "mode 1  wr\n");
}

TEST(TextMapTest, ShowsBankGroups) {
  Problem problem = BankedProblem({MakeBuffer("x", 0, 2, 4)});
  problem.memories[0].bank_sets["bank_groups"] = {{0}, {1}};
  EXPECT_THAT(draw::WriteTextMap(problem, {{0}, {{1, 0}}}, 16),
              testing::StartsWith("memory 0: peak 4 of 16 bytes\nbank_groups: low | high\n"));
  problem.memories[0].banks[1].name.clear();
  problem.memories[0].bank_sets["bank_groups"] = {{0, 1}};
  EXPECT_THAT(draw::WriteTextMap(problem, {{0}, {{1, 0}}}, 16),
              HasSubstr("\nbank_groups: low 1\n"));
}

TEST(TextMapTest, WhatIsTooWideContinuesBelow) {
  std::vector<Buffer> buffers;
  for (int i = 0; i < 70; ++i) buffers.push_back(MakeBuffer("b" + std::to_string(i), i, i + 1, 4));
  const std::string text =
      draw::WriteTextMap(PlainProblem(buffers), {std::vector<Bytes>(70, 0), {}}, 16);
  std::istringstream lines(text);
  int heads = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), draw::kTextMapColumns);
    if (line.starts_with("    step")) ++heads;
  }
  EXPECT_EQ(heads, 2);
  for (const Buffer& buffer : buffers) EXPECT_THAT(text, HasSubstr("  " + buffer.id + " 4 bytes"));
}

TEST(TextMapTest, NamesCannotSteerTheTerminal) {
  const Problem problem = PlainProblem({MakeBuffer("\x1b[2J\xC3\xA4", 0, 1, 4)});
  EXPECT_THAT(draw::WriteTextMap(problem, {{0}, {}}, 16), HasSubstr("a  \\u001b[2J?? 4 bytes"));
}

TEST(TextMapTest, NothingIsSaidInWords) {
  EXPECT_EQ(draw::WriteTextMap(PlainProblem({}), {{}, {}}, 16), "no buffers\n");
}

}  // namespace
}  // namespace tessera::problem
