// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/paths/path_search.h"
#include "tessera/search/tiling/engine_cache.h"

namespace tessera::search::partition::answer {
namespace {

std::vector<std::string> NamesOf(std::span<const problem::Engine* const> engines) {
  std::vector<std::string> names;
  for (const problem::Engine* engine : engines) names.emplace_back(engine->Name());
  return names;
}

// Returns for each operator of the graph its position in the plan; empty if these are ascending.
std::vector<int> FileOrder(const graph::Graph& graph, const plan::Plan& plan) {
  std::vector<int> order;
  for (const graph::Operator& op : graph.operators)
    order.push_back(graph::FindOperator(plan.network, op.id).value_or(0));
  return std::is_sorted(order.begin(), order.end()) ? std::vector<int>() : order;
}

// Returns a previous plan without the parts that no search reads.
std::shared_ptr<const plan::Plan> BriefOf(const plan::Plan& before) {
  plan::Plan brief = before;
  brief.run.before.reset();
  brief.lowering.reset();
  brief.notes.clear();
  for (plan::Subgraph& subgraph : brief.subgraphs) subgraph.rejected_alternatives.clear();
  return std::make_shared<const plan::Plan>(std::move(brief));
}

}  // namespace

plan::Run RecordOf(const graph::Graph& graph, const plan::Plan& plan,
                   const PartitionOptions& options) {
  plan::Run run;
  run.searched = true;
  run.searches_order = options.ordering == Ordering::kSearch;
  run.max_operators = options.max_operators;
  run.keeps_boundaries = options.keeping == paths::Keeping::kWherePossible;
  run.prefetches = options.prefetch;
  run.off_chip = options.off_chip;
  run.effort = options.effort;
  run.most_work = options.most_work;
  run.budget = options.budget.units;
  run.engines = NamesOf(options.engines);
  run.switched_off = options.switched_off;
  run.file_order = FileOrder(graph, plan);
  if (options.previous != nullptr) run.before = BriefOf(*options.previous);
  run.cut_off = options.stop != nullptr && options.stop->HasCutOff();
  return run;
}

plan::Run RecordOf(const EvaluateOptions& options) {
  plan::Run run;
  run.budget = options.budget.units;
  run.engines = NamesOf(options.engines);
  run.switched_off = options.switched_off;
  run.cut_off = options.stop != nullptr && options.stop->HasCutOff();
  return run;
}

std::optional<plan::Baseline> FindBaseline(const plan::Plan& plan, const cost::Scale& scale,
                                           const tiling::Engines& engines, int threads,
                                           const base::Stop& stop) {
  const base::Stop own(std::nullopt, &stop);
  const tiling::CachedEngines cached(engines);
  const paths::NetworkContext network_context{.graph = plan.network,
                                              .profile = plan.profile,
                                              .scale = scale,
                                              .stop = own,
                                              .engines = engines,
                                              .tile_engines = cached.Pointers(),
                                              .budget = {plan.run.budget},
                                              .previous = plan.run.before.get(),
                                              .constraints = plan.constraints,
                                              .keeping = paths::Keeping::kNothing};
  orders::Order as_it_stands(plan.network.operators.size());
  std::iota(as_it_stands.begin(), as_it_stands.end(), 0);
  const paths::OrderedNetwork network(network_context, std::move(as_it_stands));
  const std::vector<paths::Ordered> orders = {network.AsOrdered()};
  paths::PathSearch singles(orders, {.most_operators = 1, .effort = {}}, paths::OtherOrderLimits{},
                            threads, {}, {});
  singles.DecideSingles(own, paths::PathSearch::Persistence::kToTheEnd);
  if (stop.Requested()) return std::nullopt;
  if (own.HasCutOff()) throw std::bad_alloc();
  return AssembleBaseline(network.Context(), singles);
}

}  // namespace tessera::search::partition::answer
