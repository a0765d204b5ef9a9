// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/shard.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "fixture.h"
#include "tessera/base/random.h"
#include "tessera/explore/exploration.h"
#include "tessera/explore/output.h"
#include "tessera/explore/store.h"

// Pieces of an exploration, and what becomes of them together.
namespace tessera::explore {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(Pieces, HaveNames) {
  EXPECT_EQ(ParsePiece("3/8")->index, 3U);
  EXPECT_EQ(ParsePiece("3/8")->count, 8U);
  for (const char* wrong :
       {"", "3", "0/2", "3/2", "1/0", "a/b", "1/2/3", "-1/2", "1/99999", "1 /2"})
    EXPECT_FALSE(ParsePiece(wrong)) << wrong;
}

TEST(Pieces, AreCompleteDisjointAndOfAboutEqualCost) {
  base::Random random(28);
  for (int drawn = 0; drawn < 50; ++drawn) {
    std::vector<double> costs(static_cast<size_t>(random.Uniform(0, 60)));
    for (double& cost : costs) cost = static_cast<double>(random.Uniform(1, 1000));
    const auto count = static_cast<size_t>(random.Uniform(1, 9));
    const std::vector<size_t> pieces = DivideParts(costs, count);
    ASSERT_EQ(pieces.size(), costs.size());
    std::vector<double> loads(count);
    for (size_t i = 0; i < costs.size(); ++i) {
      ASSERT_GE(pieces[i], 1U);
      ASSERT_LE(pieces[i], count);
      loads[pieces[i] - 1] += costs[i];
    }
    const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
    const double most = costs.empty() ? 0 : *std::max_element(costs.begin(), costs.end());
    EXPECT_LE(*std::max_element(loads.begin(), loads.end()),
              all / static_cast<double>(count) + most);
    EXPECT_EQ(DivideParts(costs, count), pieces);
  }
}

class ShardTest : public SpecTest {
 protected:
  static std::string Text(const std::string& fronts = "both", int seed = 0) {
    return "schema: 1\nnetworks: [" + Shipped("examples/networks/patent_chain.yaml") + ", " +
           Shipped("examples/networks/patent_fig1.yaml") +
           "]\nprofile: " + Shipped("hw_profiles/edge_npu_64kib.yaml") +
           "\nvary:\n  memories.sram.capacity_bytes: {name: sram, values: [1Ki, 4Ki, 8Ki]}\n"
           "  memories.dram.port.bytes_per_cycle: [1, 4]\nminimize: [latency, sram]\nfronts: " +
           fronts + "\noptions: {max_operators: 2, budget: 500, seed: " + std::to_string(seed) +
           "}\n";
  }

  Spec Must(const std::string& text) const {
    auto spec = Read(text);
    EXPECT_TRUE(spec) << base::Format(spec.error());
    return *std::move(spec);
  }

  Store StoreAt(const std::string& name) const { return *Store::Open(PathOf(name)); }

  ShardReport RunPiece(const std::string& text, const std::string& store, size_t index,
                       size_t count, bool retry = false) const {
    ShardOptions options;
    options.piece = {index, count};
    options.retry_failed = retry;
    const auto report = ExploreShard(Must(text), text, StoreAt(store), options);
    EXPECT_TRUE(report) << base::Format(report.error());
    return **report;
  }

  // Its key.
  std::string FailFirstAnswer(const std::string& name) const {
    const Store store = StoreAt(name);
    const std::string key = store.Query("SELECT min(key) FROM answers", {}).front().front();
    store.Query("UPDATE answers SET outcome = ?, figures = '', reason = 'why' WHERE key = ?",
                {std::string(kFailed), key});
    return key;
  }

  std::string Whole(const std::string& text) const {
    const Spec spec = Must(text);
    return DocumentText(AsDocument(spec, **Explore(spec, *Store::Open(":memory:"), {})));
  }

