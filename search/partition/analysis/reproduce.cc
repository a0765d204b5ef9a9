// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/analysis/reproduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "tessera/encoder/program/homes.h"
#include "tessera/graph/graph.h"
#include "tessera/plan/metrics.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/answer/refusal.h"
#include "tessera/search/partition/partition.h"
#include "tessera/search/partition/related_search.h"

namespace tessera::search::partition::analysis {
namespace {

constexpr double kStep = 1e-9;  // ten times the judge's tolerance
constexpr int64_t kMostWork = 30'000;

double JustBelow(double bound) { return bound * (1 - kStep); }

using plan::Plan;
using plan::Subgraph;

// The inputs of the search that made a plan.
struct SearchInput {
  graph::Graph graph;  // in the order of the file
  std::vector<plan::PlanConstraint> constraints;
};

// The network with the operators and tensors in the numbering of its file, and the constraints in
// the same numbering. Operators that constraints hold together are contiguous in either order.
SearchInput SearchInputOf(const Plan& plan) {
  SearchInput question{plan.network, plan.constraints};
  const std::vector<int>& order = plan.run.file_order;
  if (order.empty()) return question;
  const graph::Graph reordered = graph::Reordered(plan.network, order);
  const std::vector<int> tensors = graph::TensorsByMaker(reordered);
  question.graph = graph::Renumbered(reordered, tensors);
  std::map<int, int> place_of;
  for (size_t place = 0; place < order.size(); ++place)
    place_of[order[place]] = static_cast<int>(place);
  std::map<int, int> number_of = {{-1, -1}};
  for (size_t i = 0; i < tensors.size(); ++i) number_of[tensors[i]] = static_cast<int>(i);
  for (plan::PlanConstraint& constraint : question.constraints) {
    const int length = constraint.interval.last - constraint.interval.first;
    constraint.interval.first = place_of[constraint.interval.first];
    constraint.interval.last = constraint.interval.first + length;
    constraint.tensor = number_of[constraint.tensor];
  }
  return question;
}

answer::PartitionOptions OptionsOf(const Plan& plan, const SearchInput& question,
                                   const ReproduceOptions& own) {
  const plan::Run& run = plan.run;
  answer::PartitionOptions options;
  options.objective = plan.objective;
  options.max_operators = run.max_operators;
  options.ordering = run.searches_order ? answer::Ordering::kSearch : answer::Ordering::kGiven;
  options.keeping =
      run.keeps_boundaries ? paths::Keeping::kWherePossible : paths::Keeping::kNothing;
  options.prefetch = run.prefetches;
  options.off_chip = run.off_chip;
  options.constraints = question.constraints;
  options.previous = run.before.get();
  options.effort = run.effort;
  options.engines = own.engines;
  options.seed = plan.seed;
  options.threads = own.threads;
  options.budget = {run.budget};
  options.most_work = run.most_work;
  return options;
}

class Comparison {
 public:
  // `source`: the origin of the expected claims, in words.
  Comparison(const Plan& plan, std::string_view source) : plan_(plan), source_(source) {}

  // Compares with the claims of a search that ran to its end.
  void AgainstSearch(const Plan& found) {
    AgainstClaims(found);
    if (!cost::IsSamePrice(plan_.score, found.score)) Note("score", plan_.score, found.score);
    if (!std::equal(plan_.subgraphs.begin(), plan_.subgraphs.end(), found.subgraphs.begin(),
                    found.subgraphs.end(), RunAlike)) {
      Say("the search that the plan records gives other subgraphs");
      return;
    }
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i)
      ExpectLargest(i, found.subgraphs[i].largest_proven);
    AgainstBaseline(found.baseline);
    AgainstHomes(found);
  }

  // Compares with the claims that are allowed without a search.
  void AgainstBounds(const std::optional<plan::Baseline>& baseline) {
    Plan expected = plan_;
    plan_.run.searched ? answer::ClaimByBound(expected) : answer::ClaimNothing(expected);
    AgainstClaims(expected);
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i)
      ExpectLargest(i, answer::IsWholeOutput(plan_.network, plan_.subgraphs[i]));
    if (NeedsBaseline(plan_)) AgainstBaseline(baseline);
  }

  // A search that was cut off may have no baseline.
  static bool NeedsBaseline(const Plan& plan) { return plan.baseline || !plan.run.cut_off; }

  void Say(std::string message) {
    violations_.push_back({plan::verify::ViolationKind::kClaim, std::move(message)});
  }

  std::vector<plan::verify::Violation> Take() { return std::move(violations_); }

 private:
  static bool RunAlike(const Subgraph& a, const Subgraph& b) {
    return a.interval == b.interval && a.tile == b.tile && a.weights == b.weights &&
           a.in_place == b.in_place && a.halo == b.halo && a.k_extent == b.k_extent &&
           a.serialized == b.serialized && a.prefetch == b.prefetch;
  }

  // Addresses may differ, because a user may change them; a bound must not be higher than the one
  // that the search proves.
  void AgainstHomes(const Plan& found) {
    for (const plan::Home& home : plan_.homes) {
      for (const plan::Home& other : found.homes) {
        if (other.memory == home.memory && home.lower_bound > other.lower_bound)
          Note("a lower bound of an off-chip peak of", home.lower_bound, other.lower_bound);
      }
    }
  }

  void AgainstClaims(const Plan& expected) {
    Expect("status", plan_.status, expected.status);
    Expect("a proof", plan_.proven, expected.proven);
    for (const plan::ScopePart& part : plan::kScopeParts) {
      Expect(fmt::format("as left out of its {}", part.name), plan_.scope.*part.left_out,
             expected.scope.*part.left_out);
    }
  }

