#include "tessera/search/partition/judged.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tessera/encoder/lazy/lazy_prover.h"
#include "tessera/encoder/sat/sat_prover.h"
#include "tessera/plan/refutation/refute.h"
#include "tessera/search/allocate/certify.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/partition/colliding_demands.h"

namespace tessera::search {
namespace {

constexpr int64_t kProverBudget = 20'000;  // conflicts, for each Problem and prover
constexpr int64_t kPlacementBudget = 20'000;
constexpr int kMostUndecided =
    8;  // Problems that have neither a placement nor a proof, before no more are put

// What has a placement needs no prover.
bool IsPlaced(const problem::Problem& problem, problem::Bytes capacity, const PartitionOptions& options,
              const base::Stop& stop) {
  AllocateOptions allocate;
  allocate.capacity = capacity;
  allocate.minimize = false;
  allocate.budget.units = kPlacementBudget;
  allocate.stop = &stop;
  const Engines engines(options.engines.begin(), options.engines.end());
  const base::Expected<problem::Result> result = Allocate(problem, nullptr, 0, engines, allocate);
  return result && result->allocation;
}

std::vector<std::string> AllDemands(const graph::Graph& graph, const PartitionOptions& options) {
  std::vector<std::string> demands;
  for (const Demand& demand : options.demands) demands.push_back(Describe(graph, demand));
  return demands;
}

// The demands that the result names, which may be none, must rule out every plan without the
// others. If the judge does not confirm that, all demands are named.
void ConfirmDemands(const graph::Graph& graph, const hw_profiles::Profile& profile,
                    const PartitionOptions& options, PartitionResult& result) {
  PartitionOptions fewer = options;
  std::erase_if(fewer.demands, [&](const Demand& demand) {
    return std::find(result.demands.begin(), result.demands.end(), Describe(graph, demand)) ==
           result.demands.end();
  });
  if (fewer.demands.size() == options.demands.size()) return;
  if (JudgeWhetherNone(graph, profile, fewer).refutation) return;
  result.reason = result.refutation->argument;
  result.obstacle.reset();
  result.demands = AllDemands(graph, options);
}

}  // namespace

plan::Plan QuestionOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                      const PartitionOptions& options) {
  plan::Plan question;
  question.network = graph;
  question.profile = profile;
  question.objective = options.objective;
  question.demands = options.demands;
  question.seed = options.seed;
  question.run.searches_order = options.ordering == Ordering::kSearch;
  question.run.keeps_borders = options.keeping == Keeping::kWherePossible;
  question.run.prefetches = options.prefetch;
  return question;
}

plan::refutation::Judgement JudgeWhetherNone(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                             const PartitionOptions& options) {
  const base::Stop never;
  const base::Stop& stop = options.stop != nullptr ? *options.stop : never;
  const encoder::LazyProver lazy({.seed = options.seed});
  const encoder::SatProver cadical(options.seed);
  const std::array<const problem::proof::Prover*, 2> provers = {&lazy, &cadical};
  int undecided = 0;
  const auto find_proof = [&](const problem::Problem& problem,
                              problem::Bytes capacity) -> std::optional<std::string> {
    if (undecided >= kMostUndecided || IsPlaced(problem, capacity, options, stop)) return std::nullopt;
    std::optional<std::string> proof =
        Certify(problem, capacity, provers, {.units = kProverBudget}, stop, {}).proof;
    undecided += proof ? 0 : 1;
    return proof;
  };
  return plan::refutation::Judge(QuestionOf(graph, profile, options), find_proof, stop);
}

void Confirm(const graph::Graph& graph, const hw_profiles::Profile& profile, const PartitionOptions& options,
             PartitionResult& result) {
  const bool infeasible = result.status == problem::Status::kInfeasible;
  if (!infeasible && (result.status != problem::Status::kUnknown || result.plan)) return;
  const bool stopped = options.stop != nullptr && options.stop->Requested();
  if (options.judges_refusals && (infeasible || !stopped)) {
    plan::refutation::Judgement judgement = JudgeWhetherNone(graph, profile, options);
    if (judgement.refutation) {
      // What the search did not decide is no reason any more.
      if (!infeasible && !result.of_file_order) result.reason = judgement.refutation->argument;
      result.status = problem::Status::kInfeasible;
      result.refutation = std::move(judgement.refutation);
      if (infeasible) ConfirmDemands(graph, profile, options, result);
    } else if (infeasible) {
      result.status = problem::Status::kUnknown;
      result.reason +=
          fmt::format("; the independent check does not confirm that there is no plan: {}", judgement.gap);
      if (!result.demands.empty()) result.demands = AllDemands(graph, options);
    }
  }
  if (result.status == problem::Status::kUnknown && !infeasible && result.of_file_order) {
    result.reason = fmt::format(
        "in the order of the file {}; other orders were not all tried, or not to the end", result.reason);
  }
  NameDemands(result);
}

}  // namespace tessera::search
