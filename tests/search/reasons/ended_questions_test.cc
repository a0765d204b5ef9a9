// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tessera/search/reasons/explain.h"

// What an explanation does once no question will be answered. Queries are copies of the Problem, so
// one for each condition would take time that grows with the square of the conditions.
namespace tessera::search::reasons {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::Result;

constexpr Bytes kCapacity = 1'000;

// Pairs of buffers at a distance beyond the capacity: no step is overloaded.
Problem FarApart(int pairs) {
  Problem problem;
  problem.memories.resize(1);
  problem.memories[0].capacity = kCapacity;
  for (int i = 0; i < 2 * pairs; ++i) {
    problem::Buffer buffer;
    buffer.id = "b" + std::to_string(i);
    buffer.size = 16;
    buffer.lifespans = {{2 * pairs - i, 2 * pairs - i + 1}};
    problem.buffers.push_back(std::move(buffer));
  }
  for (int i = 0; i < pairs; ++i)
    problem.relations.push_back(
        {problem::RelationKind::kColocate, 2 * i, 2 * i + 1, 2 * kCapacity});
  return problem;
}

Result Unknown(const Problem&, Bytes, const base::Budget&) { return {}; }

TEST(EndedQuestionsTest, PollNoMoreOnceTheBudgetIsSpent) {
  for (const int pairs : {100, 2'000}) {
    const Problem problem = FarApart(pairs);
    const base::Stop stop(base::Stop::AtPoll{1'000'000});
    const problem::Explanation explanation =
        Explain(problem, kCapacity, Unknown, {.budget = {int64_t{25} * pairs}, .stop = &stop});
    EXPECT_FALSE(explanation.minimal);
    EXPECT_FALSE(explanation.all_tried);
    EXPECT_EQ(explanation.conditions.size(), 3U * static_cast<size_t>(pairs) + 1);
    // Alignments are looked for at each relation while there is budget for questions.
    ASSERT_LT(stop.Polls(), pairs + 200);
  }
}

TEST(EndedQuestionsTest, PollNoMoreThanAFewTimesAfterAStop) {
  const Problem problem = FarApart(2'000);
  const base::Stop stop(base::Stop::AtPoll{5});
  const problem::Explanation explanation = Explain(problem, kCapacity, Unknown, {.stop = &stop});
  EXPECT_EQ(explanation.conditions.size(), 6'001U);
  EXPECT_LT(stop.Polls(), 200);
}

// Ends soon only if the order of the buffers takes one pass over the relations.
TEST(EndedQuestionsTest, AreFewWhereBuffersAreMany) {
  const Problem problem = FarApart(50'000);
  int questions = 0;
  const Decide counting = [&](const Problem&, Bytes, const base::Budget&) {
    ++questions;
    return Result{};
  };
  const problem::Explanation explanation = Explain(problem, kCapacity, counting, {});
  EXPECT_EQ(explanation.conditions.size(), 150'001U);
  EXPECT_LT(questions, 50);
}

}  // namespace
}  // namespace tessera::search::reasons