  void AgainstBaseline(const std::optional<plan::Baseline>& found) {
    if (plan_.baseline.has_value() != found.has_value()) {
      const auto word = [](bool is_there) { return is_there ? "a baseline" : "no baseline"; };
      return Say(fmt::format("the plan states {} where the search finds {}",
                             word(plan_.baseline.has_value()), word(found.has_value())));
    }
    if (!found) return;
    const plan::Baseline& expected = *found;
    const plan::Baseline& stated = *plan_.baseline;
    Expect("complete baseline", stated.complete, expected.complete);
    Expect("operators that do not fit", IdsOf(stated.do_not_fit), IdsOf(expected.do_not_fit));
    if (!cost::IsSamePrice(stated.score, expected.score))
      Note("score of the baseline", stated.score, expected.score);
    for (const std::string& difference : cost::FindDifferences(stated.totals, expected.totals))
      Say("the baseline " + difference);
  }

  std::string IdsOf(const std::vector<int>& operators) const {
    std::string ids;
    for (const int op : operators)
      ids += (ids.empty() ? "" : ", ") + plan_.network.operators[static_cast<size_t>(op)].id;
    return '[' + ids + ']';
  }

  void ExpectLargest(size_t subgraph, bool expected) {
    Expect(fmt::format("largest_proven of subgraph {}", subgraph),
           plan_.subgraphs[subgraph].largest_proven, expected);
  }

  template <typename Stated, typename Expected>
  void Expect(std::string_view what, const Stated& stated, const Expected& expected) {
    if (stated != expected) Note(what, stated, expected);
  }

  template <typename Stated, typename Expected>
  void Note(std::string_view what, const Stated& stated, const Expected& expected) {
    Say(fmt::format("the plan states {} {} where {} gives {}", what, stated, source_, expected));
  }

  const Plan& plan_;
  std::string_view source_;
  std::vector<plan::verify::Violation> violations_;
};

}  // namespace

std::optional<BoundConfirmation> ConfirmBound(const plan::Plan& plan, const graph::Graph& graph,
                                              const answer::PartitionOptions& options) {
  if (plan.objective.weights.size() > 1) return std::nullopt;
  const std::string name =
      plan.objective.weights.empty() ? "latency" : plan.objective.weights.begin()->first;
  const plan::Metric* metric = plan::FindMetric(name);
  if (metric == nullptr) return std::nullopt;
  const double bound = plan.status == "optimal"
                           ? plan::ValueOf(plan.totals, *metric)
                           : plan::LowerBoundOf(plan.lower_bounds, *metric, plan.objective.limits);
  if (bound <= 0) return std::nullopt;
  answer::PartitionOptions below = options;
  below.most_work = kMostWork;
  auto [limit, is_new] = below.objective.limits.emplace(name, JustBelow(bound));
  if (!is_new) limit->second = std::min(limit->second, JustBelow(bound));
  const plan::verify::infeasibility::RefutationResult judged = answer::JudgeWhetherNone(
      encoder::program::WithHomes(graph, plan.profile), plan.profile, below);
  return BoundConfirmation{fmt::format("no plan has {} below {:.12g}", name, bound),
                           judged.refutation.has_value(), judged.gap};
}

Reproduction Reproduce(const Plan& plan, const ReproduceOptions& own) {
  const SearchInput question = SearchInputOf(plan);
  const base::Stop stop(std::nullopt, own.stop);
  answer::PartitionOptions options = OptionsOf(plan, question, own);
  options.stop = &stop;
  const auto finish = [&](Comparison& comparison) {
    Reproduction reproduction{true, comparison.Take(), std::nullopt};
    if (reproduction.violations.empty())
      reproduction.bound = ConfirmBound(plan, question.graph, options);
    return reproduction;
  };
  if (!plan.run.searched || plan.run.cut_off) {
    Comparison comparison(plan, "a search that cannot be repeated");
    const base::Expected<cost::Scale> scale = cost::Scale::Make(plan.objective, plan.lower_bounds);
    // The baseline of a given partition is the best layer-by-layer plan for its objective, also if
    // that weighs ratios.
    const base::Expected<cost::Scale> of_baseline = cost::Scale::Make(
        plan.run.searched ? WithoutRatios(plan.objective) : plan.objective, plan.lower_bounds);
    if (scale && of_baseline) {
      std::optional<plan::Baseline> baseline;
      if (Comparison::NeedsBaseline(plan)) {
        baseline = answer::FindBaseline(plan, *of_baseline, own.engines, own.threads, stop);
        if (!baseline) return {};
        baseline->score = scale->ScoreOf(baseline->totals);
      }
      comparison.AgainstBounds(baseline);
    } else {
      comparison.Say(scale ? of_baseline.error().message : scale.error().message);
    }
    return finish(comparison);
  }
  Comparison comparison(plan, "the search, repeated,");
  const base::Expected<answer::PartitionResult> result =
      SearchPartition(question.graph, plan.profile, options);
  if (stop.HasCutOff()) return {};
  if (!result) {
    comparison.Say("the search that the plan records cannot be run: " + result.error().message);
  } else if (!result->plan) {
    comparison.Say("the search that the plan records finds no plan: " + result->reason);
  } else {
    comparison.AgainstSearch(*result->plan);
  }
  return finish(comparison);
}

}  // namespace tessera::search::partition::analysis
