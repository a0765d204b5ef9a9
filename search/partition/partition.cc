// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/partition.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/search/cost/engine_choice.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/answer/refusal.h"
#include "tessera/search/partition/choices/equal_intervals.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/driver/order_search.h"
#include "tessera/search/partition/related_search.h"
#include "tessera/search/partition/rewriting.h"

namespace tessera::search::partition {
namespace {

std::optional<base::Diagnostic> CheckWellFormed(const graph::Graph& graph,
                                                const hw_profiles::Profile& profile,
                                                const answer::PartitionOptions& options) {
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
  if (const auto bad =
          constraints::CheckWellFormed(graph, profile, options.constraints, options.max_operators))
    return bad->diagnostic;
  return std::nullopt;
}

// Reduces the claims of a plan after a stop to those that can be reproduced. The stop may have
// ended another of several related searches than the one that found the plan.
void ClaimAfterStop(const plan::Objective& objective, bool is_out_of_memory,
                    answer::PartitionResult& result) {
  plan::Plan& plan = *result.plan;
  plan.run.cut_off = true;
  for (plan::Home& home : plan.homes) home.lower_bound = 0;
  if (is_out_of_memory)
    plan.notes.emplace_back("the memory limit was reached, which ended the search");
  for (plan::Subgraph& subgraph : plan.subgraphs)
    subgraph.largest_proven = answer::IsWholeOutput(plan.network, subgraph);
  const plan::Objective expected = WithoutRatios(objective);
  plan.baseline = result.alone;
  if (result.alone_for.weights != expected.weights || result.alone_for.limits != expected.limits)
    plan.baseline.reset();
  const base::Expected<cost::Scale> scale = cost::Scale::Make(plan.objective, plan.lower_bounds);
  if (plan.baseline && scale) plan.baseline->score = scale->ScoreOf(plan.baseline->totals);
  if (!plan.baseline)
    plan.notes.emplace_back(
        "the search was stopped before all operators were tried alone: there is no baseline");
  answer::ClaimByBound(plan);
  result.status = plan.status == "optimal" ? problem::Status::kOptimal : problem::Status::kFeasible;
}

void ReportCache(const answer::PartitionOptions& options, const tiling::CachedEngines& cached) {
  if (!options.progress) return;
  const tiling::ResultCache::Counts counts = cached.Count();
  const std::string line =
      fmt::format("{} of {} answers about subgraphs were known, {} kB are kept", counts.hits,
                  counts.hits + counts.misses, counts.bytes / 1000);
  options.progress({.line = line, .phase = "known answers"});
}

// Returns a function that passes progress on, with this bound and the score of the best plan that
// was reported.
base::ProgressFunction WithScores(const base::ProgressFunction& progress, double bound) {
  if (!progress) return {};
  struct Best {
    std::mutex mutex;
    std::optional<double> score;
  };
  return [&progress, bound, best = std::make_shared<Best>()](base::Progress each) {
    {
      const std::lock_guard lock(best->mutex);
      if (each.incumbent && (!best->score || *each.incumbent < *best->score))
        best->score = each.incumbent;
      each.incumbent = best->score;
    }
    each.bound = bound;
    progress(each);
  };
}

// Returns the network with the homes, stored bytes and engines of the profile.
graph::Graph Resolved(const graph::Graph& network, const hw_profiles::Profile& profile,
                      const answer::PartitionOptions& options) {
  return cost::WithEngines(encoder::program::WithHomes(network, profile), profile,
                           options.objective.weights);
}

// Searches for a plan. A result without a plan has not been submitted to the independent judge.
base::Expected<answer::PartitionResult> Search(const graph::Graph& network,
                                               const hw_profiles::Profile& profile,
                                               const answer::PartitionOptions& options) {
  const graph::Graph graph = Resolved(network, profile, options);
  if (auto fault = CheckWellFormed(graph, profile, options)) return base::Unexpected(*fault);
  if (const auto overflow = encoder::program::FindConstantOverflow(graph, profile)) {
    return answer::PartitionResult{
        problem::Status::kInfeasible, std::nullopt, overflow->message,
        placement::ObstacleOf(graph, profile,
                              *encoder::program::FindOverfullHome(graph, profile, {}))};
  }
  const cost::PeakLowerBound peak = cost::FindPeakLowerBound(graph, profile);
  const answer::LowerBounds lower_bounds{.costs = cost::FindLowerBounds(graph, profile, peak),
                                         .tightest = peak.op};
  const base::Expected<cost::Scale> scale =
      cost::Scale::Make(options.objective, lower_bounds.costs);
  if (!scale) return base::Unexpected(scale.error());

  const base::Stop never;
  const tiling::Engines engines(options.engines.begin(), options.engines.end());
  const tiling::CachedEngines own(options.cached != nullptr ? tiling::Engines() : engines);
  const tiling::CachedEngines& cached = options.cached != nullptr ? *options.cached : own;
  const std::shared_ptr<choices::PriceStore> kept =
      options.prices != nullptr ? options.prices->Of(options.objective) : nullptr;
  auto prices = kept == nullptr ? std::make_unique<choices::PriceStore>() : nullptr;
  const paths::NetworkContext network_context{
      .graph = graph,
      .profile = profile,
      .scale = *scale,
      .stop = options.stop != nullptr ? *options.stop : never,
      .engines = engines,
      .tile_engines = cached.Pointers(),
      .budget = options.budget,
      .previous = options.previous,
      .constraints = options.constraints,
      .keeping = options.keeping,
      .prices = kept != nullptr ? kept.get() : prices.get()};
  answer::PartitionOptions reporting = options;
  reporting.progress = WithScores(options.progress, scale->ScoreOfBounds(lower_bounds.costs));
  auto search = std::make_unique<driver::OrderSearch>(network_context, reporting, lower_bounds);
  base::Expected<answer::PartitionResult> result = search->Run();
  base::FreeUnlessAtEnd(std::move(search), network_context.stop);
  base::FreeUnlessAtEnd(std::move(prices), network_context.stop);
  if (!result) return result;
  result->alone_for = options.objective;
  if (result->plan) {
    result->plan->run = answer::RecordOf(graph, *result->plan, options);
    // Searches that compare plans need the claims of this one.
    if (result->plan->run.cut_off) answer::ClaimByBound(*result->plan);
  }
  ReportCache(reporting, cached);
  return result;
}

bool IsStopped(const answer::PartitionOptions& options) {
  return options.stop != nullptr && options.stop->Requested();
}

// Returns the options without what cannot improve a plan of the network.
answer::PartitionOptions OptionsFor(const graph::Graph& network,
                                    const hw_profiles::Profile& profile,
                                    answer::PartitionOptions options) {
  options.prefetch = options.prefetch &&
                     driver::MayGainByPrefetching(encoder::program::WithHomes(network, profile),
                                                  profile, options.objective);
  return options;
}

void Judge(const graph::Graph& network, const hw_profiles::Profile& profile,
           const answer::PartitionOptions& options, answer::PartitionResult& result) {
  answer::Confirm(Resolved(network, profile, options), profile,
                  OptionsFor(network, profile, options), result);
  const bool out_of_memory = options.stop != nullptr && options.stop->IsOutOfMemory();
  if (result.status == problem::Status::kUnknown && out_of_memory)
    result.reason += "; the memory limit was reached";
}

// Whether limits alone exclude all plans of the network. Then it is not rewritten, because the
// limits refer to its plans. Mostly there is a layer-by-layer plan, which takes little work.
base::Expected<bool> HasPlanWithoutLimits(const graph::Graph& network,
                                          const answer::PartitionOptions& options,
                                          const SearchFunction& search) {
  if (options.objective.limits.empty()) return false;
  answer::PartitionOptions free = options;
  free.objective = {.weights = {{"latency", 1}}, .limits = {}};
  free.prefetch = false;
  free.progress = {};  // scores of another objective
  for (const std::optional<int64_t> most_work : {std::optional<int64_t>(1), options.most_work}) {
    free.most_work = most_work;
    const base::Expected<answer::PartitionResult> found = search(network, free);
    if (!found) return base::Unexpected(found.error());
    if (found->plan) return true;
  }
  return false;
}

// Weakens a refusal that other engines, or two stages, might avoid: modes of banks name engines,
// and limits depend on the cycles and energy of engines, unless a bound that holds for all such
// plans exceeds the limit.
void ClaimForOtherEngines(const graph::Graph& network, const hw_profiles::Profile& profile,
                          const answer::PartitionOptions& options,
                          answer::PartitionResult& result) {
  if (result.plan || result.refutation || result.status != problem::Status::kInfeasible ||
      (!encoder::program::HasChoiceOfEngines(network, profile) &&
       hw_profiles::EnginesAtOnce(profile) == 1))
    return;
  const hw_profiles::Memory& memory = profile.memories[static_cast<size_t>(profile.tile_memory)];
  if (memory.modes.empty()) {
    if (options.objective.limits.empty()) return;
    const plan::Metrics bounds =
        cost::FindLowerBounds(Resolved(network, profile, options), profile);
    for (const auto& [name, limit] : options.objective.limits) {
      const plan::Metric* metric = plan::FindMetric(name);
      if (metric != nullptr &&
          plan::LowerBoundOf(bounds, *metric, options.objective.limits) > limit)
        return;
    }
  }
  result.status = problem::Status::kUnknown;
  result.reason += "; other engines and two stages were not looked at";
}

// If the network has no plan, searches for one of the rewritten network, unless constraints refer
// to its operators. The network is refused only if the rewritten one is refused too.
base::Expected<answer::PartitionResult> SearchAndJudge(const graph::Graph& network,
                                                       const hw_profiles::Profile& profile,
                                                       const answer::PartitionOptions& options,
                                                       const SearchFunction& search) {
  std::optional<Rewriting> rewriting =
      options.constraints.empty() ? RewriteWhatDoesNotFit(network, profile) : std::nullopt;
  if (rewriting) {
    rewriting->network =
        cost::WithEngines(std::move(rewriting->network), profile, options.objective.weights);
  }
  std::optional<base::Expected<answer::PartitionResult>> given;
  if (!rewriting || !rewriting->is_needed) {
    given = search(network, options);
    if (!*given || (*given)->plan) return *std::move(given);
  }
  // After a stop the other form is searched only if the network is refuted: the answer is open.
  const bool is_open =
      given && (*given)->status != problem::Status::kInfeasible && IsStopped(options);
  bool rewrites = rewriting && !is_open;
  if (rewrites && given) {
    const base::Expected<bool> has_plan = HasPlanWithoutLimits(network, options, search);
    if (!has_plan) return base::Unexpected(has_plan.error());
    rewrites = !*has_plan;
  }
  if (rewrites) {
    base::Expected<answer::PartitionResult> other = search(rewriting->network, options);
    if (!other) return other;
    if (other->plan) {
      std::vector<std::string>& notes = other->plan->notes;
      notes.insert(notes.end(), rewriting->notes.begin(), rewriting->notes.end());
      return other;
    }
    Judge(rewriting->network, profile, options, *other);
    if (other->status != problem::Status::kInfeasible) {
      // An obstacle refers to the given operators.
      if (rewriting->network.operators.size() != network.operators.size()) other->obstacle.reset();
      return other;
    }
  }
  if (!given) given = search(network, options);
  if (*given && !(*given)->plan) Judge(network, profile, options, **given);
  return *std::move(given);
}

// Lets the search end at three quarters of the memory limit. The rest is for making, checking and
// writing the answer, during which the memory of the search is still in use.
void LeaveMemoryForTheAnswer(int64_t limit, base::Stop& stop) {
  if (limit < std::numeric_limits<int64_t>::max()) stop.LimitMemory(limit / 4 * 3);
}

// Searches again after memory ran out and everything was freed. The search is stopped from the
// beginning, so it needs little memory.
base::Expected<answer::PartitionResult> SearchLittle(const graph::Graph& network,
                                                     const hw_profiles::Profile& profile,
                                                     const answer::PartitionOptions& options) {
  try {
    const base::Stop exhausted(base::Stop::Clock::now(), options.stop);
    exhausted.NoteFailedAllocation();
    answer::PartitionOptions little = options;
    little.stop = &exhausted;
    little.threads = 1;
    base::Expected<answer::PartitionResult> result = Search(network, profile, little);
    if (result && result->plan)
      result->plan->notes.emplace_back("memory was exhausted, which ended the search");
    if (result && !result->plan) {
      Judge(network, profile, little, *result);
      result->reason += "; memory was exhausted";
    }
    return result;
  } catch (const std::bad_alloc&) {
    return answer::PartitionResult{problem::Status::kUnknown, std::nullopt, "memory is exhausted"};
  }
}

base::Expected<answer::PartitionResult> SearchAll(const graph::Graph& network,
                                                  const hw_profiles::Profile& profile,
                                                  const answer::PartitionOptions& given) {
  base::Stop stop(std::nullopt, given.stop);
  if (given.stop != nullptr) LeaveMemoryForTheAnswer(given.stop->MemoryLimit(), stop);
  answer::PartitionOptions options = given;
  options.stop = &stop;
  const SearchFunction search = [&](const graph::Graph& each,
                                    const answer::PartitionOptions& asked) {
    try {
      return Search(each, profile, asked);
    } catch (const std::bad_alloc&) {
      return SearchLittle(each, profile, asked);
    }
  };
  const SearchFunction search_objective = [&](const graph::Graph& each,
                                              const answer::PartitionOptions& asked) {
    return WeighsRatios(asked.objective) ? SearchForRatios(each, profile, asked, search)
                                         : search(each, asked);
  };
  const SearchFunction search_limits = [&](const graph::Graph& each,
                                           const answer::PartitionOptions& asked) {
    return SearchForLimits(each, profile, asked, search_objective);
  };
  const SearchFunction search_all = [&](const graph::Graph& each,
                                        const answer::PartitionOptions& asked) {
    return SearchForSharing(each, profile, OptionsFor(each, profile, asked), search_limits);
  };
  const auto finish = [&](base::Expected<answer::PartitionResult> result)
      -> base::Expected<answer::PartitionResult> {
    if (result) {
      ClaimForOtherEngines(network, profile, options, *result);
      ClaimForSharing(network, profile, options, *result);
    }
    if (result && result->plan && (result->plan->run.cut_off || stop.HasCutOff()))
      ClaimAfterStop(options.objective, stop.IsOutOfMemory(), *result);
    return result;
  };
  try {
    return finish(SearchAndJudge(network, profile, options, search_all));
  } catch (const std::bad_alloc&) {
    return finish(SearchLittle(network, profile, options));
  }
}

}  // namespace

base::Expected<answer::PartitionResult> SearchPartition(const graph::Graph& network,
                                                        const hw_profiles::Profile& profile,
                                                        const answer::PartitionOptions& given) {
  try {
    // Related searches, which have other objectives, take the engines of this one.
    return SearchAll(cost::WithEngines(network, profile, given.objective.weights), profile, given);
  } catch (const std::bad_alloc&) {
    return answer::PartitionResult{problem::Status::kUnknown, std::nullopt, "memory is exhausted"};
  }
}

}  // namespace tessera::search::partition
