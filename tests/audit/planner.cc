// SPDX-License-Identifier: Apache-2.0

#include "planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/encoder/smt/z3_engine.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/engines/local_search/local_search.h"

namespace tessera::audit {
namespace {

constexpr int64_t kPlanBudget = 200'000;  // of the command, for each Problem given to an engine

std::string ValuesOf(const std::map<std::string, double>& values) {
  std::string text;
  for (const auto& [metric, value] : values)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", metric, value);
  return text;
}

}  // namespace

const std::vector<const problem::Engine*>& UsualEngines() {
  static const search::engines::greedy::GreedyEngine greedy;
  static const search::engines::canonical::CanonicalEngine canonical;
  static const search::engines::local_search::LocalSearchEngine local_search(0);
  static const search::engines::lazy::LazyEngine lazy;
  static const encoder::sat::SatEngine sat;
  static const std::vector<const problem::Engine*> engines = {&greedy, &canonical, &local_search,
                                                              &lazy, &sat};
  return engines;
}

const std::vector<const problem::Engine*>& AllEngines() {
  static const encoder::smt::Z3Engine z3;
  static const std::vector<const problem::Engine*> engines = [] {
    std::vector<const problem::Engine*> all = UsualEngines();
    all.push_back(&z3);
    return all;
  }();
  return engines;
}

bool IsRewritten(const PlanRequest& question, const Answer& answer) {
  if (!answer.plan) return false;
  const auto states = [](const graph::Graph& network) {
    return std::count_if(network.tensors.begin(), network.tensors.end(),
                         [](const graph::Tensor& tensor) { return tensor.state; });
  };
  const auto count = [](const graph::Graph& network, const auto& holds) {
    return std::count_if(network.operators.begin(), network.operators.end(), holds);
  };
  const auto has_engine = [](const graph::Operator& op) {
    return !op.engine.empty() && !op.engine_chosen;
  };
  const auto is_global = [](const graph::Operator& op) {
    return op.kind == base::OperatorKind::kGlobalPool;
  };
  return answer.plan->network.operators.size() != question.network.operators.size() ||
         states(answer.plan->network) != states(question.network) ||
         count(answer.plan->network, has_engine) != count(question.network, has_engine) ||
         count(answer.plan->network, is_global) != count(question.network, is_global);
}

Answer Ask(const PlanRequest& question, double seconds) {
  const auto start = base::Stop::Clock::now();
  const base::Stop stop(start + std::chrono::duration_cast<base::Stop::Clock::duration>(
                                    std::chrono::duration<double>(seconds)));
  search::partition::answer::PartitionOptions options;
  options.objective = question.objective;
  options.max_operators = question.max_operators;
  options.ordering = question.ordering;
  options.keeping = question.keeping;
  options.prefetch = question.prefetch;
  options.off_chip = question.off_chip;
  options.constraints = question.constraints;
  options.previous = question.previous ? &*question.previous : nullptr;
  if (question.effort) options.effort = *question.effort;
  options.engines = UsualEngines();
  if (question.engine != nullptr) options.engines = {&question.engine, 1};
  options.cached = question.cached;
  options.threads = question.threads;
  options.budget.units = kPlanBudget;
  options.stop = &stop;
  base::Expected<search::partition::answer::PartitionResult> result =
      search::partition::SearchPartition(question.network, question.profile, options);
  Answer answer;
  answer.seconds = std::chrono::duration<double>(base::Stop::Clock::now() - start).count();
  answer.timed_out = stop.Requested() || stop.HasCutOff();  // a part may have less time
  if (!result) {
    answer.fault = base::Format(result.error());
    return answer;
  }
  answer.status = result->status;
  answer.plan = std::move(result->plan);
  answer.reason = std::move(result->reason);
  return answer;
}

std::string Describe(const plan::Metrics& metrics) {
  std::string text;
  for (const std::string_view name : plan::MetricNames())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, plan::ValueOf(metrics, name));
  return text;
}

std::string Describe(const Answer& answer) {
  if (!answer.fault.empty()) return "fault: " + answer.fault;
  std::string text = std::string(NameOf(answer.status));
  if (answer.plan) return fmt::format("{}, {}", text, Describe(answer.plan->totals));
  return fmt::format("{} ({}{})", text, answer.reason, answer.timed_out ? "; timed out" : "");
}

std::string CommandOf(const PlanRequest& question) {
  std::string command = "tessera plan network.yaml --hw profile.yaml";
  const plan::Objective& objective = question.objective;
  if (objective.weights.size() == 1) {
    command += " --minimize " + objective.weights.begin()->first;
  } else if (!objective.weights.empty()) {
    command += " --score " + ValuesOf(objective.weights);
  }
  if (!objective.limits.empty()) command += " --limit " + ValuesOf(objective.limits);
  if (question.ordering == search::partition::answer::Ordering::kGiven) command += " --order given";
  if (question.keeping == search::partition::paths::Keeping::kNothing) command += " --no-keep";
  if (question.max_operators)
    command += fmt::format(" --max-operators {}", *question.max_operators);
  if (!question.prefetch) command += " --transfers per-subgraph";
  if (question.off_chip != plan::OffChip::kWhole)
    command += fmt::format(" --off-chip {}", plan::WordFor(question.off_chip, plan::kOffChipNames));
  if (!question.constraints.empty()) command += " --constraints constraints.yaml";
  if (question.previous) command += " --previous old.json";
  if (question.threads != 1) command += fmt::format(" --threads {}", question.threads);
  if (question.engine != nullptr) command += fmt::format(" --engine {}", question.engine->Name());
  return command + " --timeout 10";
}

bool IsLess(double a, double b) { return a < b - 1e-9 * b; }

}  // namespace tessera::audit
