// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/driver/regrouping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "../cost/small_machine.h"
#include "exhaustive.h"
#include "networks.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/partition/partition.h"
#include "tessera/tests/draws.h"

// Subgraphs of one tile that are cut into operators, and groups of these.
namespace tessera::search {
namespace {

using partition::driver::Load;
using partition::driver::Regroup;
using partition::driver::Regrouped;
using partition::driver::Regrouping;

constexpr problem::Bytes kAnyGrowth = 1 << 20;

// The partition of a plan, and what Regroup reads.
class Partition {
 public:
  explicit Partition(const plan::Plan& plan)
      : plan_(plan),
        simulator_(plan_.network, plan_.profile),
        scale_(*cost::Scale::Make(plan_.objective, plan_.lower_bounds)),
        context_{.graph = plan_.network,
                 .profile = plan_.profile,
                 .simulator = simulator_,
                 .scale = scale_,
                 .stop = stop_,
                 .engines = {},
                 .tile_engines = {},
                 .budget = {}} {}

  Regrouped Own() const { return {plan_.subgraphs, plan_.kept}; }
  Regrouped As(const Regrouping& regrouping) const {
    partition::driver::SubgraphTable table(context_);
    return Regroup(table, Own(), regrouping);
  }

  // With all constants there when their subgraph begins.
  int64_t LatencyOf(const Regrouped& partition) const {
    const cost::Prefetches ahead{.own = {1}, .carried = {}};
    int64_t cycles = 0;
    for (const plan::Subgraph& subgraph : partition.subgraphs) {
      const plan::Subgraph resident = partition::driver::WithResident(context_, subgraph);
      cycles += simulator_
                    .Run(encoder::program::CutTiles(plan_.network, resident.interval, resident.tile,
                                                    resident.halo),
                         cost::PolicyOf(resident, partition.kept), cost::Detail::kTotals, ahead)
                    .latency_cycles;
    }
    return cycles;
  }

  bool IsProgram(const Regrouped& partition) const { return ProgramOf(partition).has_value(); }

  base::Expected<encoder::program::Program> ProgramOf(const Regrouped& partition) const {
    return encoder::program::BuildProgram(plan_.network, plan_.profile,
                                          cost::ChoicesOf(partition.subgraphs, partition.kept));
  }

  // Of each subgraph by itself.
  std::vector<Load> LoadsOf(const Regrouped& partition) const {
    partition::driver::SubgraphTable table(context_);
    std::vector<Load> loads;
    for (const plan::Subgraph& subgraph : partition.subgraphs)
      loads.push_back(table.Of(subgraph, partition.kept).FindLoad().value());
    return loads;
  }

