// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "small_machine.h"
#include "tessera/base/random.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/tests/search/cost/simulate.h"

// The loop's cost in closed form, computed from intervals of rows alone.
namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;

struct Layer {
  int64_t kernel = 1;
  int64_t channels = 1;
};

struct Loop {
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t channels = 1;
  std::vector<Layer> layers;
  int64_t tile = 1;
};

Loop AnyLoop(base::Random& random) {
  Loop loop;
  loop.rows = random.Uniform(1, 19);
  loop.columns = random.Uniform(1, 4);
  loop.channels = random.Uniform(1, 5);
  const int64_t layers = random.Uniform(1, 3);
  for (int64_t i = 0; i < layers; ++i) {
    loop.layers.push_back({1 + 2 * random.Uniform(0, 2), random.Uniform(1, 5)});
  }
  loop.tile = random.Uniform(1, loop.rows);
  return loop;
}

graph::Graph Build(const Loop& loop) {
  NetworkBuilder net;
  int last = net.Input({1, loop.channels, loop.rows, loop.columns});
  for (const Layer& layer : loop.layers) last = net.Conv(last, layer.kernel, layer.channels);
  return net.Finish(last);
}

int64_t Up(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct TileTimes {
  int64_t load = 0;
  int64_t compute = 0;
  int64_t store = 0;
};

std::vector<TileTimes> TimesOf(const Loop& loop) {
  std::vector<TileTimes> tiles;
  for (int64_t begin = 0; begin < loop.rows; begin += loop.tile) {
    int64_t low = begin;
    int64_t high = std::min(loop.rows, begin + loop.tile);
    TileTimes times;
    times.store =
        3 + 5 + Up(Up((high - low) * loop.columns * loop.layers.back().channels, 4) * 4, 2);
    for (size_t i = loop.layers.size(); i-- > 0;) {
      const int64_t in_channels = i == 0 ? loop.channels : loop.layers[i - 1].channels;
      const int64_t kernel = loop.layers[i].kernel;
      times.compute += 5 + (high - low) * loop.columns * kernel * Up(loop.layers[i].channels, 2) *
                               Up(in_channels, 2);
      low = std::max<int64_t>(0, low - kernel / 2);
      high = std::min(loop.rows, high + kernel / 2);
    }
    times.load = 3 + 7 + Up((high - low) * loop.columns * loop.channels, 4);
    tiles.push_back(times);
  }
  return tiles;
}

int64_t ResidentTime(const Loop& loop) {
  int64_t time = 0;
  for (size_t i = 0; i < loop.layers.size(); ++i) {
    const int64_t in_channels = i == 0 ? loop.channels : loop.layers[i - 1].channels;
    time += 3 + 7 + Up(loop.layers[i].kernel * loop.layers[i].channels * in_channels, 4);
  }
  return time;
}

int64_t SimulatedLatency(const Loop& loop, DmaSteps dma) {
  const graph::Graph graph = Build(loop);
  const int last = static_cast<int>(loop.layers.size()) - 1;
  const graph::tiling::TileShape tile = {1, loop.layers.back().channels, loop.tile, loop.columns};
  return cost::Simulate(graph, SmallMachine(dma), graph::tiling::Tile(graph, {0, last}, tile), {})
      .latency_cycles;
}

TEST(ClosedForm, SerializedAddUp) {
  base::Random random(11);
  for (int round = 0; round < 1000; ++round) {
    const Loop loop = AnyLoop(random);
    int64_t expected = ResidentTime(loop);
    for (const TileTimes& tile : TimesOf(loop)) expected += tile.load + tile.compute + tile.store;
    ASSERT_EQ(SimulatedLatency(loop, DmaSteps::kSerialized), expected) << "round " << round;
  }
}

TEST(ClosedForm, DoubleBufferedTakesTheGreaterInEachSlot) {
  base::Random random(12);
  for (int round = 0; round < 1000; ++round) {
    const Loop loop = AnyLoop(random);
    const std::vector<TileTimes> tiles = TimesOf(loop);
    int64_t expected = ResidentTime(loop) + tiles.front().load + tiles.back().store;
    for (size_t i = 0; i < tiles.size(); ++i) {
      const int64_t load = i + 1 < tiles.size() ? tiles[i + 1].load : 0;
      const int64_t store = i > 0 ? tiles[i - 1].store : 0;
      expected += std::max(tiles[i].compute, load + store);
    }
    ASSERT_EQ(SimulatedLatency(loop, DmaSteps::kDoubleBuffered), expected) << "round " << round;
  }
}

// One convolution over rows, with its channels in slices.
struct Sum {
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t k_extent = 2;
  int64_t channels = 1;
  int64_t kernel = 1;
  int64_t tile = 1;
  int64_t granularity = 1;
};

Sum AnySum(base::Random& random) {
  Sum sum;
  sum.rows = random.Uniform(1, 12);
  sum.columns = random.Uniform(1, 4);
  sum.k_extent = random.Uniform(2, 17);
  sum.channels = random.Uniform(1, 5);
  sum.kernel = 1 + 2 * random.Uniform(0, 1);
  sum.tile = random.Uniform(1, sum.rows);
  sum.granularity = random.Uniform(1, sum.k_extent - 1);
  return sum;
}

struct SumTimes {
  int64_t first = 0;  // slices of both factors
  int64_t later = 0;
  int64_t compute = 0;
  int64_t store = 0;
};

std::vector<SumTimes> TimesOf(const Sum& sum) {
  std::vector<SumTimes> tiles;
  for (int64_t begin = 0; begin < sum.rows; begin += sum.tile) {
    const int64_t end = std::min(sum.rows, begin + sum.tile);
    const int64_t low = std::max<int64_t>(0, begin - sum.kernel / 2);
    const int64_t high = std::min(sum.rows, end + sum.kernel / 2);
    SumTimes times;
    times.store = 3 + 5 + Up(Up((end - begin) * sum.columns * sum.channels, 4) * 4, 2);
    times.compute = 5;
    for (int64_t done = 0; done < sum.k_extent; done += sum.granularity) {
      const int64_t slice = std::min(sum.granularity, sum.k_extent - done);
      const int64_t load = 3 + 7 + (high - low) * sum.columns * Up(slice, 4) + 3 + 7 +
                           sum.channels * Up(slice * sum.kernel, 4);
      (done == 0 ? times.first : times.later) += load;
      times.compute +=
          (end - begin) * sum.columns * sum.kernel * Up(sum.channels, 2) * Up(slice, 2);
    }
    tiles.push_back(times);
  }
  return tiles;
}

int64_t SimulatedLatency(const Sum& sum, DmaSteps dma) {
  NetworkBuilder net;
  const int x = net.Input({1, sum.k_extent, sum.rows, sum.columns});
  const graph::Graph graph = net.Finish(net.Conv(x, sum.kernel, sum.channels));
  hw_profiles::Profile profile = SmallMachine(dma);
  profile.tiling.weights.push_back(hw_profiles::WeightPolicy::kSplitK);
  profile.tiling.k_granularity = sum.granularity;
  const graph::tiling::TileShape tile = {1, sum.channels, sum.tile, sum.columns};
  return cost::Simulate(graph, profile, graph::tiling::Tile(graph, {0, 0}, tile),
                        {.weights = hw_profiles::WeightPolicy::kSplitK})
      .latency_cycles;
}

TEST(ClosedForm, SlicesOfKAddUpSerialized) {
  base::Random random(13);
  for (int round = 0; round < 1000; ++round) {
    const Sum sum = AnySum(random);
    int64_t expected = 0;
    for (const SumTimes& tile : TimesOf(sum))
      expected += tile.first + tile.later + tile.compute + tile.store;
    ASSERT_EQ(SimulatedLatency(sum, DmaSteps::kSerialized), expected) << "round " << round;
  }
}

TEST(ClosedForm, SlicesOfKArriveDuringTheSums) {
  base::Random random(14);
  for (int round = 0; round < 1000; ++round) {
    const Sum sum = AnySum(random);
    const std::vector<SumTimes> tiles = TimesOf(sum);
    int64_t expected = tiles.front().first + tiles.back().store;
    for (size_t i = 0; i < tiles.size(); ++i) {
      const int64_t next = i + 1 < tiles.size() ? tiles[i + 1].first : 0;
      const int64_t store = i > 0 ? tiles[i - 1].store : 0;
      expected += std::max(tiles[i].compute, tiles[i].later + next + store);
    }
    ASSERT_EQ(SimulatedLatency(sum, DmaSteps::kDoubleBuffered), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace tessera::search
