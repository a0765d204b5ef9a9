// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/files/other_formats.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tessera/base/random.h"

// Lists of buffers in the formats of other tools.
namespace tessera::problem {
namespace {

using files::ListFormat;
using testing::HasSubstr;

Problem Plain(std::vector<Buffer> buffers) {
  Problem problem;
  problem.buffers = std::move(buffers);
  problem.memories.emplace_back();
  problem.memories[0].capacity = base::kMaxTotal;
  return problem;
}

Buffer Make(std::string id, Step lower, Step upper, Bytes size) {
  Buffer buffer;
  buffer.id = std::move(id);
  buffer.lifespans = {{lower, upper}};
  buffer.size = size;
  return buffer;
}

Problem DrawProblem(base::Random& random) {
  std::vector<Buffer> buffers;
  const int64_t count = random.Uniform(1, 20);
  for (int64_t i = 0; i < count; ++i) {
    const Step lower = random.Uniform(0, 30);
    buffers.push_back(
        Make("b" + std::to_string(i), lower, lower + random.Uniform(1, 9), random.Uniform(1, 99)));
    if (random.Chance(0.3)) buffers.back().alignment = 8;
  }
  return Plain(std::move(buffers));
}

// All pairs, by definition.
int64_t CountPairs(const Problem& problem) {
  int64_t pairs = 0;
  for (size_t a = 0; a < problem.buffers.size(); ++a) {
    for (size_t b = a + 1; b < problem.buffers.size(); ++b)
      pairs += LiveTogether(problem.buffers[a], problem.buffers[b]) ? 1 : 0;
  }
  return pairs;
}

TEST(OtherFormatsTest, EveryFormatKeepsLoadAndPairs) {
  base::Random random(3);
  for (int round = 0; round < 200; ++round) {
    const files::ProblemDocument document{DrawProblem(random), std::nullopt};
    const files::ListSummary summary = files::Summarize(document.problem);
    ASSERT_EQ(summary.pairs, CountPairs(document.problem));
    for (const ListFormat format :
         {ListFormat::kCsv, ListFormat::kJson, ListFormat::kTrace, ListFormat::kDsaSolver,
          ListFormat::kExecutorch, ListFormat::kTvm}) {
      for (const files::Lifetimes lifetimes :
           {files::Lifetimes::kHalfOpen, files::Lifetimes::kInclusive,
            files::Lifetimes::kExclusive}) {
        const auto text = files::WriteList(format, document, lifetimes);
        ASSERT_TRUE(text.has_value()) << base::Format(text.error());
        const auto again = files::ReadList(format, *text, "again", lifetimes);
        ASSERT_TRUE(again.has_value()) << base::Format(again.error()) << *text;
        files::ListSummary found = files::Summarize(again->problem);
        if (format == ListFormat::kTvm) found.load = summary.load;  // it has no lives
        EXPECT_EQ(found, summary) << *text;
      }
    }
  }
}

// Pairs that may not share addresses, by definition, with relations stated in any order and twice.
TEST(OtherFormatsTest, RelatedPairsAreCountedOnceAndKept) {
  base::Random random(5);
  for (int round = 0; round < 200; ++round) {
    Problem problem = DrawProblem(random);
    const auto last = static_cast<int64_t>(problem.buffers.size()) - 1;
    for (int64_t left = random.Uniform(0, 8); left > 0; --left) {
      const auto a = static_cast<int>(random.Uniform(0, last));
      const auto b = static_cast<int>(random.Uniform(0, last));
      const bool separates = random.Chance(0.5);
      if (a == b) continue;
      problem.relations.push_back(
          {separates ? RelationKind::kSeparate : RelationKind::kExclusive, a, b});
    }
    const auto is_stated = [&](RelationKind kind, int a, int b) {
      return std::any_of(
          problem.relations.begin(), problem.relations.end(), [&](const Relation& each) {
            return each.kind == kind &&
                   ((each.first == a && each.second == b) || (each.first == b && each.second == a));
          });
    };
    int64_t pairs = 0;
    for (int a = 0; a <= last; ++a) {
      for (int b = a + 1; b <= last; ++b) {
        const bool meets = LiveTogether(problem.buffers[static_cast<size_t>(a)],
                                        problem.buffers[static_cast<size_t>(b)]);
        pairs += is_stated(RelationKind::kSeparate, a, b) ||
                         (meets && !is_stated(RelationKind::kExclusive, a, b))
                     ? 1
                     : 0;
      }
    }
    EXPECT_EQ(files::Summarize(problem).pairs, pairs);
    for (const ListFormat format : {ListFormat::kTvm, ListFormat::kDsaSolver}) {
      const auto text = files::WriteList(format, {problem, std::nullopt});
      ASSERT_TRUE(text.has_value()) << base::Format(text.error());
      const auto again = files::ReadList(format, *text, "again");
      ASSERT_TRUE(again.has_value()) << base::Format(again.error()) << *text;
      EXPECT_EQ(files::Summarize(again->problem).pairs, pairs) << *text;
    }
  }
}

TEST(OtherFormatsTest, WhatAFormatCannotStateIsNamed) {
  Problem valued = Plain({Make("a", 0, 2, 4)});
  valued.buffers[0].value = 3;
  for (const ListFormat format :
       {ListFormat::kTrace, ListFormat::kDsaSolver, ListFormat::kExecutorch, ListFormat::kTvm}) {
    const auto text = files::WriteList(format, {valued, std::nullopt});
    ASSERT_FALSE(text.has_value());
    EXPECT_THAT(text.error().message, HasSubstr("cannot state values"));
  }
}

TEST(OtherFormatsTest, ACostOfNothingIsNoPenalty) {
  Problem problem = Plain({Make("a", 0, 2, 4), Make("b", 2, 4, 4)});
  problem.costs.push_back({.name = "", .weight = 0, .first = 0, .second = 1});
  const auto text = files::WriteDsaSolver(problem);
  ASSERT_TRUE(text.has_value());
  const auto again = files::ReadDsaSolver(*text, "again");
  ASSERT_TRUE(again.has_value()) << base::Format(again.error());
  EXPECT_TRUE(again->costs.empty());
}

TEST(OtherFormatsTest, ExecutorchKeepsTheNumbersOfMemories) {
  const std::string text = R"({"tensors": [
      {"name": "a", "allocated_memory": 4, "lifetime": [0, 1], "mem_id": 7},
      {"name": "b", "allocated_memory": 4, "lifetime": [0, 1], "mem_id": 3}]})";
  const auto problem = files::ReadExecutorch(text, "list");
  ASSERT_TRUE(problem.has_value());
  const auto again = files::WriteExecutorch(*problem);
  ASSERT_TRUE(again.has_value());
  EXPECT_THAT(*again, AllOf(HasSubstr("\"mem_id\": 7"), HasSubstr("\"mem_id\": 3")));
}

