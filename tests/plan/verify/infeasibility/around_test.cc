// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/infeasibility/lower_bounds.h"
#include "tessera/plan/verify/infeasibility/partition_paths.h"
#include "tessera/plan/verify/infeasibility/subgraph_need.h"
#include "tessera/tests/audit/draw_network.h"
#include "tessera/tests/audit/draw_profile.h"
#include "tessera/tests/draws.h"
#include "tessera/tests/plan/fixture.h"

// The argument about all subgraphs around one operator, against all configurations of small
// networks: those that each subgraph may have, and those of which whole plans consist.
namespace tessera::plan::refutation::around {
namespace {

using base::TensorRole;
using testing::HasSubstr;
using verify::infeasibility::Done;
using verify::infeasibility::ProgressAt;
using verify::infeasibility::SubgraphConfig;
using verify::infeasibility::SubgraphConfigs;

constexpr int64_t kEnough = 200'000'000;
const base::Stop kNoStop;
constexpr int64_t kEndless = int64_t{1} << 50;
constexpr int64_t kMostWork = 300;  // of one interval

// In every other draw all feature maps are at home in the tile memory.
Plan DrawQuestion(base::Random& random, int most) {
  Plan question;
  question.network = audit::DrawNetwork(random, static_cast<int>(random.Uniform(1, most)));
  question.profile = audit::DrawProfile(random, question.network);
  if (random.Chance(0.5)) {
    for (const TensorRole role :
         {TensorRole::kNetworkInput, TensorRole::kNetworkOutput, TensorRole::kBoundary}) {
      hw_profiles::RoleLayout& layout = question.profile.roles[static_cast<size_t>(role)];
      layout.home = question.profile.tile_memory;
      layout.next_homes.clear();
    }
  }
  verify::AssignHomes(question);
  return question;
}

// An order in which each operator comes behind those that make its operands.
std::vector<int> DrawOrder(base::Random& random, const Plan& question,
                           const verify::infeasibility::Dependences& dependences) {
  std::vector<int> order;
  Done done(question.network.operators.size());
  while (order.size() < done.size()) {
    const auto op = static_cast<int>(random.Uniform(0, static_cast<int64_t>(done.size()) - 1));
    const std::vector<int>& makers = dependences.MakersFor(op);
    const bool is_ready = std::all_of(makers.begin(), makers.end(),
                                      [&](int each) { return done[static_cast<size_t>(each)]; });
    if (done[static_cast<size_t>(op)] || !is_ready) continue;
    done[static_cast<size_t>(op)] = true;
    order.push_back(op);
  }
  return order;
}

// The least load of all configurations of the interval; nullopt if there is none.
std::optional<int64_t> LeastOfConfigs(SubgraphConfigs& configs, graph::Interval interval,
                                      const std::vector<int>& kept) {
  int64_t work = kEndless;
  std::optional<int64_t> least;
  const std::vector<SubgraphConfig> all = configs.Find(interval, kept, work).value();
  for (const SubgraphConfig& config : all) {
    const int64_t load = verify::LeastLoad(configs.ProblemOf(config, kept));
    least = std::min(least.value_or(load), load);
  }
  return least;
}

// Some of the boundary tensors that begin or end in the interval, or pass over it.
std::vector<int> DrawKept(base::Random& random, const Plan& question,
                          const std::vector<verify::Users>& users, graph::Interval interval) {
  std::vector<int> kept;
  for (int tensor = 0; tensor < static_cast<int>(question.network.tensors.size()); ++tensor) {
    const auto& [makers, readers] = users[static_cast<size_t>(tensor)];
    const bool crosses = !makers.empty() && !readers.empty() && makers.front() <= interval.last &&
                         readers.back() >= interval.first &&
                         (makers.front() < interval.first || readers.back() > interval.last);
    const graph::Tensor& facts = question.network.tensors[static_cast<size_t>(tensor)];
    if (crosses && verify::RoleAtHome(facts) == TensorRole::kBoundary &&
        verify::HomeOf(question, tensor) != question.profile.tile_memory && random.Chance(0.5))
      kept.push_back(tensor);
  }
  return kept;
}

int64_t NeedOf(const Plan& question, const verify::infeasibility::Dependences& dependences,
               const std::vector<int>& order, graph::Interval interval) {
  const std::vector<verify::Users> users = verify::FindUsers(question.network);
  Done before(order.size());
  Done after(order.size());
  for (int i = 0; i <= interval.last; ++i) {
    const auto op = static_cast<size_t>(order[static_cast<size_t>(i)]);
    before[op] = i < interval.first;
    after[op] = true;
  }
  return verify::infeasibility::SubgraphNeeds(question, users, dependences)
      .Of(ProgressAt(question, users, before), ProgressAt(question, users, after), -1, kEndless)
      .bytes;
}

TEST(SubgraphNeeds, AreBelowEveryConfig) {
  base::Random random(7);
  int compared = 0;
  int tight = 0;
  int equal = 0;
  for (int i = 0; i < DrawsOf(1500); ++i) {
    const Plan question = DrawQuestion(random, 6);
    const std::vector<verify::Users> users = verify::FindUsers(question.network);
    const verify::infeasibility::Dependences dependences(question.network, users);
    const std::vector<int> order = DrawOrder(random, question, dependences);
    const auto operators = static_cast<int64_t>(question.network.operators.size());
    const int64_t first = random.Uniform(0, operators - 1);
    const graph::Interval interval = {static_cast<int>(first),
                                      static_cast<int>(random.Uniform(first, operators - 1))};
    SubgraphConfigs configs(question, order, kEndless, kNoStop);
    const std::vector<int> kept = DrawKept(random, question, configs.UsersOf(), interval);
    if (configs.WorkOf(interval) > kMostWork) continue;
    const std::optional<int64_t> least = LeastOfConfigs(configs, interval, kept);
    if (!least) continue;
    const int64_t need = NeedOf(question, dependences, order, interval);
    EXPECT_LE(need, *least) << "draw " << i << ", operators " << interval.first << " to "
                            << interval.last;
    ++compared;
    tight += 2 * need >= *least ? 1 : 0;
    equal += need == *least ? 1 : 0;
  }
  ExpectEnough(compared, DrawsOf(400));
  ExpectEnough(tight, DrawsOf(250));
  ExpectEnough(equal, DrawsOf(50));
}

// The least bytes with which some sequence of subgraphs, in that order, has a configuration for
// each; nullopt if there is none, or if it is too much work to find.
std::optional<int64_t> LeastOfPlans(const Plan& question, const std::vector<int>& order,
                                    int64_t most_work) {
  const auto operators = static_cast<int>(order.size());
  SubgraphConfigs configs(question, order, kEndless, kNoStop);
  std::vector<std::optional<int64_t>> to(static_cast<size_t>(operators) + 1);
  to[0] = 0;
  for (int first = 0; first < operators; ++first) {
    if (!to[static_cast<size_t>(first)]) continue;
    for (int last = first; last < operators; ++last) {
      if (configs.WorkOf({first, last}) > most_work) return std::nullopt;
      const std::optional<int64_t> here = LeastOfConfigs(configs, {first, last}, {});
      if (!here) continue;
      const int64_t path = std::max(*here, *to[static_cast<size_t>(first)]);
      std::optional<int64_t>& known = to[static_cast<size_t>(last) + 1];
      known = std::min(known.value_or(path), path);
    }
  }
  return to.back();
}

bool IsRefuted(const Plan& question, int64_t room) {
  return verify::infeasibility::FindNoRoomAround(question, verify::FindUsers(question.network),
                                                 room, kEnough, kNoStop)
      .has_value();
}

TEST(AroundOperator, LeavesTheRoomThatPlansNeed) {
  base::Random random(8);
  int compared = 0;
  int tight = 0;
  for (int i = 0; i < DrawsOf(400); ++i) {
    const Plan question = DrawQuestion(random, 4);
    const std::vector<verify::Users> users = verify::FindUsers(question.network);
    const verify::infeasibility::Dependences dependences(question.network, users);
    const std::vector<int> order = DrawOrder(random, question, dependences);
    const std::optional<int64_t> least = LeastOfPlans(question, order, kMostWork);
    if (!least) continue;
    EXPECT_FALSE(IsRefuted(question, *least)) << "draw " << i;
    ++compared;
    tight += IsRefuted(question, *least - 1) ? 1 : 0;
  }
  ExpectEnough(compared, DrawsOf(80));
  ExpectEnough(tight, DrawsOf(16));
}

// The map is pooled to gates with which it is multiplied: it is whole while it is pooled, and stays
// for the product.
constexpr const char* kGated = R"(schema: 1
name: gated
dtype: int8
inputs: [{id: x, shape: [1, 2, 8, 8]}]
operators:
  - {id: expand, kind: conv, inputs: [x], out_channels: 16, kernel: 1}
  - {id: mean, kind: global_pool, inputs: [expand], function: average}
  - {id: as_map, kind: reshape, inputs: [mean], shape: [1, 16, 1, 1]}
  - {id: gate, kind: conv, inputs: [as_map], out_channels: 16, kernel: 1}
  - {id: scaled, kind: elementwise, function: mul, inputs: [expand, gate]}
  - {id: project, kind: conv, inputs: [scaled], out_channels: 2, kernel: 1}
outputs: [project]
)";

// In the order of the file, which is the only one.
std::optional<int64_t> LeastOfChain(const Plan& question) {
  std::vector<int> order(question.network.operators.size());
  std::iota(order.begin(), order.end(), 0);
  return LeastOfPlans(question, order, 10 * kMostWork);
}

Plan Gated() {
  Plan question;
  question.network = graph::import::yaml::ReadNetwork(kGated, "gated.yaml").value();
  question.profile = OneSramProfile();
  for (const base::OperatorKind kind :
       {base::OperatorKind::kGlobalPool, base::OperatorKind::kReshape}) {
    hw_profiles::Throughput& entry = question.profile.engines[0].throughputs.emplace_back();
    entry.kind = kind;
    entry.cycles_per_output = 1;
  }
  question.profile.tiling.axes = {{base::Axis::kRows, 1}, {base::Axis::kColumns, 1}};
  verify::AssignHomes(question);
  return question;
}

TEST(AroundOperator, SeesAMapThatIsPooledAndReadAgain) {
  const Plan question = Gated();
  const std::optional<int64_t> least = LeastOfChain(question);
  ASSERT_TRUE(least);
  EXPECT_FALSE(IsRefuted(question, *least));
  const std::optional<std::string> why = verify::infeasibility::FindNoRoomAround(
      question, verify::FindUsers(question.network), *least - 1, kEnough, kNoStop);
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, HasSubstr("has room in no subgraph"));
  EXPECT_THAT(*why, HasSubstr("most of them for 'expand'"));
  EXPECT_THAT(*why, HasSubstr(fmt::format("{} may be used", *least - 1)));
}

