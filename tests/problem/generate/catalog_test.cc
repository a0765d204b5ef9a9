// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/generate/catalog.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/generate/families.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"

namespace tessera::problem::generate {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Request Asking(std::string_view family, int buffers, uint64_t seed = 1) {
  Request request;
  request.family = family;
  request.buffers = buffers;
  request.seed = seed;
  return request;
}

void Give(Request& request, Parameter parameter, int64_t value) {
  request.parameters[static_cast<size_t>(parameter)] = value;
}

std::string FaultOf(const Request& request) {
  const auto made = Generate(request);
  return made ? "none" : made.error().message;
}

TEST(CatalogTest, EveryFamilyIsWellFormedAndDependsOnTheSeedAlone) {
  for (const FamilyTraits& family : Families()) {
    const auto made = Generate(Asking(family.name, 30));
    ASSERT_TRUE(made) << family.name;
    EXPECT_FALSE(CheckWellFormed(*made)) << family.name;
    EXPECT_THAT(made->buffers, SizeIs(30)) << family.name;
    const std::string text = files::WriteProblem(*made);
    EXPECT_EQ(text, files::WriteProblem(*Generate(Asking(family.name, 30)))) << family.name;
    EXPECT_NE(text, files::WriteProblem(*Generate(Asking(family.name, 30, 2)))) << family.name;
  }
}

TEST(CatalogTest, EqualBuffersHaveOneSizeAndDisjointOnesNeverMeet) {
  const Problem equal = *Generate(Asking("equal", 200));
  for (const Buffer& buffer : equal.buffers) EXPECT_EQ(buffer.size, equal.buffers[0].size);
  const Problem disjoint = *Generate(Asking("disjoint", 200));
  for (size_t i = 0; i < 200; ++i) {
    for (size_t j = 0; j < i; ++j)
      EXPECT_FALSE(LiveTogether(disjoint.buffers[i], disjoint.buffers[j]));
  }
}

// A problem whose fixed offsets and separations come from a solution still has one: fixing all of
// the same draw gives it.
TEST(CatalogTest, FixedAndSeparatedBuffersAgreeWithASolution) {
  for (const char* family : {"perfect", "broken", "random", "compiler-like", "log-uniform"}) {
    Request request = Asking(family, 60);
    request.fixed_ppm = 1'000'000;
    request.separated = 20;
    const Problem problem = *Generate(request);
    EXPECT_THAT(problem.relations, SizeIs(20)) << family;
    Allocation allocation;
    for (const Buffer& buffer : problem.buffers) allocation.offsets.push_back(*buffer.offset);
    EXPECT_TRUE(Validate(problem, allocation, problem.memories[0].capacity, 1).empty()) << family;
    request.fixed_ppm = 100'000;
    const Problem some = *Generate(request);
    int fixed = 0;
    for (size_t i = 0; i < 60; ++i) {
      if (!some.buffers[i].offset) continue;
      ++fixed;
      EXPECT_EQ(some.buffers[i].offset, problem.buffers[i].offset);
    }
    EXPECT_GT(fixed, 0);
    EXPECT_LT(fixed, 20);
  }
}

TEST(CatalogTest, ThePackingThatWasCutIsTheSolutionOfPerfect) {
  Request request = Asking("perfect", 50);
  request.fixed_ppm = 500'000;
  EXPECT_EQ(Generate(request)->memories[0].capacity, 1024);
}

TEST(CatalogTest, PenaltiesArePairsThatNeverLiveTogether) {
  Request request = Asking("random", 80);
  request.penalties = 100;
  const Problem problem = *Generate(request);
  EXPECT_THAT(problem.costs, SizeIs(100));
  for (const Cost& cost : problem.costs) {
    EXPECT_FALSE(LiveTogether(problem.buffers[static_cast<size_t>(cost.first)],
                              problem.buffers[static_cast<size_t>(cost.second)]));
  }
  request.penalties = 1'000'000;  // more than there are
  EXPECT_LT(Generate(request)->costs.size(), 80U * 79U / 2);
}

TEST(CatalogTest, ValuesAreTrafficThatIsSpared) {
  Request request = Asking("random", 80);
  const Problem plain = *Generate(request);
  request.values = true;
  const Problem problem = *Generate(request);
  for (size_t i = 0; i < 80; ++i) {
    const Buffer& buffer = problem.buffers[i];
    ASSERT_TRUE(buffer.value);
    EXPECT_EQ(*buffer.value % buffer.size, 0);
    EXPECT_GE(*buffer.value, buffer.size);
    EXPECT_LE(*buffer.value, 8 * buffer.size);
    EXPECT_EQ(buffer.size, plain.buffers[i].size);
  }
}

TEST(CatalogTest, RefusesByName) {
  EXPECT_EQ(FaultOf(Asking("perfct", 10)), "there is no family 'perfct'");
  EXPECT_EQ(Generate(Asking("perfct", 10)).error().hint, "did you mean 'perfect'?");
  Request flat = Asking("flat", 10);
  Give(flat, Parameter::kAlive, 5);
  EXPECT_EQ(FaultOf(flat), "the family flat has no parameter 'alive'");
  Request tight = Asking("perfect", 100);
  Give(tight, Parameter::kSteps, 3);
  Give(tight, Parameter::kCapacity, 7);
  EXPECT_THAT(FaultOf(tight), HasSubstr("do not fit"));
  Request banked = Asking("banked", 10);
  banked.fixed_ppm = 1;
  EXPECT_THAT(FaultOf(banked), HasSubstr("no solution"));
  Give(banked, Parameter::kBanks, 65);
  EXPECT_EQ(FaultOf(banked), "banks is 65");
}

// At these numbers sizes were rounded to nothing, and areas exceed 64 bits.
TEST(CatalogTest, LargeNumbersGiveListsThatAreWellFormed) {
  const auto flat = Generate(Asking("flat", 140'000));
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_FALSE(CheckWellFormed(*flat));
  Request perfect = Asking("perfect", 4);
  Give(perfect, Parameter::kSteps, 1'000'000'000);
  Give(perfect, Parameter::kCapacity, TraitsOf(Parameter::kCapacity).most);
  const auto cut = Generate(perfect);
  ASSERT_TRUE(cut) << cut.error().message;
  EXPECT_FALSE(CheckWellFormed(*cut));
  // Cuts across time repeat the bytes: their sum is beyond what a list may state.
  perfect.buffers = 200;
  EXPECT_THAT(FaultOf(perfect), HasSubstr("no valid one"));
}

// No 64 bits hold these areas. The larger of two pieces is cut, so none stays large.
TEST(CatalogTest, TheLargerPiecesAreCutWhateverTheirArea) {
  constexpr Bytes kCapacity = Bytes{1} << 52;
  const Problem problem = MakePerfect({200, 1'000'000'000, kCapacity}, 1);
  const double whole = 1e9 * static_cast<double>(kCapacity);
  double sum = 0, largest = 0;
  for (const Buffer& buffer : problem.buffers) {
    const auto steps = buffer.lifespans[0].upper - buffer.lifespans[0].lower;
    const double area = static_cast<double>(steps) * static_cast<double>(buffer.size);
    sum += area;
    largest = std::max(largest, area);
  }
  EXPECT_NEAR(sum, whole, whole * 1e-9);
  EXPECT_LT(largest, whole / 4);
}

TEST(CatalogTest, VariesAPlacedList) {
  Problem placed = *Generate(Asking("random", 20));
  Request request = Asking("", 0);
  request.fixed_ppm = 500'000;
  EXPECT_THAT(Vary(placed, request).error().message, HasSubstr("has no offset"));
  Bytes top = 0;
  for (Buffer& buffer : placed.buffers) {
    buffer.offset = top;
    top += buffer.size;
  }
  const Problem varied = *Vary(placed, request);
  EXPECT_EQ(varied.memories[0].capacity, top);
  size_t fixed = 0;
  for (const Buffer& buffer : varied.buffers) fixed += buffer.offset ? 1 : 0;
  EXPECT_GT(fixed, 0U);
  EXPECT_LT(fixed, 20U);
}

}  // namespace
}  // namespace tessera::problem::generate