TEST(OtherFormatsTest, FaultsOfListsHaveTheNamesOfTheList) {
  const auto problem = files::ReadExecutorch(
      R"({"tensors": [{"name": "a", "allocated_memory": 4, "lifetime": [2, 1]}]})", "list");
  ASSERT_FALSE(problem.has_value());
  EXPECT_EQ(problem.error().pointer, "/tensors/0/lifetime");
}

TEST(OtherFormatsTest, NamesInATraceDiffer) {
  const auto problem =
      files::ReadTrace("alloc a 1\nfree a\nalloc a 1\nalloc a#2 1\nfree a\nalloc a 1\n", "trace");
  ASSERT_TRUE(problem.has_value()) << base::Format(problem.error());
  std::vector<std::string> ids;
  for (const Buffer& buffer : problem->buffers) ids.push_back(buffer.id);
  EXPECT_THAT(ids, testing::ElementsAre("a", "a#2", "a#2#2", "a#3"));
}

TEST(OtherFormatsTest, ATraceIsAStepALine) {
  const auto problem = files::ReadTrace(
      "# a program\nalloc a 8\nalloc b 4 16\n\nfree a\nalloc a 2\nfree b\n", "trace");
  ASSERT_TRUE(problem.has_value()) << base::Format(problem.error());
  ASSERT_EQ(problem->buffers.size(), 3U);
  EXPECT_EQ(problem->buffers[0].lifespans, (std::vector<Lifespan>{{0, 2}}));
  EXPECT_EQ(problem->buffers[1].lifespans, (std::vector<Lifespan>{{1, 4}}));
  EXPECT_EQ(problem->buffers[1].alignment, 16);
  EXPECT_EQ(problem->buffers[2].id, "a#2");
  EXPECT_EQ(problem->buffers[2].lifespans, (std::vector<Lifespan>{{3, 5}}));
}

TEST(OtherFormatsTest, FaultsOfTracesHaveAPlace) {
  struct Case {
    const char* text;
    int line;
    int column;
    const char* message;
  };
  for (const Case& fault : {Case{"alloc a 8\nalloc a 8\n", 2, 7, "the id is in use"},
                            Case{"alloc a 8\nfree b\n", 2, 6, "the id is not in use"},
                            Case{"alloc a -1\n", 1, 9, "not a number of bytes"},
                            Case{"alloc a\n", 1, 1, "2 words in a line"},
                            Case{"malloc a 8\n", 1, 1, "neither an allocation nor a free"}}) {
    const auto problem = files::ReadTrace(fault.text, "trace");
    ASSERT_FALSE(problem.has_value()) << fault.text;
    EXPECT_EQ(problem.error().line, fault.line) << fault.text;
    EXPECT_EQ(problem.error().column, fault.column) << fault.text;
    EXPECT_THAT(problem.error().message, HasSubstr(fault.message));
  }
}

