// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/parts/plan_check.h"

#include <fmt/core.h>

#include <string>
#include <utility>

#include "tessera/api/parts/engine_set.h"
#include "tessera/base/stop.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/lowering/lowering.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/partition/analysis/reproduce.h"

namespace tessera::api::parts {
namespace {

CheckedLowering Without(LoweringOutcome outcome, std::string message) {
  CheckedLowering lowering;
  lowering.outcome = outcome;
  lowering.why.message = std::move(message);
  return lowering;
}

class PlanCheck {
 public:
  PlanCheck(const plan::Plan& plan, const PlanCheckOptions& options, base::Stop& stop)
      : plan_(plan), options_(options), stop_(stop) {}

  PlanVerdict Run() {
    Add(plan::verify::Validate(plan_));
    if (IsClean()) Add(search::cost::FindMispriced(plan_));
    if (IsClean()) CheckDigest();
    if (options_.execute) Interruptibly("while it was executed", [this] { Execute(); });
    if (options_.execute && plan_.lowering)
      Interruptibly("while its lowering was executed", [this] { Interpret(); });
    if (plan_.lowering)
      Interruptibly("while its lowering was derived", [this] { CheckLowering(); });
    if (IsClean() && options_.search)
      Interruptibly("while it was made again", [this] { SearchAgain(); });
    return std::move(verdict_);
  }

 private:
  bool IsClean() const { return verdict_.violations.empty(); }
  bool IsCutOff() const { return !verdict_.cut_off.empty(); }

  // Does a part of the work. After one was cut off, the others are skipped.
  template <typename Work>
  void Interruptibly(std::string_view when, const Work& work) {
    if (IsCutOff()) return;
    if (options_.around) {
      options_.around(work);
    } else {
      work();
    }
    if (stop_.HasCutOff()) verdict_.cut_off = when;
  }

  void Add(const std::vector<plan::verify::Violation>& violations) {
    for (const plan::verify::Violation& violation : violations)
      verdict_.violations.push_back(
          fmt::format("{}: {}", NameOf(violation.kind), violation.message));
  }

  void CheckDigest() {
    plan::verify::Findings findings(1);
    plan::files::CheckDigest(plan_, findings);
    Add(findings.Take());
  }

  void Execute() {
    verdict_.execution = plan::lowering::Execute(plan_, stop_);
    const plan::lowering::Report& execution = *verdict_.execution;
    if (!execution.obstacle.empty()) {
      if (IsClean())
        verdict_.obstacle = execution.obstacle;
      else
        verdict_.violations.push_back("execution: " + execution.obstacle);
    }
    for (const plan::lowering::Finding& finding : execution.findings)
      verdict_.violations.push_back(
          fmt::format("execution: {}: {}", NameOf(finding.kind), finding.message));
    AddRest("execution", execution.found, execution.findings.size());
  }

  void Interpret() {
    verdict_.interpreted = plan::lowering::Interpret(plan_, plan_.seed, stop_);
    for (const plan::lowering::Finding& finding : verdict_.interpreted->findings)
      verdict_.violations.push_back("lowering: " + finding.message);
    AddRest("lowering", verdict_.interpreted->found, verdict_.interpreted->findings.size());
    if (IsClean() && verdict_.obstacle.empty()) verdict_.obstacle = verdict_.interpreted->obstacle;
  }

  // Compares the stated lowering with the one derived from the plan.
  void CheckLowering() {
    if (!options_.execute) {
      for (const std::string& fault : plan::lowering::FindForbidden(plan_))
        verdict_.violations.push_back("lowering: " + fault);
    }
    if (!IsClean()) return;  // nothing follows from an invalid plan
    const base::Expected<plan::Program> expected = plan::lowering::Lower(plan_, stop_);
    if (stop_.Requested()) return;
    if (!expected) {
      verdict_.violations.push_back("lowering: " + expected.error().message);
    } else {
      for (const std::string& difference :
           plan::lowering::FindDifferences(*plan_.lowering, *expected))
        verdict_.violations.push_back("lowering: " + difference);
    }
  }

  void AddRest(std::string_view what, int64_t found, size_t reported) {
    const int64_t rest = found - static_cast<int64_t>(reported);
    if (rest > 0) verdict_.violations.push_back(fmt::format("{}: {} more", what, rest));
  }

  void SearchAgain() {
    const plan::Run& run = plan_.run;
    if (const auto unknown = EngineSet::FindUnknown(run.engines, run.switched_off)) {
      verdict_.violations.push_back(fmt::format(
          "claim: the plan was made with {}, which this program does not have", unknown->what));
      return;
    }
    const EngineSet engines(run.engines, run.switched_off, plan_.seed);
    const search::partition::analysis::Reproduction made_again =
        search::partition::analysis::Reproduce(
            plan_, {.engines = engines.Pointers(), .stop = &stop_, .threads = options_.threads});
    verdict_.searched_again = made_again.finished;
    verdict_.bound = made_again.bound;
    Add(made_again.violations);
  }

  const plan::Plan& plan_;
  const PlanCheckOptions& options_;
  base::Stop& stop_;
  PlanVerdict verdict_;
};

}  // namespace

CheckedLowering LowerAndRun(const plan::Plan& plan, const base::Stop& stop) {
  plan::Plan lowered = plan;
  base::Expected<plan::Program> program = plan::lowering::Lower(plan, stop);
  if (!program) {
    return Without(stop.Requested() ? LoweringOutcome::kStopped : LoweringOutcome::kRefused,
                   program.error().message);
  }
  lowered.lowering = *std::move(program);
  const plan::lowering::Report run = plan::lowering::Interpret(lowered, plan.seed, stop);
  if (!run.findings.empty())
    return Without(LoweringOutcome::kWrong, "the lowering is wrong: " + run.findings[0].message);
  if (run.is_cut_off)
    return Without(LoweringOutcome::kStopped, "the lowering was stopped before all of it was run");
  if (!run.obstacle.empty())
    return Without(LoweringOutcome::kRefused, "the lowering cannot be run: " + run.obstacle);
  return {LoweringOutcome::kLowered, std::move(lowered.lowering), {}};
}

PlanVerdict CheckPlan(const plan::Plan& plan, const PlanCheckOptions& options, base::Stop& stop) {
  return PlanCheck(plan, options, stop).Run();
}

}  // namespace tessera::api::parts
