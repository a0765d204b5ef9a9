// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fixture.h"
#include "tessera/base/random.h"
#include "tessera/problem/files/problem_files.h"

namespace tessera::problem {
namespace {

// One of everything that a Problem can state.
Problem Everything() {
  Problem problem =
      BankedProblem({MakeBuffer("a", 0, 2, 4), MakeBuffer("b", 1, 4, 4), MakeBuffer("c", 2, 3, 1)});
  problem.name = "all";
  Memory& memory = problem.memories[0];
  memory.name = "sram";
  memory.alignment = 2;
  memory.reserved = {{{14, 16}, "stack"}};
  memory.banks[0].ports = {1, 2, 3};
  memory.modes[0].banks[0].allowed = {{"pe", AccessKind::kRead}, {"", AccessKind::kWrite}};
  memory.transitions = {{{0, 1}, {1, 0}}};
  problem.memories.push_back({"dram", 64, 1, {}, {}, {}, std::nullopt});
  Buffer& a = problem.buffers[0];
  a.name = "first";
  a.role = "weights";
  a.lifespans.push_back({3, 4});
  a.alignment = 4;
  a.span = Span::kSingle;
  a.allowed_banks = {0, 1};
  a.offset = 0;
  a.hint = 4;
  a.accesses = {{0, "pe", AccessKind::kWrite}, {3, "", AccessKind::kRead}};
  a.annotations = {{"x-line", R"({"file":"a.c","at":[1,2]})"}};
  problem.buffers[2].memory = 1;
  problem.relations = {{RelationKind::kColocate, 0, 1, -4}, {RelationKind::kExclusive, 1, 0, 0}};
  problem.loops = {{1, 3, {2, 3}}};
  return problem;
}

constexpr std::string_view kSmall = R"({
  "format": "tessera-problem",
  "version": 1,
  "memories": [{"capacity": 16}],
  "buffers": [
    {"id": "a", "size": 4, "lifespans": [[0, 2]]},
    {"id": "b", "size": 4, "lifespans": [[1, 3]]}
  ],
  "relations": [{"kind": "separate", "first": "a", "second": "b"}]
})";

std::string Replace(std::string_view text, std::string_view from, std::string_view to) {
  std::string changed(text);
  const size_t at = changed.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return changed.replace(at, from.size(), to);
}

// Pointer and message of the fault that the change causes.
std::string FaultAfter(std::string_view from, std::string_view to) {
  const auto document = files::ReadProblem(Replace(kSmall, from, to), "p.json");
  return document ? "sound" : document.error().pointer + " " + document.error().message;
}

TEST(ProblemJsonTest, EverythingReadsBackAsTheSameBytes) {
  const std::string text = files::WriteProblem(Everything());
  const auto document = files::ReadProblem(text, "p.json");
  ASSERT_TRUE(document.has_value()) << base::Format(document.error());
  EXPECT_EQ(files::WriteProblem(document->problem), text);
  const Problem& problem = document->problem;
  const Problem expected = Everything();
  EXPECT_EQ(problem.buffers[0].accesses, expected.buffers[0].accesses);
  EXPECT_EQ(problem.buffers[0].annotations, expected.buffers[0].annotations);
  EXPECT_EQ(problem.buffers[0].allowed_banks, expected.buffers[0].allowed_banks);
  EXPECT_EQ(problem.buffers[0].span, Span::kSingle);
  EXPECT_EQ(problem.buffers[2].memory, 1);
  EXPECT_EQ(problem.memories[0].modes[0].banks, expected.memories[0].modes[0].banks);
  EXPECT_EQ(problem.memories[0].transitions, expected.memories[0].transitions);
  EXPECT_EQ(problem.memories[0].banks[0].ports.writes, 3);
  EXPECT_EQ(problem.relations[0].delta, -4);
  EXPECT_EQ(problem.loops, expected.loops);
}

TEST(ProblemJsonTest, WritesWhatAPersonWouldWrite) {
  Problem problem = PlainProblem({MakeBuffer("a", 0, 2, 4)});
  EXPECT_EQ(files::WriteProblem(problem),
            "{\n  \"format\": \"tessera-problem\",\n  \"version\": 1,\n  \"memories\": "
            "[{\"capacity\": 16}],\n"
            "  \"buffers\": [{\"id\": \"a\", \"size\": 4, \"lifespans\": [[0, 2]]}]\n}\n");
}

TEST(ProblemJsonTest, NamelessThingsGoByIndex) {
  Problem problem = Everything();
  for (Memory& memory : problem.memories) memory.name.clear();
  for (Bank& bank : problem.memories[0].banks) bank.name.clear();
  for (Mode& mode : problem.memories[0].modes) mode.name = "same";
  const std::string text = files::WriteProblem(problem);
  const auto document = files::ReadProblem(text, "p.json");
  ASSERT_TRUE(document.has_value()) << base::Format(document.error());
  EXPECT_EQ(document->problem.buffers[2].memory, 1);
  EXPECT_EQ(document->problem.memories[0].transitions, problem.memories[0].transitions);
  EXPECT_EQ(files::WriteProblem(document->problem), text);
}

