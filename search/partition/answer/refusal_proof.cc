#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tessera/encoder/sat/sat_prover.h"
#include "tessera/plan/verify/infeasibility/refutation.h"
#include "tessera/search/allocate/certificates.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/partition/answer/refusal.h"

namespace tessera::search::partition::answer {

namespace {

using problem::Status;

// Those that suffice; all where they do only jointly, in one program.
std::vector<plan::Demand> LeastOf(const DemandProbe& probe, std::vector<plan::Demand> demands) {
  for (size_t i = 0; i < demands.size() && !probe.planning.stop.Requested();) {
    std::vector<plan::Demand> rest = demands;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    if (probe.Run(rest).status == Status::kInfeasible) {
      demands = std::move(rest);
    } else {
      ++i;
    }
  }
  return demands;
}

}  // namespace

PartitionResult DemandProbe::Run(const std::vector<plan::Demand>& wanted, Telling telling) const {
  const constraints::Demands demands(planning.graph, wanted);
  const paths::CutStates states(planning.graph, planning.profile, planning.Room(), keeping, demands);
  const encoder::program::HomeRoom homes(planning.graph, planning.profile);
  paths::PathSearch paths({&planning, &states, &demands, &homes, {}}, reach, threads, {});
  paths.PoseSingles(planning.stop);
  paths.FindBounds();
  paths::Found found = paths.FindBest();
  while (found.ending == paths::Ending::kMilestone) found = paths.FindBest();
  if (found.ending == paths::Ending::kFound) return {Status::kFeasible, std::nullopt, ""};
  return ExplainAbsence(planning, paths, floors, telling);
}

PartitionResult BlameDemands(const DemandProbe& probe, std::vector<plan::Demand> demands,
                             PartitionResult result) {
  if (probe.planning.stop.Requested()) return result;
  PartitionResult free = probe.Run({}, Telling::kObstacle);
  if (free.status == result.status) return free;
  if (result.status == Status::kInfeasible) demands = LeastOf(probe, std::move(demands));
  const graph::Graph& graph = probe.planning.graph;
  for (const plan::Demand& demand : demands) result.demands.push_back(Describe(graph, demand));
  result.obstacle.reset();
  return result;
}

void NameDemands(PartitionResult& result) {
  if (result.demands.empty()) return;
  const bool none = result.status == Status::kInfeasible;
  const std::string reason = std::exchange(result.reason, "");
  result.reason = fmt::format("{} {}: {}", none ? "no plan keeps" : "no plan was found that keeps",
                              result.demands.size() == 1 ? "what is demanded" : "all that is demanded",
                              fmt::join(result.demands, "; "));
  if (!reason.empty()) result.reason += fmt::format(" (under all demands: {})", reason);
}

namespace {

constexpr int64_t kProverBudget = 20'000;  // conflicts, for each Problem and prover
constexpr int64_t kPlacementBudget = 20'000;
constexpr int kMostUndecided =
    8;  // Problems that have neither a placement nor a proof, before no more are put

// What has a placement needs no prover.
bool IsPlaced(const problem::Problem& problem, problem::Bytes capacity, const PartitionOptions& options,
              const base::Stop& stop) {
  allocate::AllocateOptions allocate;
  allocate.capacity = capacity;
  allocate.minimize = false;
  allocate.budget.units = kPlacementBudget;
  allocate.stop = &stop;
  const tiling::Engines engines(options.engines.begin(), options.engines.end());
  const base::Expected<problem::Result> result = allocate::Allocate(problem, nullptr, 0, engines, allocate);
  return result && result->allocation;
}

std::vector<std::string> AllDemands(const graph::Graph& graph, const PartitionOptions& options) {
  std::vector<std::string> demands;
  for (const plan::Demand& demand : options.demands) demands.push_back(Describe(graph, demand));
  return demands;
}

// The demands that the result names, which may be none, must rule out every plan without the
// others. If the judge does not confirm that, all demands are named.
void ConfirmDemands(const graph::Graph& graph, const hw_profiles::Profile& profile,
                    const PartitionOptions& options, PartitionResult& result) {
  PartitionOptions fewer = options;
  std::erase_if(fewer.demands, [&](const plan::Demand& demand) {
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
  question.run.keeps_borders = options.keeping == paths::Keeping::kWherePossible;
  question.run.prefetches = options.prefetch;
  return question;
}

plan::verify::infeasibility::Judgement JudgeWhetherNone(const graph::Graph& graph,
                                                        const hw_profiles::Profile& profile,
                                                        const PartitionOptions& options) {
  const base::Stop never;
  const base::Stop& stop = options.stop != nullptr ? *options.stop : never;
  const engines::lazy::LazyProver lazy({.seed = options.seed});
  const encoder::sat::SatProver cadical(options.seed);
  const std::array<const problem::proof::Prover*, 2> provers = {&lazy, &cadical};
  int undecided = 0;
  const auto find_proof = [&](const problem::Problem& problem,
                              problem::Bytes capacity) -> std::optional<std::string> {
    if (undecided >= kMostUndecided || IsPlaced(problem, capacity, options, stop)) return std::nullopt;
    std::optional<std::string> proof =
        allocate::Certify(problem, capacity, provers, {.units = kProverBudget}, stop, {}).proof;
    undecided += proof ? 0 : 1;
    return proof;
  };
  return plan::verify::infeasibility::Judge(QuestionOf(graph, profile, options), find_proof, stop);
}

void Confirm(const graph::Graph& graph, const hw_profiles::Profile& profile, const PartitionOptions& options,
             PartitionResult& result) {
  const bool infeasible = result.status == problem::Status::kInfeasible;
  if (!infeasible && (result.status != problem::Status::kUnknown || result.plan)) return;
  const bool stopped = options.stop != nullptr && options.stop->Requested();
  if (options.judges_refusals && (infeasible || !stopped)) {
    plan::verify::infeasibility::Judgement judgement = JudgeWhetherNone(graph, profile, options);
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

}  // namespace tessera::search::partition::answer
