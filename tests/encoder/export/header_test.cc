// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "tessera/encoder/export/formula.h"
#include "two_banks.h"

// The first line of a formula holds the options and identifies the Problem.
namespace tessera::encoder {
namespace {

using testing::HasSubstr;

problem::files::ProblemDocument WithHostileLadder() {
  problem::files::ProblemDocument document = TwoBanks();
  document.ladder = problem::Ladder{{{"rows=1", {16, 16}}, {"\"rows\"\n=2", {32, 16}}}};
  return document;
}

class HeaderTest : public testing::TestWithParam<exports::FormulaFormat> {};

TEST_P(HeaderTest, GivesTheOptionsBack) {
  exports::FormulaOptions options;
  options.format = GetParam();
  options.capacity = 63;
  options.candidate = 1;
  options.integers = sat::IntegerEncoding::kBits;
  const exports::Formula formula = exports::Encode(WithHostileLadder(), options).value();
  const base::Expected<exports::FormulaOptions> read =
      exports::ReadOptions(formula.text, "f", WithHostileLadder());
  ASSERT_TRUE(read.has_value()) << base::Format(read.error());
  EXPECT_EQ(read->capacity, 63);
  EXPECT_EQ(read->candidate, 1U);
  EXPECT_EQ(read->integers, sat::IntegerEncoding::kBits);
}

TEST_P(HeaderTest, RefusesAnotherProblem) {
  exports::FormulaOptions options;
  options.format = GetParam();
  options.capacity = 64;
  const exports::Formula formula = exports::Encode(TwoBanks(), options).value();
  problem::files::ProblemDocument other = TwoBanks();
  other.problem.buffers[0].size = 17;
  const base::Expected<exports::FormulaOptions> read =
      exports::ReadOptions(formula.text, "f", other);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().message, "this is the formula of another problem");
}

INSTANTIATE_TEST_SUITE_P(Of, HeaderTest,
                         testing::Values(exports::FormulaFormat::kDimacs,
                                         exports::FormulaFormat::kSmtlib,
                                         exports::FormulaFormat::kText));

TEST(Header, RefusesWhatIsNoFormula) {
  for (const char* text : {"", "p cnf 1 1\n1 0\n", "a comment about tessera-formula {}\n"}) {
    const base::Expected<exports::FormulaOptions> read =
        exports::ReadOptions(text, "f", TwoBanks());
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().line, 1);
    EXPECT_THAT(read.error().message, HasSubstr("no formula"));
  }
}

TEST(Header, RefusesABrokenLine) {
  for (const char* text :
       {"c tessera-formula {\n",
        "c tessera-formula {\"version\":2,\"capacity\":1,\"problem\":\"\",\"integers\":\"auto\"}",
        "c tessera-formula {\"version\":1,\"capacity\":-1,\"problem\":\"\",\"integers\":\"auto\"}",
        "c tessera-formula {\"version\":1,\"capacity\":1,\"problem\":\"\",\"integers\":\"odd\"}"}) {
    EXPECT_FALSE(exports::ReadOptions(text, "f", TwoBanks()).has_value()) << text;
  }
}

}  // namespace
}  // namespace tessera::encoder
