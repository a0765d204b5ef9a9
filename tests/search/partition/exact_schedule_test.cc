// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "exhaustive.h"
#include "networks.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/partition/partition.h"
#include "tessera/tests/draws.h"

// Schedules of constants against all schedules of the same subgraphs in a few parts.
namespace tessera::search {
namespace {

using hw_profiles::Profile;

// The lists of up to `most_parts` numbers that plan::Subgraph::prefetch may be in the subgraph with
// this number, the empty one first.
std::vector<std::vector<int>> ListsFor(int number, size_t most_parts) {
  std::vector<std::vector<int>> lists = {{}};
  for (size_t at = 0; at < lists.size(); ++at) {
    if (lists[at].size() == most_parts) continue;
    const std::vector<int> list = lists[at];
    const int most = list.empty() ? number : list.back();
    for (int ahead = list.empty() ? 1 : 0; ahead <= most; ++ahead) {
      lists.push_back(list);
      lists.back().push_back(ahead);
    }
  }
  return lists;
}

// All schedules of the subgraphs of a plan.
class Schedules {
 public:
  explicit Schedules(const plan::Plan& plan)
      : plan_(plan), simulator_(plan.network, plan.profile), subgraphs_(plan.subgraphs) {}

  // Returns the least latency, of those below `limit`, of a schedule that has a placement.
  int64_t FindLeast(int64_t limit) {
    least_ = limit;
    Visit(0);
    return least_;
  }

 private:
  void Visit(size_t number) {
    if (number == subgraphs_.size()) return Take();
    const size_t most_parts = subgraphs_.size() > 3 ? 2 : 3;
    for (std::vector<int>& list : ListsFor(static_cast<int>(number), most_parts)) {
      subgraphs_[number].prefetch = std::move(list);
      Visit(number + 1);
    }
  }

  void Take() {
    int64_t cycles = 0;
    for (size_t i = 0; i < subgraphs_.size() && cycles < least_; ++i)
      cycles += cost::PriceOf(plan_.network, plan_.profile, simulator_, subgraphs_, i, plan_.kept)
                    .latency_cycles;
    if (cycles < least_ && HasPlacement()) least_ = cycles;
  }

  bool HasPlacement() const {
    const auto program = encoder::program::BuildProgram(plan_.network, plan_.profile,
                                                        cost::ChoicesOf(subgraphs_, plan_.kept));
    if (!program) return false;
    allocate::AllocateOptions options;
    options.capacity = program->problem.memories.front().capacity;
    return allocate::Allocate(program->problem, nullptr, 0, TestEngines(), options)
        ->allocation.has_value();
  }

  const plan::Plan& plan_;
  const cost::Simulator simulator_;
  std::vector<plan::Subgraph> subgraphs_;
  int64_t least_ = 0;
};

TEST(ExactSchedule, NoneInAFewPartsIsFaster) {
  int prefetched = 0;
  for (uint64_t seed = 0; seed < 80; ++seed) {
    Subject subject = AnySubject(seed, {3, 5}, {150, 1500});
    Profile profile = subject.profile;
    profile.tiling.dma = hw_profiles::DmaSteps::kDoubleBuffered;
    profile.memories[0].port.shared = seed % 2 == 0;
    profile.links[0].outstanding = 1 + static_cast<int>(seed % 3);
    partition::answer::PartitionOptions options;
    options.engines = TestEngines();
    options.max_operators = 1;
    options.prefetch = true;
    const auto found = partition::SearchPartition(subject.graph, profile, options);
    ASSERT_TRUE(found.has_value());
    if (!found->plan) continue;
    const int64_t cycles = found->plan->totals.latency_cycles;
    EXPECT_EQ(Schedules(*found->plan).FindLeast(cycles), cycles) << "seed " << seed;
    const auto is_prefetched = [](const plan::Subgraph& each) { return !each.prefetch.empty(); };
    prefetched +=
        std::any_of(found->plan->subgraphs.begin(), found->plan->subgraphs.end(), is_prefetched)
            ? 1
            : 0;
  }
  ExpectEnough(prefetched, 40);
}

}  // namespace
}  // namespace tessera::search
