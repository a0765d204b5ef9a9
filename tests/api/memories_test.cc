// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <tessera/tessera.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "fixture.h"

// Problems with several memories: the answers of the command, and those of brute force.
namespace tessera::tests {
namespace {

using testing::HasSubstr;
using Weights = std::vector<std::pair<std::string, double>>;

// 160 bytes are needed in sram, 60 in tcm.
constexpr std::string_view kTwoMemories = R"({
  "format": "tessera-problem", "version": 1,
  "memories": [{"name": "sram", "capacity": 1000}, {"name": "tcm", "capacity": 500}],
  "buffers": [
    {"id": "a", "size": 100, "lifespans": [[0, 4]], "memory": "sram"},
    {"id": "b", "size": 60, "lifespans": [[2, 6]], "memory": "sram"},
    {"id": "c", "size": 50, "lifespans": [[0, 4]], "memory": "tcm"},
    {"id": "d", "size": 60, "lifespans": [[5, 6]], "memory": "tcm"}
  ]
})";

Problem TwoMemories() { return Must(Problem::Parse(kTwoMemories)); }

std::string AnswerOfCommand(const std::string& options) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("memories_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "two.json") << kTwoMemories;
  const std::string command = std::string(TESSERA_COMMAND) + " alloc " +
                              (folder / "two.json").string() + " " + options + " --output " +
                              (folder / "placed.json").string() + " >" + (folder / "text").string();
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::ostringstream text;
  text << std::ifstream(folder / "placed.json").rdbuf();
  std::filesystem::remove_all(folder);
  return text.str();
}

TEST(SeveralMemories, AreMinimisedAsByTheCommand) {
  struct Case {
    std::string options;
    bool minimize;
    Weights peaks;
    std::vector<std::pair<std::string, std::int64_t>> capacities;
    double gap_percent = 0;
  };
  const std::vector<Case> cases = {
      {"--minimize", true, {}, {}},
      {"--minimize=sum", false, {{"sum", 1}}, {}},
      {"--minimize=relative", false, {{"relative", 1}}, {}},
      {"--minimize=sram", false, {{"sram", 1}}, {}},
      {"--minimize=tcm", false, {{"tcm", 1}}, {}},
      {"--minimize=sram=2,tcm", true, {{"sram", 2}, {"tcm", 1}}, {}},
      {"--minimize=tcm=0.25 --gap 10%", false, {{"tcm", 0.25}}, {}, 10},
      {"--capacity sram=160,tcm=60", false, {}, {{"sram", 160}, {"tcm", 60}}},
      {"--capacity tcm=64 --minimize=relative", false, {{"relative", 1}}, {{"tcm", 64}}}};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.options);
    AllocateOptions options;
    options.minimize = each.minimize;
    options.peaks = each.peaks;
    options.gap_percent = each.gap_percent;
    const AllocateAnswer answer =
        Must(Allocate(Must(TwoMemories().WithCapacities(each.capacities)), options));
    ASSERT_TRUE(answer.allocation) << answer.reason;
    EXPECT_EQ(Must(answer.allocation->Render("json")), AnswerOfCommand(each.options));
    EXPECT_TRUE(Must(Check(*answer.allocation)).accepted);
  }
}

TEST(SeveralMemories, HaveAPeakEach) {
  AllocateOptions options;
  options.peaks = {{"sram", 2}, {"tcm", 1}};
  const AllocateAnswer answer = Must(Allocate(TwoMemories(), options));
  EXPECT_EQ(answer.outcome, Outcome::kOptimal);
  ASSERT_EQ(answer.peaks.size(), 2U);
  EXPECT_EQ(answer.peaks[0].memory, "sram");
  EXPECT_EQ(answer.peaks[0].peak, 160);
  EXPECT_EQ(answer.peaks[1].memory, "tcm");
  EXPECT_EQ(answer.peaks[1].peak, 60);
  EXPECT_EQ(answer.peaks[1].lower_bound, 60);
  EXPECT_EQ(answer.score, 380);
  EXPECT_EQ(answer.score_bound, 380);
  EXPECT_TRUE(Must(Allocate(TwoMemories())).peaks.empty());
}

TEST(SeveralMemories, AreNamedInFaults) {
  const Problem problem = TwoMemories();
  const Error unknown = problem.WithCapacities({{"tcn", 64}}).Error();
  EXPECT_EQ(unknown.status, CallStatus::kBadInput);
  EXPECT_EQ(unknown.message, "capacities: the problem has no memory 'tcn'");
  EXPECT_EQ(unknown.hint, "did you mean 'tcm'?");
  EXPECT_THAT(problem.WithCapacities({{"tcm", 64}, {"tcm", 60}}).Error().message,
              HasSubstr("'tcm' is named twice"));
  EXPECT_THAT(problem.WithCapacities({{"tcm", -1}}).Error().message, HasSubstr("out of range"));
  const auto fault_of = [&](const Weights& peaks) {
    AllocateOptions options;
    options.peaks = peaks;
    return Allocate(problem, options).Error().message;
  };
  EXPECT_THAT(fault_of({{"tcn", 1}}), HasSubstr("peaks: the problem has no memory 'tcn'"));
  EXPECT_THAT(fault_of({{"tcm", 0}}), HasSubstr("out of range"));
  EXPECT_THAT(fault_of({{"tcm", 1}, {"tcm", 2}}), HasSubstr("named twice"));
  EXPECT_THAT(fault_of({{"sum", 2}}), HasSubstr("no memory 'sum'"));
  AllocateOptions options;
  options.certify = true;
  options.peaks = {{"sram", 1}};
  EXPECT_TRUE(Must(Allocate(problem, options)).certificate);
  options.peaks = {{"sum", 1}};
  EXPECT_THAT(Allocate(problem, options).Error().message, HasSubstr("the first memory alone"));
  options = {};
  options.gap_percent = -1;
  EXPECT_THAT(Allocate(problem, options).Error().message, HasSubstr("gap_percent"));
}

