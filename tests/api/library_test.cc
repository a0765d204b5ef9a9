// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <tessera/tessera.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"

// The C++ interface as its users see it: the tests include public headers only.
namespace tessera::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string Content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Library, GivesThePlanOfTheCommand) {
  const std::filesystem::path folder = testing::TempDir();
  const std::filesystem::path own = folder / "library_plan.json";
  const std::filesystem::path other = folder / "command_plan.json";
  const Plan plan = PlanOf(Must(Network::Load(kNetwork)), Npu());
  ASSERT_TRUE(plan.Save(own.string()));
  const std::string command = std::string(TESSERA_COMMAND) + " plan " + kNetwork + " --hw " +
                              kProfile + " --output " + other.string() + " >" +
                              (folder / "text").string();
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(Content(own), Content(other));
  EXPECT_THAT(Content(own), Not(IsEmpty()));
}

TEST(Library, ShowsWhatAPlanHolds) {
  const Network network = Chain();
  EXPECT_EQ(network.Name(), "chain");
  EXPECT_EQ(network.OperatorCount(), 2U);
  PlanOptions options;
  options.constraints = "schema: 1\ntogether: [[a, b]]\n";
  options.transfers = Transfers::kPerSubgraph;
  const Plan plan = PlanOf(network, Npu(), options);
  ASSERT_EQ(plan.Subgraphs().size(), 1U);
  EXPECT_THAT(plan.Subgraphs()[0].operators, ElementsAre("a", "b"));
  ASSERT_NE(plan.FindMetric("latency"), nullptr);
  EXPECT_EQ(plan.FindMetric("latency")->value, plan.Score());
  EXPECT_LE(plan.FindMetric("latency")->lower_bound, plan.Score());
  EXPECT_LE(plan.Bound(), plan.Score());
  EXPECT_TRUE(plan.IsOptimal());
  const PlanSubgraph& only = plan.Subgraphs()[0];
  EXPECT_EQ(static_cast<double>(only.peak_bytes), plan.FindMetric("peak")->value);
  EXPECT_EQ(static_cast<double>(only.macs), plan.FindMetric("macs")->value);
  EXPECT_EQ(only.energy_pj, plan.FindMetric("energy")->value);
  EXPECT_EQ(static_cast<double>(only.off_chip_bytes), plan.FindMetric("off_chip_bytes")->value);
  EXPECT_FALSE(only.bound_by.empty());
  EXPECT_EQ(plan.FindMetric("beauty"), nullptr);
  ASSERT_FALSE(plan.Buffers().empty());
  for (const PlanBuffer& buffer : plan.Buffers()) {
    EXPECT_GE(buffer.offset, 0);
    EXPECT_GT(buffer.size, 0);
    EXPECT_FALSE(buffer.steps.empty()) << buffer.name;
  }
  for (const char* format : {"json", "html", "svg", "h", "trace", "txt"})
    EXPECT_THAT(Must(plan.Render(format)), Not(IsEmpty())) << format;
}

TEST(Library, ReadsItsPlansAgain) {
  const Plan plan = PlanOf(Chain(), Npu());
  const Plan again = Must(Plan::Parse(Json(plan)));
  EXPECT_EQ(Json(again), Json(plan));
  EXPECT_EQ(again.Score(), plan.Score());
}

TEST(Library, TakesTilesThatWereMeasured) {
  const Plan modelled = PlanOf(Chain(), Npu());
  const Result<std::string> table = modelled.Render("csv");
  ASSERT_TRUE(table);
  EXPECT_THAT(*table, StartsWith("operator,tile,engine,cycles,pj,signature,tiles,source\n"));
  const Network same = Must(Chain().WithCosts(*table));
  EXPECT_EQ(PlanOf(same, Npu()).Score(), modelled.Score());
  const auto other =
      Chain().WithCosts("operator,tile,engine,cycles\nconv-0123456789abcdef,1,npu,1\n", "o.csv");
  ASSERT_TRUE(other);
  EXPECT_THAT(other->Notes(),
              testing::Contains(HasSubstr("rows of o.csv with signatures of other networks: 1")));
  const auto bad = Chain().WithCosts("operator,tile,engine,cycles\nz,1,npu,1\n", "bad.csv");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.Error().status, CallStatus::kBadInput);
  EXPECT_EQ(bad.Error().file, "bad.csv");
  EXPECT_EQ(bad.Error().line, 2);
}

