// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/choices/equal_intervals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/operator_kind.h"
#include "tessera/base/random.h"
#include "tessera/base/stop.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/search/cost/axis_sums.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/cost/shape_bounds.h"
#include "tessera/search/partition/choices/interval_choices.h"
#include "tessera/search/partition/choices/search_context.h"
#include "tessera/search/partition/choices/tile_config_costs.h"
#include "tessera/search/tiling/shape_search.h"
#include "tessera/search/tiling/tile_driver.h"
#include "tessera/tests/graph/graph_builder.h"
#include "tessera/tests/graph/random_graph.h"
#include "tessera/tests/search/cost/random_program.h"

// Intervals that share prices must have equal prices, whatever network, machine and policy are.
namespace tessera::search::partition::choices {
namespace {

using encoder::program::Policy;
using encoder::program::TilesMade;
using graph::Graph;
using hw_profiles::Profile;

constexpr int kMostOperators = 3;  // in an interval
constexpr size_t kMostShapes = 12;

// Adds two equal readers of each state, one before all other operators and one behind.
void AddReadersOfStates(Graph& graph) {
  for (size_t state = 0, end = graph.tensors.size(); state < end; ++state) {
    if (!graph.tensors[state].state) continue;
    for (const bool is_first : {true, false}) {
      graph::Tensor result = graph.tensors[state];
      result.id += is_first ? "_early" : "_late";
      result.state = false;
      result.network_output = true;
      graph::Operator reader = graph::OfKind(base::OperatorKind::kElementwise);
      reader.id = result.id;
      reader.inputs = {static_cast<int>(state)};
      reader.outputs = {static_cast<int>(graph.tensors.size())};
      graph.tensors.push_back(std::move(result));
      graph.operators.insert(is_first ? graph.operators.begin() : graph.operators.end(), reader);
    }
  }
}

// Lets one operator of the copy, often the last one, read a state or a result of the original
// instead of its copy.
void ReadOriginal(base::Random& random, const Graph& graph, Graph& twice) {
  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  const auto count = static_cast<int64_t>(graph.operators.size());
  const auto at =
      static_cast<size_t>(random.Chance(0.5) ? count - 1 : random.Uniform(0, count - 1));
  const std::vector<int>& originals = graph.operators[at].inputs;
  if (originals.empty()) return;
  const auto operand =
      static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(originals.size()) - 1));
  const int tensor = originals[operand];
  if (graph.tensors[static_cast<size_t>(tensor)].state ||
      usages[static_cast<size_t>(tensor)].producer >= 0)
    twice.operators[static_cast<size_t>(count) + at].inputs[operand] = tensor;
}

// The network and a copy of it behind. The copy may read constants of the original, what the
// original makes instead of inputs, and one of its states or results.
Graph Twice(base::Random& random, const Graph& graph) {
  Graph twice = graph;
  std::map<int, int> copies;
  const bool shares_constants = random.Chance(0.5);
  const bool reads_results = random.Chance(0.5);
  const auto count = static_cast<int>(graph.tensors.size());
  for (int tensor = 0; tensor < count; ++tensor) {
    const graph::Tensor& original = graph.tensors[static_cast<size_t>(tensor)];
    copies[tensor] = tensor;
    if (original.constant && shares_constants) continue;
    if (original.network_input && reads_results) {
      const auto like =
          std::find_if(graph.tensors.begin(), graph.tensors.end(), [&](const graph::Tensor& each) {
            return each.network_output && each.next_of < 0 && each.shape == original.shape &&
                   each.type == original.type;
          });
      if (like != graph.tensors.end()) {
        copies[tensor] = static_cast<int>(like - graph.tensors.begin());
        continue;
      }
    }
    copies[tensor] = static_cast<int>(twice.tensors.size());
    twice.tensors.push_back(original);
    twice.tensors.back().id += "_again";
  }
  for (size_t i = graph.tensors.size(); i < twice.tensors.size(); ++i) {
    if (twice.tensors[i].next_of >= 0) twice.tensors[i].next_of = copies[twice.tensors[i].next_of];
  }
  for (const graph::Operator& original : graph.operators) {
    graph::Operator& copy = twice.operators.emplace_back(original);
    copy.id += "_again";
    for (std::vector<int>* tensors : {&copy.inputs, &copy.weights, &copy.outputs})
      std::for_each(tensors->begin(), tensors->end(), [&](int& each) { each = copies[each]; });
  }
  if (random.Chance(0.5)) ReadOriginal(random, graph, twice);
  return twice;
}

