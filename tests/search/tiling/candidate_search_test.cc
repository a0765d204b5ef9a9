// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/tiling/candidate_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <utility>

#include "tessera/problem/validator.h"
#include "tessera/search/engines/canonical/canonical.h"

namespace tessera::search {
namespace {

using problem::Bytes;
using problem::Ladder;
using problem::Problem;
using problem::Result;
using problem::Status;
using testing::HasSubstr;

// An engine that answers by the index of the candidate, with everything at offset 0 where it fits.
class ScriptedEngine final : public problem::Engine {
 public:
  explicit ScriptedEngine(std::function<Status(size_t)> script, Bytes offset = 0)
      : script_(std::move(script)), offset_(offset) {}

  std::string_view Name() const override { return "scripted"; }

  std::unique_ptr<problem::Session> Open(const Problem& problem,
                                         const Ladder* /*ladder*/) const override {
    class Scripted final : public problem::Session {
     public:
      Scripted(const ScriptedEngine& engine, size_t buffers) : engine_(engine), buffers_(buffers) {}
      Result Solve(size_t candidate, Bytes /*capacity*/, const base::Budget& /*budget*/,
                   const base::Stop& /*stop*/) override {
        Result result;
        result.status = engine_.script_(candidate);
        result.reason = "as scripted";
        if (result.status == Status::kFeasible) {
          result.allocation.emplace();
          result.allocation->offsets.assign(buffers_, engine_.offset_);
        }
        return result;
      }

     private:
      const ScriptedEngine& engine_;
      size_t buffers_;
    };
    return std::make_unique<Scripted>(*this, problem.buffers.size());
  }

