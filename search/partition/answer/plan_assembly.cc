// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/answer/plan_assembly.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/memory_lower_bound.h"
#include "tessera/graph/graph.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/cost/plan_cost.h"

namespace tessera::search::partition::answer {
namespace {

using problem::Bytes;

// Returns for each subgraph one past the highest byte of all buffers that live between its first
// step and its last, guards included.
std::vector<Bytes> PeaksOf(const placement::JointPlacement& joint, size_t subgraphs) {
  const problem::Problem& problem = joint.program.problem;
  const std::vector<problem::Guard> guards = problem::GuardsOf(problem);
  const auto& steps = joint.program.steps;
  std::vector<Bytes> at_step(steps.size());
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const problem::Buffer& buffer = problem.buffers[i];
    const Bytes end =
        joint.result.allocation->offsets[i] + buffer.size + (guards.empty() ? 0 : guards[i].after);
    for (const problem::Lifespan& life : buffer.lifespans) {
      for (auto step = static_cast<size_t>(life.lower); step < static_cast<size_t>(life.upper);
           ++step)
        at_step[step] = std::max(at_step[step], end);
    }
  }
  std::vector<problem::Lifespan> spans(subgraphs);
  for (size_t step = 0; step < steps.size(); ++step) {
    if (steps[step].subgraph < 0) continue;
    problem::Lifespan& span = spans[static_cast<size_t>(steps[step].subgraph)];
    if (span.upper == 0) span.lower = static_cast<problem::Step>(step);
    span.upper = static_cast<problem::Step>(step) + 1;
  }
  std::vector<Bytes> peaks;
  peaks.reserve(subgraphs);
  for (const problem::Lifespan& span : spans) {
    peaks.push_back(span.upper == 0 ? 0
                                    : *std::max_element(at_step.begin() + span.lower,
                                                        at_step.begin() + span.upper));
  }
  return peaks;
}

// Computes the costs of choices with all their parts, one after another. Gives up when an
// interruption comes and the work so far is more than IsTooLate allows.
class FullCosts {
 public:
  explicit FullCosts(const choices::SearchContext& context)
      : context_(context), interrupt_(base::Stop::AtInterrupt{}, &context.stop) {}

  std::optional<plan::Metrics> Find(const choices::IntervalChoices& interval,
                                    const choices::Choice& choice) {
    work_ += WorkOf(interval, choice);
    const base::Stop never;
    const base::Stop& stop = work_ > plan::verify::kWorkAfterInterruption ? interrupt_ : never;
    const encoder::program::SubgraphChoice& taken =
        interval.Tiles().Candidates()[choice.candidate].choice;
    encoder::program::SharedTilings tilings(context_.graph, taken.interval, &stop);
    const std::shared_ptr<const graph::tiling::TiledSubgraph> tiling =
        tilings.Cut(taken.tile, taken.policy.halo);
    if (tiling == nullptr) return std::nullopt;
    const cost::ClassCosts costs = context_.simulator.CostsOf(*tiling, taken.policy, &stop);
    if (stop.Requested()) return std::nullopt;
    plan::Metrics metrics =
        context_.simulator.Run(*tiling, costs, taken.policy, cost::Detail::kParts, {}, &stop);
    if (stop.Requested()) return std::nullopt;
    metrics.peak_bytes = choice.peak_bytes;
    return metrics;
  }

 private:
  const choices::SearchContext& context_;
  const base::Stop interrupt_;
  int64_t work_ = 0;  // as of WorkOf
};

plan::Subgraph SubgraphOf(const choices::IntervalChoices& interval, const choices::Choice& choice,
                          const plan::Metrics& metrics) {
  const encoder::program::SubgraphChoice& taken =
      interval.Tiles().Candidates()[choice.candidate].choice;
  return {.interval = taken.interval,
          .tile = taken.tile,
          .tiles = interval.Tiles().TilingOf(choice.candidate).tiles,
          .weights = taken.policy.weights,
          .in_place = taken.policy.in_place,
          .halo = taken.policy.halo,
          .k_extent = taken.policy.k_extent,
          .serialized = taken.policy.serialized,
          .metrics = metrics};
}

}  // namespace

