// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <tessera/tessera.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "fixture.h"

// Revisions: as good as a fresh answer, and few offsets move.
namespace tessera::tests {
namespace {

using testing::HasSubstr;

std::vector<Buffer> Draw(std::mt19937& random, int count, const std::string& prefix) {
  std::vector<Buffer> buffers;
  for (int i = 0; i < count; ++i) {
    const auto begin = static_cast<std::int64_t>(random() % 30);
    const auto length = 1 + static_cast<std::int64_t>(random() % 8);
    Buffer& buffer = buffers.emplace_back();
    buffer.id = prefix + std::to_string(i);
    buffer.size = 1 + static_cast<std::int64_t>(random() % 20);
    buffer.steps = {{begin, begin + length}};
    buffer.alignment = random() % 4 == 0 ? 4 : 1;
  }
  return buffers;
}

Revision DrawRevision(std::mt19937& random, const std::vector<Buffer>& buffers) {
  Revision revision;
  for (const Buffer& buffer : buffers) {
    if (random() % 12 == 0)
      revision.remove.push_back(buffer.id);
    else if (random() % 12 == 0)
      revision.resize.emplace_back(buffer.id, 1 + static_cast<std::int64_t>(random() % 24));
  }
  revision.add = Draw(random, static_cast<int>(random() % 3), "new");
  return revision;
}

std::int64_t LoadOf(const std::vector<Buffer>& buffers) {
  std::int64_t load = 0;
  for (std::int64_t step = 0; step < 40; ++step) {
    std::int64_t bytes = 0;
    for (const Buffer& buffer : buffers)
      bytes += buffer.steps[0].first <= step && step < buffer.steps[0].second ? buffer.size : 0;
    load = std::max(load, bytes);
  }
  return load;
}

TEST(Revisions, AreAsGoodAsFreshAnswers) {
  int kept_most = 0;
  for (unsigned draw = 0; draw < 120; ++draw) {
    std::mt19937 random(draw);
    const std::vector<Buffer> buffers = Draw(random, 4 + static_cast<int>(draw % 20), "b");
    AllocateOptions options;
    if (draw % 3 == 0) options.capacity = LoadOf(buffers) + 2;
    options.minimize = draw % 2 == 0;
    const AllocateAnswer before = Must(Allocate(Must(Problem::Make(buffers)), options));
    if (!before.allocation) continue;
    const RevisedAnswer revised =
        Must(Revise(*before.allocation, DrawRevision(random, buffers), options));
    if (!revised.allocation) {
      EXPECT_EQ(revised.outcome, Outcome::kInfeasible) << draw;
      continue;
    }
    const AllocateAnswer fresh = Must(Allocate(revised.allocation->PlacedProblem(), options));
    ASSERT_TRUE(fresh.allocation) << draw;
    EXPECT_TRUE(Must(Check(*revised.allocation, options.capacity)).accepted) << draw;
    if (options.minimize || !options.capacity) {
      EXPECT_EQ(revised.outcome, fresh.outcome) << draw;
      EXPECT_EQ(revised.allocation->Peak(), fresh.allocation->Peak()) << draw;
    } else {
      EXPECT_LE(revised.allocation->Peak(), *options.capacity) << draw;
    }
    kept_most += revised.moved <= buffers.size() / 2 ? 1 : 0;
  }
  EXPECT_GE(kept_most, 80);
}

TEST(Revisions, LeaveEverythingElseWhereThereIsRoom) {
  const Problem problem = Must(Problem::Make(
      {{"a", 8, {{0, 3}}}, {"b", 4, {{2, 6}}}, {"c", 8, {{5, 9}}}, {"d", 2, {{0, 9}}}}, 64));
  const Session session;
  const AllocateAnswer before = Must(session.Allocate(problem));
  const RevisedAnswer revised = Must(session.Revise(problem, {{}, {}, {{"b", 5}}}));
  ASSERT_TRUE(revised.allocation);
  EXPECT_EQ(revised.moved, 0U);
  EXPECT_EQ(revised.allocation->Offsets()[0], before.allocation->Offsets()[0]);
  EXPECT_EQ(revised.allocation->PlacedProblem().BufferCount(), 4U);
  EXPECT_EQ(session.Count().hits, 1);  // the allocation before
}

TEST(Revisions, OfInfeasibleProblemsAreFreshAnswers) {
  const Problem problem = Must(Problem::Make({{"a", 8, {{0, 3}}}, {"b", 8, {{2, 6}}}}, 12));
  const Session session;
  EXPECT_EQ(Must(session.Allocate(problem)).outcome, Outcome::kInfeasible);
  EXPECT_EQ(Must(session.Revise(problem, {{}, {}, {{"b", 9}}})).outcome, Outcome::kInfeasible);
  EXPECT_TRUE(Must(session.Revise(problem, {{}, {"b"}, {}})).allocation);
}

TEST(Revisions, DropWhatNamesARemovedBuffer) {
  const Problem problem = Must(Problem::Parse(R"({
    "format": "tessera-problem", "version": 1,
    "memories": [{"name": "sram", "capacity": 64}],
    "buffers": [{"id": "a", "size": 4, "lifespans": [[0, 2]]},
                {"id": "b", "size": 4, "lifespans": [[3, 5]]},
                {"id": "c", "size": 4, "lifespans": [[6, 8]]}],
    "relations": [{"kind": "separate", "first": "a", "second": "b"},
                  {"kind": "separate", "first": "b", "second": "c"}]})",
                                              "p.json"));
  const AllocateAnswer before = Must(Allocate(problem));
  const RevisedAnswer revised = Must(Revise(*before.allocation, {{}, {"a"}, {}}));
  const std::string text = Must(revised.allocation->PlacedProblem().Render("json"));
  EXPECT_THAT(text, testing::Not(HasSubstr("\"a\"")));
  EXPECT_THAT(text, HasSubstr("separate"));
  EXPECT_NE(revised.allocation->Offsets()[0], revised.allocation->Offsets()[1]);
}

