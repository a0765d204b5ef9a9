// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/proof/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../fixture.h"
#include "tessera/problem/validator.h"

// The structure of a proof. The checker accepts nothing else.

namespace tessera::problem::proof {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Three buffers of 3 bytes live together with one that is fixed in the middle of 11 bytes. Two of
// them must lie on one side of it, which has 5 bytes.
//
//     0         5 6         11
//     |.........|d|.........|         a, b, c: [---] each
Problem MakeProblem() {
  Buffer fixed = MakeBuffer("d", 0, 1, 1);
  fixed.offset = 5;
  return PlainProblem({MakeBuffer("a", 0, 1, 3), MakeBuffer("b", 0, 1, 3), MakeBuffer("c", 0, 1, 3),
                       std::move(fixed)});
}

constexpr Bytes kCapacity = 11;

// If a were below d, then b and c would both lie above d. So a lies above d, and b and c both lie
// below it.
constexpr const char* kStepProof =
    "tessera-proof 1\n"
    "given 1 stack 0 1 : b3,0 b3,1\n"
    "clause 2 : b3,0\n"
    "use 1\n"
    "stack 0 : b3,0 x0<3\n"
    "stack 0 2 : x0>=3 b3,2\n"
    "stack 1 2 : b1,3 b2,3\n"
    "clause 3 : b1,3\n"
    "stack 0 1 : b0,3 b1,3\n"
    "clause 4 :\n"
    "stack 0 2 : b0,3 b2,3\n"
    "stack 2 : b3,2 x2<3\n"
    "stack 1 2 : b3,1 x2>=3\n"
    "end\n";

std::vector<std::string> LinesOf(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string Join(const std::vector<std::string>& parts, const std::string& after,
                 const std::string& between) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) text += (i > 0 ? between : "") + parts[i];
  return text + after;
}

std::string Text(const std::vector<std::string>& lines) { return Join(lines, "\n", "\n"); }

std::vector<std::string> WordsOf(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool Accepts(const std::string& text, Bytes capacity = kCapacity) {
  return CheckProof(MakeProblem(), capacity, text).accepted;
}

std::string FlawOf(const std::string& text) {
  return CheckProof(MakeProblem(), kCapacity, text).flaw;
}

TEST(Checker, AcceptsAProofLineByLine) {
  const ProofCheck verdict = CheckProof(MakeProblem(), kCapacity, kStepProof);
  EXPECT_TRUE(verdict.accepted) << verdict.line << ": " << verdict.flaw;
  EXPECT_EQ(verdict.clauses, 4U);
}

TEST(Checker, RefusesItWhereThereIsAPlacement) {
  ASSERT_THAT(Validate(MakeProblem(), {{0, 6, 9, 5}, {}}, kCapacity + 1), IsEmpty());
  const ProofCheck verdict = CheckProof(MakeProblem(), kCapacity + 1, kStepProof);
  EXPECT_FALSE(verdict.accepted);
  EXPECT_EQ(verdict.line, 7U);
  EXPECT_THAT(verdict.flaw, HasSubstr("the stack fits between 6 and 12"));
}

TEST(Checker, SaysWhatIsWrongWithALine) {
  const std::string start = "tessera-proof 1\n";
  EXPECT_THAT(FlawOf(""), HasSubstr("breaks off"));
  EXPECT_THAT(FlawOf("end\n"), HasSubstr("begins with"));
  EXPECT_THAT(FlawOf(start + "end\n"), HasSubstr("without the empty clause"));
  EXPECT_THAT(FlawOf(start + "clause 1 :\nend\n"), HasSubstr("not proven"));
  EXPECT_THAT(FlawOf(start + "clause 2 :\n"), HasSubstr("has the number 1"));
  EXPECT_THAT(FlawOf(start + "clause 1 :\nuse 1\n"), HasSubstr("no clause 1 above"));
  EXPECT_THAT(FlawOf(start + "use 1\n"), HasSubstr("no clause is being proven"));
  EXPECT_THAT(FlawOf(start + "clause 1 :\nstack 0 1 : b3,0 b3,1\n"),
              HasSubstr("both b3,0 and b3,1 are open"));
  EXPECT_THAT(FlawOf(start + "clause 1 : y3\n"), HasSubstr("'y3' is no literal"));
  EXPECT_THAT(FlawOf(start + "stuck 0 :\n"), HasSubstr("'stuck' begins no line"));
  EXPECT_THAT(FlawOf(start + start), HasSubstr("second header"));
  EXPECT_THAT(FlawOf(std::string(kStepProof) + "end\n"), HasSubstr("nothing may follow"));
  EXPECT_THAT(FlawOf("tessera-proof 1"), HasSubstr("no end"));
}

TEST(Checker, EachNumberHasOneForm) {
  for (const std::string literal :
       {"x0<03", "x0<+3", "x00<3", "x0<-0", "x0< 3", "x0<3 ", "x0<3,", "x0<", "x<3", "x0>3",
        "!x0<3", "!b1,3", "b1", "b1,", "b1,3,2", "t0", "m0,1", "x0<9223372036854775808"}) {
    EXPECT_FALSE(
        CheckProof(MakeProblem(), kCapacity, "tessera-proof 1\nclause 1 : " + literal + "\n")
            .flaw.empty());
    EXPECT_NE(
        CheckProof(MakeProblem(), kCapacity, "tessera-proof 1\nclause 1 : " + literal + "\n").flaw,
        "the proof breaks off")
        << literal;
  }
}

TEST(Checker, ABufferWithoutAnyPlaceNeedsNoReasons) {
  Problem problem = PlainProblem({MakeBuffer("a", 0, 1, 3)});
  const std::string proof = "tessera-proof 1\nclause 1 :\nend\n";
  EXPECT_TRUE(CheckProof(problem, 2, proof).accepted);
  EXPECT_FALSE(CheckProof(problem, 3, proof).accepted);
  problem.buffers[0].offset = 4;
  EXPECT_TRUE(CheckProof(problem, 6, proof).accepted);
  EXPECT_FALSE(CheckProof(problem, 7, proof).accepted);
}

// All damages of one step: each line left out (with and without new numbers for the rest), cut off,
// exchanged with the next; each word left out, and replaced by another well-formed word.
std::set<std::string> Corruptions() {
  const std::vector<std::string> lines = LinesOf(kStepProof);
  std::set<std::string> corrupted;
  const auto with_line = [&](size_t at, const std::vector<std::string>& words) {
    std::vector<std::string> changed = lines;
    changed[at] = Join(words, "", " ");
    corrupted.insert(Text(changed));
  };
  for (size_t at = 0; at < lines.size(); ++at) {
    std::vector<std::string> changed = lines;
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(at));
    corrupted.insert(Text(changed));
    corrupted.insert(Text({lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(at)}));
    changed = lines;
    if (at + 1 < lines.size()) std::swap(changed[at], changed[at + 1]);
    corrupted.insert(Text(changed));
    const std::vector<std::string> words = WordsOf(lines[at]);
    for (size_t word = 0; word < words.size(); ++word) {
      std::vector<std::string> fewer = words;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(word));
      with_line(at, fewer);
      for (const char* const other :
           {"room", "tie",  "use",  "0",    "1",     "2",     "3",     "4",     "b0,1",
            "b0,2", "b0,3", "b1,0", "b1,2", "b1,3",  "b2,0",  "b2,1",  "b2,3",  "b3,0",
            "b3,1", "b3,2", "x0<2", "x0<3", "x0<4",  "x0>=2", "x0>=3", "x0>=4", "x1>=3",
            "x1<3", "x2<2", "x2<3", "x2<4", "x2>=2", "x2>=3", "x2>=4"}) {
        std::vector<std::string> exchanged = words;
        exchanged[word] = other;
        with_line(at, exchanged);
      }
    }
  }
  const std::string whole = Text(lines);
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) corrupted.insert(whole.substr(0, bytes));
  for (const char* const garbage : {"\n", " ", "end\n", "x", "tessera-proof 1\n"})
    corrupted.insert(whole + garbage);
  corrupted.erase(whole);
  return corrupted;
}