bool IsLargest(const choices::SearchContext& context, const choices::IntervalChoices& interval,
               const choices::Choice& choice) {
  const graph::Operator& last =
      context.graph.operators[static_cast<size_t>(interval.Interval().last)];
  const graph::Tensor& output = context.graph.tensors[static_cast<size_t>(last.outputs.front())];
  if (interval.Tiles().Candidates()[choice.candidate].choice.tile == output.shape) return true;
  if (!interval.IsComplete() || interval.IsRequired()) return false;
  const std::span<const tiling::TileCandidate> candidates = interval.Tiles().Candidates();
  const encoder::program::SubgraphChoice& taken = candidates[choice.candidate].choice;
  const std::span<const choices::Choice> choices = interval.Choices();
  return std::all_of(choices.begin(), choices.end(), [&](const choices::Choice& other) {
    const encoder::program::SubgraphChoice& rival = candidates[other.candidate].choice;
    const bool comparable = rival.policy.weights == taken.policy.weights &&
                            rival.policy.in_place == taken.policy.in_place &&
                            rival.policy.k_extent == taken.policy.k_extent &&
                            rival.policy.serialized == taken.policy.serialized;
    if (!comparable || graph::ElementsOf(rival.tile) <= graph::ElementsOf(taken.tile)) return true;
    return other.verdict == choices::ChoiceStatus::kImpossible;
  });
}

std::optional<plan::Plan> AssemblePlan(const choices::SearchContext& context,
                                       const paths::Selection& selection,
                                       const placement::JointPlacement& joint) {
  FullCosts costs(context);
  std::vector<plan::Subgraph> subgraphs;
  for (const paths::Selected& subgraph : selection.subgraphs) {
    const std::optional<plan::Metrics> metrics = costs.Find(subgraph.Choices(), subgraph.Chosen());
    if (!metrics) return std::nullopt;
    subgraphs.push_back(SubgraphOf(subgraph.Choices(), subgraph.Chosen(), *metrics));
  }
  return AssemblePlan(context, std::move(subgraphs),
                      encoder::program::KeptBy(placement::ChoicesOf(selection)), joint);
}

plan::Plan AssemblePlan(const choices::SearchContext& context,
                        std::vector<plan::Subgraph> subgraphs, std::vector<int> kept,
                        const placement::JointPlacement& joint) {
  plan::Plan plan;
  plan.network = context.graph;
  plan.profile = context.profile;
  plan.profile_totals = hw_profiles::TotalsOf(plan.profile);
  plan.objective = context.scale.Objective();
  plan.subgraphs = std::move(subgraphs);
  plan.kept = std::move(kept);
  const std::vector<Bytes> off_chip =
      cost::OffChipPeaksOf(context.graph, context.profile, plan.subgraphs, plan.kept);
  const std::vector<Bytes> peaks = PeaksOf(joint, plan.subgraphs.size());
  for (size_t s = 0; s < plan.subgraphs.size(); ++s) {
    plan::Metrics& metrics = plan.subgraphs[s].metrics;
    metrics.peak_bytes = peaks[s];
    metrics.off_chip_peak_bytes = off_chip[s];
    plan::Accumulate(plan.totals, metrics);
  }
  plan.problem = joint.program.problem;
  for (problem::Buffer& buffer : plan.problem.buffers) buffer.hint.reset();
  plan.allocation = *joint.result.allocation;
  plan.buffers = joint.program.buffers;
  plan.steps = joint.program.steps;
  plan.homes = joint.homes;
  plan.totals.peak_bytes = problem::PeakOf(plan.problem, plan.allocation);
  plan.totals.off_chip_peak_bytes = plan::OffChipPeakOf(plan.homes);
  plan.score = context.scale.ScoreOf(plan.totals);
  return plan;
}

