// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <set>

#include "tensors.h"
#include "tessera/search/off_chip/tile_aware.h"

namespace tessera::search::off_chip {
namespace {

TensorTile RandomTile(base::Random& random) {
  const Bytes planes = random.Uniform(1, 3), rows = random.Uniform(1, 4),
              row = random.Uniform(1, 4);
  const Bytes first = random.Uniform(0, rows - 1);
  return {
      ChunksOf(StridedBox{
          {planes, random.Uniform(1, rows - first), row}, {rows * row, row, 1}, first * row, 1}),
      {}};
}

TEST(Collision, IsThatOfTheFirstAddressThatBothTilesHave) {
  base::Random random(1);
  int collisions = 0;
  for (int round = 0; round < 5000; ++round) {
    const TensorTile a = RandomTile(random), b = RandomTile(random);
    const Bytes base_a = random.Uniform(0, 20), base_b = random.Uniform(0, 20);
    // The first shared address lies in the first pair of chunks that meet.
    Bytes expected = 0;
    for (Bytes at = 0; at < 100 && expected == 0; ++at) {
      for (const AddressRange& x : a.chunks) {
        for (const AddressRange& y : b.chunks) {
          const bool both = x.begin + base_a <= at && at < x.end + base_a &&
                            y.begin + base_b <= at && at < y.end + base_b;
          if (both) expected = x.end + base_a - (y.begin + base_b);
        }
      }
    }
    ASSERT_EQ(CollisionSize(a, base_a, b, base_b), expected) << "round " << round;
    collisions += expected != 0 ? 1 : 0;
    if (expected != 0) continue;
    const Bytes clearance = ClearanceOf(a, base_a, b, base_b);
    for (Bytes up = 0; up <= std::min<Bytes>(clearance + 1, 60); ++up)
      ASSERT_EQ(CollisionSize(a, base_a + up, b, base_b) != 0, up > clearance) << "round " << round;
  }
  EXPECT_GE(collisions, 1000);
}

TEST(Peers, AreTheItemsThatShareAStep) {
  base::Random random(2);
  for (int round = 0; round < 200; ++round) {
    std::vector<TiledTensor> tensors = RandomTensors(random);
    for (TiledTensor& tensor : tensors) {
      const Step shift = random.Uniform(-3, 3);
      for (TensorTile& tile : tensor.tiles) tile.life.upper += std::max<Step>(0, shift);
    }
    const auto life_of = [&](size_t i, int tile) {
      return tile < 0 ? tensors[i].whole : tensors[i].tiles[static_cast<size_t>(tile)].life;
    };
    const auto peers = FindPeers(tensors);
    for (size_t i = 0; i < tensors.size(); ++i) {
      std::set<std::pair<int, int>> expected, found;
      for (size_t j = 0; j < tensors.size(); ++j) {
        for (int other = -1; other < static_cast<int>(tensors[j].tiles.size()); ++other) {
          for (int own = -1; own < static_cast<int>(tensors[i].tiles.size()); ++own) {
            const Lifespan x = life_of(i, own), y = life_of(j, other);
            if (i != j && x.lower < y.upper && y.lower < x.upper)
              expected.emplace(static_cast<int>(j), other);
          }
        }
      }
      for (const Item& item : peers[i]) found.emplace(item.tensor, item.tile);
      ASSERT_EQ(found, expected) << "round " << round;
      ASSERT_EQ(found.size(), peers[i].size());
    }
  }
}

}  // namespace
}  // namespace tessera::search::off_chip
