// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/well_formed.h"

#include <gtest/gtest.h>

#include "fixture.h"
#include "tessera/base/arithmetic.h"

namespace tessera::problem {
namespace {

using base::kMaxTotal;

Problem Sound() {
  Problem problem = BankedProblem({MakeBuffer("a", 0, 2, 4), MakeBuffer("b", 1, 4, 4)});
  problem.buffers[0].accesses = {{0, "pe", AccessKind::kWrite}};
  problem.relations = {{RelationKind::kSeparate, 0, 1, 0}};
  problem.loops = {{1, 3, {3}}};
  return problem;
}

// The pointer of the fault after `spoil` has changed a valid problem; "sound" when there is none.
template <typename Spoil>
std::string FaultAfter(Spoil spoil) {
  Problem problem = Sound();
  spoil(problem);
  const auto fault = CheckWellFormed(problem);
  return fault ? fault->pointer : "sound";
}

TEST(WellFormedTest, ASoundProblemHasNoFault) {
  EXPECT_EQ(FaultAfter([](Problem&) {}), "sound");
}

TEST(WellFormedTest, MemoriesAreChecked) {
  EXPECT_EQ(FaultAfter([](Problem& p) { p.memories.clear(); }), "/memories");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.memories[0].capacity = -1; }), "/memories/0/capacity");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.memories[0].alignment = 0; }), "/memories/0/alignment");
  EXPECT_EQ(FaultAfter([](Problem& p) {
              p.memories[0].reserved = {{{4, 4}, ""}};
            }),
            "/memories/0/reserved/0");
}

TEST(WellFormedTest, BanksAreChecked) {
  EXPECT_EQ(FaultAfter([](Problem& p) {
              p.memories[0].banks[1].range = {7, 16};
            }),
            "/memories/0/banks/1");
  EXPECT_EQ(FaultAfter([](Problem& p) {
              p.memories[0].banks[1].range = {8, 17};
            }),
            "/memories/0/banks/1");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.memories[0].banks[0].ports.reads = -1; }),
            "/memories/0/banks/0/ports");
}

TEST(WellFormedTest, ModesAreChecked) {
  EXPECT_EQ(FaultAfter([](Problem& p) { p.memories[0].modes[1].banks.pop_back(); }),
            "/memories/0/modes/1");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.memories[0].modes[0].banks[1].off = true; }),
            "/memories/0/modes/0/banks/1");
  EXPECT_EQ(FaultAfter([](Problem& p) {
              p.memories[0].transitions = {{{0, 3}}};
            }),
            "/memories/0/transitions/0");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.buffers[1].lifespans[0].upper = kMaxModeSteps + 1; }),
            "/memories/0/modes");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.buffers[1].lifespans[0].upper = kMaxModeSteps; }),
            "sound");
}

TEST(WellFormedTest, BuffersAreChecked) {
  EXPECT_EQ(FaultAfter([](Problem& p) { p.buffers[1].id = "a"; }), "/buffers/1/id");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.buffers[1].id = ""; }), "/buffers/1/id");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.buffers[0].size = 0; }), "/buffers/0/size");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.buffers[0].alignment = 0; }), "/buffers/0/alignment");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.buffers[0].memory = 1; }), "/buffers/0/memory");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.buffers[0].memory = -1; }), "/buffers/0/memory");
  EXPECT_EQ(FaultAfter([](Problem& p) {
              p.buffers[0].allowed_banks = {0, 2};
            }),
            "/buffers/0/allowed_banks/1");
  EXPECT_EQ(FaultAfter([](Problem& p) {
              p.buffers[0].allowed_banks = {1, 0};
            }),
            "/buffers/0/allowed_banks/1");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.buffers[0].offset = -4; }), "/buffers/0/offset");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.buffers[0].hint = -4; }), "/buffers/0/hint");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.buffers[0].accesses[0].step = 2; }),
            "/buffers/0/accesses/0");
}

TEST(WellFormedTest, LifespansAreChecked) {
  EXPECT_EQ(FaultAfter([](Problem& p) { p.buffers[1].lifespans.clear(); }), "/buffers/1/lifespans");
  EXPECT_EQ(FaultAfter([](Problem& p) {
              p.buffers[1].lifespans = {{2, 2}};
            }),
            "/buffers/1/lifespans/0");
  EXPECT_EQ(FaultAfter([](Problem& p) {
              p.buffers[1].lifespans = {{0, 2}, {2, 3}};
            }),
            "/buffers/1/lifespans/1");
  EXPECT_EQ(FaultAfter([](Problem& p) {
              p.buffers[1].lifespans = {{4, 5}, {0, 2}};
            }),
            "/buffers/1/lifespans/1");
}

TEST(WellFormedTest, RelationsAreChecked) {
  EXPECT_EQ(FaultAfter([](Problem& p) { p.relations[0].second = 2; }), "/relations/0/second");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.relations[0].second = 0; }), "/relations/0");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.relations[0].delta = 4; }), "/relations/0/delta");
  EXPECT_EQ(FaultAfter([](Problem& p) {
              p.memories.push_back(p.memories[0]);
              p.buffers[1].memory = 1;
            }),
            "/relations/0");
}

TEST(WellFormedTest, LoopsAreChecked) {
  EXPECT_EQ(FaultAfter([](Problem& p) { p.loops[0].end = 1; }), "/loops/0");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.loops[0].exits.clear(); }), "/loops/0/exits");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.loops[0].exits = {1}; }), "/loops/0/exits/0");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.loops[0].exits = {3, 2}; }), "/loops/0/exits/1");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.loops.push_back({2, 4, {4}}); }), "/loops/1");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.loops.push_back(p.loops[0]); }), "/loops/1");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.loops.push_back({0, 3, {3}}); }), "sound");
  EXPECT_EQ(FaultAfter([](Problem& p) { p.loops = {{0, 4, {4}}, {1, 4, {2}}}; }), "/loops/1/exits");
}

TEST(WellFormedTest, TotalsMayNotOverflow) {
  EXPECT_EQ(FaultAfter([](Problem& p) { p.buffers[0].size = p.buffers[1].size = kMaxTotal / 2; }),
            "sound");
  EXPECT_EQ(
      FaultAfter([](Problem& p) { p.buffers[0].size = p.buffers[1].size = kMaxTotal / 2 + 1; }),
      "/buffers");
  EXPECT_EQ(FaultAfter([](Problem& p) {
              p.memories[0].alignment = kMaxTotal;
              p.buffers[0].alignment = 3;
            }),
            "/buffers/0/alignment");
}

TEST(WellFormedTest, LaddersAreChecked) {
  const Problem problem = Sound();
  const auto pointer = [&](const Ladder& ladder) {
    const auto fault = CheckWellFormed(problem, ladder);
    return fault ? fault->pointer : "sound";
  };
  EXPECT_EQ(pointer({{{"s", {1, 1}}, {"t", {2, 1}}}}), "sound");
  EXPECT_EQ(pointer({}), "/tile_candidates/candidates");
  EXPECT_EQ(pointer({{{"s", {1}}}}), "/tile_candidates/candidates/0/sizes");
  EXPECT_EQ(pointer({{{"s", {1, 1}}, {"s", {2, 1}}}}), "/tile_candidates/candidates/1/name");
  EXPECT_EQ(pointer({{{"s", {1, 0}}}}), "/tile_candidates/candidates/0/sizes");
  EXPECT_EQ(pointer({{{"s", {kMaxTotal, 1}}}}), "/tile_candidates/candidates/0/sizes");
}

}  // namespace
}  // namespace tessera::problem