// Without the gate, tiles pass the map on: it is never whole.
TEST(AroundOperator, SeesThatTilesPassAMapOn) {
  Plan question = Gated();
  graph::Operator& scaled = question.network.operators[4];
  question.network.operators[4].inputs = {scaled.inputs.front()};
  question.network.operators.erase(question.network.operators.begin() + 1,
                                   question.network.operators.begin() + 4);
  EXPECT_LT(LeastOfChain(question).value(), 16 * 8 * 8);
  EXPECT_FALSE(IsRefuted(question, 16 * 8 * 8));
}

// The first tile alone reads `early`, and the last alone reads `late`.
constexpr const char* kHalves = R"(schema: 1
name: halves
dtype: int8
inputs: [{id: early, shape: [1, 4, 16, 4]}, {id: late, shape: [1, 4, 16, 4]}]
operators:
  - {id: top, kind: slice, inputs: [early], starts: [0, 0, 0, 0], shape: [1, 4, 8, 4]}
  - {id: bottom, kind: slice, inputs: [late], starts: [0, 0, 8, 0], shape: [1, 4, 8, 4]}
  - {id: joined, kind: concat, inputs: [top, bottom], axis: 2}
  - {id: made, kind: conv, inputs: [joined], out_channels: 16, kernel: 1}
  - {id: ended, kind: conv, inputs: [made], out_channels: 1, kernel: 1}