// A machine on which states often lie in the tile memory.
Profile DrawMachine(base::Random& random) {
  Profile profile = RandomMachine(random);
  hw_profiles::RoleLayout& states = profile.roles[static_cast<size_t>(base::TensorRole::kState)];
  if (!random.Chance(0.4)) return profile;
  states.home = profile.tile_memory;
  states.next_homes.clear();
  return profile;
}

// A context that outlives nothing: all that it refers to.
struct Machine {
  Machine(base::Random& random, Graph network)
      : profile(DrawMachine(random)),
        graph(encoder::program::WithHomes(std::move(network), profile)),
        simulator(graph, profile),
        scale(*cost::Scale::Make({}, cost::FindLowerBounds(graph, profile))),
        equal_intervals(graph, simulator.Usages(), profile, store) {
    hw_profiles::Memory& memory = profile.memories[static_cast<size_t>(profile.tile_memory)];
    if (random.Chance(0.5)) memory.capacity_bytes = random.Uniform(200, 4000);
  }

  SearchContext Context(bool shares) const {
    return {.graph = graph,
            .profile = profile,
            .simulator = simulator,
            .scale = scale,
            .stop = never,
            .engines = {},
            .tile_engines = {},
            .budget = {},
            .equal_intervals = shares ? &equal_intervals : nullptr};
  }

  base::Stop never;
  Profile profile;
  Graph graph;
  cost::Simulator simulator;
  cost::Scale scale;
  PriceStore store;
  EqualIntervals equal_intervals;
};

std::vector<graph::tiling::TileShape> ShapesOf(const Machine& machine, graph::Interval interval) {
  std::vector<graph::tiling::TileShape> shapes =
      tiling::ShapeSearch(tiling::GridOf(machine.graph, machine.profile, interval)).Start();
  if (shapes.size() > kMostShapes) shapes.resize(kMostShapes);
  return shapes;
}

// Lower bounds of the scores of shapes, and whether the encoder refuses every policy.
std::string BoundsOf(const Machine& machine, graph::Interval interval,
                     std::span<const Policy> policies) {
  const SearchContext context = machine.Context(false);
  TileConfigCost costs(context, interval, policies, TilesMade::kThatDiffer, true, machine.never);
  std::string text = costs.IsRefused() ? "refused" : "";
  cost::AxisSums sums(machine.graph, machine.profile, interval);
  cost::ShapeBounds bounds(machine.graph, machine.profile, machine.simulator.Usages(), interval,
                           policies, sums);
  if (!bounds.AreOfUse()) return text;
  for (const graph::tiling::TileShape& shape : ShapesOf(machine, interval))
    text += std::to_string(bounds.Find(shape, {}, machine.scale)) + " ";
  return text;
}

// Everything that prices of an interval say.
std::string PricesOf(const Machine& machine, graph::Interval interval,
                     std::span<const Policy> policies, bool shares) {
  const SearchContext context = machine.Context(shares);
  TileConfigCost costs(context, interval, policies, TilesMade::kThatDiffer, true, machine.never);
  std::string text;
  const auto add = [&text](auto number) { text += std::to_string(number) + " "; };
  for (const auto& [config, price] : costs.Find(ShapesOf(machine, interval))) {
    std::for_each(config.tile.begin(), config.tile.end(), add);
    add(static_cast<int>(config.weights));
    add(static_cast<int>(config.halo));
    add(config.k_extent);
    add(static_cast<int>(config.serialized));
    add(price.peak_bytes);
    add(price.cost.score);
    add(price.cost.tie.latency);
    add(price.cost.tie.energy);
    add(price.cost.tie.off_chip_bytes);
    text += "\n";
  }
  add(costs.Held().size());
  add(static_cast<int>(costs.LeavesOut()));
  return text;
}

