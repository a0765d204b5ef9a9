#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

#include "exhaustive.h"
#include "networks.h"
#include "tessera/base/random.h"
#include "tessera/encoder/adapt/choice.h"
#include "tessera/plan/validator.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/partition/cut_states.h"
#include "tessera/search/partition/partition.h"
#include "tessera/search/simulate/simulate.h"
#include "tessera/search/tiling/tile_driver.h"
#include "tessera/tests/search/simulate/small_machine.h"

// Borders that stay on chip: what may be kept where, and when the search does.
namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;

PartitionOptions Minimising(const std::string& metric, Keeping keeping = Keeping::kWherePossible) {
  PartitionOptions options;
  options.objective = {.weights = {{metric, 1}}, .limits = {}};
  options.engines = TestEngines();
  options.keeping = keeping;
  return options;
}

plan::Plan Plan(const graph::Graph& graph, const Profile& profile, const PartitionOptions& options) {
  const auto result = SearchPartition(graph, profile, options);
  EXPECT_TRUE(result && result->plan);
  if (!result || !result->plan) return {};
  EXPECT_TRUE(plan::Validate(*result->plan).empty());
  return *result->plan;
}

// a, b = conv(a), a + b
struct Skip {
  Skip() {
    NetworkBuilder net;
    a = net.Conv(net.Input({1, 2, 8, 4}), 3, 2);
    b = net.Conv(a, 3, 2);
    graph = net.Finish(net.Add(a, b));
  }
  int a = 0;
  int b = 0;
  graph::Graph graph;
};

std::vector<std::vector<int>> KeptOn(const CutStates& states, graph::Interval interval) {
  std::vector<std::vector<int>> kept;
  for (const Crossing& crossing : states.CrossingsOf(interval)) kept.push_back(crossing.kept);
  return kept;
}

using Sets = std::vector<std::vector<int>>;

TEST(CutStates, AreThePositionsWhereNothingIsKept) {
  const CutStates states(Chain(3), SmallMachine(DmaSteps::kOverlapped), 1000, Keeping::kNothing);
  EXPECT_EQ(states.Last(), 3);
  EXPECT_EQ(KeptOn(states, {1, 2}), Sets{{}});
}

TEST(CutStates, ATensorIsKeptAllTheWayOrNotAtAll) {
  const Skip net;
  const CutStates states(net.graph, SmallMachine(DmaSteps::kOverlapped), 1000, Keeping::kWherePossible);
  // 1 at the begin and the end, 2 behind a, 4 behind b.
  EXPECT_EQ(states.Last() + 1, 1 + 2 + 4 + 1);
  EXPECT_EQ(KeptOn(states, {0, 0}), (Sets{{}, {net.a}}));
  EXPECT_EQ(KeptOn(states, {1, 1}), (Sets{{}, {net.b}, {net.a}, {net.a, net.b}}));
  EXPECT_EQ(KeptOn(states, {2, 2}), (Sets{{}, {net.a}, {net.b}, {net.a, net.b}}));
  EXPECT_EQ(KeptOn(states, {0, 2}), Sets{{}});
  EXPECT_FALSE(states.IsCapped());
}

TEST(CutStates, KeepNoMoreThanThereIsRoomFor) {
  const Skip net;
  const CutStates one(net.graph, SmallMachine(DmaSteps::kOverlapped), 127, Keeping::kWherePossible);
  EXPECT_EQ(KeptOn(one, {2, 2}), (Sets{{}, {net.a}, {net.b}}));
  const CutStates none(net.graph, SmallMachine(DmaSteps::kOverlapped), 63, Keeping::kWherePossible);
  EXPECT_EQ(none.Last(), 3);
  // While conv1 runs its operand and its result are there.
  const CutStates chain(Chain(3), SmallMachine(DmaSteps::kOverlapped), 127, Keeping::kWherePossible);
  EXPECT_EQ(KeptOn(chain, {1, 1}).size(), 3U);
}

TEST(CutStates, KeepNothingWhoseHomeIsOnChip) {
  Profile profile = SmallMachine(DmaSteps::kOverlapped);
  LayoutIn(profile, base::TensorRole::kBorder).home = profile.tile_memory;
  EXPECT_EQ(CutStates(Chain(3), profile, 1000, Keeping::kWherePossible).Last(), 3);
}

TEST(CutStates, SayWhereMoreCouldBeKept) {
  NetworkBuilder net;
  const int x = net.Input({1, 2, 8, 4});
  const int a = net.Conv(x, 1, 2);
  const int b = net.Conv(x, 1, 2);
  const int c = net.Conv(x, 1, 2);
  const graph::Graph graph = net.Finish(net.Add(net.Add(a, b), c));
  const Profile profile = SmallMachine(DmaSteps::kOverlapped);
  EXPECT_TRUE(CutStates(graph, profile, 192, Keeping::kWherePossible).IsCapped());
  EXPECT_FALSE(CutStates(graph, profile, 191, Keeping::kWherePossible).IsCapped());
}