TEST(Revisions, BelieveNoClaimOfAFile) {
  const Problem problem = Must(Problem::Make({{"a", 4, {{0, 3}}}, {"b", 4, {{5, 6}}}}));
  std::string text = Must(Must(Allocate(problem)).allocation->Render("json"));
  for (const std::string key : {"\"lower_bound\": ", "\"peak\": ", "\"b\": "}) {
    const size_t at = text.find(key);
    ASSERT_NE(at, std::string::npos) << key << text;
    text.replace(at + key.size(), 1, key == "\"b\": " ? "5" : "9");
  }
  const Allocation forged = Must(Allocation::Parse(problem, text));
  const RevisedAnswer revised = Must(Revise(forged, {{}, {}, {{"a", 5}}}));
  EXPECT_EQ(revised.allocation->Peak(), 5);
  EXPECT_EQ(revised.lower_bound, 5);
}

TEST(Revisions, NameTheFault) {
  const AllocateAnswer before = Must(Allocate(ThreeBuffers()));
  const auto message = [&](const Revision& revision) {
    const Result<RevisedAnswer> answer = Revise(*before.allocation, revision);
    EXPECT_FALSE(answer);
    return answer ? std::string() : answer.Error().message;
  };
  EXPECT_THAT(message({{}, {"z"}, {}}), HasSubstr("no buffer 'z'"));
  EXPECT_THAT(message({{}, {"a"}, {{"a", 3}}}), HasSubstr("'a' is changed twice"));
  EXPECT_THAT(message({{}, {}, {{"a", 0}}}), HasSubstr("size"));
  EXPECT_THAT(message({{{"a", 1, {{0, 1}}}}, {}, {}}), HasSubstr("a"));
}

}  // namespace
}  // namespace tessera::tests
