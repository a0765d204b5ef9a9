// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "exhaustive.h"
#include "files.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/partition/partition.h"

namespace tessera::search {
namespace {

using hw_profiles::HaloStorage;
using hw_profiles::Profile;

graph::Graph NetworkOf(const std::string& name) {
  return NetworkIn("tests/search/partition/bounds/" + name + ".yaml");
}

// Cut along its first axes only, of which bounds are higher.
Profile ProfileOf(const std::string& name) {
  const Profile profile = ProfileIn(name + ".yaml");
  return hw_profiles::WithoutLaterAxes(profile).value_or(profile);
}

partition::answer::PartitionResult Search(const graph::Graph& graph, const Profile& profile,
                                          const std::string& metric) {
  partition::answer::PartitionOptions options;
  options.objective = {.weights = {{metric, 1}}, .limits = {}};
  options.engines = TestEngines();
  options.budget = base::Budget{200'000};
  base::Expected<partition::answer::PartitionResult> result =
      partition::SearchPartition(graph, profile, options);
  EXPECT_TRUE(result) << base::Format(result.error());
  return result ? *std::move(result) : partition::answer::PartitionResult();
}

Profile WithoutKeptRows(Profile profile) {
  profile.tiling.halo = {HaloStorage::kRecompute};
  return profile;
}

// A network whose operators need less behind others than they need alone.
struct Case {
  std::string network;
  std::string profile;
  problem::Bytes floor;
};
void PrintTo(const Case& each, std::ostream* out) {
  *out << each.network << " on " << each.profile;
}

class PeakFloorBehind : public testing::TestWithParam<Case> {};

TEST_P(PeakFloorBehind, IsNoHigherThanPlansOfEitherKind) {
  const graph::Graph graph = NetworkOf(GetParam().network);
  const Profile profile = ProfileOf(GetParam().profile);
  const cost::PeakLowerBound floor = cost::FindPeakLowerBound(graph, profile);
  EXPECT_EQ(floor.bytes, GetParam().floor);
  for (const std::string metric : {"peak", "energy", "latency"}) {
    SCOPED_TRACE(metric);
    const partition::answer::PartitionResult any = Search(graph, profile, metric);
    const partition::answer::PartitionResult recomputing =
        Search(graph, WithoutKeptRows(profile), metric);
    ASSERT_TRUE(any.plan) << any.reason;
    ASSERT_TRUE(recomputing.plan) << recomputing.reason;
    EXPECT_LE(floor.bytes, any.plan->totals.peak_bytes);
    EXPECT_LE(floor.bytes, recomputing.plan->totals.peak_bytes);
    EXPECT_LE(any.plan->score, recomputing.plan->score);
  }
}

// One element needs a window of 3 x 3 of all channels. The weights of 16 output channels, with
// their tables, come on top. An engine of the U65 reads network inputs and weights in DRAM: what
// remains is the row of 512 columns that the crop reads and writes.
constexpr int64_t SliceBytes(int64_t channels, int64_t table) {
  return 16 * (channels * 3 * 3 + table);
}
constexpr std::string_view kFolder = "tests/search/partition/bounds/";

INSTANTIATE_TEST_SUITE_P(
    Networks, PeakFloorBehind,
    testing::Values(Case{"shuffle", "hw_profiles/edge_npu_1mib",
                         3 * 3 * 16 + 1 + SliceBytes(16, 8)},
                    Case{"crop", "hw_profiles/ethos_u65_256", 2 * 512 * 64},
                    Case{"row_of_a_crop", std::string(kFolder) + "channels_only.hw", 2},
                    Case{"zero", std::string(kFolder) + "all_direct.hw", 0},
                    Case{"depth_to_space", "hw_profiles/ethos_u55_256", 10296},
                    Case{"resized_blocks", "hw_profiles/ethos_u55_256", 10296},
                    Case{"resized_blocks", "hw_profiles/ethos_u65_512", 5026},
                    Case{"reshaped_slices", "hw_profiles/ethos_u55_256", 4800},
                    Case{"reshaped_slices", "hw_profiles/ethos_u65_256", 760},
                    Case{"reduced_columns", "hw_profiles/ethos_u55_256", 896},
                    Case{"reduced_columns", "hw_profiles/ethos_u65_256", 672},
                    Case{"reshaped_pool", std::string(kFolder) + "u65_8_kib.hw", 1984},
                    Case{"gathered_columns", std::string(kFolder) + "u65_8_kib.hw", 562}));

// Windows of the last operator lie outside of the convolution's result in all but 17 of many
// columns. The search for a column that reads it ends, and only its constants count.
TEST(PeakFloor, GivesUpOnFarColumns) {
  graph::Graph graph = NetworkOf("far_columns");
  const Profile profile = ProfileOf("hw_profiles/edge_npu_1mib");
  const int far = graph.operators.back().outputs.front();
  for (const int64_t columns : {int64_t{20'000}, int64_t{8'000'000'000}}) {
    graph.tensors[static_cast<size_t>(far)].shape.back() = columns;
    ASSERT_EQ(cost::FindPeakLowerBound(graph, profile).bytes, 8 * (3 * 3 * 8 + 8)) << columns;
  }
}

}  // namespace
}  // namespace tessera::search
