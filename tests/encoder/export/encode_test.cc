// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <sstream>
#include <string>
#include <vector>

#include "tessera/encoder/export/formula.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "two_banks.h"

// The text of formulas.
namespace tessera::encoder {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

exports::Formula Write(const problem::files::ProblemDocument& document,
                       exports::FormulaFormat format,
                       sat::IntegerEncoding integers = sat::IntegerEncoding::kByMagnitude) {
  exports::FormulaOptions options;
  options.format = format;
  options.capacity = document.problem.memories[0].capacity;
  options.integers = integers;
  return exports::Encode(document, options).value();
}

// So many lines, from the line that begins with `first`.
std::string LinesFrom(const std::string& text, const std::string& first, int count) {
  std::istringstream lines(text.substr(text.find('\n' + first) + 1));
  std::string found;
  for (std::string line; count > 0 && std::getline(lines, line); --count) found += line + '\n';
  return found;
}

problem::files::ProblemDocument WithLadder() {
  problem::files::ProblemDocument document = TwoBanks();
  document.ladder = problem::Ladder{{{"rows=1", {16, 16}}, {"rows=2", {32, 16}}}};
  return document;
}

TEST(EncodeText, StatesTheConditionsInSentences) {
  const std::string text = Write(TwoBanks(), exports::FormulaFormat::kText).text;
  EXPECT_EQ(
      LinesFrom(text, "offsets:", 13),
      "offsets: each buffer starts at a multiple of its alignment and ends within its memory\n"
      "     1  offset of in is a multiple of 16 from 0 to 48\n"
      "     2  offset of out is a multiple of 16 from 0 to 48\n"
      "\n"
      "liveness: buffers that live together share no byte\n"
      "     1  if in below out: offset of in + 16 <= offset of out\n"
      "     2  if out below in: offset of out + 16 <= offset of in\n"
      "\n"
      "modes: each memory has one mode at each step, which follows the one before and allows every "
      "access\n"
      "     1  mode of sram at step 1 is m0 or mode of sram at step 1 is m1\n"
      "     2  if mode of sram at step 1 is m0, then mode of sram at step 1 is not m1\n"
      "     3  if mode of sram at step 1 is m1, then offset of in >= 32\n"
      "     4  if offset of in >= 32, then mode of sram at step 1 is not m0\n");
}

TEST(EncodeText, EndsWithTheSizes) {
  const std::string text = Write(TwoBanks(), exports::FormulaFormat::kText).text;
  EXPECT_EQ(LinesFrom(text, "size as conditions", 5),
            "size as conditions\n"
            "topic        variables  conditions\n"
            "offsets              2           2\n"
            "liveness             1           2\n"
            "modes                2           6\n");
  EXPECT_THAT(LinesFrom(text, "size as clauses", 6), HasSubstr("\ntotal                9"));
}

TEST(EncodeText, SaysWhatACandidateMeans) {
  const std::string text = Write(WithLadder(), exports::FormulaFormat::kText).text;
  EXPECT_THAT(text, HasSubstr("  if candidate is rows=2: offset of in + 32 <= end of in\n"));
  EXPECT_THAT(text, HasSubstr("  if candidate is rows=2: end of in <= offset of in + 32\n"));
  EXPECT_THAT(text, HasSubstr("  candidate is rows=1 or candidate is rows=2\n"));
}

TEST(EncodeDimacs, MapsEveryVariable) {
  const std::string text = Write(TwoBanks(), exports::FormulaFormat::kDimacs).text;
  EXPECT_THAT(text, StartsWith("c tessera-formula {\"version\":1,"));
  EXPECT_EQ(LinesFrom(text, "c 1 ", 12),
            "c 1 true\n"
            "c 2 offset of in >= 16\n"
            "c 3 offset of in >= 32\n"
            "c 4 offset of in >= 48\n"
            "c 5 offset of out >= 16\n"
            "c 6 offset of out >= 32\n"
            "c 7 offset of out >= 48\n"
            "c 8 in below out\n"
            "c 9 mode of sram at step 1 is m0\n"
            "c 10 mode of sram at step 1 is m1\n"
            "p cnf 10 19\n"
            "1 0\n");
}

TEST(EncodeDimacs, NamesDigitsAndTheBoundsMadeOfThem) {
  const std::string text =
      Write(TwoBanks(), exports::FormulaFormat::kDimacs, sat::IntegerEncoding::kBits).text;
  EXPECT_THAT(text, HasSubstr("c 2 offset of in counts a 16\nc 3 offset of in counts a 32\n"));
}

TEST(EncodeDimacs, CountsItsClausesTruly) {
  for (const sat::IntegerEncoding integers :
       {sat::IntegerEncoding::kOrder, sat::IntegerEncoding::kBits}) {
    const std::string text = Write(WithLadder(), exports::FormulaFormat::kDimacs, integers).text;
    std::istringstream lines(text);
    int variables = 0;
    int announced = 0;
    int greatest = 0;
    int clauses = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.front() == 'c') continue;
      std::istringstream words(line);
      if (line.front() == 'p') {
        std::string word;
        words >> word >> word >> variables >> announced;
        continue;
      }
      ++clauses;
      for (int literal = 0; words >> literal;) greatest = std::max(greatest, std::abs(literal));
      EXPECT_THAT(line, testing::EndsWith("0"));
    }
    EXPECT_EQ(clauses, announced);
    EXPECT_LE(greatest, variables);
  }
}

