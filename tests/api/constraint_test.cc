// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <tessera/tessera.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fixture.h"

// Constraints of the caller on offsets, against enumeration.
namespace tessera::tests {
namespace {

using testing::Contains;
using testing::HasSubstr;

using Offsets = std::vector<std::int64_t>;
using Predicate = std::function<bool(const Offsets&)>;

// Judges ranges of up to a few offsets by all of their points, and leaves wider ones open.
OffsetConstraint ByPoints(const Predicate& keeps, std::vector<std::string> buffers) {
  OffsetConstraint constraint;
  constraint.name = "by points";
  constraint.version = "1";
  constraint.buffers = std::move(buffers);
  constraint.judge = [keeps](const std::vector<OffsetRange>& ranges) {
    std::int64_t points = 1;
    for (const OffsetRange& range : ranges) points *= range.greatest - range.least + 1;
    if (points > 16) return Judgement::kOpen;
    bool all = true;
    bool any = false;
    for (std::int64_t number = 0; number < points; ++number) {
      Offsets offsets;
      std::int64_t rest = number;
      for (const OffsetRange& range : ranges) {
        const std::int64_t length = range.greatest - range.least + 1;
        offsets.push_back(range.least + rest % length);
        rest /= length;
      }
      (keeps(offsets) ? any : all) = keeps(offsets);
    }
    return all ? Judgement::kKept : any ? Judgement::kOpen : Judgement::kBroken;
  };
  return constraint;
}

bool AreApart(const Buffer& a, std::int64_t at_a, const Buffer& b, std::int64_t at_b) {
  const bool meet = a.steps[0].first < b.steps[0].second && b.steps[0].first < a.steps[0].second;
  return !meet || at_a + a.size <= at_b || at_b + b.size <= at_a;
}

// The least peak within the capacity of three buffers whose first two keep the predicate.
std::optional<std::int64_t> LeastPeak(const std::vector<Buffer>& buffers, std::int64_t capacity,
                                      const Predicate& keeps) {
  std::optional<std::int64_t> least;
  for (std::int64_t a = 0; a + buffers[0].size <= capacity; ++a) {
    for (std::int64_t b = 0; b + buffers[1].size <= capacity; ++b) {
      if (!keeps({a, b}) || !AreApart(buffers[0], a, buffers[1], b)) continue;
      for (std::int64_t c = 0; c + buffers[2].size <= capacity; ++c) {
        if (!AreApart(buffers[0], a, buffers[2], c) || !AreApart(buffers[1], b, buffers[2], c))
          continue;
        const std::int64_t peak =
            std::max({a + buffers[0].size, b + buffers[1].size, c + buffers[2].size});
        least = std::min(least.value_or(peak), peak);
      }
    }
  }
  return least;
}

TEST(Constraints, GiveTheLeastPeakOfAllPlacementsThatKeepThem) {
  std::mt19937 random(7);
  const auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  int infeasible = 0;
  int raised = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<Buffer> buffers;
    for (const char* id : {"a", "b", "c"}) {
      const std::int64_t lower = draw(0, 2);
      buffers.push_back({id, draw(1, 4), {{lower, lower + draw(1, 3)}}});
    }
    const std::int64_t capacity = draw(4, 11);
    const std::int64_t modulus = draw(2, 5);
    const std::int64_t wanted = draw(0, 4);
    const Predicate keeps = [=](const Offsets& at) {
      return (at[0] * 3 + at[1]) % modulus == wanted;
    };
    const Problem free = Must(Problem::Make(buffers, capacity));
    const Problem problem = Must(free.With(ByPoints(keeps, {"a", "b"})));
    AllocateOptions options;
    options.minimize = true;
    const AllocateAnswer answer = Must(Allocate(problem, options));
    const std::optional<std::int64_t> least = LeastPeak(buffers, capacity, keeps);
    ASSERT_EQ(answer.outcome, least ? Outcome::kOptimal : Outcome::kInfeasible)
        << round << ": " << answer.reason;
    if (!least) {
      ++infeasible;
      continue;
    }
    EXPECT_EQ(answer.allocation->Peak(), *least);
    EXPECT_EQ(answer.lower_bound, *least);
    EXPECT_TRUE(Must(Check(*answer.allocation)).accepted);
    raised += *least > Must(Allocate(free, options)).allocation->Peak() ? 1 : 0;
  }
  EXPECT_GT(infeasible, 5);
  EXPECT_GT(raised, 5);
}

// Two operands in different colours of a cache, as examples/programs/custom_constraint.cc.
OffsetConstraint DifferentColours() {
  OffsetConstraint constraint;
  constraint.name = "different colours";
  constraint.version = "four of 64 bytes";
  constraint.buffers = {"image", "kernel"};
  constraint.unit = 64;
  constraint.judge = [](const std::vector<OffsetRange>& at) {
    const auto line = [](std::int64_t offset) { return offset / 64; };
    if (line(at[0].least) != line(at[0].greatest) || line(at[1].least) != line(at[1].greatest))
      return Judgement::kOpen;
    return line(at[0].least) % 4 == line(at[1].least) % 4 ? Judgement::kBroken : Judgement::kKept;
  };
  return constraint;
}

Problem Convolution() {
  return Must(Problem::Make(
      {{"image", 256, {{0, 1}}, 64}, {"kernel", 64, {{0, 1}}, 64}, {"result", 256, {{0, 1}}, 64}}));
}

TEST(Constraints, FindTheirOwnRoomOnSeveralThreads) {
  const Problem problem = Must(Convolution().With(DifferentColours()));
  const AllocateAnswer answer = Must(Allocate(problem));
  ASSERT_TRUE(answer.allocation) << answer.reason;
  EXPECT_EQ(answer.engine, "cadical");
  const std::vector<std::int64_t>& at = answer.allocation->Offsets();
  EXPECT_NE(at[0] / 64 % 4, at[1] / 64 % 4);
  EXPECT_GE(answer.allocation->Peak(), 576);
  AllocateOptions options;
  options.threads = 4;
  EXPECT_EQ(Must(Allocate(problem, options)).allocation->Offsets(), at);
}

TEST(Constraints, AreCheckedInAllocationsOfFiles) {
  const Problem problem = Must(Convolution().With(DifferentColours()));
  const Allocation right = *Must(Allocate(problem)).allocation;
  const std::string json = Must(right.Render("json"));
  EXPECT_TRUE(Must(Check(Must(Allocation::Parse(problem, json)))).accepted);
  OffsetConstraint never = DifferentColours();
  never.judge = [](const std::vector<OffsetRange>&) { return Judgement::kBroken; };
  const Problem impossible = Must(Convolution().With(never));
  const CheckReport wrong = Must(Check(Must(Allocation::Parse(impossible, json))));
  EXPECT_FALSE(wrong.accepted);
  EXPECT_THAT(wrong.findings, Contains(HasSubstr("break 'different colours'")));
  AllocateOptions options;
  options.capacity = 4096;
  EXPECT_EQ(Must(Allocate(impossible, options)).outcome, Outcome::kInfeasible);
}

TEST(Constraints, AreRefusedWhereNothingKnowsThem) {
  const Problem problem = Must(Convolution().With(DifferentColours()));
  const auto is_refused = [](const auto& result) {
    return !result && result.Error().status == CallStatus::kUnsupported &&
           result.Error().text.find("different colours") != std::string::npos;
  };
  EXPECT_TRUE(is_refused(Explain(problem)));
  EXPECT_TRUE(is_refused(problem.Render("json")));
  EXPECT_TRUE(is_refused(Modes(std::vector<Problem>{problem})));
  FormulaOptions formula;
  formula.capacity = 1024;
  EXPECT_TRUE(is_refused(Encode(problem, formula)));
  EXPECT_TRUE(is_refused(Revise(*Must(Allocate(problem)).allocation, {{}, {"result"}, {}})));
  AllocateOptions options;
  options.engine = "canonical";
  EXPECT_EQ(Allocate(problem, options).Error().status, CallStatus::kUnsupported);
  options.engine.clear();
  options.peaks = {{"sum", 1}};
  EXPECT_EQ(Allocate(problem, options).Error().status, CallStatus::kUnsupported);
  options.peaks.clear();
  options.engine = "cadical";
  options.certify = true;
  const AllocateAnswer answer = Must(Allocate(problem, options));
  EXPECT_TRUE(answer.allocation);
  EXPECT_FALSE(answer.certificate);
  EXPECT_THAT(answer.no_certificate, HasSubstr("constraints of the caller"));
}

TEST(Constraints, ThatFailEndTheCall) {
  const auto fails = [](CallStatus status, const std::string& words, auto judge) {
    OffsetConstraint constraint = DifferentColours();
    constraint.judge = judge;
    const Result<AllocateAnswer> answer = Allocate(Must(Convolution().With(constraint)));
    ASSERT_FALSE(answer) << words;
    EXPECT_EQ(answer.Error().status, status);
    EXPECT_THAT(answer.Error().text, HasSubstr(words));
    EXPECT_THAT(answer.Error().text, HasSubstr("'different colours'"));
  };
  fails(CallStatus::kInternal, "no colours", [](const std::vector<OffsetRange>&) -> Judgement {
    throw std::runtime_error("no colours");
  });
  fails(CallStatus::kBadInput, "single offsets",
        [](const std::vector<OffsetRange>&) { return Judgement::kOpen; });
  fails(CallStatus::kBadInput, "single offsets",
        [](const std::vector<OffsetRange>&) { return static_cast<Judgement>(9); });
  const auto is_bad = [](auto change) {
    OffsetConstraint constraint = DifferentColours();
    change(constraint);
    const Result<Problem> made = Convolution().With(constraint);
    return !made && made.Error().status == CallStatus::kBadInput;
  };
  EXPECT_TRUE(is_bad([](OffsetConstraint& c) { c.name.clear(); }));
  EXPECT_TRUE(is_bad([](OffsetConstraint& c) { c.version.clear(); }));
  EXPECT_TRUE(is_bad([](OffsetConstraint& c) { c.judge = {}; }));
  EXPECT_TRUE(is_bad([](OffsetConstraint& c) { c.buffers = {}; }));
  EXPECT_TRUE(is_bad([](OffsetConstraint& c) { c.buffers = {"image", "image"}; }));
  EXPECT_TRUE(is_bad([](OffsetConstraint& c) { c.buffers = {"nothing"}; }));
  EXPECT_TRUE(is_bad([](OffsetConstraint& c) { c.unit = 0; }));
}

TEST(Constraints, ThatLeaveTooMuchOpenGetNoAnswer) {
  OffsetConstraint constraint;
  constraint.name = "odd distance";
  constraint.version = "1";
  constraint.buffers = {"image", "kernel"};
  constraint.judge = [](const std::vector<OffsetRange>& at) {
    if (at[0].least != at[0].greatest || at[1].least != at[1].greatest) return Judgement::kOpen;
    return (at[0].least - at[1].least) % 2 == 0 ? Judgement::kBroken : Judgement::kKept;
  };
  const Problem bytes = Must(Problem::Make({{"image", 256, {{0, 1}}}, {"kernel", 64, {{0, 1}}}}));
  AllocateOptions options;
  options.capacity = 4096;
  const AllocateAnswer answer = Must(Allocate(Must(bytes.With(constraint)), options));
  EXPECT_EQ(answer.outcome, Outcome::kUnknown);
  EXPECT_THAT(answer.reason, HasSubstr("'odd distance' leaves more than"));
}

TEST(Constraints, MayCancelTheCall) {
  AllocateOptions options;
  options.canceller.emplace();
  OffsetConstraint constraint = DifferentColours();
  constraint.judge = [&, judge = constraint.judge](const std::vector<OffsetRange>& at) {
    options.canceller->Cancel();
    return judge(at);
  };
  const AllocateAnswer answer = Must(Allocate(Must(Convolution().With(constraint)), options));
  EXPECT_TRUE(answer.stopped);
  EXPECT_NE(answer.outcome, Outcome::kInfeasible);
}

TEST(Constraints, VersionsAreToldApartBySessions) {
  const Session session;
  OffsetConstraint other = DifferentColours();
  other.version = "never image at 0";
  other.judge = [judge = other.judge](const std::vector<OffsetRange>& at) {
    if (at[0].greatest < 64) return Judgement::kBroken;
    return at[0].least == 0 ? Judgement::kOpen : judge(at);
  };
  for (int round = 0; round < 2; ++round) {
    for (const Problem& problem : {Convolution(), Must(Convolution().With(DifferentColours())),
                                   Must(Convolution().With(other))}) {
      EXPECT_EQ(Must(session.Allocate(problem)).allocation->Offsets(),
                Must(Allocate(problem)).allocation->Offsets());
    }
  }
  EXPECT_EQ(session.Count().misses, 3);
  EXPECT_EQ(session.Count().hits, 3);
}

}  // namespace
}  // namespace tessera::tests