TEST(KeptBorders, AreNotMoved) {
  const Profile profile = SmallMachine(DmaSteps::kOwnSteps, 400);
  PartitionOptions options = Minimising("off_chip_bytes", Keeping::kNothing);
  options.max_operators = 1;
  const plan::Plan moved = Plan(Chain(3), profile, options);
  options.keeping = Keeping::kWherePossible;
  const plan::Plan kept = Plan(Chain(3), profile, options);
  EXPECT_EQ(moved.totals.off_chip_bytes, 6 * 64 + 3 * 12);
  EXPECT_EQ(kept.totals.off_chip_bytes, 2 * 64 + 3 * 12);
  EXPECT_LT(kept.totals.latency_cycles, moved.totals.latency_cycles);
  EXPECT_LT(kept.totals.energy_pj, moved.totals.energy_pj);
  EXPECT_EQ(kept.kept.size(), 2U);
  EXPECT_EQ(kept.status, "optimal");
}

TEST(KeptBorders, MayPassOverASubgraph) {
  const Skip net;
  PartitionOptions options = Minimising("off_chip_bytes");
  options.max_operators = 1;
  const plan::Plan plan = Plan(net.graph, SmallMachine(DmaSteps::kOwnSteps, 400), options);
  EXPECT_EQ(plan.kept, (std::vector<int>{net.a, net.b}));
  EXPECT_EQ(plan.totals.off_chip_bytes, 2 * 64 + 2 * 12);
}

TEST(KeptBorders, GoHomeWhereTheyDoNotFit) {
  const Profile profile = SmallMachine(DmaSteps::kOwnSteps, 70);
  PartitionOptions options = Minimising("latency");
  options.max_operators = 1;
  const plan::Plan plan = Plan(Chain(2), profile, options);
  EXPECT_TRUE(plan.kept.empty());
  options.keeping = Keeping::kNothing;
  EXPECT_EQ(plan.score, Plan(Chain(2), profile, options).score);
}

// Rows of x have 16 bytes, and nine of them make one row of a. With a of 64 bytes kept, tiles of two rows are the largest that fit,
// and x is loaded four times over; 272 bytes have room for two tiles of eight rows.
TEST(KeptBorders, GoHomeWhereLargerTilesAreWorthMore) {
  NetworkBuilder net;
  const int a = net.Conv(net.Input({1, 4, 16, 4}), 9, 1);
  const graph::Graph graph = net.Finish(net.Conv(a, 1, 1));
  PartitionOptions options = Minimising("off_chip_bytes");
  options.max_operators = 1;
  const int64_t weights = 36 + 1;
  const int64_t moved = 2 * 12 * 16 + 3 * 64 + weights;
  const int64_t kept = 68 * 16 + 64 + weights;
  ASSERT_LT(moved, kept);
  const plan::Plan tight = Plan(graph, SmallMachine(DmaSteps::kOwnSteps, 272), options);
  EXPECT_TRUE(tight.kept.empty());
  EXPECT_EQ(tight.totals.off_chip_bytes, moved);
  const plan::Plan roomy = Plan(graph, SmallMachine(DmaSteps::kOwnSteps, 300), options);
  EXPECT_EQ(roomy.kept, std::vector<int>{a});
  EXPECT_EQ(roomy.totals.off_chip_bytes, 2 * 12 * 16 + 64 + weights);
}

TEST(KeptBorders, DoNotDependOnThreads) {
  const Profile profile = SmallMachine(DmaSteps::kOverlapped, 200);
  PartitionOptions options = Minimising("latency");
  const plan::Plan one = Plan(Chain(6), profile, options);
  options.threads = 2;
  const plan::Plan two = Plan(Chain(6), profile, options);
  EXPECT_EQ(one.kept, two.kept);
  EXPECT_EQ(one.score, two.score);
  EXPECT_EQ(one.allocation.offsets, two.allocation.offsets);
}

// All partitions, all sets of kept borders, all tiles and policies; the joint Problem has the last word.
class EveryPlan {
 public:
  EveryPlan(const graph::Graph& graph, const Profile& profile, std::string metric)
      : graph_(graph), profile_(profile), metric_(std::move(metric)) {}