// The policies of the first interval, with up to one boundary tensor kept that it makes or reads,
// and those of the second that correspond, if the tensors do.
std::vector<Policy> PoliciesOf(const Machine& machine, graph::Interval interval, size_t kept) {
  std::vector<Policy> policies =
      encoder::program::PoliciesOf(machine.graph, machine.profile, interval);
  std::vector<int> boundaries;
  for (int tensor = 0; tensor < static_cast<int>(machine.graph.tensors.size()); ++tensor) {
    const graph::Usage& usage = machine.simulator.Usages()[static_cast<size_t>(tensor)];
    const auto inside = [interval](int op) { return op >= interval.first && op <= interval.last; };
    const bool enters = usage.producer >= 0 && !inside(usage.producer) &&
                        std::any_of(usage.consumers.begin(), usage.consumers.end(), inside);
    if ((enters || inside(usage.producer)) &&
        graph::RoleIn(machine.graph, usage, tensor, interval) == base::TensorRole::kBoundary)
      boundaries.push_back(tensor);
  }
  if (kept < boundaries.size()) {
    for (Policy& policy : policies) policy.kept = {boundaries[kept]};
  }
  return policies;
}

TEST(EqualIntervals, HaveEqualPrices) {
  int pairs = 0;
  int priced = 0;
  for (int draw = 0; draw < 3000; ++draw) {
    SCOPED_TRACE(draw);
    base::Random random(static_cast<uint64_t>(draw));
    Graph once = random.Chance(0.3)
                     ? graph::RandomRecurrence(random, 4)
                     : graph::RandomGraph(random, static_cast<int>(random.Uniform(2, 5)));
    if (random.Chance(0.6)) AddReadersOfStates(once);
    if (random.Chance(0.5)) DrawWeights(random, once);
    const auto operators = static_cast<int>(once.operators.size());
    const Machine machine(random, Twice(random, once));
    for (int first = 0; first < operators; ++first) {
      for (int last = first; last < std::min(operators, first + kMostOperators); ++last) {
        const graph::Interval original{first, last};
        const graph::Interval copy{operators + first, operators + last};
        const auto kept = static_cast<size_t>(random.Uniform(0, 2));
        const std::vector<Policy> policies = PoliciesOf(machine, original, kept);
        const std::vector<Policy> others = PoliciesOf(machine, copy, kept);
        const auto shared =
            machine.equal_intervals.PricesOf(original, policies, TilesMade::kThatDiffer, true);
        if (shared == nullptr ||
            shared != machine.equal_intervals.PricesOf(copy, others, TilesMade::kThatDiffer, true))
          continue;
        ++pairs;
        const std::string of_original = PricesOf(machine, original, policies, true);
        EXPECT_EQ(PricesOf(machine, copy, others, false), of_original);
        EXPECT_EQ(PricesOf(machine, copy, others, true), of_original);
        EXPECT_EQ(BoundsOf(machine, copy, others), BoundsOf(machine, original, policies));
        priced += of_original.find('\n') != std::string::npos ? 1 : 0;
      }
    }
  }
  EXPECT_GE(pairs, 4500);
  EXPECT_GE(priced, 2400);
}

// The room of all prices together is limited; prices beyond it are computed again.
TEST(EqualIntervals, ShareNothingWithoutRoom) {
  base::Random random(3);
  const Machine machine(random, Twice(random, graph::RandomGraph(random, 3)));
  PriceStore full(0);
  const EqualIntervals equal(machine.graph, machine.simulator.Usages(), machine.profile, full);
  const std::vector<Policy> policies = PoliciesOf(machine, {0, 0}, 1);
  const auto prices = equal.PricesOf({0, 0}, policies, TilesMade::kThatDiffer, true);
  ASSERT_NE(prices, nullptr);
  int computed = 0;
  const auto price = [&computed] {
    ++computed;
    return ShapePrices{};
  };
  prices->Find({1, 1}, price, machine.never);
  prices->Find({1, 1}, price, machine.never);
  EXPECT_EQ(computed, 2);
  const auto kept =
      machine.equal_intervals.PricesOf({0, 0}, policies, TilesMade::kThatDiffer, true);
  kept->Find({1, 1}, price, machine.never);
  kept->Find({1, 1}, price, machine.never);
  EXPECT_EQ(computed, 3);
}

}  // namespace
}  // namespace tessera::search::partition::choices
