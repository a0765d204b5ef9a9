// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/store.h"

#include <gmock/gmock.h>

#include <thread>

#include "fixture.h"

namespace tessera::explore {
namespace {

StoredAnswer AnswerOf(const std::string& key) {
  return {key, "network", "profile", "latency", "{}", "optimal", R"({"latency":3})", ""};
}

TEST_F(SpecTest, AStoreKeepsWhatWasAdded) {
  {
    const auto store = Store::Open(PathOf("a.db"));
    ASSERT_TRUE(store);
    store->Add(AnswerOf("abc"), 1.5);
    store->Add(AnswerOf("abd"), 1.5);
    store->AddResult("first", "one");
    store->AddResult("second", "two");
    store->AddResult("first", "three");
    EXPECT_FALSE(store->Fault());
  }
  const auto store = Store::Open(PathOf("a.db"), Store::Missing::kRefuse);
  ASSERT_TRUE(store);
  ASSERT_TRUE(store->FindAnswer("abc"));
  EXPECT_EQ(store->FindAnswer("abc")->figures, R"({"latency":3})");
  EXPECT_FALSE(store->FindAnswer("ab"));
  EXPECT_EQ(store->FindAnswersByPrefix("ab").size(), 2U);
  EXPECT_EQ(store->FindAnswersByPrefix("abd").size(), 1U);
  EXPECT_TRUE(store->FindAnswersByPrefix("b").empty());
  EXPECT_EQ(store->FindResult("second"), "two");
  EXPECT_EQ(store->FindLatestResult(), "three");
}

// A retry may replace the failure, and the analysis would stay.
TEST_F(SpecTest, AStoreKeepsNoAnalysisWithFailures) {
  const auto store = Store::Open(":memory:");
  ASSERT_TRUE(store);
  store->AddAnalysis("question", "one");
  EXPECT_EQ(store->FindAnalysis("question"), "one");
  StoredAnswer failed = AnswerOf("abc");
  failed.outcome = "failed";
  store->Add(failed, 1.5);
  store->AddAnalysis("question", "two");
  EXPECT_EQ(store->FindAnalysis("question"), "one");
  EXPECT_FALSE(store->Fault());
}

TEST_F(SpecTest, AStoreRefusesOtherFiles) {
  Write("text.db", "this is no database, but a text that is long enough for one\n");
  EXPECT_FALSE(Store::Open(PathOf("text.db")));
  EXPECT_FALSE(Store::Open(PathOf("none.db"), Store::Missing::kRefuse));
  EXPECT_FALSE(Store::Open(PathOf("no/folder.db")));
}

TEST_F(SpecTest, SeveralThreadsWriteOneStore) {
  constexpr int kWriters = 4;
  constexpr int kAnswers = 50;
  std::vector<std::thread> writers;
  std::vector<int> faults(kWriters);
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      const auto store = Store::Open(PathOf("shared.db"));
      if (!store) {
        faults[static_cast<size_t>(writer)] = 1;
        return;
      }
      for (int i = 0; i < kAnswers; ++i)
        store->Add(AnswerOf(std::to_string(i % 2 == 0 ? i : i + 1000 * writer)), 1);
      faults[static_cast<size_t>(writer)] = store->Fault() ? 1 : 0;
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_THAT(faults, testing::Each(0));
  const auto store = Store::Open(PathOf("shared.db"));
  ASSERT_TRUE(store);
  for (int writer = 0; writer < kWriters; ++writer) {
    for (int i = 0; i < kAnswers; ++i)
      EXPECT_TRUE(store->FindAnswer(std::to_string(i % 2 == 0 ? i : i + 1000 * writer)));
  }
}

}  // namespace
}  // namespace tessera::explore