outputs: [ended]
)";

TEST(SubgraphNeeds, CountNoMapThatOtherTilesRead) {
  Plan question;
  question.network = graph::import::yaml::ReadNetwork(kHalves, "halves.yaml").value();
  question.profile = OneSramProfile();
  for (const base::OperatorKind kind : {base::OperatorKind::kSlice, base::OperatorKind::kConcat}) {
    hw_profiles::Throughput& entry = question.profile.engines[0].throughputs.emplace_back();
    entry.kind = kind;
    entry.cycles_per_output = 1;
  }
  verify::AssignHomes(question);
  const std::vector<verify::Users> users = verify::FindUsers(question.network);
  const verify::infeasibility::Dependences dependences(question.network, users);
  std::vector<int> order(question.network.operators.size());
  std::iota(order.begin(), order.end(), 0);
  for (const auto dma :
       {hw_profiles::DmaSteps::kSerialized, hw_profiles::DmaSteps::kDoubleBuffered}) {
    for (const int64_t granularity : {1, 2, 3, 4, 8}) {
      question.profile.tiling.dma = dma;
      question.profile.tiling.axes = {{base::Axis::kRows, granularity}};
      SubgraphConfigs configs(question, order, kEndless, kNoStop);
      for (int first = 0; first < 5; ++first) {
        for (int last = first; last < 5; ++last) {
          const std::optional<int64_t> least = LeastOfConfigs(configs, {first, last}, {});
          ASSERT_TRUE(least);
          EXPECT_LE(NeedOf(question, dependences, order, {first, last}), *least)
              << first << " to " << last << ", tiles of " << granularity << " rows";
        }
      }
      EXPECT_FALSE(IsRefuted(question, LeastOfChain(question).value()));
    }
  }
}