 private:
  std::function<Status(size_t)> script_;
  Bytes offset_;
};

// One buffer for each pair of lower and upper step.
Problem ProblemOf(const std::vector<problem::Lifespan>& lives, Bytes capacity) {
  Problem problem;
  problem.memories.emplace_back();
  problem.memories[0].capacity = capacity;
  for (size_t i = 0; i < lives.size(); ++i) {
    problem::Buffer buffer;
    buffer.id = "b" + std::to_string(i);
    buffer.lifespans = {lives[i]};
    problem.buffers.push_back(std::move(buffer));
  }
  return problem;
}

Ladder CandidatesOf(const std::vector<std::vector<Bytes>>& sizes) {
  Ladder ladder;
  for (size_t i = 0; i < sizes.size(); ++i)
    ladder.candidates.push_back({std::to_string(i), sizes[i]});
  return ladder;
}

// n candidates of one buffer that grows by one byte each.
Ladder Chain(size_t n) {
  std::vector<std::vector<Bytes>> sizes;
  for (size_t i = 0; i < n; ++i) sizes.push_back({static_cast<Bytes>(i) + 1});
  return CandidatesOf(sizes);
}

tiling::CandidateOutcome Search(const Problem& problem, const Ladder& ladder,
                                const tiling::Engines& engines,
                                tiling::CandidateSearchOptions options = {}) {
  return tiling::SearchCandidates(problem, ladder, engines, options, base::Stop());
}

TEST(CandidateSearch, BisectsAChain) {
  const Problem problem = ProblemOf({{0, 1}}, 1000);
  for (size_t last = 0; last < 16; ++last) {
    const ScriptedEngine engine([last](size_t candidate) {
      return candidate <= last ? Status::kFeasible : Status::kInfeasible;
    });
    const tiling::CandidateOutcome outcome = Search(problem, Chain(16), {&engine});
    EXPECT_EQ(outcome.largest, last);
    EXPECT_TRUE(outcome.largest_proven);
    EXPECT_LE(outcome.solves, 5);
    for (size_t candidate = 0; candidate < 16; ++candidate)
      EXPECT_EQ(tiling::Fits(outcome.candidates[candidate]), candidate <= last);
  }
}

TEST(CandidateSearch, AsksOnceWhereTheLargestFits) {
  const ScriptedEngine engine([](size_t) { return Status::kFeasible; });
  const tiling::CandidateOutcome outcome = Search(ProblemOf({{0, 1}}, 1000), Chain(16), {&engine});
  EXPECT_EQ(outcome.solves, 1);
  EXPECT_EQ(outcome.candidates[3].implied_by, 15U);
  EXPECT_EQ(outcome.candidates[3].peak, 4);  // its own, at the offsets of the largest
  EXPECT_EQ(outcome.candidates[3].status, Status::kOptimal);
}

// Candidates are points (r, c) of an 8 by 8 plane, feasible where r + c < 8: a staircase with eight
// corners.
TEST(CandidateSearch, WalksAlongAStaircase) {
  std::vector<std::vector<Bytes>> sizes;
  for (Bytes r = 0; r < 8; ++r) {
    for (Bytes c = 0; c < 8; ++c) sizes.push_back({r + 1, c + 1});
  }
  const ScriptedEngine engine([](size_t candidate) {
    return candidate / 8 + candidate % 8 < 8 ? Status::kFeasible : Status::kInfeasible;
  });
  const tiling::CandidateOutcome outcome =
      Search(ProblemOf({{0, 1}, {1, 2}}, 1000), CandidatesOf(sizes), {&engine});
  for (size_t candidate = 0; candidate < 64; ++candidate)
    EXPECT_EQ(tiling::Fits(outcome.candidates[candidate]), candidate / 8 + candidate % 8 < 8)
        << candidate;
  EXPECT_LE(outcome.solves, 24);
}

TEST(CandidateSearch, ScansWhereNothingDominates) {
  const Ladder ladder = CandidatesOf({{1, 9}, {2, 8}, {3, 7}, {4, 6}});
  const ScriptedEngine engine(
      [](size_t candidate) { return candidate == 2 ? Status::kFeasible : Status::kInfeasible; });
  const tiling::CandidateOutcome outcome =
      Search(ProblemOf({{0, 1}, {1, 2}}, 1000), ladder, {&engine});
  EXPECT_EQ(outcome.solves, 4);
  EXPECT_EQ(outcome.largest, 2U);
}

TEST(CandidateSearch, ScansWhereBuffersMayNotShrinkInPlace) {
  Problem problem = ProblemOf({{0, 1}, {1, 2}}, 1000);
  problem.relations.push_back({problem::RelationKind::kSameBank, 0, 1, 0});
  const ScriptedEngine engine([](size_t) { return Status::kInfeasible; });
  EXPECT_EQ(Search(problem, CandidatesOf({{1, 1}, {2, 2}, {3, 3}}), {&engine}).solves, 3);
  const ScriptedEngine small(
      [](size_t candidate) { return candidate == 0 ? Status::kInfeasible : Status::kUnknown; });
  const tiling::CandidateOutcome outcome =
      Search(problem, CandidatesOf({{1, 1}, {2, 2}, {3, 3}}), {&small});
  EXPECT_EQ(outcome.candidates[0].status, Status::kInfeasible);
  EXPECT_EQ(outcome.candidates[1].status, Status::kUnknown);
  EXPECT_EQ(outcome.candidates[2].status, Status::kUnknown);
}

TEST(CandidateSearch, SpendsNoSolveOnALoadBeyondTheCapacity) {
  const ScriptedEngine engine([](size_t) { return Status::kFeasible; });
  const tiling::CandidateOutcome outcome = Search(ProblemOf({{0, 1}}, 4), Chain(16), {&engine});
  EXPECT_EQ(outcome.largest, 3U);
  EXPECT_TRUE(outcome.largest_proven);
  EXPECT_EQ(outcome.solves, 1);
  EXPECT_EQ(outcome.candidates[4].engine, "bound");
  EXPECT_THAT(outcome.candidates[4].reason, HasSubstr("reaches up to 5; the memory holds 4"));
}

TEST(CandidateSearch, ShrinksPastALimitAndSaysThatNothingIsProven) {
  const ScriptedEngine engine(
      [](size_t candidate) { return candidate < 3 ? Status::kFeasible : Status::kUnknown; });
  const tiling::CandidateOutcome outcome = Search(ProblemOf({{0, 1}}, 1000), Chain(6), {&engine});
  EXPECT_EQ(outcome.largest, 2U);
  EXPECT_FALSE(outcome.largest_proven);
  EXPECT_EQ(outcome.candidates[5].status, Status::kUnknown);
  EXPECT_EQ(outcome.candidates[5].reason, "as scripted");
}

TEST(CandidateSearch, NeverCallsInfeasibleWhatABudgetOfNothingLeftOpen) {
  const engines::canonical::CanonicalEngine engine;
  tiling::CandidateSearchOptions options;
  options.budget.units = 0;
  const Problem problem = ProblemOf({{0, 2}, {1, 3}, {2, 4}, {0, 1}, {3, 4}}, 7);
  const tiling::CandidateOutcome outcome =
      Search(problem, CandidatesOf({{2, 1, 2, 2, 1}, {3, 3, 3, 4, 4}}), {&engine}, options);
  for (const tiling::CandidateAnswer& answer : outcome.candidates)
    EXPECT_NE(answer.status, Status::kInfeasible);
  const ScriptedEngine limited([](size_t) { return Status::kUnknown; });
  const tiling::CandidateOutcome open =
      Search(problem, CandidatesOf({{2, 1, 2, 2, 1}}), {&limited}, options);
  EXPECT_EQ(open.candidates[0].status, Status::kUnknown);
  EXPECT_FALSE(open.largest_proven);
}

TEST(CandidateSearch, AnswersUnknownAfterAStop) {
  base::Stop stop;
  stop.Request();
  const ScriptedEngine engine([](size_t) { return Status::kInfeasible; });
  const tiling::CandidateOutcome outcome =
      tiling::SearchCandidates(ProblemOf({{0, 1}}, 1000), Chain(3), {&engine}, {}, stop);
  EXPECT_EQ(outcome.solves, 0);
  EXPECT_EQ(outcome.candidates[0].status, Status::kUnknown);
}

TEST(CandidateSearch, PassesByEnginesThatCannotHonourTheProblem) {
  const ScriptedEngine first([](size_t) { return Status::kUnsupported; });
  const ScriptedEngine second([](size_t) { return Status::kFeasible; });
  const Problem problem = ProblemOf({{0, 1}}, 1000);
  EXPECT_EQ(Search(problem, Chain(1), {&first, &second}).candidates[0].status, Status::kOptimal);
  EXPECT_EQ(Search(problem, Chain(1), {&first}).candidates[0].status, Status::kUnsupported);
  const ScriptedEngine limited([](size_t) { return Status::kUnknown; });
  EXPECT_EQ(Search(problem, Chain(1), {&limited, &first}).candidates[0].status, Status::kUnknown);
}

TEST(CandidateSearch, BelievesNoWrongAllocation) {
  const ScriptedEngine engine([](size_t) { return Status::kFeasible; });
  const tiling::CandidateOutcome outcome =
      Search(ProblemOf({{0, 1}, {0, 1}}, 1000), CandidatesOf({{4, 4}}), {&engine});
  EXPECT_EQ(outcome.candidates[0].status, Status::kUnknown);
  ASSERT_TRUE(outcome.fault.has_value());
  EXPECT_THAT(outcome.fault->message,
              HasSubstr("'scripted' returned a wrong allocation for candidate '0'"));
}

// The canonical search does not know colocation; in-place buffers reach it as one buffer.
TEST(CandidateSearch, SolvesWhatIsInPlaceWithEnginesThatKnowNoColocation) {
  Problem problem = ProblemOf({{0, 2}, {1, 3}, {0, 3}}, 8);
  problem.relations.push_back({problem::RelationKind::kColocate, 0, 1, 0});
  const engines::canonical::CanonicalEngine engine;
  const tiling::CandidateOutcome outcome =
      Search(problem, CandidatesOf({{4, 4, 4}, {5, 5, 4}}), {&engine});
  EXPECT_EQ(outcome.candidates[0].status, Status::kOptimal);
  EXPECT_EQ(outcome.candidates[0].peak, 8);
  EXPECT_EQ(outcome.candidates[1].status, Status::kInfeasible);
  EXPECT_EQ(outcome.candidates[1].engine, "bound");
}

TEST(CandidateSearch, RefusesEveryCandidateOfAContradiction) {
  Problem problem = ProblemOf({{0, 2}, {1, 3}}, 8);
  problem.relations.push_back({problem::RelationKind::kColocate, 0, 1, 0});
  problem.relations.push_back({problem::RelationKind::kSeparate, 0, 1, 0});
  const tiling::CandidateOutcome outcome = Search(problem, CandidatesOf({{1, 1}, {2, 2}}), {});
  EXPECT_EQ(outcome.candidates[0].status, Status::kInfeasible);
  EXPECT_EQ(outcome.candidates[1].status, Status::kInfeasible);
  EXPECT_THAT(outcome.candidates[1].reason, HasSubstr("separate"));
}

TEST(CandidateSearch, CountsColocatedBuffersApartAtAPort) {
  Problem problem = ProblemOf({{0, 1}, {0, 1}}, 8);
  problem.relations.push_back({problem::RelationKind::kColocate, 0, 1, 0});
  problem::Bank bank;
  bank.range = {0, 8};
  bank.ports.total = 1;
  problem.memories[0].banks = {bank};
  size_t buffers = 0;
  const ScriptedEngine engine([](size_t) { return Status::kUnknown; });
  class Counting final : public problem::Engine {
   public:
    Counting(const problem::Engine& inner, size_t& buffers) : inner_(inner), buffers_(buffers) {}
    std::string_view Name() const override { return "counting"; }
    std::unique_ptr<problem::Session> Open(const Problem& problem,
                                           const Ladder* ladder) const override {
      buffers_ = problem.buffers.size();
      return inner_.Open(problem, ladder);
    }

   private:
    const problem::Engine& inner_;
    size_t& buffers_;
  } const counting(engine, buffers);
  Search(problem, CandidatesOf({{4, 4}}), {&counting});
  EXPECT_EQ(buffers, 2U);
}

TEST(CandidateSearch, RemembersWhatItDecided) {
  int calls = 0;
  const ScriptedEngine engine([&calls](size_t) {
    ++calls;
    return Status::kFeasible;
  });
  const Problem problem = ProblemOf({{0, 1}}, 1000);
  const Ladder ladder = Chain(4);
  tiling::CandidateSearch search(problem, ladder, {&engine}, {});
  EXPECT_FALSE(search.Known(2).asked);
  EXPECT_EQ(search.Known(2).lower_bound, 3);
  EXPECT_TRUE(tiling::Fits(search.Decide(2, base::Stop())));
  EXPECT_TRUE(tiling::Fits(search.Decide(2, base::Stop())));
  EXPECT_TRUE(tiling::Fits(search.Decide(0, base::Stop())));  // implied
  EXPECT_FALSE(search.Known(3).asked);
  EXPECT_EQ(calls, 1);
}

// The growth of the sizes of a random ladder.
enum class Growth : uint8_t { kLinear, kPadded, kArbitrary };

Ladder RandomLadder(size_t buffers, Growth growth) {
  const auto candidates = *rc::gen::inRange<size_t>(1, 9);
  std::vector<Bytes> bases;
  for (size_t i = 0; i < buffers; ++i) bases.push_back(*rc::gen::inRange<Bytes>(1, 4));
  std::vector<std::vector<Bytes>> sizes(candidates);
  for (size_t candidate = 0; candidate < candidates; ++candidate) {
    const auto tile = static_cast<Bytes>(candidate) + 1;
    for (const Bytes base : bases) {
      switch (growth) {
        case Growth::kLinear:
          sizes[candidate].push_back(base * tile);
          break;
        case Growth::kPadded:
          sizes[candidate].push_back((base * (tile + 2) + 3) / 4 * 4 + tile * tile / 4);
          break;
        case Growth::kArbitrary:
          sizes[candidate].push_back(*rc::gen::inRange<Bytes>(1, 12));
          break;
      }
    }
  }
  return CandidatesOf(sizes);
}

RC_GTEST_PROP(CandidateSearch, InferenceAgreesWithAScanOfEveryCandidate, ()) {
  std::vector<problem::Lifespan> lives;
  const auto buffers = *rc::gen::inRange<size_t>(1, 8);
  for (size_t i = 0; i < buffers; ++i) {
    const auto lower = *rc::gen::inRange<problem::Step>(0, 6);
    lives.push_back({lower, lower + *rc::gen::inRange<problem::Step>(1, 4)});
  }
  const Problem problem = ProblemOf(lives, *rc::gen::inRange<Bytes>(8, 40));
  const auto growth = *rc::gen::element(Growth::kLinear, Growth::kPadded, Growth::kArbitrary);
  const Ladder ladder = RandomLadder(buffers, growth);
  const engines::canonical::CanonicalEngine engine;
  const tiling::CandidateOutcome inferred = Search(problem, ladder, {&engine});
  tiling::CandidateSearchOptions plain;
  plain.infer = false;
  const tiling::CandidateOutcome scanned = Search(problem, ladder, {&engine}, plain);

  RC_ASSERT(inferred.solves <= scanned.solves);
  RC_ASSERT(inferred.largest == scanned.largest);
  RC_ASSERT(inferred.largest_proven && scanned.largest_proven);
  for (size_t candidate = 0; candidate < ladder.candidates.size(); ++candidate) {
    RC_ASSERT(tiling::IsProven(inferred.candidates[candidate]));
    RC_ASSERT(tiling::Fits(inferred.candidates[candidate]) ==
              tiling::Fits(scanned.candidates[candidate]));
    if (!tiling::Fits(inferred.candidates[candidate])) continue;
    const Problem sized = AtCandidate(problem, ladder.candidates[candidate]);
    RC_ASSERT(
        Validate(sized, *inferred.candidates[candidate].allocation, sized.memories[0].capacity)
            .empty());
    RC_ASSERT(PeakOf(sized, *inferred.candidates[candidate].allocation) ==
              *inferred.candidates[candidate].peak);
  }
}

}  // namespace
}  // namespace tessera::search
