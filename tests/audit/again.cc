// SPDX-License-Identifier: Apache-2.0

#include "again.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "claims.h"
#include "draw_question.h"
#include "draws.h"
#include "tessera/plan/files/plan_files.h"

namespace tessera::audit {
namespace {

using base::Random;

// For a network of at most this size the search must answer; a limit alone is no excuse.
constexpr size_t kSmall = 8;

// Prefetching is tried on few partitions.
bool IsSmall(const PlanRequest& question) {
  return question.network.operators.size() <= kSmall && !question.prefetch;
}

void ReportLost(const std::string& kind, const PlanRequest& question, const Answer& answer,
                const Answer& known, Run& run) {
  run.Report({kind,
              fmt::format("{}; there is {}", Describe(answer), Describe(known)),
              question,
              {{"witness.json", plan::files::WritePlanJson(*known.plan)}},
              {"tessera check --execute witness.json"}});
}

// Checks the answer to a question that `known` satisfies, whatever its score.
void ExpectPlan(const std::string& kind, const PlanRequest& question, const Answer& answer,
                const Answer& known, Run& run) {
  if (answer.plan || !answer.fault.empty()) return;
  const bool is_wrong = answer.IsInfeasible() || answer.status == problem::Status::kUnsupported;
  if (is_wrong) {
    ReportLost(kind + ": infeasible", question, answer, known, run);
  } else if (IsSmall(question)) {
    ReportLost(kind + ": unknown", question, answer, known, run);
  }
}

std::map<std::string, double> OwnLimits(const plan::Metrics& totals) {
  std::map<std::string, double> limits;
  for (const std::string_view name : plan::MetricNames()) {
    const double value = plan::ValueOf(totals, name);
    if (value > 0) limits[std::string(name)] = value;
  }
  return limits;
}

// A constraint for each subgraph and each kept boundary tensor.
std::vector<plan::PlanConstraint> ConstraintsOf(const plan::Plan& plan) {
  std::vector<plan::PlanConstraint> constraints;
  for (const plan::Subgraph& subgraph : plan.subgraphs) {
    plan::PlanConstraint& constraint = constraints.emplace_back();
    constraint.kind = plan::PlanConstraintKind::kSubgraph;
    constraint.interval = subgraph.interval;
    constraint.config.tile = subgraph.tile;
    constraint.config.weights = subgraph.weights;
    constraint.config.in_place = subgraph.in_place;
    constraint.config.halo = subgraph.halo;
  }
  for (const int tensor : plan.kept) {
    plan::PlanConstraint& constraint = constraints.emplace_back();
    constraint.kind = plan::PlanConstraintKind::kKeep;
    constraint.tensor = tensor;
  }
  return constraints;
}

bool IsSamePartition(const plan::Plan& a, const plan::Plan& b) {
  if (a.kept != b.kept || a.subgraphs.size() != b.subgraphs.size() || !(a.network == b.network))
    return false;
  for (size_t i = 0; i < a.subgraphs.size(); ++i) {
    const plan::Subgraph& one = a.subgraphs[i];
    const plan::Subgraph& other = b.subgraphs[i];
    if (!(one.interval == other.interval) || one.tile != other.tile ||
        one.weights != other.weights || one.in_place != other.in_place || one.halo != other.halo ||
        one.k_extent != other.k_extent)
      return false;
  }
  return true;
}

// Checks the answer to a question that `known` satisfies: there is a plan, and an `optimal` one is
// no worse than `known`.
void ExpectNoWorse(const std::string& kind, const PlanRequest& question, const Answer& answer,
                   const Answer& known, Run& run) {
  ExpectPlan(kind, question, answer, known, run);
  if (!answer.plan) return;
  const plan::Metrics& bounds = answer.plan->lower_bounds;
  const double score = ScoreUnder(question.objective, bounds, answer.plan->totals);
  const double before = ScoreUnder(question.objective, bounds, known.plan->totals);
  if (IsLess(before, score) && (answer.IsOptimal() || IsSmall(question)))
    ReportLost(kind + ": worse", question, answer, known, run);
}

}  // namespace

void CheckLimits(const PlanRequest& asked, uint64_t seed, Run& run) {
  Random random(seed);
  PlanRequest question = asked;
  question.prefetch =
      question.profile.tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered && random.Chance(0.4);
  if (question.prefetch) run.Count("limits with prefetched constants");
  const Answer known = run.Ask(question);
  if (!known.plan) return;
  Claims claims;
  claims.Add(question, known);
  const std::map<std::string, double> own = OwnLimits(known.plan->totals);
  PlanRequest limited = question;
  limited.objective.limits = own;
  const Answer again = run.Ask(limited);
  ExpectNoWorse("own metrics as limits", limited, again, known, run);
  claims.Add(limited, again);
  for (int times = 0; times < 3; ++times) {
    PlanRequest other = question;
    other.objective.weights = DrawObjective(random).weights;
    for (const auto& [metric, value] : own) {
      if (random.Chance(0.4)) other.objective.limits[metric] = value;
    }
    const Answer answer = run.Ask(other);
    ExpectNoWorse("own metrics as limits of another objective", other, answer, known, run);
    claims.Add(other, answer);
  }
  claims.Check(run);
}

void CheckConstraints(const PlanRequest& question, uint64_t seed, Run& run) {
  Random random(seed);
  const Answer known = run.Ask(question);
  if (!known.plan) return;
  PlanRequest required = question;
  required.network = known.plan->network;
  required.constraints = ConstraintsOf(*known.plan);
  required.ordering = search::partition::answer::Ordering::kGiven;
  ExpectNoWorse("plan as constraints", required, run.Ask(required), known, run);

  PlanRequest partly = required;
  partly.ordering = search::partition::answer::Ordering::kSearch;
  std::erase_if(partly.constraints,
                [&](const plan::PlanConstraint&) { return random.Chance(0.5); });
  for (plan::PlanConstraint& constraint : partly.constraints) {
    if (random.Chance(0.3)) constraint.config.tile.reset();
    if (random.Chance(0.3)) constraint.config.weights.reset();
    if (random.Chance(0.3)) constraint.config.in_place.reset();
    if (random.Chance(0.3)) constraint.config.halo.reset();
  }
  ExpectNoWorse("part of a plan as constraints", partly, run.Ask(partly), known, run);

  PlanRequest older = question;
  older.previous = known.plan;
  const Answer again = run.Ask(older);
  ExpectNoWorse("plan as the older one", older, again, known, run);
  if (known.IsOptimal() && again.IsOptimal() && !IsSamePartition(*known.plan, *again.plan))
    ReportLost("optimal plan as the older one changes", older, again, known, run);
}

}  // namespace tessera::audit