TEST(ProblemJsonTest, ALadderComesAlong) {
  const Problem problem = Everything();
  const Ladder ladder = {{{"rows=1", {1, 2, 3}}, {"rows=2", {3, 2, 1}}}};
  const auto document = files::ReadProblem(files::WriteProblem(problem, &ladder), "p.json");
  ASSERT_TRUE(document.has_value()) << base::Format(document.error());
  ASSERT_TRUE(document->ladder.has_value());
  ASSERT_EQ(document->ladder->candidates.size(), 2U);
  EXPECT_EQ(document->ladder->candidates[1].name, "rows=2");
  EXPECT_EQ(document->ladder->candidates[1].sizes, (std::vector<Bytes>{3, 2, 1}));
}

TEST(ProblemJsonTest, FaultsPointAtTheValue) {
  EXPECT_EQ(FaultAfter("\"id\": \"a\", ", "\"id\": \"a\", \"sise\": 1, "),
            "/buffers/0/sise unknown key 'sise'");
  EXPECT_EQ(FaultAfter("\"size\": 4", "\"size\": 0"),
            "/buffers/0/size the value is not what belongs here");
  EXPECT_EQ(FaultAfter("[0, 2]", "[0, 2, 3]"),
            "/buffers/0/lifespans/0 the value is not what belongs here");
  EXPECT_EQ(FaultAfter("[0, 2]", "[2, 2]"), "/buffers/0/lifespans/0 the lifespan [2, 2) is empty");
  EXPECT_EQ(FaultAfter("\"id\": \"b\"", "\"id\": \"a\""),
            "/relations/0/second there is no buffer 'b'");
  EXPECT_EQ(FaultAfter("\"second\": \"b\"", "\"second\": \"a\""),
            "/relations/0 a relation of a buffer with itself");
  EXPECT_EQ(FaultAfter("separate", "seperate"), "/relations/0/kind unknown name 'seperate'");
  EXPECT_EQ(FaultAfter("\"second\": \"b\"", "\"second\": \"b\", \"delta\": 4"),
            "/relations/0/delta unknown key 'delta'");
  EXPECT_EQ(FaultAfter("\"capacity\": 16", "\"capacity\": 16, \"transitions\": [[\"m\", \"n\"]]"),
            "/memories/0/transitions/0/0 there is no mode 'm'");
  EXPECT_EQ(FaultAfter("\"size\": 4", "\"size\": 4, \"memory\": 1"),
            "/buffers/0/memory the value is not what belongs here");
  EXPECT_EQ(FaultAfter("\"version\": 1", "\"version\": 2"),
            "/version this version of the format is not known");
  EXPECT_EQ(FaultAfter("\"memories\": [{\"capacity\": 16}],", ""),
            " the key 'memories' is missing");
  EXPECT_EQ(
      FaultAfter(
          "\"capacity\": 16",
          "\"capacity\": 16, \"banks\": [{\"range\": [0, 8]}], \"modes\": [{\"banks\": [\"rx\"]}]"),
      "/memories/0/modes/0/banks/0 unknown name 'rx'");
  EXPECT_EQ(FaultAfter("\"capacity\": 16",
                       "\"capacity\": 16, \"banks\": [{\"range\": [0, 8]}], \"modes\": "
                       "[{\"banks\": [[\".read\"]]}]"),
            "/memories/0/modes/0/banks/0/0 '.read' is not an access");
}

TEST(ProblemJsonTest, SyntaxErrorsNameTheLine) {
  const auto document =
      files::ReadProblem(Replace(kSmall, "\"version\": 1", "\"version\": ?"), "p.json");
  ASSERT_FALSE(document.has_value());
  EXPECT_EQ(document.error().line, 3);
  EXPECT_EQ(document.error().column, 14);
}

// Candidates are only looked at if the rest is well formed: their sizes refer to its memories.
TEST(ProblemJsonTest, CandidatesWithoutAMemoryAreRefused) {
  const auto document = files::ReadProblem(
      R"({"format": "tessera-problem", "version": 1, "memories": [],
          "buffers": [{"id": "a", "size": 4, "lifespans": [[0, 2]]}],
          "tile_candidates": {"candidates": [{"name": "s", "sizes": {"a": 4}}]}})",
      "p.json");
  ASSERT_FALSE(document.has_value());
  EXPECT_EQ(document.error().message, "the problem has no memory");
}

TEST(ProblemJsonTest, EveryTruncationIsRefusedWithoutACrash) {
  const std::string text = files::WriteProblem(Everything());
  for (size_t length = 0; length + 2 < text.size(); ++length) {
    EXPECT_FALSE(files::ReadProblem(std::string_view(text).substr(0, length), "p.json").has_value())
        << length;
  }
}

RC_GTEST_PROP(ProblemJsonTest, RandomDamageIsReadOrRefusedButNeverCrashes, ()) {
  std::string text = files::WriteProblem(Everything());
  base::Random random(*rc::gen::arbitrary<uint64_t>());
  for (int i = 0; i < 3; ++i) {
    text[static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(text.size()) - 1))] =
        "{}[],:\"019-ae.x"[random.Uniform(0, 13)];
  }
  const auto document = files::ReadProblem(text, "p.json");
  if (document)
    RC_ASSERT(files::ReadProblem(files::WriteProblem(document->problem), "p.json").has_value());
}

