#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "small_machine.h"
#include "tessera/base/random.h"
#include "tessera/search/simulate/simulate.h"

// The loop's cost in closed form, from intervals of rows alone.
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
    times.store = 3 + 5 + Up(Up((high - low) * loop.columns * loop.layers.back().channels, 4) * 4, 2);
    for (size_t i = loop.layers.size(); i-- > 0;) {
      const int64_t in_channels = i == 0 ? loop.channels : loop.layers[i - 1].channels;
      const int64_t kernel = loop.layers[i].kernel;
      times.compute +=
          5 + (high - low) * loop.columns * kernel * Up(loop.layers[i].channels, 2) * Up(in_channels, 2);
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
  const graph::TileShape tile = {1, loop.layers.back().channels, loop.tile, loop.columns};
  return Simulate(graph, SmallMachine(dma), graph::Tile(graph, {0, last}, tile), {}).latency_cycles;
}

TEST(ClosedForm, OwnStepsAddUp) {
  base::Random random(11);
  for (int round = 0; round < 1000; ++round) {
    const Loop loop = AnyLoop(random);
    int64_t expected = ResidentTime(loop);
    for (const TileTimes& tile : TimesOf(loop)) expected += tile.load + tile.compute + tile.store;
    ASSERT_EQ(SimulatedLatency(loop, DmaSteps::kOwnSteps), expected) << "round " << round;
  }
}

TEST(ClosedForm, OverlappedTakesTheGreaterInEachSlot) {
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
    ASSERT_EQ(SimulatedLatency(loop, DmaSteps::kOverlapped), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace tessera::search