// Some damages leave another proof of the same fact. None may prove the fact where it is false.
TEST(Checker, NoCorruptionProvesWhatIsFalse) {
  const std::set<std::string> corruptions = Corruptions();
  EXPECT_GE(corruptions.size(), 1000U);
  for (const std::string& corrupted : corruptions) {
    ASSERT_FALSE(Accepts(corrupted, kCapacity + 1)) << corrupted;
  }
}

// The first line of the proof that the corruption changes, and its new text.
std::string ChangeOf(const std::string& corrupted) {
  const std::vector<std::string> lines = LinesOf(corrupted);
  const std::vector<std::string> originals = LinesOf(kStepProof);
  size_t at = 0;
  while (at < lines.size() && at < originals.size() && lines[at] == originals[at]) ++at;
  return (at < originals.size() ? originals[at] : "") + " -> " +
         (at < lines.size() ? lines[at] : "");
}

TEST(Checker, RefusesEveryCorruptionThatIsNoProof) {
  std::vector<std::string> survivors;
  size_t refused = 0;
  for (const std::string& corrupted : Corruptions()) {
    if (Accepts(corrupted)) {
      survivors.push_back(ChangeOf(corrupted));
    } else {
      ++refused;
    }
  }
  EXPECT_GE(refused, 1000U);
  EXPECT_THAT(survivors,
              UnorderedElementsAre(
                  // Exchanged lines that do not depend on each other.
                  "use 1 -> stack 0 : b3,0 x0<3", "stack 2 : b3,2 x2<3 -> stack 1 2 : b3,1 x2>=3",
                  // Two buffers below d, or two above it, are too many. The proof may omit that the
                  // bound follows.
                  "stack 0 2 : x0>=3 b3,2 -> stack 0 2 : b3,0 b3,2",
                  "stack 1 2 : b3,1 x2>=3 -> stack 1 2 : b3,1 b3,2",
                  "stack 0 2 : x0>=3 b3,2 -> stack 1 2 : b1,3 b2,3",
                  // d does not fit above a buffer that must lie below it.
                  "stack 2 : b3,2 x2<3 -> stack 3 : b3,2 x2<3",
                  "stack 0 : b3,0 x0<3 -> stack 3 : b3,0 x0<3"));
}

}  // namespace
}  // namespace tessera::problem::proof