TEST(Library, ErrorsSayWhere) {
  const Result<Network> network = Network::Parse("schema: 1\noperatorz: []\n", "mine.yaml");
  ASSERT_FALSE(network);
  EXPECT_EQ(network.Error().status, CallStatus::kBadInput);
  EXPECT_EQ(network.Error().file, "mine.yaml");
  EXPECT_EQ(network.Error().line, 2);
  EXPECT_THAT(network.Error().text, StartsWith("mine.yaml:2:"));
  EXPECT_EQ(Network::Load("/no/such/file.yaml").Error().status, CallStatus::kBadInput);
  EXPECT_EQ(Profile::Load("/no/such/file.yaml").Error().file, "/no/such/file.yaml");
  EXPECT_EQ(Network::Parse(std::string_view("\x80\x00\xff", 3), "net.bin").Error().status,
            CallStatus::kUnsupported);
  EXPECT_EQ(Plan::Parse("{}").Error().status, CallStatus::kBadInput);
  const Plan plan = PlanOf(Chain(), Npu());
  EXPECT_THAT(plan.Render("bmp").Error().text, HasSubstr("html"));
  EXPECT_EQ(plan.Save("/no/such/folder/plan.json").Error().status, CallStatus::kBadInput);
  EXPECT_EQ(plan.Save("plan").Error().status, CallStatus::kBadInput);
}

TEST(Library, RefusesBadOptions) {
  const auto refuses = [](const std::string& words, auto change) {
    PlanOptions options;
    change(options);
    const Result<PlanAnswer> answer = MakePlan(Chain(), Npu(), options);
    ASSERT_FALSE(answer) << words;
    EXPECT_EQ(answer.Error().status, CallStatus::kBadInput);
    EXPECT_THAT(answer.Error().text, HasSubstr(words));
  };
  refuses("beauty", [](PlanOptions& o) { o.minimize = {{"beauty", 1}}; });
  refuses("twice", [](PlanOptions& o) { o.limits = {{"peak", 1}, {"peak", 2}}; });
  refuses("threads", [](PlanOptions& o) { o.threads = 0; });
  refuses("max_operators", [](PlanOptions& o) { o.max_operators = 0; });
  refuses("budget", [](PlanOptions& o) { o.budget = -1; });
  refuses("cplex", [](PlanOptions& o) { o.engine = "cplex"; });
  refuses("luck", [](PlanOptions& o) { o.switched_off = {"luck"}; });
  refuses("constraints:2", [](PlanOptions& o) { o.constraints = "schema: 1\nmarry: [a, b]\n"; });
}

TEST(Library, KeepsLimitsAndConstraints) {
  PlanOptions options;
  options.constraints = "schema: 1\napart: [b]\n";
  EXPECT_EQ(PlanOf(Chain(), Npu(), options).Subgraphs().size(), 2U);
  options = {};
  options.limits = {{"peak", 1}};
  const PlanAnswer answer = Must(MakePlan(Chain(), Npu(), options));
  EXPECT_EQ(answer.outcome, Outcome::kInfeasible);
  EXPECT_FALSE(answer.plan);
  EXPECT_THAT(answer.reason, Not(IsEmpty()));
  EXPECT_FALSE(answer.stopped);
}

TEST(Library, ProfilesChangeInOnePlace) {
  const Profile profile = Npu();
  const Profile same = Must(Profile::Parse(profile.Json()));
  EXPECT_EQ(same.Json(), profile.Json());
  const Profile small = Must(profile.With("/memories/sram/capacity_bytes", "65536"));
  EXPECT_THAT(small.Json(), HasSubstr("65536"));
  EXPECT_THAT(profile.Json(), Not(HasSubstr("65536")));
  EXPECT_LE(PlanOf(Chain(), small).FindMetric("peak")->value, 65536);
  EXPECT_EQ(profile.With("/memories/sram/capacity_bytes", "-1").Error().status,
            CallStatus::kBadInput);
  EXPECT_EQ(profile.With("/memories/sram/capacity_bytes", "many").Error().status,
            CallStatus::kBadInput);
  EXPECT_EQ(profile.With("/memories/none/capacity_bytes", "1").Error().pointer,
            "/memories/none/capacity_bytes");
  EXPECT_EQ(profile.With("memories", "1").Error().status, CallStatus::kBadInput);
  EXPECT_EQ(profile.With("/colour", "1").Error().status, CallStatus::kBadInput);
}

TEST(Library, NetworksAndProfilesPassToOtherProcesses) {
  const Network network = Must(Network::Load(kNetwork));
  const Profile profile = Npu();
  const Network other = Must(Network::Deserialize(Must(network.Serialize())));
  const Profile other_profile = Must(Profile::Deserialize(Must(profile.Serialize())));
  EXPECT_EQ(Must(other.Json()), Must(network.Json()));
  EXPECT_EQ(Must(Network::Parse(Must(network.Json()))).Name(), network.Name());
  EXPECT_EQ(other.Notes(), network.Notes());
  EXPECT_EQ(other_profile.Json(), profile.Json());
  EXPECT_EQ(Must(other_profile.Serialize()), Must(profile.Serialize()));
  EXPECT_EQ(Network::Deserialize("{}").Error().status, CallStatus::kBadInput);
  EXPECT_EQ(Profile::Deserialize("no JSON").Error().status, CallStatus::kBadInput);
}