// Sessions and revisions keep peaks of several memories apart from other answers.
TEST(SeveralMemories, AreAskedAboutInSessionsAndRevisions) {
  const Problem problem = TwoMemories();
  const Session session;
  AllocateOptions options;
  std::int64_t asked = 0;
  for (const Weights& peaks : {Weights{}, Weights{{"sum", 1}}, Weights{{"relative", 1}},
                               Weights{{"tcm", 1}}, Weights{{"tcm", 2}}}) {
    options.peaks = peaks;
    const AllocateAnswer known = Must(session.Allocate(problem, options));
    EXPECT_EQ(session.Count().misses, ++asked);
    EXPECT_EQ(Must(known.allocation->Render("json")),
              Must(Must(Allocate(problem, options)).allocation->Render("json")));
  }
  options.gap_percent = 5;
  Must(session.Allocate(problem, options));
  EXPECT_EQ(session.Count().misses, ++asked);
  options = {};
  options.minimize = true;
  const Revision smaller = {{}, {}, {{"d", 40}}};
  const RevisedAnswer revised = Must(session.Revise(problem, smaller, options));
  EXPECT_EQ(revised.outcome, Outcome::kOptimal);
  ASSERT_EQ(revised.peaks.size(), 2U);
  EXPECT_EQ(revised.peaks[1].peak, 50);
  EXPECT_EQ(revised.score, 210);
}

struct Drawn {
  std::int64_t size, lower, upper;
};

// The least peak of few buffers, by trying all addresses.
std::int64_t LeastPeak(const std::vector<Drawn>& buffers) {
  std::int64_t most = 0;
  for (const Drawn& buffer : buffers) most += buffer.size;
  std::vector<std::int64_t> offsets(buffers.size());
  std::int64_t least = most;
  const std::function<void(size_t, std::int64_t)> place = [&](size_t i, std::int64_t peak) {
    if (i == buffers.size()) least = std::min(least, peak);
    if (i == buffers.size() || peak >= least) return;
    for (offsets[i] = 0; offsets[i] + buffers[i].size <= most; ++offsets[i]) {
      const auto collides = [&](size_t k) {
        return buffers[k].lower < buffers[i].upper && buffers[i].lower < buffers[k].upper &&
               offsets[k] < offsets[i] + buffers[i].size &&
               offsets[i] < offsets[k] + buffers[k].size;
      };
      bool is_free = true;
      for (size_t k = 0; k < i && is_free; ++k) is_free = !collides(k);
      if (is_free) place(i + 1, std::max(peak, offsets[i] + buffers[i].size));
    }
  };
  place(0, 0);
  return buffers.empty() ? 0 : least;
}

TEST(SeveralMemories, HaveTheLeastPeaksOfBruteForce) {
  std::mt19937 random(7);  // NOLINT(cert-msc*): the same problems in every run
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random() % static_cast<unsigned>(most - least + 1));
  };
  for (int round = 0; round < 200; ++round) {
    std::array<std::vector<Drawn>, 3> buffers;
    std::string rows;
    for (int i = 0; i < 9; ++i) {
      const std::int64_t lower = draw(0, 6);
      const Drawn drawn = {draw(1, 5), lower, draw(lower + 1, 8)};
      const auto memory = static_cast<size_t>(draw(0, 2));
      buffers.at(memory).push_back(drawn);
      rows += std::string(i == 0 ? "" : ",") + R"({"id": "b)" + std::to_string(i) +
              R"(", "size": )" + std::to_string(drawn.size) + R"(, "lifespans": [[)" +
              std::to_string(drawn.lower) + "," + std::to_string(drawn.upper) +
              R"(]], "memory": "m)" + std::to_string(memory) + "\"}";
    }
    const Problem problem = Must(Problem::Parse(
        R"({"format": "tessera-problem", "version": 1, "memories": [{"name": "m0", "capacity": 99},)"
        R"({"name": "m1", "capacity": 99}, {"name": "m2", "capacity": 99}], "buffers": [)" +
        rows + "]}"));
    SCOPED_TRACE(rows);
    const std::array<std::int64_t, 3> least = {LeastPeak(buffers[0]), LeastPeak(buffers[1]),
                                               LeastPeak(buffers[2])};
    AllocateOptions options;
    options.minimize = true;
    const AllocateAnswer sum = Must(Allocate(problem, options));
    ASSERT_EQ(sum.outcome, Outcome::kOptimal);
    EXPECT_EQ(sum.score, static_cast<double>(least[0] + least[1] + least[2]));
    options.peaks = {{"m2", 3}, {"m1", 0.5}};
    const AllocateAnswer weighted = Must(Allocate(problem, options));
    EXPECT_EQ(weighted.score,
              0.5 * static_cast<double>(least[1]) + 3 * static_cast<double>(least[2]));
    EXPECT_EQ(weighted.score_bound, weighted.score);
    std::vector<std::pair<std::string, std::int64_t>> just = {
        {"m0", least[0]}, {"m1", least[1]}, {"m2", least[2]}};
    EXPECT_TRUE(Must(Allocate(Must(problem.WithCapacities(just)))).allocation);
    if (least[1] == 0) continue;
    just[1].second -= 1;
    EXPECT_EQ(Must(Allocate(Must(problem.WithCapacities(just)))).outcome, Outcome::kInfeasible);
  }
}

}  // namespace
}  // namespace tessera::tests