// Many orders, few sets of operators: no order is listed. In any order, an operator of a fork needs
// its operand and its result.
TEST(AroundOperator, NeedsNoOrder) {
  std::string text = R"(schema: 1
name: forks
dtype: int8
inputs: [{id: x, shape: [1, 4, 8, 8]}]
operators:
)";
  std::string from = "x";
  for (int i = 0; i < 12; ++i) {
    text += fmt::format(
        "  - {{id: a{0}, kind: conv, inputs: [{1}], out_channels: 4, kernel: 1}}\n"
        "  - {{id: b{0}, kind: conv, inputs: [{1}], out_channels: 4, kernel: 1}}\n"
        "  - {{id: c{0}, kind: elementwise, function: add, inputs: [a{0}, b{0}]}}\n",
        i, from);
    from = fmt::format("c{}", i);
  }
  text +=
      fmt::format("  - {{id: all, kind: softmax, inputs: [{}], axis: 1}}\noutputs: [all]\n", from);
  Plan question;
  question.network = graph::import::yaml::ReadNetwork(text, "forks.yaml").value();
  question.profile = OneSramProfile();
  question.profile.tiling.axes.clear();
  verify::AssignHomes(question);
  EXPECT_TRUE(IsRefuted(question, 2 * 256 - 1));
  EXPECT_FALSE(IsRefuted(question, 3 * 256));
}

}  // namespace
}  // namespace tessera::plan::refutation::around