TEST(Library, CancelledCallsEndWithWhatIsKnown) {
  PlanOptions options;
  options.canceller.emplace();
  options.canceller->Cancel();
  EXPECT_TRUE(options.canceller->IsCancelled());
  const PlanAnswer answer = Must(MakePlan(Must(Network::Load(kNetwork)), Npu(), options));
  EXPECT_TRUE(answer.stopped);
  EXPECT_NE(answer.outcome, Outcome::kOptimal);
  EXPECT_NE(answer.outcome, Outcome::kInfeasible);
}

TEST(Library, DeadlinesEndCalls) {
  PlanOptions options;
  options.timeout_s = 0.01;
  const PlanAnswer answer = Must(MakePlan(Must(Network::Load(kNetwork)), Npu(), options));
  EXPECT_TRUE(answer.stopped);
  EXPECT_NE(answer.outcome, Outcome::kOptimal);
}

TEST(Library, TellsProgress) {
  PlanOptions options;
  std::vector<std::string> lines;
  options.progress = [&](std::string_view line) { lines.emplace_back(line); };
  PlanOf(Chain(), Npu(), options);
  EXPECT_THAT(lines, Not(IsEmpty()));
}

TEST(Library, WhatACallbackThrowsIsAnError) {
  PlanOptions options;
  options.progress = [](std::string_view) { throw std::runtime_error("the callback failed"); };
  const Result<PlanAnswer> answer = MakePlan(Chain(), Npu(), options);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.Error().status, CallStatus::kInternal);
  EXPECT_EQ(answer.Error().message, "the callback failed");
}

TEST(Library, ThreadsShareNetworksAndProfiles) {
  const Network network = Chain();
  const Profile profile = Npu();
  const std::string expected = Json(PlanOf(network, profile));
  std::atomic<int> equal = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const Result<PlanAnswer> answer = MakePlan(network, profile);
      if (answer && answer->plan && *answer->plan->Render("json") == expected) ++equal;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, 4);
}

TEST(Library, ChecksPlans) {
  const Plan plan = PlanOf(Chain(), Npu());
  CheckOptions options;
  options.execute = true;
  const CheckReport right = Must(Check(plan, options));
  EXPECT_TRUE(right.accepted) << right.open;
  EXPECT_THAT(right.findings, IsEmpty());
  std::string altered = Json(plan);
  const std::string key = "\"latency_cycles\": ";
  const size_t place = altered.find(key);
  ASSERT_NE(place, std::string::npos);
  altered.insert(place + key.size(), "9");
  const CheckReport wrong = Must(Check(Must(Plan::Parse(altered))));
  EXPECT_FALSE(wrong.accepted);
  EXPECT_THAT(wrong.findings, Not(IsEmpty()));
}

TEST(Library, PlacesBuffers) {
  const Problem problem = ThreeBuffers();
  EXPECT_EQ(problem.BufferCount(), 3U);
  const AllocateAnswer answer = Must(Allocate(problem));
  EXPECT_EQ(answer.outcome, Outcome::kOptimal);
  EXPECT_EQ(answer.lower_bound, 12);
  EXPECT_FALSE(answer.stopped);
  ASSERT_TRUE(answer.allocation);
  EXPECT_EQ(answer.allocation->Peak(), 12);
  ASSERT_EQ(answer.allocation->Offsets().size(), 3U);
  EXPECT_EQ(answer.allocation->Offsets()[2] % 4, 0);
  EXPECT_TRUE(Must(Check(*answer.allocation)).accepted);
  EXPECT_THAT(Must(Check(*answer.allocation, 11)).findings, Not(IsEmpty()));
  for (const char* format : {"json", "csv", "svg"})
    EXPECT_THAT(Must(answer.allocation->Render(format)), Not(IsEmpty())) << format;
  EXPECT_EQ(answer.allocation->Render("bmp").Error().status, CallStatus::kBadInput);
  const Allocation again =
      Must(Allocation::Parse(problem, Must(answer.allocation->Render("json"))));
  EXPECT_EQ(again.Offsets(), answer.allocation->Offsets());
  EXPECT_EQ(again.Peak(), 12);
}