TEST(OtherFormatsTest, ReadsADocumentOfDsaSolver) {
  const char* text = R"({"schema_version": 1, "profile": "pypto_hard_v1", "instance": "tile",
    "metadata": {"target": "x"},
    "problem": {
      "pools": [{"id": 3, "name": "left", "capacity": 96,
                 "reserved_ranges": [{"begin": 0, "end": 8}]},
                {"id": 5, "name": "acc", "capacity": null, "reserved_ranges": []}],
      "buffers": [
        {"id": 7, "name": "p", "size": 8, "alignment": 4, "allowed_pools": [3],
         "live_intervals": [{"lower": 1, "upper": 3}, {"lower": 3, "upper": 4}]},
        {"id": 9, "name": "q", "size": 8, "alignment": 4, "allowed_pools": [3],
         "live_intervals": [{"lower": 5, "upper": 6}]},
        {"id": 2, "name": "r", "size": 8, "alignment": 1, "allowed_pools": [5],
         "live_intervals": [{"lower": 0, "upper": 6}]}],
      "constraints": {"colocations": [], "temporal_exclusions": [],
        "separations": [{"first": 7, "second": 9, "reasons": ["pipeline_stage"]}],
        "pinned_allocations": [
          {"buffer": 9, "pool": 3, "offset": 16, "exclusive_for_all_time": false}]},
      "cost_model": {"reuse_penalties": [
        {"first": 7, "second": 9, "cost": 5, "reason": "generic"}]},
      "objective": {"aggregation": "lexicographic", "terms": ["total_peak"]}}})";
  const auto problem = files::ReadDsaSolver(text, "tile.json");
  ASSERT_TRUE(problem.has_value()) << base::Format(problem.error());
  EXPECT_EQ(problem->name, "tile");
  ASSERT_EQ(problem->memories.size(), 2U);
  EXPECT_EQ(problem->memories[0].capacity, 96);
  EXPECT_EQ(problem->memories[0].reserved.at(0).range, (AddressRange{0, 8}));
  EXPECT_EQ(problem->memories[1].capacity, base::kMaxTotal);
  EXPECT_EQ(problem->buffers[0].lifespans, (std::vector<Lifespan>{{1, 4}}));
  EXPECT_EQ(problem->buffers[1].offset, 16);
  EXPECT_EQ(problem->buffers[2].memory, 1);
  EXPECT_EQ(problem->relations, (std::vector<Relation>{{RelationKind::kSeparate, 0, 1}}));
  EXPECT_EQ(problem->costs.at(0).weight, 5);

  const auto written = files::WriteDsaSolver(*problem);
  ASSERT_TRUE(written.has_value());
  const auto again = files::ReadDsaSolver(*written, "again");
  ASSERT_TRUE(again.has_value()) << base::Format(again.error());
  EXPECT_EQ(again->relations, problem->relations);
  EXPECT_EQ(again->memories[0].reserved.at(0).range, (AddressRange{0, 8}));
  EXPECT_EQ(again->buffers[1].offset, 16);
  EXPECT_EQ(again->costs.at(0).weight, 5);
}

// A document of dsa-solver with the buffers 0 and 1 in one pool and 2 in another.
std::string InTwoPools(const std::string& constraints, const std::string& penalties) {
  std::string text = R"({"schema_version": 1, "instance": "kernel", "problem": {
      "pools": [{"id": 0, "name": "left", "capacity": 64}, {"id": 1, "name": "acc"}],
      "buffers": [)";
  for (int i = 0; i < 3; ++i) {
    text += (i > 0 ? "," : "") + std::string(R"({"size": 8, "id": )") + std::to_string(i) +
            R"(, "live_intervals": [{"lower": 0, "upper": 2}], "allowed_pools": [)" +
            (i < 2 ? "0]}" : "1]}");
  }
  return text + R"(], "constraints": {)" + constraints +
         R"(}, "cost_model": {"reuse_penalties": [)" + penalties + "]}}}";
}