TEST(EncodeSmtlib, DeclaresReadableSymbolsAndNamesItsAssertions) {
  const std::string text = Write(TwoBanks(), exports::FormulaFormat::kSmtlib).text;
  EXPECT_THAT(text, HasSubstr("(set-logic QF_LIA)\n"
                              "(declare-const |offset of in / 16| Int)\n"
                              "(assert (! (<= 0 |offset of in / 16| 3) :named offsets.1))\n"));
  EXPECT_THAT(text, HasSubstr("(assert (! (=> |in below out| (<= (+ |offset of in / 16| 1) "
                              "|offset of out / 16|)) :named liveness.1))\n"));
  EXPECT_THAT(text, HasSubstr("(assert (! (or (>= |offset of in / 16| 2) "
                              "(not |mode of sram at step 1 is m1|)) :named modes.3))\n"));
  EXPECT_THAT(text, testing::EndsWith("(check-sat)\n(get-model)\n"));
}

// An id may hold characters that a quoted symbol may not, and two ids may differ only in them.
TEST(EncodeSmtlib, SymbolsDifferForAllIds) {
  problem::files::ProblemDocument document = TwoBanks();
  document.problem.buffers[0].id = "a|";
  document.problem.buffers[1].id = "a\\";
  const std::string text = Write(document, exports::FormulaFormat::kSmtlib).text;
  EXPECT_THAT(text, HasSubstr("(declare-const |offset of a? / 16| Int)\n"));
  EXPECT_THAT(text, HasSubstr("(declare-const |offset of a? / 16 (2)| Int)\n"));
}

TEST(EncodeDimacs, ALineBreakInAnIdBreaksNoComment) {
  problem::files::ProblemDocument document = TwoBanks();
  document.problem.buffers[0].id = "a\np cnf 1 1";
  EXPECT_THAT(Write(document, exports::FormulaFormat::kDimacs).text,
              HasSubstr("c 2 offset of a\\np cnf 1 1 >= 16\n"));
}

TEST(Encode, AnEmptyProblemIsSatisfiable) {
  problem::files::ProblemDocument document;
  document.problem.memories.emplace_back().capacity = 8;
  EXPECT_THAT(Write(document, exports::FormulaFormat::kDimacs).text,
              testing::EndsWith("c 1 true\np cnf 1 1\n1 0\n"));
}

TEST(Encode, ABufferLargerThanTheMemoryIsAContradiction) {
  problem::files::ProblemDocument document = TwoBanks();
  document.problem.buffers[0].size = 80;
  EXPECT_THAT(Write(document, exports::FormulaFormat::kDimacs).text, HasSubstr("\n0\n"));
  EXPECT_THAT(Write(document, exports::FormulaFormat::kSmtlib).text,
              HasSubstr("(assert (! false :named offsets."));
  EXPECT_THAT(Write(document, exports::FormulaFormat::kText).text,
              HasSubstr("  this cannot hold\n"));
}

TEST(Encode, StatesWhatRulesAsk) {
  problem::files::ProblemDocument document = TwoBanks();
  problem::Rule& rule = document.problem.rules.emplace_back();
  rule.requirement.kind = problem::RequirementKind::kDifference;
  rule.requirement.multiple = 32;
  rule.requirement.residue = 16;
  rule.pairs = {{0, 1}};
  const std::string text = Write(document, exports::FormulaFormat::kText).text;
  EXPECT_THAT(text, HasSubstr(": (offset of in mod 32) + 16 <= (offset of out mod 32)\n"));
  EXPECT_THAT(text, HasSubstr("  offset of in mod 32 = (offset of in mod 32)\n"));
  EXPECT_THAT(Write(document, exports::FormulaFormat::kSmtlib).text,
              HasSubstr("(= (mod |offset of in / 16| 2) |(offset of in mod 32) / 16|)"));
}

}  // namespace
}  // namespace tessera::encoder