RC_GTEST_PROP(ProblemJsonTest, RandomProblemsReadBackAsTheSameBytes, ()) {
  const auto count = *rc::gen::inRange<size_t>(1, 6);
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < count; ++i) {
    const Step lower = *rc::gen::inRange<Step>(-5, 5);
    buffers.push_back(MakeBuffer(*rc::gen::string<std::string>() + std::to_string(i), lower,
                                 lower + 3, 1 + static_cast<Bytes>(i)));
    buffers.back().span = *rc::gen::element(Span::kAny, Span::kContiguous, Span::kSingle);
    if (*rc::gen::arbitrary<bool>())
      buffers.back().accesses = {{lower + 1, "e", AccessKind::kRead}};
  }
  Problem problem = BankedProblem(buffers);
  for (size_t i = 1; i < count; ++i) {
    const auto kind = static_cast<RelationKind>(*rc::gen::inRange(0, 6));
    const Bytes delta = kind == RelationKind::kColocate ? *rc::gen::inRange<Bytes>(-9, 9) : 0;
    problem.relations.push_back({kind, static_cast<int>(i - 1), static_cast<int>(i), delta});
  }
  const std::string text = files::WriteProblem(problem);
  const auto document = files::ReadProblem(text, "p.json");
  // The reader replaces bytes that are not UTF-8, after which two ids may be equal; nothing else
  // may fail.
  RC_ASSERT(document.has_value() ||
            document.error().message.find("already that of") != std::string::npos);
  if (document) RC_ASSERT(files::WriteProblem(document->problem) == text);
}

files::AllocationDocument Placed() {
  files::AllocationDocument document;
  document.result.status = Status::kOptimal;
  document.result.allocation = Allocation{{0, 8, 3}, {{0, 1, 2, 0}, {}}};
  document.result.lower_bound = 10;
  document.result.peak = 12;
  document.result.engine = "canonical";
  document.result.statistics = {5, 2, 1};
  document.capacity = 16;
  document.seed = 7;
  return document;
}

TEST(AllocationJsonTest, ReadsBack) {
  const Problem problem = Everything();
  const std::string text = files::WriteAllocation(problem, Placed());
  EXPECT_NE(text.find("\"gap\": 2"), std::string::npos);
  EXPECT_NE(text.find("\"offsets\": {\"a\": 0, \"b\": 8, \"c\": 3}"), std::string::npos);
  EXPECT_NE(text.find("\"schedule\": [\"rw\", \"wr\", \"sleep\", \"rw\"]"), std::string::npos);
  const auto document = files::ReadAllocation(text, "a.json", problem);
  ASSERT_TRUE(document.has_value()) << base::Format(document.error());
  EXPECT_EQ(document->result.status, Status::kOptimal);
  EXPECT_EQ(document->result.allocation->offsets, (std::vector<Bytes>{0, 8, 3}));
  EXPECT_EQ(document->result.allocation->modes, (std::vector<ModeSchedule>{{0, 1, 2, 0}, {}}));
  EXPECT_EQ(document->capacity, 16);
  EXPECT_EQ(files::WriteAllocation(problem, *document), text);
}

TEST(AllocationJsonTest, AnInfeasibleResultHasNoOffsets) {
  files::AllocationDocument document;
  document.result.status = Status::kInfeasible;
  document.result.reason = "the load is 20";
  document.result.lower_bound = 20;
  const auto read =
      files::ReadAllocation(files::WriteAllocation(Everything(), document), "a.json", Everything());
  ASSERT_TRUE(read.has_value()) << base::Format(read.error());
  EXPECT_EQ(read->result.status, Status::kInfeasible);
  EXPECT_EQ(read->result.reason, "the load is 20");
  EXPECT_FALSE(read->result.allocation.has_value());
}

TEST(AllocationJsonTest, FaultsPointAtTheValue) {
  const Problem problem = Everything();
  const std::string text = files::WriteAllocation(problem, Placed());
  const auto fault = [&](std::string_view from, std::string_view to) {
    const auto document = files::ReadAllocation(Replace(text, from, to), "a.json", problem);
    return document ? "sound" : document.error().pointer + " " + document.error().message;
  };
  EXPECT_EQ(fault("\"b\": 8", "\"bb\": 8"), "/offsets/bb there is no buffer 'bb'");
  EXPECT_EQ(fault("\"b\": 8, ", ""), "/offsets buffer 'b' is missing");
  EXPECT_EQ(fault("\"sleep\"", "\"slep\""), "/modes/0/schedule/2 there is no mode 'slep'");
  EXPECT_EQ(fault("\"first_step\": 0", "\"first_step\": 1"),
            "/modes/0/first_step the value is not what belongs here");
  EXPECT_EQ(fault("optimal", "infeasible"), " offsets without a status that says placed");
}

}  // namespace
}  // namespace tessera::problem
