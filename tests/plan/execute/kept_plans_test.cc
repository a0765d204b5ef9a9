// SPDX-License-Identifier: Apache-2.0

#include "kept_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <tuple>

#include "../fixture.h"
#include "base_plans.h"
#include "plans.h"
#include "tessera/plan/verify/tiles.h"

// Plans that keep rows run, with every kind of halo buffer.
namespace tessera::plan::execute {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::HaloStorage;
using hw_profiles::WeightPolicy;
using testing::ElementsAre;
using testing::IsEmpty;
using verify::Tiles;

struct NamedNetwork {
  const char* name;
  graph::Graph (*network)();
};

graph::Graph TenRows() { return TwoConvs(10); }

constexpr std::array kNetworks = {NamedNetwork{"TwoConvs", TenRows},
                                  NamedNetwork{"StridedConvs", StridedConvs},
                                  NamedNetwork{"Skip", Skip},
                                  NamedNetwork{"LeavingMiddle", LeavingMiddle},
                                  NamedNetwork{"Upsampling", Upsampling},
                                  NamedNetwork{"WideConv", WideConv},
                                  NamedNetwork{"SkippingConv", SkippingConv},
                                  NamedNetwork{"Images", Images},
                                  NamedNetwork{"Heads", Heads}};

class Kept : public testing::TestWithParam<std::tuple<size_t, HaloStorage, DmaSteps, bool>> {};

TEST_P(Kept, RunsInTilesOfEverySize) {
  const auto& [index, halo, dma, stored_pads] = GetParam();
  const graph::Graph network = kNetworks.at(index).network();
  const int last = network.operators.back().outputs.front();
  const graph::Shape& shape = network.tensors[static_cast<size_t>(last)].shape;
  const int64_t rows = shape[*RowAxisOf(shape.size())];
  for (int64_t tile = 1; tile < rows; ++tile) {
    for (int64_t images = 1; images <= shape.front(); ++images) {
      for (const WeightPolicy weights : {WeightPolicy::kResident, WeightPolicy::kStreamed}) {
        const Plan plan = Keep(network, tile, {halo, dma, stored_pads, weights}, images);
        EXPECT_THAT(MessagesOf(plan), IsEmpty())
            << "tiles of " << images << " images, " << tile << " rows";
      }
    }
  }
}

TEST_P(Kept, RunsInStripsOfEveryWidth) {
  const auto& [index, halo, dma, stored_pads] = GetParam();
  if (stored_pads) return;  // tiles lie in one strip only
  const graph::Graph network = kNetworks.at(index).network();
  const int last = network.operators.back().outputs.front();
  const graph::Shape& output = network.tensors[static_cast<size_t>(last)].shape;
  if (output.size() < 4) return;  // no columns
  for (int64_t rows = 1; rows < output[2]; ++rows) {
    for (int64_t columns = 1; columns < output[3]; ++columns) {
      for (int64_t images = 1; images <= output.front(); ++images) {
        const Plan plan =
            Keep(network, rows, {halo, dma, stored_pads, WeightPolicy::kResident, columns}, images);
        EXPECT_THAT(MessagesOf(plan), IsEmpty())
            << "tiles of " << images << " images, " << rows << " by " << columns;
      }
    }
  }
}

std::string NameOfKept(const testing::TestParamInfo<Kept::ParamType>& info) {
  const auto& [index, halo, dma, stored_pads] = info.param;
  return std::string(kNetworks.at(index).name) + "_" + std::string(hw_profiles::NameOf(halo)) +
         (dma == DmaSteps::kSerialized ? "_serialized" : "_double_buffered") +
         (stored_pads ? "_pads" : "");
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Kept,
    testing::Combine(testing::Range(size_t{0}, kNetworks.size()),
                     testing::Values(HaloStorage::kRollingBuffer, HaloStorage::kLineBuffer,
                                     HaloStorage::kAdjacent),
                     testing::Values(DmaSteps::kSerialized, DmaSteps::kDoubleBuffered),
                     testing::Bool()),
    NameOfKept);

// Rows of one tensor, tile by tile.
std::vector<std::pair<int64_t, int64_t>> RowsOf(const Tiles& tiles, int tensor, bool made) {
  std::vector<std::pair<int64_t, int64_t>> rows;
  for (int64_t i = 0; i < tiles.Count(); ++i) {
    const verify::Tile tile = tiles.At(i);
    const Box box = made ? MadeOf(tile, tensor) : KeptOf(tile, tensor);
    rows.emplace_back(plan::IsEmpty(box) ? std::pair<int64_t, int64_t>{0, 0}
                                         : std::pair{box[2].begin, box[2].end});
  }
  return rows;
}

using Rows = std::pair<int64_t, int64_t>;
const Rows kNone = {0, 0};

// The second example of docs/program.md.
TEST(RowSweep, LetsOperatorsIdle) {
  Subgraph subgraph;
  subgraph.interval = {0, 1};
  subgraph.tile = {1, 4, 1, 4};
  subgraph.halo = HaloStorage::kRollingBuffer;
  const graph::Graph network = Upsampling();
  const Tiles tiles(network, verify::FindUsers(network), subgraph);
  EXPECT_THAT(RowsOf(tiles, 2, /*made=*/true), ElementsAre(Rows(0, 1), kNone, Rows(1, 2), kNone,
                                                           Rows(2, 3), kNone, Rows(3, 4), kNone));
  EXPECT_THAT(RowsOf(tiles, 0, /*made=*/true),
              ElementsAre(Rows(0, 2), kNone, Rows(2, 3), kNone, Rows(3, 4), kNone, kNone, kNone));
  EXPECT_THAT(RowsOf(tiles, 0, /*made=*/false),
              ElementsAre(kNone, Rows(0, 2), Rows(0, 2), Rows(1, 3), Rows(1, 3), Rows(2, 4),
                          Rows(2, 4), kNone));
}

TEST(RowSweep, SkipsRowsWithoutAReader) {
  Subgraph subgraph;
  subgraph.interval = {0, 1};
  subgraph.tile = {1, 4, 3, 4};
  subgraph.halo = HaloStorage::kRollingBuffer;
  const graph::Graph network = SkippingConv();
  const Tiles tiles(network, verify::FindUsers(network), subgraph);
  EXPECT_THAT(RowsOf(tiles, 3, /*made=*/true), ElementsAre(Rows(0, 4), Rows(4, 7), Rows(7, 9)));
  EXPECT_THAT(RowsOf(tiles, 0, /*made=*/true),
              ElementsAre(Rows(0, 11), Rows(12, 20), Rows(21, 26)));
  EXPECT_EQ(tiles.At(2).made_before.at(0), 11 + 8);
}

TEST(RowSweep, BeginsAboveWithEveryImage) {
  Subgraph subgraph;
  subgraph.interval = {0, 1};
  subgraph.tile = {2, 4, 3, 4};
  subgraph.halo = HaloStorage::kRollingBuffer;
  const graph::Graph network = Images();
  const Tiles tiles(network, verify::FindUsers(network), subgraph);
  EXPECT_THAT(RowsOf(tiles, 0, /*made=*/true),
              ElementsAre(Rows(0, 5), Rows(5, 7), kNone, Rows(0, 5), Rows(5, 7), kNone));
  EXPECT_EQ(tiles.At(3).made_before.at(0), 7);
  EXPECT_EQ(MadeOf(tiles.At(3), 0)[0], (Range{2, 3}));
}

TEST(RowSweep, BringsHomeWhatIsMade) {
  Subgraph subgraph;
  subgraph.interval = {0, 1};
  subgraph.tile = {1, 4, 4, 4};
  subgraph.halo = HaloStorage::kLineBuffer;
  const graph::Graph network = LeavingMiddle();
  const Tiles tiles(network, verify::FindUsers(network), subgraph);
  EXPECT_EQ(tiles.At(0).shares.at(3)[2], (Range{0, 5}));
  EXPECT_EQ(tiles.At(1).shares.at(3)[2], (Range{5, 9}));
  EXPECT_EQ(tiles.At(2).shares.at(3)[2], (Range{9, 10}));
}

TEST(KeptObstacles, AreStripsWithStoredPads) {
  Plan plan = RollingBufferSerialized();
  plan.subgraphs[0].tile = {1, 4, 4, 2};
  plan.profile.tiling.implicit_padding = false;
  EXPECT_THAT(MessagesOf(plan),
              ElementsAre("obstacle: a subgraph keeps rows of tiles that do not lie one below the "
                          "other"));
}

TEST(KeptObstacles, AreTilesThatDoNotLieOneBelowTheOther) {
  Plan plan = RollingBufferSerialized();
  plan.subgraphs[0].tile = {1, 2, 4, 4};
  EXPECT_THAT(MessagesOf(plan),
              ElementsAre("obstacle: a subgraph keeps rows of tiles that do not lie one below the "
                          "other"));
}

}  // namespace
}  // namespace tessera::plan::execute
