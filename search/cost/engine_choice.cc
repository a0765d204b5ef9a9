// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/engine_choice.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/graph/regions.h"
#include "tessera/search/cost/cost_terms.h"

// If several engines list the kind and type of an operator, the one that makes the whole result at
// the least cost runs it, before anything else about a plan is known:
//
//     softmax [1, 12, 197, 197]     array: 5 cycles each    vector: 1 cycle each    <- chosen
//
// The cost is a pair: cycles with the start, then picojoules of the arithmetic and of leakage over
// these cycles; picojoules come first if energy is to be minimised and latency is not. The first
// engine of the profile wins ties.
//
// This is a heuristic. Tiles may favour another engine, as starts and blocks count for each of
// them. So plans state that other engines were left out (plan::Scope), and lower bounds take the
// least over all engines that may run an operator. Linear in operators times engines.
namespace tessera::search::cost {
namespace {

using CostOfWhole = std::pair<double, double>;

constexpr double kPicojoulesPerMilliwattSecond = 1e9;

CostOfWhole CostOn(const graph::Graph& graph, const hw_profiles::Profile& profile,
                   const graph::Operator& op, bool energy_first) {
  const Worker worker = WorkerOf(graph, profile, op);
  const Compute compute = ComputeOf(graph, worker, op, ShapeOf(graph, op.outputs.front()),
                                    /*k_slice=*/std::nullopt, /*blocking=*/std::nullopt);
  const auto cycles = static_cast<double>(base::SaturatingAdd(compute.start, compute.body));
  double leakage_mw = 0;
  for (const hw_profiles::Memory& memory : profile.memories) leakage_mw += memory.leakage_mw;
  const double pj = MacEnergy(graph, profile, op, graph::MacsOf(graph, op)) +
                    leakage_mw * kPicojoulesPerMilliwattSecond * cycles / profile.clock_hz;
  return energy_first ? CostOfWhole(pj, cycles) : CostOfWhole(cycles, pj);
}

}  // namespace

graph::Graph WithEngines(graph::Graph graph, const hw_profiles::Profile& profile,
                         const std::map<std::string, double>& weights) {
  const bool energy_first = weights.contains("energy") && !weights.contains("latency");
  for (graph::Operator& op : graph.operators) {
    const std::vector<const hw_profiles::Engine*> engines =
        encoder::program::EnginesFor(graph, profile, op);
    const bool is_named = !op.engine.empty() && !op.engine_chosen;
    const auto runs = [&op](const hw_profiles::Engine* each) { return each->name == op.engine; };
    const bool stays = engines.size() > 1 && std::any_of(engines.begin(), engines.end(), runs);
    if (is_named || stays) continue;
    op.engine.clear();
    op.engine_chosen = false;
    if (engines.size() < 2) continue;
    std::optional<CostOfWhole> least;
    graph::Operator as = op;
    as.engine_chosen = true;
    for (const hw_profiles::Engine* engine : engines) {
      as.engine = engine->name;
      const CostOfWhole cost = CostOn(graph, profile, as, energy_first);
      if (least && *least <= cost) continue;
      least = cost;
      op.engine = engine->name;
    }
    op.engine_chosen = true;
  }
  return graph;
}

}  // namespace tessera::search::cost