  base::Expected<std::optional<MergeReport>> MergeAll(const std::vector<std::string>& names,
                                                      const std::string& output) const {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(PathOf(name));
    return Merge(paths, PathOf(output), {});
  }
};

TEST_F(ShardTest, MergedPiecesAreTheWholeByteForByte) {
  for (const std::string fronts : {"both", "networks"}) {
    const std::string text = Text(fronts);
    std::vector<std::string> names;
    size_t pairs = 0;
    for (size_t i = 1; i <= 3; ++i) {
      names.push_back(fronts + std::to_string(i) + ".db");
      pairs += RunPiece(text, names.back(), i, 3).pairs;
    }
    EXPECT_EQ(pairs, 12U);
    const std::string output = fronts + ".db";
    const auto merged = MergeAll(names, output);
    ASSERT_TRUE(merged) << base::Format(merged.error());
    ASSERT_TRUE((*merged)->document);
    EXPECT_EQ(DocumentText(*(*merged)->document), Whole(text));
    // Again, in another order, and into itself.
    std::reverse(names.begin(), names.end());
    names.push_back(output);
    const auto again = MergeAll(names, output);
    ASSERT_TRUE(again);
    EXPECT_EQ((*again)->answers, (*merged)->answers);
    EXPECT_EQ((*again)->planned, 0U);
    EXPECT_EQ((*again)->document, (*merged)->document);
  }
}

TEST_F(ShardTest, ACommonStoreHasTheWholeToo) {
  for (const size_t i : {2, 1, 3}) RunPiece(Text(), "common.db", i, 3);
  const Spec spec = Must(Text());
  const Store store = StoreAt("common.db");
  EXPECT_EQ(DocumentText(AsDocument(spec, **Explore(spec, store, {}))), Whole(Text()));
}

TEST_F(ShardTest, AMissingPieceIsNamed) {
  RunPiece(Text(), "1.db", 1, 3);
  const auto merged = MergeAll({"1.db"}, "all.db");
  ASSERT_TRUE(merged);
  EXPECT_FALSE((*merged)->document);
  EXPECT_THAT((*merged)->missing, testing::ElementsAre("2/3", "3/3"));
  RunPiece(Text(), "2.db", 2, 3);
  RunPiece(Text(), "3.db", 3, 3);
  EXPECT_TRUE((*MergeAll({"2.db", "3.db"}, "all.db"))->document);
}

TEST_F(ShardTest, StoresOfDifferentSpecificationsAreRefused) {
  RunPiece(Text(), "1.db", 1, 1);
  RunPiece(Text("both", 1), "2.db", 1, 1);
  const auto merged = MergeAll({"1.db", "2.db"}, "all.db");
  ASSERT_FALSE(merged);
  EXPECT_THAT(merged.error().message, HasSubstr("another specification"));
  EXPECT_FALSE(std::filesystem::exists(PathOf("all.db")));
  StoreAt("empty.db");
  EXPECT_THAT(MergeAll({"1.db", "empty.db"}, "all.db").error().message,
              HasSubstr("has no exploration"));
  EXPECT_FALSE(MergeAll({"none.db"}, "all.db"));
}

TEST_F(ShardTest, AnswersThatDifferAreRefusedByName) {
  RunPiece(Text(), "1.db", 1, 1);
  std::filesystem::copy_file(PathOf("1.db"), PathOf("2.db"));
  StoreAt("2.db").Query(
      "UPDATE answers SET figures = replace(figures, '\"latency\":', '\"latency\":9') WHERE key ="
      " (SELECT min(key) FROM answers WHERE network = (SELECT network FROM answers LIMIT 1)"
      " AND figures <> '')",
      {});
  const auto merged = MergeAll({"1.db", "2.db"}, "all.db");
  ASSERT_FALSE(merged);
  EXPECT_THAT(merged.error().message, HasSubstr("examples/networks/patent_"));
  EXPECT_THAT(merged.error().message, HasSubstr("latency minimised"));
  EXPECT_FALSE(std::filesystem::exists(PathOf("all.db")));
}

// As two processes that ended leave it: the first answer of the store failed, and the exploration
// is finished.
TEST_F(ShardTest, AFreshAnswerTakesThePlaceOfAFailureInDocuments) {
  const std::string text = Text();
  RunPiece(text, "1.db", 1, 1);
  const std::string key = FailFirstAnswer("1.db");
  const std::string stale = DocumentText(*(*MergeAll({"1.db"}, "all.db"))->document);
  EXPECT_THAT(stale, HasSubstr("\"failed\""));
  std::filesystem::copy_file(PathOf("all.db"), PathOf("stale.db"));
  // What still fails stays in the document.
  EXPECT_EQ(DocumentText(*(*MergeAll({"1.db"}, "all.db"))->document), stale);
  EXPECT_THAT(RunPiece(text, "1.db", 1, 1, true).failed, IsEmpty());
  EXPECT_NE(StoreAt("1.db").FindAnswer(key)->outcome, kFailed);
  for (const std::vector<std::string>& stores :
       {std::vector<std::string>{"1.db"}, {"stale.db", "1.db"}, {"1.db", "stale.db"}}) {
    const auto merged = MergeAll(stores, stores.size() == 1 ? "all.db" : "new.db");
    ASSERT_TRUE(merged) << base::Format(merged.error());
    EXPECT_EQ(DocumentText(*(*merged)->document), Whole(text));
    std::filesystem::remove(PathOf("new.db"));
  }
  EXPECT_THAT(*StoreAt("all.db").FindLatestResult(), testing::Not(HasSubstr("\"failed\"")));
}

TEST_F(ShardTest, RetryingLeavesOtherSpecificationsAlone) {
  const std::string mine = Text("both", 0);
  const std::string other = Text("both", 1);
  RunPiece(other, "common.db", 1, 1);
  const std::string key = FailFirstAnswer("common.db");
  MergeAll({"common.db"}, "common.db");
  const std::string document = *StoreAt("common.db").FindLatestResult();
  EXPECT_FALSE(Attempts(StoreAt("common.db")).Begin("of another process"));
  RunPiece(mine, "common.db", 1, 1, true);
  const Store store = StoreAt("common.db");
  EXPECT_EQ(store.FindAnswer(key)->outcome, kFailed);
  EXPECT_EQ(*store.FindLatestResult(), document);
  EXPECT_EQ(Attempts(store).CountOf("of another process"), 1);
  RunPiece(other, "common.db", 1, 1, true);
  EXPECT_NE(store.FindAnswer(key)->outcome, kFailed);
  EXPECT_FALSE(store.FindLatestResult());
}

TEST_F(ShardTest, AnswersToOtherQuestionsAreMergedToo) {
  RunPiece(Text(), "1.db", 1, 1);
  StoreAt("1.db").AddAnalysis("question", "{}");
  ASSERT_TRUE(MergeAll({"1.db"}, "all.db"));
  EXPECT_EQ(StoreAt("all.db").FindAnalysis("question"), "{}");
}

// A process that ended left a note. After two of them a question is given up, and the rest goes on.
TEST_F(ShardTest, WhatEndsTwoProcessesIsRecordedAsFailed) {
  const std::string text = Text();
  const Spec spec = Must(text);
  const std::vector<Point> points = *spec.space.Enumerate();
  {
    const Store store = StoreAt("1.db");
    Planner planner(spec, points, store, {});
    ASSERT_FALSE(planner.Load());
    const Attempts attempts(store);
    const std::string guilty = planner.KeyOf({{0, 3}, "latency"});
    const std::string innocent = planner.KeyOf({{0, 2}, "latency"});
    EXPECT_FALSE(attempts.Begin(guilty));
    EXPECT_FALSE(attempts.Begin(guilty));
    EXPECT_FALSE(attempts.Begin(innocent));
  }
  const ShardReport report = RunPiece(text, "1.db", 1, 1);
  ASSERT_EQ(report.failed.size(), 1U);
  EXPECT_THAT(report.failed.front(), HasSubstr("patent_chain on point 3, latency minimised: 2 "
                                               "attempts gave no answer: its process ended"));
  const auto merged = MergeAll({"1.db"}, "all.db");
  ASSERT_TRUE(merged);
  const std::string document = DocumentText(*(*merged)->document);
  EXPECT_THAT(document, HasSubstr("\"failed\""));
  // An answer takes its place, here and where stores are merged.
  EXPECT_THAT(RunPiece(text, "1.db", 1, 1, true).failed, IsEmpty());
  RunPiece(text, "2.db", 1, 1);
  EXPECT_EQ(DocumentText(*(*MergeAll({"1.db", "2.db"}, "new.db"))->document), Whole(text));
}

}  // namespace
}  // namespace tessera::explore
