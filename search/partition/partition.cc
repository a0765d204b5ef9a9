#include "tessera/search/partition/partition.h"

#include <fmt/format.h>

#include <new>
#include <string>
#include <utility>

#include "tessera/encoder/adapt/assign_homes.h"
#include "tessera/encoder/adapt/homes.h"
#include "tessera/search/partition/assemble.h"
#include "tessera/search/partition/demand_faults.h"
#include "tessera/search/partition/judged.h"
#include "tessera/search/partition/order_search.h"
#include "tessera/search/partition/peak_floor.h"
#include "tessera/search/partition/pricing.h"
#include "tessera/search/partition/run_record.h"

namespace tessera::search {
namespace {

std::optional<base::Diagnostic> FindFault(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                          const PartitionOptions& options) {
  base::Diagnostic fault;
  if (graph.operators.empty()) {
    fault.message = "the network has no operators";
    fault.expected = "at least one";
    return fault;
  }
  if (options.max_operators && *options.max_operators < 1) {
    fault.message = "a subgraph cannot be that small";
    fault.expected = "at most 1 operator or more";
    fault.found = std::to_string(*options.max_operators);
    return fault;
  }
  if (const auto bad = search::FindFault(graph, profile, options.demands, options.max_operators))
    return bad->diagnostic;
  return std::nullopt;
}

// Says in the plan how it came to be, and of one that a stop cut off no more than can be found again.
void Record(const graph::Graph& graph, const PartitionOptions& options, PartitionResult& result) {
  plan::Plan& plan = *result.plan;
  plan.run = RecordOf(graph, plan, options);
  if (!plan.run.cut_off) return;
  if (options.stop->IsOutOfMemory())
    plan.notes.emplace_back("the memory limit was reached, which ended the search");
  plan.baseline = result.alone ? *result.alone : UnknownBaseline(plan.network);
  if (!result.alone)
    plan.notes.emplace_back(
        "the search was stopped before all operators were tried alone: there is no baseline");
  for (plan::Subgraph& subgraph : plan.subgraphs)
    subgraph.largest_proven = IsWholeOutput(plan.network, subgraph);
  ClaimByBound(plan);
  result.status = plan.status == "optimal" ? problem::Status::kOptimal : problem::Status::kFeasible;
}

void ReportCache(const PartitionOptions& options, const CachedEngines& cached) {
  if (!options.progress) return;
  const VerdictCache::Counts counts = cached.Count();
  options.progress(fmt::format("{} of {} answers about subgraphs were known, {} kB are kept", counts.hits,
                               counts.hits + counts.misses, counts.bytes / 1000));
}

base::Expected<PartitionResult> Search(const graph::Graph& network, const hw_profiles::Profile& profile,
                                       const PartitionOptions& options) {
  const graph::Graph graph = encoder::WithHomes(network, profile);
  if (auto fault = FindFault(graph, profile, options)) return base::Unexpected(*fault);
  if (const auto overflow = encoder::FindConstantOverflow(graph, profile)) {
    PartitionResult refused{problem::Status::kInfeasible, std::nullopt, overflow->message,
                            ObstacleOf(graph, profile, *encoder::FindOverfullHome(graph, profile, {}))};
    Confirm(graph, profile, options, refused);
    return refused;
  }
  const Floors floors{.costs = FindLowerBounds(graph, profile), .tightest = FindPeakFloor(graph, profile).op};
  const base::Expected<Scale> scale = Scale::Make(options.objective, floors.costs);
  if (!scale) return base::Unexpected(scale.error());

  const base::Stop never;
  const Engines engines(options.engines.begin(), options.engines.end());
  const CachedEngines own(options.cached != nullptr ? Engines() : engines);
  const CachedEngines& cached = options.cached != nullptr ? *options.cached : own;
  const Grounds grounds{.graph = graph,
                        .profile = profile,
                        .scale = *scale,
                        .stop = options.stop != nullptr ? *options.stop : never,
                        .engines = engines,
                        .tile_engines = cached.Pointers(),
                        .budget = options.budget,
                        .predecessor = options.predecessor,
                        .demands = options.demands,
                        .keeping = options.keeping};
  base::Expected<PartitionResult> result = OrderSearch(grounds, options, floors).Run();
  if (!result) return result;
  if (result->plan) Record(graph, options, *result);
  Confirm(graph, profile, options, *result);
  const bool unknown = result->status == problem::Status::kUnknown;
  if (unknown && grounds.stop.IsOutOfMemory()) result->reason += "; the memory limit was reached";
  ReportCache(options, cached);
  return result;
}

// Where memory ran out, all that was taken is free again: what a search does that is stopped at
// once needs little.
base::Expected<PartitionResult> SearchLittle(const graph::Graph& network, const hw_profiles::Profile& profile,
                                             const PartitionOptions& options) {
  try {
    base::Stop exhausted(std::nullopt, options.stop);
    exhausted.Request();
    PartitionOptions little = options;
    little.stop = &exhausted;
    little.threads = 1;
    base::Expected<PartitionResult> result = Search(network, profile, little);
    if (result && result->plan)
      result->plan->notes.emplace_back("memory was exhausted, which ended the search");
    if (result && !result->plan) result->reason += "; memory was exhausted";
    return result;
  } catch (const std::bad_alloc&) {
    return PartitionResult{problem::Status::kUnknown, std::nullopt, "memory is exhausted"};
  }
}

}  // namespace

base::Expected<PartitionResult> SearchPartition(const graph::Graph& network,
                                                const hw_profiles::Profile& profile,
                                                const PartitionOptions& options) {
  try {
    return Search(network, profile, options);
  } catch (const std::bad_alloc&) {
    return SearchLittle(network, profile, options);
  }
}

}  // namespace tessera::search
