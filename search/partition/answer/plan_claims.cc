// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/encoder/program/choices.h"
#include "tessera/plan/verify/tile_table.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/paths/path_search.h"
#include "tessera/search/tiling/engine_cache.h"

namespace tessera::search::partition::answer {
namespace {

constexpr std::string_view kStopped = "what was not looked at before the search was stopped";

void LeaveOutOfAll(std::string_view left_out, plan::Plan& plan) {
  for (const plan::ScopePart& part : plan::kScopeParts)
    plan.scope.*part.left_out = std::string(left_out);
}

// Returns the scope of the search in this order of the operators. It states nothing about the
// order.
plan::Scope ScopeOf(const paths::PathSearch& paths, const constraints::PlanConstraints& constraints,
                    const SearchOutcome& outcome, const PartitionOptions& options) {
  const paths::SearchCoverage coverage = paths.Coverage();
  plan::Scope scope;
  if (coverage.IsCapped()) {
    scope.cuts = fmt::format("subgraphs of more than {} operators, {}", coverage.most_operators,
                             options.max_operators ? "as asked" : "for want of effort");
  }
  const std::string_view apart = constraints.KeepAny() ? " that are not required" : "";
  if (coverage.leaves_out_kept) {
    scope.kept = fmt::format("boundary tensors{}, for want of effort", apart);
  } else if (coverage.spills_all) {
    scope.kept = fmt::format("boundary tensors{}, as asked", apart);
  } else if (coverage.caps_kept) {
    scope.kept = fmt::format("more than {} boundary tensors{} at a cut{}", coverage.most_kept,
                             apart, coverage.lacks_sets ? ", and some sets of fewer" : "");
  }
  if (coverage.leaves_out_paths && scope.cuts.empty())
    scope.cuts = "combinations of subgraphs that were not compared, for want of effort";
  if (!outcome.settled && scope.cuts.empty())
    scope.cuts = "combinations of subgraphs behind those that were placed, for want of effort";
  if (outcome.complete && !coverage.leaves_out_axes) return scope;
  constexpr std::string_view kOpen =
      ", for want of effort, among which bounds do not rule out a better plan";
  const bool policies = coverage.leaves_out_policies && !outcome.complete;
  if (policies)
    scope.policies = fmt::format("some K extents of slices and some ways to keep rows{}", kOpen);
  if (coverage.leaves_out_shapes || coverage.leaves_out_axes || !policies)
    scope.tile_extents = fmt::format(
        "some extents{}{}", coverage.leaves_out_axes ? " and cuts along later axes" : "", kOpen);
  return scope;
}

// Whether another engine for an operator may change what is wanted of the plan, or where buffers
// may lie: modes name engines, and output blocks fetch operands again.
bool DependsOnEngines(const plan::Plan& plan) {
  const hw_profiles::Profile& profile = plan.profile;
  const bool has_blocks =
      std::any_of(profile.engines.begin(), profile.engines.end(),
                  [](const hw_profiles::Engine& engine) { return engine.blocks.has_value(); });
  const auto depends = [has_blocks](const auto& wanted) {
    return plan::DependsOnTime(wanted.first) || (wanted.first == "off_chip_bytes" && has_blocks);
  };
  const plan::Objective& objective = plan.objective;
  return !profile.memories[static_cast<size_t>(profile.tile_memory)].modes.empty() ||
         std::any_of(objective.weights.begin(), objective.weights.end(), depends) ||
         std::any_of(objective.limits.begin(), objective.limits.end(), depends);
}

// Notes the states whose next values lie in another place at the end of the program.
void NoteStatesApart(const plan::Plan& plan, std::vector<std::string>& notes) {
  const auto tensor_of = [&plan](int buffer) {
    return plan.buffers[static_cast<size_t>(buffer)].tensor;
  };
  for (size_t next = 0; next < plan.network.tensors.size(); ++next) {
    const int state = plan.network.tensors[next].next_of;
    const std::vector<problem::Relation>& relations = plan.problem.relations;
    const bool in_place =
        state < 0 ||
        std::any_of(relations.begin(), relations.end(), [&](const problem::Relation& relation) {
          return relation.kind == problem::RelationKind::kColocate &&
                 tensor_of(relation.first) == state &&
                 tensor_of(relation.second) == static_cast<int>(next);
        });
    if (in_place) continue;
    notes.push_back(fmt::format(
        "state '{}' is not written in its place: the caller must copy '{}' there after each run",
        plan.network.tensors[static_cast<size_t>(state)].id, plan.network.tensors[next].id));
  }
}

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

bool MeetsBound(const choices::SearchContext& context, const LowerBounds& lower_bounds,
                const plan::Plan& plan) {
  return plan.score <= context.scale.ScoreOfBounds(lower_bounds.costs);
}

void StateProof(const paths::OrderedNetwork& network, const paths::PathSearch& paths,
                const SearchOutcome& outcome, const PartitionOptions& options,
                const LowerBounds& lower_bounds, plan::Plan& plan) {
  const bool is_known = plan::IsKnownValue(plan.network, plan.objective);
  plan.bound = network.Context().scale.ScoreOfBounds(lower_bounds.costs);
  if (is_known && MeetsBound(network.Context(), lower_bounds, plan)) {
    plan.proven = true;
  } else if (paths.IsCutShort() && !outcome.settled) {
    LeaveOutOfAll(kStopped, plan);
  } else {
    plan.scope = ScopeOf(paths, network.PlanConstraints(), outcome, options);
    if (DependsOnEngines(plan) && encoder::program::HasChoiceOfEngines(plan.network, plan.profile))
      plan.scope.engines = "those that were not chosen before the search";
    plan.proven = is_known && outcome.settled && outcome.undecided == 0 &&
                  !cost::IsLess(outcome.least_unproven, plan.score) &&
                  !paths.Coverage().any_given_up && !paths.Coverage().leaves_out_paths;
  }
  plan.status = plan.proven && plan::CoversAll(plan.scope) ? "optimal" : "feasible";
}

std::vector<std::string> NotesOn(const choices::SearchContext& context,
                                 const paths::PathSearch& paths,
                                 const constraints::PlanConstraints& constraints,
                                 const SearchOutcome& outcome, const plan::Plan& plan) {
  std::vector<std::string> notes;
  if (!constraints.IsEmpty())
    notes.push_back("as required, " + Describe(context.graph, constraints.All()));
  if (paths.Coverage().any_given_up)
    notes.emplace_back("a limit left some tiles undecided; they count as not fitting");
  if (paths.IsCutShort() && !plan.proven)
    notes.emplace_back("the search was stopped; this is the best plan known then");
  if (outcome.failed + outcome.undecided > 0) {
    notes.push_back(fmt::format(
        "{} better combinations fit subgraph by subgraph but not jointly ({} of them undecided)",
        outcome.failed + outcome.undecided, outcome.undecided));
  }
  if (cost::IsLess(outcome.least_unproven, plan.score))
    notes.emplace_back(
        "no engine proved the addresses of a combination of subgraphs lowest; lower ones may be "
        "better");
  if (plan.baseline &&
      std::any_of(plan.baseline->do_not_fit.begin(), plan.baseline->do_not_fit.end(),
                  [&paths](int op) { return !paths.Lattice().Single(op).choices.ProvenEmpty(); })) {
    notes.emplace_back(
        "of some operators left out of the baseline it is not proven that they do not fit alone");
  }
  NoteStatesApart(plan, notes);
  if (auto note = plan::verify::NoteOnHost(plan)) notes.push_back(*std::move(note));
  if (auto note = plan::verify::NoteOnMeasured(plan)) notes.push_back(*std::move(note));
  if (auto note = plan::NoteOnUnknownWork(plan.network, plan.objective))
    notes.push_back(*std::move(note));
  return notes;
}

void ClaimByBound(plan::Plan& plan) {
  plan.proven = plan::IsKnownValue(plan.network, plan.objective) && plan.score <= plan.bound;
  plan.status = plan.proven ? "optimal" : "feasible";
  LeaveOutOfAll(plan.proven ? "" : kStopped, plan);
}

void Rescore(const cost::Scale& scale, const plan::Metrics& lower_bounds, std::string_view left_out,
             plan::Plan& plan) {
  plan.objective = scale.Objective();
  plan.score = scale.ScoreOf(plan.totals);
  if (plan.baseline) plan.baseline->score = scale.ScoreOf(plan.baseline->totals);
  plan.bound = scale.ScoreOfBounds(lower_bounds);
  for (plan::Subgraph& subgraph : plan.subgraphs) subgraph.rejected_alternatives.clear();
  ClaimByBound(plan);
  if (!plan.proven) LeaveOutOfAll(left_out, plan);
}

void ClaimNothing(plan::Plan& plan) {
  plan.proven = false;
  plan.status = "feasible";
  LeaveOutOfAll("what differs from the partition that was given", plan);
}

bool IsWholeOutput(const graph::Graph& graph, const plan::Subgraph& subgraph) {
  const graph::Operator& last = graph.operators[static_cast<size_t>(subgraph.interval.last)];
  return subgraph.tile == graph.tensors[static_cast<size_t>(last.outputs.front())].shape;
}

base::Expected<bool> PassesCheck(const plan::Plan& plan, const base::Stop* stop) {
  const base::Stop never;
  const auto violations =
      plan::verify::ValidateUnlessInterrupted(plan, 3, stop != nullptr ? *stop : never);
  if (!violations) return false;
  if (violations->empty()) return true;
  std::vector<std::string> faults;
  for (const plan::verify::Violation& violation : *violations) faults.push_back(violation.message);
  base::Diagnostic failure;
  failure.message = "the plan that was found fails its own check";
  failure.found = fmt::format("{}", fmt::join(faults, "; "));
  failure.hint =
      "this is a fault of the program, not of the input; please report it with the input";
  return base::Unexpected(failure);
}

std::optional<base::Diagnostic> CheckWellFormed(const plan::Plan& plan, const base::Stop* stop) {
  const base::Expected<bool> passes = PassesCheck(plan, stop);
  return passes ? std::nullopt : std::optional(passes.error());
}

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
                                           const tiling::Engines& engines, base::Threads threads,
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