// The columns are views: every second number of an array.
TEST(Library, PlacesBuffersOfColumns) {
  const std::vector<std::int64_t> lower = {0, -9, 2, -9, 0, -9};
  const std::vector<std::int64_t> upper = {3, 9, 9};
  const std::vector<std::int64_t> size = {4, 8, 16};
  const std::vector<std::int64_t> offset = {-1, -1, 8};
  BufferColumns columns{3, {lower.data(), 2}, {upper.data()}, {size.data()}};
  columns.offset = {offset.data()};
  const Problem problem = Must(Problem::FromColumns(columns));
  EXPECT_THAT(Must(problem.Render("csv")), HasSubstr("b2,0,9,16"));
  const AllocateAnswer answer = Must(Allocate(problem));
  ASSERT_TRUE(answer.allocation);
  EXPECT_EQ(answer.allocation->Offsets()[2], 8);
  EXPECT_EQ(answer.allocation->Peak(), 28);
  columns.size = {};
  EXPECT_THAT(Problem::FromColumns(columns).Error().message, HasSubstr("column"));
}

TEST(Library, FindsWrongAllocations) {
  const Problem problem = ThreeBuffers();
  std::string text = Must(Must(Allocate(problem)).allocation->Render("json"));
  const size_t offsets = text.find("\"offsets\"");
  ASSERT_NE(offsets, std::string::npos);
  const size_t last = text.find("\"c\": ", offsets);
  ASSERT_NE(last, std::string::npos);
  text.insert(last + 5, "4");  // "c": 0 becomes 40, "c": 4 becomes 44
  const CheckReport report = Must(Check(Must(Allocation::Parse(problem, text)), 12));
  EXPECT_FALSE(report.accepted);
  EXPECT_THAT(report.findings, Not(IsEmpty()));
}

TEST(Library, ExplainsWhatDoesNotFit) {
  AllocateOptions options;
  options.capacity = 11;
  const AllocateAnswer answer = Must(Allocate(ThreeBuffers(), options));
  EXPECT_EQ(answer.outcome, Outcome::kInfeasible);
  EXPECT_FALSE(answer.allocation);
  EXPECT_THAT(answer.reason, HasSubstr("12 bytes"));
  EXPECT_THAT(answer.explanation, Not(IsEmpty()));
  options.explain = false;
  EXPECT_THAT(Must(Allocate(ThreeBuffers(), options)).explanation, IsEmpty());
}

TEST(Library, ReadsProblemsOfFiles) {
  const Problem problem = Must(Problem::Parse("id,lower,upper,size\na,0,3,8\nb,1,9,4\n"));
  EXPECT_EQ(Must(Problem::Parse(Must(problem.Render("json")))).BufferCount(), 2U);
  EXPECT_THAT(Must(problem.Render("csv")), StartsWith("id,lower,upper,size"));
  const Problem on_chip = Must(problem.InMemoryOf(Npu()));
  EXPECT_THAT(Must(on_chip.Render("json")), HasSubstr("1048576"));
  EXPECT_EQ(Must(Allocate(on_chip)).allocation->Peak(), 16 + 4);  // aligned to 16 bytes
  EXPECT_EQ(Problem::Parse("id,lower,upper,size\na,3,0,8\n", "b.csv").Error().line, 2);
  EXPECT_EQ(Problem::Load("/no/such/file.csv").Error().status, CallStatus::kBadInput);
  EXPECT_EQ(Problem::Make({{"a", 0, {{0, 1}}}}).Error().status, CallStatus::kBadInput);
  EXPECT_EQ(Problem::Make({{"a", 1, {{0, 1}}}, {"a", 1, {{0, 1}}}}).Error().status,
            CallStatus::kBadInput);
  EXPECT_EQ(problem.AtCandidate("rows=7").Error().status, CallStatus::kBadInput);
  AllocateOptions options;
  options.engine = "cplex";
  EXPECT_EQ(Allocate(problem, options).Error().status, CallStatus::kBadInput);
}

TEST(Library, PlacesTheBuffersOfACandidate) {
  const Problem problem =
      Must(Problem::Load(TESSERA_SOURCE_DIR "/examples/problems/halo_candidates.json"));
  ASSERT_THAT(problem.Candidates(), Not(IsEmpty()));
  EXPECT_EQ(Allocate(problem).Error().status, CallStatus::kBadInput);
  const Problem one = Must(problem.AtCandidate(problem.Candidates().front()));
  EXPECT_THAT(one.Candidates(), IsEmpty());
  EXPECT_TRUE(Must(Allocate(one)).allocation);
}

TEST(Library, HasTheVersionOfItsHeaders) {
  EXPECT_EQ(Version(), std::to_string(TESSERA_VERSION_MAJOR) + "." +
                           std::to_string(TESSERA_VERSION_MINOR) + "." +
                           std::to_string(TESSERA_VERSION_PATCH));
}

}  // namespace
}  // namespace tessera::tests
