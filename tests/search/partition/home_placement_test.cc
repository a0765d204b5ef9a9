// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/problem/validator.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/partition/placement/home_and_joint_placement.h"

namespace tessera::search {
namespace {

using problem::Bytes;
using testing::ElementsAre;

struct Guest {
  Bytes size;
  problem::Lifespan subgraphs;
};

encoder::program::HomeProblem HomeOf(Bytes capacity, Bytes alignment,
                                     const std::vector<Guest>& guests) {
  encoder::program::HomeProblem home;
  home.memory = 1;
  problem::Memory memory;
  memory.name = "dram";
  memory.capacity = capacity;
  home.problem.memories = {memory};
  for (const Guest& guest : guests) {
    problem::Buffer buffer;
    buffer.id = "t" + std::to_string(home.tensors.size());
    buffer.size = guest.size;
    buffer.alignment = alignment;
    buffer.lifespans = {guest.subgraphs};
    home.tensors.push_back(static_cast<int>(home.tensors.size()));
    home.problem.buffers.push_back(std::move(buffer));
  }
  return home;
}

partition::placement::HomePlacement Place(encoder::program::HomeProblem home,
                                          const base::Stop& stop) {
  const engines::greedy::GreedyEngine greedy;
  const engines::canonical::CanonicalEngine canonical;
  base::Expected<partition::placement::HomePlacement> placement =
      partition::placement::PlaceHomes({std::move(home)}, {&greedy, &canonical}, {100'000},
                                       partition::placement::PeakEffort::kLittle, stop);
  EXPECT_TRUE(placement.has_value());
  return *std::move(placement);
}

TEST(HomePlacement, SharesBytesBetweenTensorsThatNeverMeet) {
  const base::Stop never;
  const partition::placement::HomePlacement placement =
      Place(HomeOf(64, 16, {{48, {0, 1}}, {16, {0, 3}}, {48, {1, 3}}}), never);
  EXPECT_EQ(placement.reason, "");
  ASSERT_EQ(placement.homes.size(), 1U);
  const plan::Home& home = placement.homes[0];
  EXPECT_EQ(home.memory, 1);
  EXPECT_THAT(home.tensors, ElementsAre(0, 1, 2));
  EXPECT_TRUE(problem::Validate(home.problem, home.allocation, 64).empty());
}

// 48 + 16 bytes are 64, but only 0 and 32 are addresses.
TEST(HomePlacement, SaysWhichMemoryHasNoPlacementAlthoughTheLoadFits) {
  const base::Stop never;
  const partition::placement::HomePlacement placement =
      Place(HomeOf(64, 32, {{48, {0, 1}}, {16, {0, 1}}}), never);
  EXPECT_EQ(placement.status, problem::Status::kInfeasible);
  EXPECT_THAT(placement.reason,
              testing::StartsWith("tensors at home in memory 'dram' have no addresses: "));
  EXPECT_TRUE(placement.homes.empty());
}

TEST(HomePlacement, StillPlacesWhatIsEasyAfterAStop) {
  const base::Stop stopped(base::Stop::Clock::now());
  EXPECT_EQ(Place(HomeOf(64, 16, {{48, {0, 1}}, {16, {0, 1}}}), stopped).homes.size(), 1U);
}

}  // namespace
}  // namespace tessera::search
