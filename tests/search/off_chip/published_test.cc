// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "tensors.h"
#include "tessera/bench/shared_objects.h"
#include "tessera/problem/result.h"
#include "tessera/problem/validator.h"
#include "tessera/search/off_chip/tile_aware.h"

// What A. Kvochko et al., "Off-Chip Memory Allocation for Neural Processing Units", state.
namespace tessera::search::off_chip {
namespace {

using problem::AddressRange;
using testing::Each;
using testing::ElementsAre;

// Section III.C: the upper halves of the planes of a 4 x 128 x 128 tensor.
const StridedBox kUpperHalves = {{4, 64, 128}, {16384, 128, 1}, 0, 1};

TEST(Published, ChunksOfATile) {
  EXPECT_THAT(ChunksOf(kUpperHalves),
              ElementsAre(AddressRange{0, 8192}, AddressRange{16384, 24576},
                          AddressRange{32768, 40960}, AddressRange{49152, 57344}));
}

TEST(Published, SizeOfACollision) {
  const TensorTile tile = {ChunksOf(kUpperHalves), {}};
  EXPECT_EQ(CollisionSize(tile, 0, tile, 128), 8064);
}

// An elementwise layer from I to O in four tiles of 32 rows. Tile i of I is read at step i, tile i
// of O is written two steps later. Closed [0, i + 1] is half-open [0, i + 2).
TEST(Published, AnElementwiseLayerPutsItsOutputOverItsInput) {
  std::vector<TiledTensor> tensors(2);
  for (TiledTensor& tensor : tensors) tensor.size = 4 * 128 * 128;
  tensors[0].whole = {0, 1};
  tensors[1].whole = {5, 6};
  for (int i = 0; i < 4; ++i) {
    const auto chunks = ChunksOf(StridedBox{{4, 32, 128}, {16384, 128, 1}, i * 32 * 128, 1});
    tensors[0].tiles.push_back({chunks, {0, i + 2}});
    tensors[1].tiles.push_back({chunks, {i + 2, 6}});
  }
  const base::Stop never;
  for (const TensorOrder order : kTensorOrders) {
    const auto bases = PlaceTileAware(tensors, order, never);
    ASSERT_TRUE(bases);
    EXPECT_THAT(*bases, ElementsAre(0, 0));
  }
  problem::Memory memory;
  const problem::Problem wholes = ProblemOfWholes(tensors, memory);
  EXPECT_EQ(problem::PeakOf(wholes, {bench::PlaceSharedObjects(wholes), {}}), 131072);
}

// Table 3, in ten tiles of six rows (the last has one). Closed lifetimes of the paper are half-open
// here. The visit order is ours: the squeeze convolution reads the rows of fire3/concat at steps
// 174, 176, .. 192 and writes its own two tiles at a time behind it; the 3 x 3 convolution of fire4
// runs first and fills channel blocks 2 and 3 at steps 204 to 213, the 1 x 1 convolution then reads
// each row tile for the last time at steps 216 to 225 and overwrites it one step later.
std::vector<TiledTensor> SqueezeNetPeak() {
  constexpr Bytes kBlock = 96800, kRow = 1760;
  const auto rows = [](int tile, int64_t first_block, int64_t blocks) {
    const int64_t first = 6 * tile, count = std::min<int64_t>(6, 55 - first);
    return ChunksOf(StridedBox{
        {blocks, count, 55, 32}, {kBlock, kRow, 32, 1}, first_block * kBlock + first * kRow, 1});
  };
  std::vector<TiledTensor> tensors(3);
  tensors[0].id = "fire3/concat";
  tensors[0].size = 4 * kBlock;
  tensors[0].whole = {160, 161};
  tensors[1].id = "fire4/squeeze/relu";
  tensors[1].size = kBlock;
  tensors[1].whole = {203, 204};
  tensors[2].id = "fire4/concat";
  tensors[2].size = 4 * kBlock;
  tensors[2].whole = {240, 255};
  for (int i = 0; i < 10; ++i) {
    tensors[0].tiles.push_back({rows(i, 0, 4), {150 + i, 161}});
    tensors[0].tiles.push_back({rows(i, 0, 4), {160, 174 + 2 * i + 1}});
    tensors[1].tiles.push_back({rows(i, 0, 1), {i < 9 ? 183 + i : 193, 204}});
    tensors[1].tiles.push_back({rows(i, 0, 1), {203, 216 + i + 1}});
    tensors[2].tiles.push_back({rows(i, 2, 2), {204 + i, 241}});
    tensors[2].tiles.push_back({rows(i, 0, 2), {216 + i + 1, 241}});
  }
  return tensors;
}

TEST(Published, SqueezeNetsPeakLiesAtOneOffset) {
  const std::vector<TiledTensor> tensors = SqueezeNetPeak();
  EXPECT_EQ(tensors[0].Life(), (Lifespan{150, 193}));
  EXPECT_EQ(tensors[1].Life(), (Lifespan{183, 226}));
  EXPECT_EQ(tensors[2].Life(), (Lifespan{204, 255}));
  const base::Stop never;
  const auto bases = PlaceTileAware(tensors, never);
  ASSERT_TRUE(bases);
  EXPECT_THAT(*bases, Each(0));
  problem::Memory memory;
  const problem::Problem wholes = ProblemOfWholes(tensors, memory);
  EXPECT_EQ(problem::PeakOf(wholes, {bench::PlaceSharedObjects(wholes), {}}), 96800 + 4 * 96800);
}

// Every row of a tensor is as if it were one byte, so the enumeration is of rows.
TEST(Published, NoOtherBasesOfSqueezeNetsPeakAreLower) {
  std::vector<TiledTensor> tensors = SqueezeNetPeak();
  for (TiledTensor& tensor : tensors) {
    tensor.size /= 1760;
    for (TensorTile& tile : tensor.tiles) {
      for (AddressRange& chunk : tile.chunks) chunk = {chunk.begin / 1760, chunk.end / 1760};
    }
  }
  int valid = 0;
  for (Bytes a = 0; a < 4; ++a) {
    for (Bytes b = 0; b < 240; b += 4) {
      for (Bytes c = 0; c < 4; ++c) {
        if (Collide(tensors, {a, b, c})) continue;
        EXPECT_GE(PeakOf(tensors, std::vector<Bytes>{a, b, c}), 220);
        ++valid;
      }
    }
  }
  EXPECT_FALSE(Collide(tensors, {0, 0, 0}));
  EXPECT_EQ(PeakOf(tensors, std::vector<Bytes>{0, 0, 0}), 220);
  EXPECT_GE(valid, 10);
}

TEST(SharedObjects, AreAPlacement) {
  base::Random random(4);
  for (int round = 0; round < 300; ++round) {
    problem::Problem problem;
    problem.memories.resize(1);
    problem.memories[0].capacity = 1000;
    for (int64_t i = random.Uniform(1, 8); i > 0; --i) {
      problem::Buffer buffer;
      buffer.id = "b" + std::to_string(i);
      buffer.size = random.Uniform(1, 9);
      buffer.alignment = random.Uniform(1, 2);
      const Step lower = random.Uniform(0, 6);
      buffer.lifespans = {{lower, lower + random.Uniform(1, 4)}};
      problem.buffers.push_back(buffer);
    }
    for (const bench::ObjectStrategy strategy : bench::kObjectStrategies) {
      const problem::Allocation allocation = {bench::PlaceSharedObjects(problem, strategy), {}};
      ASSERT_TRUE(Validate(problem, allocation, 1000).empty()) << "round " << round;
    }
  }
}

// Object 0 has a and c, object 1 has b and d: 5 + 4.
TEST(SharedObjects, SumOfTheLargestOfEachObject) {
  problem::Problem problem;
  problem.memories.resize(1);
  for (const auto& [id, size, lower, upper] :
       {std::tuple("a", 5, 0, 2), {"b", 4, 1, 3}, {"c", 3, 2, 4}, {"d", 2, 3, 5}}) {
    problem::Buffer buffer;
    buffer.id = id;
    buffer.size = size;
    buffer.lifespans = {{lower, upper}};
    problem.buffers.push_back(buffer);
  }
  EXPECT_THAT(bench::PlaceSharedObjects(problem), ElementsAre(0, 5, 0, 5));
}

}  // namespace
}  // namespace tessera::search::off_chip
