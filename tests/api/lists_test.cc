// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <tessera/tessera.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "fixture.h"

// Lists of buffers in other formats, in figures and generated; constants of profiles from measured
// cycles; and differences of plans.
namespace tessera::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Lists, AreReadAndWrittenInEachFormat) {
  ListRequest request;
  request.family = "random";
  request.buffers = 30;
  const Problem problem = Must(GenerateList(request)).problem;
  for (const std::string& format : Must(ListFormats())) {
    const WrittenList list = Must(WriteList(problem, {format}));
    EXPECT_EQ(list.buffers, 30U) << format;
    EXPECT_EQ(Must(problem.Render(format)), list.text) << format;
    if (format == "tflite-micro") {
      EXPECT_EQ(Problem::Parse(list.text, "plan", {format}).Error().status, CallStatus::kBadInput);
      continue;
    }
    const Problem again = Must(Problem::Parse(list.text, "list", {format}));
    EXPECT_EQ(Must(WriteList(again, {format})).pairs, list.pairs) << format;
  }
}

TEST(Lists, OfOtherLifetimesMeetTheSameLives) {
  const std::string inclusive = "id,start,end,size\na,0,3,8\nb,3,5,4\nc,4,6,8\n";
  const Problem problem = Must(Problem::Parse(inclusive, "list.csv", {"csv", "inclusive"}));
  const WrittenList half_open = Must(WriteList(problem, {"csv"}));
  EXPECT_EQ(half_open.text, "id,lower,upper,size\na,0,4,8\nb,3,6,4\nc,4,7,8\n");
  EXPECT_EQ(half_open.load, 12);
  EXPECT_EQ(half_open.pairs, 2);
  EXPECT_EQ(Must(WriteList(problem, {"csv", "inclusive"})).text, inclusive);
  // Without stated lifetimes `end` would be ambiguous.
  EXPECT_THAT(Problem::Parse(inclusive, "list.csv").Error().text, HasSubstr("end"));
}

TEST(Lists, RefuseWordsThatTheyDoNotKnow) {
  const Problem problem = ThreeBuffers();
  EXPECT_THAT(WriteList(problem, {"onnx"}).Error().text, HasSubstr("executorch"));
  EXPECT_THAT(WriteList(problem, {"csv", "closed"}).Error().text, HasSubstr("inclusive"));
  EXPECT_THAT(WriteList(problem, {}).Error().text, HasSubstr("format"));
  EXPECT_THAT(WriteList(problem, {"tvm", "inclusive"}).Error().text, HasSubstr("CSV"));
  EXPECT_THAT(Problem::Parse("x", "list", {"onnx"}).Error().text, HasSubstr("executorch"));
  // A buffer with a gap in its life.
  EXPECT_EQ(WriteList(problem, {"trace"}).Error().status, CallStatus::kUnsupported);
}

TEST(Lists, HaveFigures) {
  const Statistics found = Must(StatisticsOf(ThreeBuffers()));
  ASSERT_EQ(found.memories.size(), 1U);
  const MemoryStatistics& memory = found.memories[0];
  EXPECT_EQ(memory.buffers, 3);
  EXPECT_EQ(memory.load, 12);
  EXPECT_EQ(memory.load_step, 1);
  EXPECT_EQ(memory.pairs, 3);  // b lives twice, and c meets both
  EXPECT_EQ(memory.sizes.least, 4);
  EXPECT_EQ(memory.sizes.most, 8);
  EXPECT_EQ(memory.lives_with_gaps, 1);
  EXPECT_EQ(memory.alignment, 4);
  EXPECT_EQ(memory.elementary, "no");
  EXPECT_EQ(memory.predicted, "at once");
  EXPECT_THAT(found.text, HasSubstr("12 bytes, first at step 1"));
  EXPECT_THAT(found.json, HasSubstr("\"load\": 12"));
}

TEST(Lists, AreGeneratedFromASeed) {
  ListRequest request;
  for (const ListFamily& family : Must(ListFamilies())) {
    request.family = family.name;
    request.parameters.clear();
    for (const ListParameter& parameter : family.parameters)
      request.parameters.emplace_back(parameter.name, parameter.otherwise);
    const std::string first = Must(Must(GenerateList(request)).problem.Render("json"));
    EXPECT_EQ(first, Must(Must(GenerateList(request)).problem.Render("json"))) << family.name;
    request.seed += 1;
    EXPECT_NE(first, Must(Must(GenerateList(request)).problem.Render("json"))) << family.name;
  }
  request.family = "perfct";
  request.parameters.clear();
  EXPECT_THAT(GenerateList(request).Error().hint, HasSubstr("perfect"));
  request.family = "perfect";
  request.parameters = {{"alive", 3}};
  EXPECT_THAT(GenerateList(request).Error().text, HasSubstr("alive"));
  request.parameters = {{"aliv", 3}};
  EXPECT_THAT(GenerateList(request).Error().text, HasSubstr("aliv"));
  request.parameters = {};
  request.buffers = 1;
  EXPECT_THAT(GenerateList(request).Error().text, HasSubstr("buffers"));
}