 private:
  const plan::Plan plan_;
  const cost::Simulator simulator_;
  const cost::Scale scale_;
  const base::Stop stop_;
  const partition::choices::SearchContext context_;
};

std::optional<plan::Plan> FindPlan(uint64_t seed) {
  Subject subject = AnySubject(seed, {4, 8}, {400, 4000});
  subject.profile.tiling.dma = hw_profiles::DmaSteps::kDoubleBuffered;
  partition::answer::PartitionOptions options;
  options.engines = TestEngines();
  const auto found = partition::SearchPartition(subject.graph, subject.profile, options);
  EXPECT_TRUE(found.has_value());
  return found ? found->plan : std::nullopt;
}

int LongestOf(const Regrouped& partition) {
  int longest = 0;
  for (const plan::Subgraph& subgraph : partition.subgraphs)
    longest = std::max(longest, subgraph.interval.last - subgraph.interval.first + 1);
  return longest;
}

// The bytes that live at a step. A result in place of its operand adds none.
problem::Bytes BytesAt(const problem::Problem& problem, problem::Step step) {
  problem::Bytes bytes = 0;
  for (const problem::Buffer& buffer : problem.buffers)
    bytes += LivesAt(buffer, step) ? buffer.size : 0;
  for (const problem::Relation& relation : problem.relations) {
    const problem::Buffer& one = problem.buffers[static_cast<size_t>(relation.first)];
    const problem::Buffer& other = problem.buffers[static_cast<size_t>(relation.second)];
    if (relation.kind == problem::RelationKind::kColocate && LivesAt(one, step) &&
        LivesAt(other, step))
      bytes -= std::min(one.size, other.size);
  }
  return bytes;
}

TEST(SubgraphTable, FindsTheLoadsWithinTheProgramOfTheNetwork) {
  int with_kept = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const std::optional<plan::Plan> plan = FindPlan(seed);
    if (!plan) continue;
    const Partition partition(*plan);
    for (const Regrouped& each : {partition.Own(), partition.As({})}) {
      const std::vector<Load> loads = partition.LoadsOf(each);
      const auto program = partition.ProgramOf(each);
      ASSERT_TRUE(program) << "seed " << seed;
      std::vector<Load> expected(loads.size());
      for (size_t step = 0; step < program->steps.size(); ++step) {
        Load& load = expected[static_cast<size_t>(program->steps[step].subgraph)];
        const problem::Bytes bytes = BytesAt(program->problem, static_cast<problem::Step>(step));
        load.peak = std::max(load.peak, bytes);
        if (program->steps[step].kind != plan::StepKind::kPrologue)
          load.after_prologue = std::max(load.after_prologue, bytes);
      }
      EXPECT_EQ(loads, expected) << "seed " << seed;
      with_kept += each.kept.empty() ? 0 : 1;
    }
  }
  ExpectEnough(with_kept, 20);
}

TEST(Regrouping, MakesAProgramOfTheSameOperatorsInNoMoreTime) {
  int cut = 0;
  int joined = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const std::optional<plan::Plan> plan = FindPlan(seed);
    if (!plan) continue;
    const Partition partition(*plan);
    const Regrouped before = partition.Own();
    const Regrouped finest = partition.As({});
    const Regrouped coarsest = partition.As({.growth = kAnyGrowth});
    for (const Regrouped& each : {finest, partition.As({.growth = 16}), coarsest}) {
      EXPECT_TRUE(partition.IsProgram(each)) << "seed " << seed;
      EXPECT_LE(partition.LatencyOf(each), partition.LatencyOf(before)) << "seed " << seed;
      EXPECT_EQ(each.subgraphs.back().interval.last, before.subgraphs.back().interval.last);
      EXPECT_TRUE(std::is_sorted(each.kept.begin(), each.kept.end()));
      EXPECT_GE(each.subgraphs.size(), coarsest.subgraphs.size()) << "seed " << seed;
      EXPECT_LE(each.subgraphs.size(), finest.subgraphs.size()) << "seed " << seed;
    }
    cut += finest.subgraphs.size() > before.subgraphs.size() ? 1 : 0;
    joined += coarsest.subgraphs.size() < before.subgraphs.size() ? 1 : 0;
  }
  ExpectEnough(cut, 15);
  ExpectEnough(joined, 5);
}

TEST(Regrouping, JoinsNoMoreOperatorsThanAllowed) {
  int limited = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const std::optional<plan::Plan> plan = FindPlan(seed);
    if (!plan) continue;
    const Partition partition(*plan);
    const int most = std::max(2, LongestOf(partition.As({})));
    EXPECT_LE(LongestOf(partition.As({.growth = kAnyGrowth, .limits = {.most_operators = most}})),
              most);
    limited += LongestOf(partition.As({.growth = kAnyGrowth})) > most ? 1 : 0;
  }
  ExpectEnough(limited, 10);
}

TEST(Regrouping, KeepsNothingMoreOnChipWhereThatIsNotAllowed) {
  int would_keep = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const std::optional<plan::Plan> plan = FindPlan(seed);
    if (!plan) continue;
    const Partition partition(*plan);
    const Regrouped regrouped =
        partition.As({.growth = std::nullopt, .limits = {.may_keep = false}});
    EXPECT_EQ(regrouped.kept, plan->kept);
    EXPECT_EQ(regrouped.subgraphs.size(), plan->subgraphs.size());
    would_keep += partition.As({}).kept.size() > plan->kept.size() ? 1 : 0;
  }
  ExpectEnough(would_keep, 10);
}

}  // namespace
}  // namespace tessera::search
