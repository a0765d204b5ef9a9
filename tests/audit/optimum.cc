// SPDX-License-Identifier: Apache-2.0

#include "optimum.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "draw_question.h"
#include "homes_rule.h"
#include "oracle.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/search/partition/answer/refusal.h"
#include "tessera/search/partition/partition.h"

// Compares the search with an oracle that tries everything.
//
//     search        oracle knows the best         oracle knows that there is none
//     optimal       must be it                    impossible: the plan was checked
//     feasible      must not be better
//     infeasible    a finding                     right
//     unknown       counted                       counted
//
// Bounds of a plan are compared with the oracle's plan too. That plan costs no less than any bound.
namespace tessera::audit {
namespace {

// The oracle's plan as `tessera eval` completes it. The case of a finding needs it. If eval refuses
// it, `flaw` has the reason.
Files FilesOf(const OracleAnswer& oracle, std::string& flaw) {
  search::partition::answer::EvaluateOptions options;
  options.engines = UsualEngines();
  const auto evaluated = search::partition::Evaluate(oracle.draft, options);
  if (!evaluated) {
    flaw = base::Format(evaluated.error());
  } else if (!evaluated->plan) {
    flaw =
        evaluated->violations.empty() ? evaluated->reason : evaluated->violations.front().message;
  } else {
    const std::vector<std::string> faults = FaultsOf(*evaluated->plan);
    if (!faults.empty()) flaw = faults.front();
    return {{"better.json", plan::files::WritePlanJson(*evaluated->plan)}};
  }
  return {};
}

std::string RankText(const OracleAnswer& oracle) {
  return fmt::format("score {}, {}", oracle.least[0], Describe(oracle.totals));
}

// The independent judge of refusals gets each metric of a known plan as a limit. It must not refuse
// these limits.
void CheckJudge(const PlanRequest& question, const plan::Metrics& totals, Run& run) {
  PlanRequest exact = question;
  for (const std::string_view name : plan::MetricNames())
    exact.objective.limits[std::string(name)] = plan::ValueOf(totals, name);
  const base::Stop stop(base::Stop::Clock::now() + std::chrono::seconds(3));
  search::partition::answer::PartitionOptions options;
  options.objective = exact.objective;
  options.engines = UsualEngines();
  options.stop = &stop;
  const auto judgement =
      search::partition::answer::JudgeWhetherNone(exact.network, exact.profile, options);
  run.Count("judged with a plan");
  if (judgement.refutation) {
    run.Report({"the judge refuses what has a plan",
                judgement.refutation->argument + "; there is " + Describe(totals),
                exact,
                {},
                {}});
  }
}

void Compare(const PlanRequest& question, const Answer& answer, const OracleAnswer& oracle,
             Run& run) {
  const bool exists = oracle.verdict == OracleAnswer::EngineAnswer::kBest;
  const auto report = [&](const std::string& kind, const std::string& what) {
    std::string flaw;
    const Files files = exists ? FilesOf(oracle, flaw) : Files{};
    const std::string there = exists ? "; there is " + RankText(oracle) : "";
    const std::string but = flaw.empty() ? "" : "; but that plan is refused: " + flaw;
    const bool has_plan = !files.empty();
    run.Report({flaw.empty() ? kind : kind + ", by a plan that is refused", what + there + but,
                question, files,
                has_plan ? std::vector<std::string>{"tessera check --execute better.json"}
                         : std::vector<std::string>{}});
  };
  const std::string answered = Describe(answer);
  if (!exists) {
    if (answer.plan) report("oracle finds no plan", answered);
    return;
  }
  if (answer.IsInfeasible()) return report("infeasible, and there is a plan", answered);
  if (answer.status == problem::Status::kUnsupported)
    return report("unsupported, and there is a plan", answered);
  if (!answer.plan) return;
  CheckJudge(question, answer.plan->totals, run);
  CheckJudge(question, oracle.totals, run);
  if (hw_profiles::HasSeveralHomes(question.profile)) run.Count("several homes");
  if (HasStatesElsewhere(question.network, question.profile)) run.Count("states elsewhere");
  if (std::any_of(answer.plan->subgraphs.begin(), answer.plan->subgraphs.end(),
                  [](const plan::Subgraph& subgraph) { return subgraph.second_stage > 0; }))
    run.Count("two stages");
  const double score = answer.plan->score;
  const std::string scored = fmt::format("score {}, {}", score, answered);
  if (answer.IsOptimal() && IsLess(oracle.least[0], score))
    return report("optimal is beaten", scored);
  if (IsLess(score, oracle.least[0])) return report("oracle misses a plan", scored);
  for (const plan::Metric& metric : plan::kMetrics) {
    const double bound =
        plan::LowerBoundOf(answer.plan->lower_bounds, metric, question.objective.limits);
    if (IsLess(plan::ValueOf(oracle.totals, metric), bound))
      return report("bound above a plan", fmt::format("{} at least {}", metric.name, bound));
  }
  if (!answer.IsOptimal() || !oracle.ties) return;
  run.Count("ties known");
  const plan::Metrics& totals = answer.plan->totals;
  const std::array<double, 4> ties = {static_cast<double>(totals.latency_cycles), totals.energy_pj,
                                      static_cast<double>(totals.off_chip_bytes),
                                      static_cast<double>(totals.peak_bytes)};
  for (size_t i = 0; i < ties.size(); ++i) {
    if (IsLess(ties[i], oracle.least[i + 1])) return;
    if (IsLess(oracle.least[i + 1], ties[i])) return report("tie not broken", scored);
  }
}

// The given network has no plan, and that of the other one is as good as any of it.
void CheckRewritten(const PlanRequest& question, const Answer& answer, const OracleAnswer& oracle,
                    Run& run) {
  run.Count("rewritten");
  if (oracle.verdict == OracleAnswer::EngineAnswer::kBest) {
    std::string flaw;
    return run.Report({"rewritten, and there is a plan",
                       Describe(answer) + "; there is " + RankText(oracle),
                       question,
                       FilesOf(oracle, flaw),
                       {}});
  }
  PlanRequest other = question;
  other.network = answer.plan->network;
  const OracleAnswer best = FindBest(other, WeightsOf(other.objective, answer.plan->lower_bounds));
  if (best.verdict == OracleAnswer::EngineAnswer::kDeclined) return run.Skip(best.why);
  Compare(other, answer, best, run);
}

}  // namespace

PlanRequest DrawSmall(base::Random& random) {
  PlanRequest question = DrawPlanRequest(random, random.Chance(0.3) ? 8 : 5);
  if (!random.Chance(0.4)) return question;
  const Answer answer = Ask(question);
  if (answer.plan) DrawLimits(random, answer.plan->totals, question.objective);
  return question;
}

void CheckOptimum(const PlanRequest& question, uint64_t, Run& run) {
  const Answer answer = run.Ask(question);
  const auto weights = answer.plan ? WeightsOf(question.objective, answer.plan->lower_bounds)
                                   : question.objective.weights;
  const OracleAnswer oracle = FindBest(question, weights);
  if (oracle.verdict == OracleAnswer::EngineAnswer::kDeclined) {
    run.Skip(oracle.why);
    if (oracle.why.starts_with("engine fault"))
      run.Report({"fault of an engine", oracle.why, question, {}, {}});
    return;
  }
  if (!answer.fault.empty()) return;
  if (IsRewritten(question, answer)) return CheckRewritten(question, answer, oracle, run);
  if (oracle.verdict == OracleAnswer::EngineAnswer::kBest) {
    run.Count("best known");
    if (answer.IsOptimal()) run.Count("called optimal");
  } else {
    run.Count("none known");
    if (answer.IsInfeasible() || answer.status == problem::Status::kUnsupported)
      run.Count("refuted");
  }
  Compare(question, answer, oracle, run);
}

}  // namespace tessera::audit