// A placed list without relations.
Allocation FreeOfRelations() {
  ListRequest request;
  request.family = "perfect";
  request.buffers = 40;
  return *Must(Allocate(Must(GenerateList(request)).problem)).allocation;
}

TEST(Lists, KeepTheSolutionThatTheirVariationsAgreeWith) {
  ListRequest request;
  request.family = "perfect";
  request.buffers = 40;
  request.fixed_share = 0.5;
  request.separated = 5;
  const GeneratedList generated = Must(GenerateList(request));
  EXPECT_EQ(Must(StatisticsOf(generated.problem)).memories[0].relations, generated.separated);
  const AllocateAnswer placed = Must(Allocate(generated.problem));
  ASSERT_TRUE(placed.allocation);

  // A CSV with offsets is a list whose solution is known.
  const Problem solved = Must(Problem::Parse(Must(FreeOfRelations().Render("csv"))));
  ListVariations variations;
  variations.fixed_share = 0.25;
  variations.penalties = 7;
  variations.values = true;
  const GeneratedList varied = Must(VaryList(solved, variations));
  EXPECT_EQ(varied.penalties, 7);
  EXPECT_TRUE(Must(Allocate(varied.problem)).allocation);
  variations.fixed_share = 1.5;
  EXPECT_THAT(VaryList(solved, variations).Error().text, HasSubstr("0 to 1"));
  variations.fixed_share = 0.5;
  EXPECT_THAT(VaryList(ThreeBuffers(), variations).Error().text, HasSubstr("has no offset"));
}

// Cycles of a profile with a slower memory, which the fit finds.
TEST(ProfileFits, FindTheConstantsThatMadeTheCycles) {
  const Network network = Must(Network::Load(kNetwork));
  const Profile profile = Npu();
  Profile real = profile;
  for (const char* path : {"read_bytes_per_cycle", "write_bytes_per_cycle"})
    real = Must(real.With(std::string("/memories/dram/port/") + path, "6"));
  std::string csv = "network,operators,cycles\n";
  for (const std::string id : {"block2_expand", "block3_expand", "block5_project", "block9_expand",
                               "block11_project", "block13_expand", "block16_project"}) {
    TileOptions options;
    options.operators = id;
    options.all = true;
    const TileAnswer found = Must(FindTiles(network, real, options));
    for (const Tile& tile : found.tiles) {
      if (tile.tiles == 1 && tile.policy == "resident" && tile.latency_cycles)
        csv += "net," + id + "," + std::to_string(*tile.latency_cycles) + "\n";
    }
  }
  const Measurements measured = Must(Measurements::Parse(csv, profile, {{"net", network}}));
  ASSERT_GE(measured.Count(), 5U) << csv;
  EXPECT_THAT(measured.NetworkFiles(), IsEmpty());
  const ProfileFit fit = Must(FitProfile(profile, measured));
  ASSERT_TRUE(fit.before && fit.after);
  EXPECT_LT(fit.after->median, fit.before->median / 2) << fit.text;
  EXPECT_FALSE(fit.stopped);
  EXPECT_THAT(fit.json, HasSubstr("\"complete\": true"));
  EXPECT_THAT(Must(fit.profile.Render()), HasSubstr("bytes_per_cycle"));
  CallOptions options;
  options.timeout_s = 0;
  EXPECT_TRUE(Must(FitProfile(profile, measured, options)).stopped);
  EXPECT_THAT(Measurements::Parse(csv, profile, {}).Error().text,
              HasSubstr("a network of the call"));
}

TEST(Profiles, NameTheirFilesAndRenderNothingThatTheyWouldLose) {
  EXPECT_THAT(Must(Npu().Files()), ElementsAre(kProfile));
  EXPECT_EQ(Must(Npu().Render()), Npu().Json());
  const std::string path = testing::TempDir() + "extends_" + std::to_string(getpid()) + ".yaml";
  std::ofstream(path) << "extends: " << kProfile << "\nname: own\nops: {mine: {like: relu}}\n";
  const Profile extended = Must(Profile::Load(path));
  EXPECT_THAT(Must(extended.Files()), ElementsAre(path, kProfile));
  const Error error = extended.Render().Error();
  EXPECT_EQ(error.status, CallStatus::kUnsupported);
  EXPECT_EQ(error.file, path);
  EXPECT_EQ(error.line, 3);
  std::filesystem::remove(path);
}

TEST(Differences, AreOfCircumstancesSubgraphsAndMetrics) {
  const Plan first = PlanOf(Chain(), Npu());
  const Plan second = PlanOf(Chain(), Must(Npu().With("/memories/sram/capacity_bytes", "16384")));
  const PlanDifference difference = Must(Difference(first, second));
  EXPECT_THAT(difference.text, HasSubstr("latency"));
  EXPECT_THAT(difference.json, HasSubstr("\"same\": false"));
  EXPECT_THAT(Must(Difference(first, first)).json, HasSubstr("\"same\": true"));
}

}  // namespace
}  // namespace tessera::tests