  double BestScore() {
    const auto tensors = static_cast<int>(graph_.tensors.size());
    const auto operators = static_cast<int>(graph_.operators.size());
    for (uint64_t cuts = 0; cuts < uint64_t{1} << (operators - 1); ++cuts) {
      std::vector<graph::Interval> intervals = {{0, 0}};
      for (int op = 1; op < operators; ++op) {
        if (((cuts >> (op - 1)) & 1U) != 0) intervals.push_back({op, op});
        intervals.back().last = op;
      }
      std::vector<encoder::SubgraphChoice> choices;
      for (const graph::Interval interval : intervals) choices.push_back({interval, {}, {}});
      std::vector<int> borders;
      for (int tensor = 0; tensor < tensors; ++tensor) {
        if (!encoder::FindUnkeepable(graph_, choices, {&tensor, 1})) borders.push_back(tensor);
      }
      for (uint64_t set = 0; set < uint64_t{1} << borders.size(); ++set) {
        std::vector<int> kept;
        for (size_t i = 0; i < borders.size(); ++i) {
          if (((set >> i) & 1U) != 0) kept.push_back(borders[i]);
        }
        Complete(intervals, kept, {}, 0);
      }
    }
    return best_;
  }

 private:
  struct Priced {
    encoder::SubgraphChoice choice;
    double cost = 0;
  };

  void Complete(const std::vector<graph::Interval>& intervals, const std::vector<int>& kept,
                const std::vector<encoder::SubgraphChoice>& so_far, double cost) {
    if (cost >= best_) return;
    if (so_far.size() == intervals.size()) {
      if (FitsJointly(so_far)) best_ = cost;
      return;
    }
    for (const Priced& next : ChoicesOf(intervals[so_far.size()], kept)) {
      std::vector<encoder::SubgraphChoice> longer = so_far;
      longer.push_back(next.choice);
      Complete(intervals, kept, longer, cost + next.cost);
    }
  }

  // Those that fit alone, the cheapest first.
  const std::vector<Priced>& ChoicesOf(graph::Interval interval, const std::vector<int>& kept) {
    const auto [place, is_new] = choices_.try_emplace({interval.first, interval.last, kept});
    std::vector<Priced>& priced = place->second;
    if (!is_new) return priced;
    TileOptions options;
    options.engines = TestEngines();
    options.kept = kept;
    const auto tiles = IntervalTiles::Build(graph_, profile_, interval, options);
    for (size_t i = 0; i < tiles->Candidates().size(); ++i) {
      if (!Fits(tiles->ProblemOf(i))) continue;
      const encoder::SubgraphChoice& choice = tiles->Candidates()[i].choice;
      priced.push_back(
          {choice, plan::ValueOf(Simulate(graph_, profile_, tiles->TilingOf(i), choice.policy), metric_)});
    }
    std::stable_sort(priced.begin(), priced.end(),
                     [](const Priced& a, const Priced& b) { return a.cost < b.cost; });
    return priced;
  }

  bool FitsJointly(const std::vector<encoder::SubgraphChoice>& choices) const {
    const auto program = encoder::BuildProgram(graph_, profile_, choices);
    return program && Fits(program->problem);
  }

  static bool Fits(const problem::Problem& problem) {
    AllocateOptions options;
    options.capacity = problem.memories.front().capacity;
    return Allocate(problem, nullptr, 0, TestEngines(), options)->allocation.has_value();
  }

  const graph::Graph& graph_;
  const Profile& profile_;
  const std::string metric_;
  std::map<std::tuple<int, int, std::vector<int>>, std::vector<Priced>> choices_;
  double best_ = std::numeric_limits<double>::infinity();
};

TEST(KeptBorders, AreThoseOfTheBestOfAllPlans) {
  base::Random random(66);
  int keeping = 0;
  int moving = 0;
  for (int round = 0; round < 40; ++round) {
    const graph::Graph graph = AnyNetwork(random, static_cast<int>(random.Uniform(2, 5)));
    const DmaSteps dma = random.Chance(0.5) ? DmaSteps::kOwnSteps : DmaSteps::kOverlapped;
    const Profile profile = SmallMachine(dma, random.Uniform(25, 110));
    PartitionOptions options = Minimising(random.Chance(0.5) ? "latency" : "off_chip_bytes");
    const std::string metric = options.objective.weights.begin()->first;
    const double best = EveryPlan(graph, profile, metric).BestScore();
    const auto found = SearchPartition(graph, profile, options);
    ASSERT_TRUE(found) << base::Format(found.error());
    ASSERT_EQ(found->plan.has_value(), best < std::numeric_limits<double>::infinity())
        << found->reason << ", round " << round;
    if (!found->plan) continue;
    EXPECT_EQ(found->status, problem::Status::kOptimal) << "round " << round;
    EXPECT_EQ(found->plan->score, best) << metric << ", round " << round;
    (found->plan->kept.empty() ? moving : keeping) += 1;
  }
  EXPECT_GE(keeping, 5);
  EXPECT_GE(moving, 5);
}

}  // namespace
}  // namespace tessera::search
