// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <array>
#include <filesystem>
#include <set>
#include <vector>

#include "command_line.h"

// Every shipped network on every shipped profile: a plan that check accepts, or a reason why there
// is none.
namespace tessera::cli {
namespace {

using testing::IsEmpty;
using testing::StartsWith;

const std::array<std::string, 8> kProfiles = {
    "edge_npu_1mib", "edge_npu_64kib", "ethos_u55_256",       "ethos_u65_256",
    "ethos_u65_512", "mcu_320k",       "three_bank_two_mode", "tpu_like"};

// These have the memories and layouts of one of those, and so the same answers.
const std::array<std::string, 2> kAlike = {"ethos_u55_128", "ethos_u85_256"};

// The exit code of `tessera plan` on each of kProfiles, and its message where there is no plan.
struct Row {
  std::string network;
  std::array<int, 8> exit_codes;
  std::string reason;
};

// clang-format off
const std::array<Row, 15> kRows = {{
    //                       edge 64k u55 u65 u65 mcu 3bk tpu
    {"event_detector",      {  0,  0,  0,  0,  0,  0,  0,  0}, ""},
    {"fsrcnn_activations",  {  0,  0, 20,  0,  0, 20,  0,  0}, "infeasible: operator 'reconstruct' fits in no subgraph"},
    {"fsrcnn_same",         {  0,  0, 20,  0,  0, 20,  0,  0}, "infeasible: operator 'reconstruct' fits in no subgraph"},
    {"fsrcnn_valid",        {  0,  0, 20,  0,  0, 20,  0,  0}, "infeasible: operator 'reconstruct' fits in no subgraph"},
    {"image_pipeline",      {  0,  0, 20,  0,  0, 20,  0,  0}, "infeasible: operator 'picture' fits in no subgraph"},
    {"mnasnet_130",         {  0,  0,  0,  0,  0,  0,  0,  0}, ""},
    {"mobilenet_v1",        {  0,  0,  0,  0,  0,  0,  0,  0}, ""},
    {"mobilenet_v2",        {  0,  0,  0,  0,  0,  0,  0,  0}, ""},
    {"mobilenet_v2_035",    {  0,  0,  0,  0,  0,  0,  0,  0}, ""},
    {"patent_chain",        {  0,  0,  0,  0,  0,  0,  0,  0}, ""},
    {"patent_fig1",         {  0,  0,  0,  0,  0,  0,  0,  0}, ""},
    {"resnet_18",           {  0,  0,  0,  0,  0,  0,  0,  0}, ""},
    {"squeezenet",          {  0,  0,  0,  0,  0,  0,  0,  0}, ""},
    {"transformer_encoder", {  0,  0,  0,  0,  0,  0,  0,  0}, ""},
    {"vgg_classifier",      {  0,  0, 20,  0,  0, 20,  0,  0}, "infeasible: "},
}};
// clang-format on

struct Pair {
  Row row;
  size_t profile;
};

void PrintTo(const Pair& pair, std::ostream* out) {
  *out << pair.row.network << " on " << kProfiles[pair.profile];
}

std::vector<Pair> AllPairs() {
  std::vector<Pair> pairs;
  for (const Row& row : kRows) {
    for (size_t profile = 0; profile < kProfiles.size(); ++profile) pairs.push_back({row, profile});
  }
  return pairs;
}

class OutcomeTest : public CommandLineTest, public testing::WithParamInterface<Pair> {};

TEST_P(OutcomeTest, IsAsStatedAndThePlanIsRight) {
  const auto& [row, profile] = GetParam();
  Arguments arguments = {"plan",      Shipped("examples/networks/" + row.network + ".yaml"),
                         "--hw",      Shipped("hw_profiles/" + kProfiles[profile] + ".yaml"),
                         "--threads", "1",
                         "--output",  "plan.json"};
  // The best plan of some pairs takes a minute. A refusal needs the whole search, and so does a
  // plan where feature maps have no home off the chip: there is none layer by layer.
  const bool has_layers = kProfiles[profile] != "ethos_u55_256" && kProfiles[profile] != "mcu_320k";
  if (has_layers && row.exit_codes[profile] == 0)
    arguments.insert(arguments.end(), {"--budget", "2000"});
  const Outcome outcome = Run(arguments);
  ASSERT_EQ(outcome.exit_code, row.exit_codes[profile]) << outcome.out << outcome.err;
  if (outcome.exit_code == 0) {
    const Outcome check = Run({"check", "plan.json"});
    EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
  } else {
    EXPECT_THAT(outcome.out, StartsWith(row.reason));
    EXPECT_THAT(Files(), IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Of, OutcomeTest, testing::ValuesIn(AllPairs()), [](const auto& info) {
  return info.param.row.network + "_on_" + kProfiles[info.param.profile];
});

std::set<std::string> StemsIn(const std::string& folder) {
  std::set<std::string> stems;
  for (const auto& entry : std::filesystem::directory_iterator(Shipped(folder))) {
    if (entry.path().extension() == ".yaml") stems.insert(entry.path().stem());
  }
  return stems;
}

TEST(OutcomeTableTest, NamesEveryShippedNetworkAndProfile) {
  std::set<std::string> networks;
  for (const Row& row : kRows) networks.insert(row.network);
  EXPECT_EQ(networks, StemsIn("examples/networks"));
  std::set<std::string> profiles(kProfiles.begin(), kProfiles.end());
  profiles.insert(kAlike.begin(), kAlike.end());
  EXPECT_EQ(profiles, StemsIn("hw_profiles"));
}

}  // namespace
}  // namespace tessera::cli