TEST(OtherFormatsTest, PairsInDifferentPoolsAreDroppedAndCounted) {
  const std::string text =
      InTwoPools(R"("separations": [{"first": 0, "second": 2}, {"first": 1, "second": 0},
                                    {"first": 2, "second": 1}],
                    "temporal_exclusions": [{"first": 2, "second": 0}])",
                 R"({"first": 0, "second": 1, "cost": 3}, {"first": 1, "second": 2, "cost": 5})");
  const auto document = files::ReadList(ListFormat::kDsaSolver, text, "kernel.json");
  ASSERT_TRUE(document.has_value()) << base::Format(document.error());
  EXPECT_EQ(document->problem.relations, (std::vector<Relation>{{RelationKind::kSeparate, 1, 0}}));
  ASSERT_EQ(document->problem.costs.size(), 1U);
  EXPECT_EQ(document->problem.costs[0].weight, 3);
  EXPECT_THAT(document->notes,
              testing::ElementsAre("dropped, because their buffers are in different pools: "
                                   "1 reuse_penalties, 2 separations, 1 temporal_exclusions"));
  EXPECT_TRUE(files::ReadDsaSolver(text, "kernel.json").has_value());

  const std::string within = InTwoPools(R"("separations": [{"first": 0, "second": 1}])", "");
  EXPECT_THAT(files::ReadList(ListFormat::kDsaSolver, within, "kernel.json")->notes,
              testing::IsEmpty());
}

TEST(OtherFormatsTest, AColocationInDifferentPoolsIsRefused) {
  const auto problem = files::ReadDsaSolver(
      InTwoPools(R"("colocations": [{"first": 0, "second": 2}])", ""), "kernel.json");
  ASSERT_FALSE(problem.has_value());
  EXPECT_THAT(problem.error().message, HasSubstr("are in different memories"));
}

TEST(OtherFormatsTest, AnOfflinePlanListsOffsets) {
  Problem problem = Plain({Make("a", 0, 1, 4), Make("b", 0, 1, 4)});
  problem.buffers[1].offset = 64;
  EXPECT_EQ(files::WriteTfliteMicro(problem).value(), "[1,0,2,-1,64]\n");
  problem.buffers[1].offset = Bytes{1} << 31;
  EXPECT_THAT(files::WriteTfliteMicro(problem).error().message, HasSubstr("the offset of 'b'"));
  EXPECT_FALSE(files::ReadList(ListFormat::kTfliteMicro, "[1,0,0]", "plan").has_value());
}

TEST(OtherFormatsTest, LivesOfExecutorchIncludeTheirLastStep) {
  const auto problem = files::ReadExecutorch(
      R"({"tensors": [{"name": "t", "allocated_memory": 16, "lifetime": [2, 5], "mem_id": 2,
          "mem_offset": 32}]})",
      "list");
  ASSERT_TRUE(problem.has_value()) << base::Format(problem.error());
  EXPECT_EQ(problem->buffers[0].lifespans, (std::vector<Lifespan>{{2, 6}}));
  EXPECT_EQ(problem->buffers[0].offset, 32);
}

TEST(OtherFormatsTest, ConflictsOfTvmBecomeRelations) {
  const auto problem = files::ReadTvm(
      R"({"buffers": [{"name_hint": "a", "size_bytes": 4, "conflicts": ["b"]},
                      {"name_hint": "b", "size_bytes": 4, "conflicts": ["a"]},
                      {"name_hint": "c", "size_bytes": 4}]})",
      "list");
  ASSERT_TRUE(problem.has_value()) << base::Format(problem.error());
  EXPECT_EQ(problem->relations, (std::vector<Relation>{{RelationKind::kSeparate, 0, 1}}));
  EXPECT_FALSE(files::ReadTvm(R"({"buffers": [{"name_hint": "a", "size_bytes": 4,
                                "conflicts": ["x"]}]})",
                              "list")
                   .has_value());
}

TEST(OtherFormatsTest, RefusesByNameWhatAFormatCannotState) {
  Problem problem = Plain({Make("a", 0, 1, 4), Make("b", 5, 6, 4)});
  problem.buffers[0].lifespans = {{0, 1}, {3, 4}};
  for (const ListFormat format : {ListFormat::kTrace, ListFormat::kExecutorch}) {
    const auto text = files::WriteList(format, {problem, std::nullopt});
    ASSERT_FALSE(text.has_value());
    EXPECT_THAT(text.error().message, HasSubstr("the gaps of 'a'"));
  }
  problem.buffers[0].lifespans = {{0, 1}};
  problem.relations.push_back({RelationKind::kAdjacent, 0, 1});
  for (const ListFormat format : {ListFormat::kCsv, ListFormat::kTrace, ListFormat::kDsaSolver,
                                  ListFormat::kExecutorch, ListFormat::kTvm}) {
    const auto text = files::WriteList(format, {problem, std::nullopt});
    ASSERT_FALSE(text.has_value());
    EXPECT_THAT(text.error().message, HasSubstr("relations"));
  }
}

}  // namespace
}  // namespace tessera::problem
