// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/tiled_tensor.h"

#include <gmock/gmock.h>

#include <functional>

#include "tensors.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/off_chip/tile_aware.h"

namespace tessera::search::off_chip {
namespace {

using problem::AddressRange;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Chunks, AreTheAddressesOfTheBox) {
  base::Random random(1);
  for (int round = 0; round < 2000; ++round) {
    StridedBox box;
    Bytes stride = box.element = random.Uniform(1, 3);
    for (int64_t axis = random.Uniform(0, 3); axis > 0; --axis) {
      const int64_t extent = random.Uniform(1, 4);
      box.extents.push_back(extent);
      box.strides.push_back(stride);
      stride *= extent + (random.Chance(0.5) ? 0 : random.Uniform(1, 2));
    }
    if (random.Chance(0.5)) {
      std::reverse(box.extents.begin(), box.extents.end());
      std::reverse(box.strides.begin(), box.strides.end());
    }
    box.offset = random.Uniform(0, 9);
    std::vector<Bytes> addresses = AddressesOf(box), found;
    std::sort(addresses.begin(), addresses.end());
    Bytes end = -1;
    for (const AddressRange& chunk : ChunksOf(box)) {
      ASSERT_LT(end, chunk.begin) << "chunks ascend and do not touch";
      end = chunk.end;
      for (Bytes at = chunk.begin; at < chunk.end; ++at) found.push_back(at);
    }
    ASSERT_EQ(found, addresses) << "round " << round;
  }
  EXPECT_THAT(ChunksOf(StridedBox{{2, 0}, {8, 1}, 0, 1}), IsEmpty());
}

TEST(Chunks, OfATensorLiveFromTheFirstToTheLastUseOfEachByte) {
  base::Random random(2);
  for (int round = 0; round < 300; ++round) {
    for (const TiledTensor& tensor : RandomTensors(random)) {
      Bytes end = 0;
      for (const problem::TensorChunk& chunk : ChunksOf(tensor)) {
        ASSERT_EQ(chunk.bytes.begin, end);
        end = chunk.bytes.end;
        for (Bytes at = chunk.bytes.begin; at < chunk.bytes.end; ++at) {
          for (Step step = -1; step < 40; ++step)
            ASSERT_EQ(NeedsByte(tensor, at, step),
                      chunk.life.lower <= step && step < chunk.life.upper);
        }
      }
      ASSERT_EQ(end, tensor.size);
    }
  }
}

// The least peak over all bases up to `most`.
Bytes LeastPeak(const std::vector<TiledTensor>& tensors, Bytes most) {
  Bytes least = most;
  std::vector<Bytes> bases;
  const std::function<void()> place = [&] {
    const size_t next = bases.size();
    if (next == tensors.size()) {
      least = std::min(least, PeakOf(tensors, bases));
      return;
    }
    for (Bytes base = 0; base + tensors[next].size < least; ++base) {
      bases.push_back(base);
      const std::vector<TiledTensor> placed(tensors.begin(),
                                            tensors.begin() + static_cast<int>(next) + 1);
      if (!Collide(placed, bases)) place();
      bases.pop_back();
    }
  };
  place();
  return least;
}

TEST(CompositeBuffers, HaveTheLeastPeakOfAllBases) {
  base::Random random(3);
  const engines::greedy::GreedyEngine greedy;
  const engines::canonical::CanonicalEngine canonical;
  const engines::lazy::LazyEngine lazy;
  const std::vector<const problem::Engine*> all = {&greedy, &canonical, &lazy};
  int below_wholes = 0, above_load = 0;
  for (int round = 0; round < 150; ++round) {
    const std::vector<TiledTensor> tensors = RandomTensors(random);
    problem::Memory memory;
    memory.capacity = 100;
    const problem::TiledProblem tiled = ProblemOfChunks(tensors, memory);
    ASSERT_FALSE(problem::CheckWellFormed(tiled.problem));
    Bytes sum = 0;
    for (const TiledTensor& tensor : tensors) sum += tensor.size;
    const Bytes least = LeastPeak(tensors, sum + 1);
    allocate::AllocateOptions options;
    options.minimize = true;
    for (const auto& engines : {all, {&canonical}, {&lazy}}) {
      const auto result = Allocate(tiled.problem, nullptr, 0, engines, options);
      ASSERT_TRUE(result);
      ASSERT_EQ(result->status, problem::Status::kOptimal) << "round " << round;
      ASSERT_EQ(result->peak, least) << "round " << round;
      std::vector<Bytes> bases;
      for (const size_t chunk : tiled.first_chunk)
        bases.push_back(result->allocation->offsets[chunk]);
      ASSERT_FALSE(Collide(tensors, bases)) << "round " << round;
    }
    const Bytes load = GreatestLoad(tensors);
    ASSERT_LE(load, least) << "round " << round;
    above_load += load < least ? 1 : 0;
    const auto wholes = Allocate(ProblemOfWholes(tensors, memory), nullptr, 0, all, options);
    ASSERT_TRUE(wholes);
    ASSERT_GE(wholes->peak, least);
    below_wholes += least < wholes->peak ? 1 : 0;
    const base::Stop never;
    const auto paper = PlaceTileAware(tensors, never);
    ASSERT_TRUE(paper);
    ASSERT_FALSE(Collide(tensors, *paper)) << "round " << round;
    ASSERT_GE(PeakOf(tensors, *paper), least);
  }
  EXPECT_GE(below_wholes, 60);
  EXPECT_GE(above_load, 5);
}

TEST(CompositeBuffers, JoinChunksOfTensorsThatHaveTooMany) {
  TiledTensor tensor;
  tensor.id = "x";
  tensor.size = 4'000;
  tensor.whole = {4'000, 4'001};
  for (Bytes at = 0; at < tensor.size; ++at) tensor.tiles.push_back({{{at, at + 1}}, {at, 4'001}});
  problem::Memory memory;
  memory.capacity = 1 << 20;
  const problem::TiledProblem tiled = ProblemOfChunks({&tensor, 1}, memory);
  EXPECT_FALSE(tiled.exact);
  EXPECT_EQ(tiled.problem.buffers.size(), 2'000);
  EXPECT_EQ(tiled.problem.buffers[0].size, 2);
  EXPECT_EQ(tiled.problem.buffers[0].lifespans.front(), (Lifespan{0, 4'001}));
}

}  // namespace
}  // namespace tessera::search::off_chip