void RenumberTensors(plan::Plan& plan) {
  const std::vector<int> tensors = graph::TensorsByMaker(plan.network);
  std::vector<int> number_of(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i)
    number_of[static_cast<size_t>(tensors[i])] = static_cast<int>(i);
  const auto renumber = [&number_of](int& tensor) {
    if (tensor >= 0) tensor = number_of[static_cast<size_t>(tensor)];
  };
  const auto renumber_all = [&renumber](std::vector<int>& numbers) {
    std::for_each(numbers.begin(), numbers.end(), renumber);
  };
  plan.network = graph::Renumbered(plan.network, tensors);
  renumber_all(plan.kept);
  std::sort(plan.kept.begin(), plan.kept.end());
  for (plan::BufferUse& use : plan.buffers) renumber(use.tensor);
  for (plan::StepUse& step : plan.steps) {
    renumber_all(step.transfers);
    std::sort(step.transfers.begin(), step.transfers.end());
  }
  for (plan::Home& home : plan.homes) renumber_all(home.tensors);
  for (plan::PlanConstraint& constraint : plan.constraints) renumber(constraint.tensor);
}

namespace {

// Whether the tensors fit one after the other, which needs no search.
bool FitsInARow(const problem::Problem& home) {
  const problem::Memory& memory = home.memories.front();
  problem::Bytes end = 0;
  for (const problem::Buffer& buffer : home.buffers) {
    end = base::RoundUp(end, problem::AlignmentOf(home, buffer)) + buffer.size;
    if (end > memory.capacity) return false;
  }
  return memory.reserved.empty();
}

// Whether the memories hold all boundary tensors of these subgraphs.
bool HomesHold(const choices::SearchContext& context,
               std::span<const encoder::program::SubgraphChoice> subgraphs) {
  if (encoder::program::FindOverfullHome(context.graph, context.profile, subgraphs)) return false;
  std::vector<encoder::program::HomeProblem> homes =
      encoder::program::BuildHomes(context.graph, context.profile, subgraphs);
  std::erase_if(homes, [](const auto& home) { return FitsInARow(home.problem); });
  const base::Expected<placement::HomePlacement> placed =
      placement::PlaceHomes(std::move(homes), context.engines, context.budget,
                            placement::PeakEffort::kLittle, context.stop);
  return placed && placed->reason.empty();
}

}  // namespace

int64_t WorkOf(const choices::IntervalChoices& interval, const choices::Choice& choice) {
  const graph::Interval operators = interval.Interval();
  return interval.Tiles().TilingOf(choice.candidate).tiles * (operators.last - operators.first + 1);
}

bool IsTooLate(const choices::SearchContext& context, int64_t work) {
  return work > plan::verify::kWorkAfterInterruption && context.stop.IsInterrupted();
}

std::optional<plan::Baseline> AssembleBaseline(const choices::SearchContext& context,
                                               const paths::PathSearch& paths) {
  plan::Baseline baseline;
  FullCosts costs(context);
  const encoder::program::BytesAtHomes at_homes(context.graph, context.profile);
  std::vector<encoder::program::SubgraphChoice> subgraphs;
  for (int op = 0; op < paths.Lattice().Operators(); ++op) {
    const choices::IntervalChoices& single = paths.Lattice().Single(op).choices;
    const std::optional<size_t> best = paths.BestSingle(single);
    if (best && single.Choices()[*best].verdict == choices::ChoiceStatus::kFits) {
      const choices::Choice& choice = single.Choices()[*best];
      std::optional<plan::Metrics> metrics = costs.Find(single, choice);
      if (!metrics) return std::nullopt;
      metrics->off_chip_peak_bytes = at_homes.LeastPeak(single.Interval(), {});
      plan::Accumulate(baseline.totals, *metrics);
      subgraphs.push_back(single.Tiles().Candidates()[choice.candidate].choice);
    } else {
      baseline.do_not_fit.push_back(op);
    }
  }
  baseline.complete = baseline.do_not_fit.empty() && HomesHold(context, subgraphs);
  baseline.score = context.scale.ScoreOf(baseline.totals);
  return baseline;
}

}  // namespace tessera::search::partition::answer
