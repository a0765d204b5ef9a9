// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/driver/plan_change.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/problem/validator.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/placement/home_and_joint_placement.h"

namespace tessera::search::partition::driver {
namespace {

using encoder::program::SubgraphChoice;
using problem::Problem;

// Returns the units of a placement. They are few, because another change may be easier to place. A
// unit takes time in proportion to the buffers, so there are fewer units for more buffers.
int64_t UnitsFor(size_t buffers) {
  constexpr int64_t kWork = 2'000'000;  // units times buffers
  constexpr int64_t kMostWork = 6'000'000;
  constexpr int64_t kEnough = 9'000;  // units, if that is not too much work
  const auto count = std::max<int64_t>(1, static_cast<int64_t>(buffers));
  return std::min(std::max(kWork / count, kEnough), kMostWork / count);
}

// Returns the homes of the plan, with lifespans in these subgraphs; nullopt if tensors that shared
// addresses now live together. Tensors inside a joined subgraph have no home.
std::optional<std::vector<plan::Home>> HomesOf(const choices::SearchContext& context,
                                               const std::vector<SubgraphChoice>& choices,
                                               const plan::Plan& plan) {
  std::vector<plan::Home> homes;
  for (encoder::program::HomeProblem& built :
       encoder::program::BuildHomes(context.graph, context.profile, choices)) {
    const auto before =
        std::find_if(plan.homes.begin(), plan.homes.end(),
                     [&built](const plan::Home& home) { return home.memory == built.memory; });
    if (before == plan.homes.end()) return std::nullopt;
    plan::Home home = *before;
    home.allocation.offsets.clear();
    for (const int tensor : built.tensors) {
      const auto at = std::find(before->tensors.begin(), before->tensors.end(), tensor);
      if (at == before->tensors.end()) return std::nullopt;
      home.allocation.offsets.push_back(
          before->allocation.offsets[static_cast<size_t>(at - before->tensors.begin())]);
    }
    home.problem = std::move(built.problem);
    home.tensors = std::move(built.tensors);
    const problem::Bytes capacity = home.problem.memories.front().capacity;
    if (!problem::Validate(home.problem, home.allocation, capacity, 1).empty()) return std::nullopt;
    homes.push_back(std::move(home));
  }
  return homes;
}

// Returns the Problem with the addresses of the plan as hints, and those of constraints. Buffers
// are matched by contents, because the numbers of subgraphs may differ.
Problem Hinted(const choices::SearchContext& context,
               const constraints::PlanConstraints& constraints, const plan::Plan& plan,
               const encoder::program::Program& program) {
  std::map<graph::BufferUse, problem::Bytes> known;
  const auto contents = [](graph::BufferUse use) {
    use.subgraph = -1;
    return use;
  };
  for (size_t i = 0; i < plan.buffers.size(); ++i)
    known.emplace(contents(plan.buffers[i]), plan.allocation.offsets[i]);
  Problem problem = program.problem;
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    if (const auto at = known.find(contents(program.buffers[i])); at != known.end())
      problem.buffers[i].hint = at->second;
  }
  for (size_t s = 0; s < plan.subgraphs.size(); ++s) {
    tiling::FixOffsets(constraints.PinsOf(plan.subgraphs[s].interval, static_cast<int>(s),
                                          context.TileMemory().name),
                       problem);
  }
  return problem;
}

// Takes over everything that follows from the subgraphs. Rejected alternatives stay, except those
// that the new subgraphs use.
void Take(plan::Plan better, plan::Plan& plan) {
  for (plan::Subgraph& subgraph : better.subgraphs) {
    std::erase_if(subgraph.rejected_alternatives, [&](const plan::RejectedAlternative& rejection) {
      return rejection.interval == subgraph.interval && rejection.tile == subgraph.tile &&
             rejection.weights == subgraph.weights && rejection.halo == subgraph.halo &&
             rejection.k_extent == subgraph.k_extent && rejection.serialized == subgraph.serialized;
    });
  }
  plan.subgraphs = std::move(better.subgraphs);
  plan.kept = std::move(better.kept);
  plan.homes = std::move(better.homes);
  plan.problem = std::move(better.problem);
  plan.allocation = std::move(better.allocation);
  plan.buffers = std::move(better.buffers);
  plan.steps = std::move(better.steps);
  plan.totals = std::move(better.totals);
  plan.score = better.score;
}

}  // namespace

base::Expected<ChangeOutcome> TryChange(const choices::SearchContext& context,
                                        const constraints::PlanConstraints& constraints,
                                        PlanChange change, plan::Plan& plan) {
  const std::vector<SubgraphChoice> choices = cost::ChoicesOf(change.subgraphs, change.kept);
  base::Expected<encoder::program::Program> program =
      encoder::program::BuildProgram(context.graph, context.profile, choices);
  if (!program) return ChangeOutcome::kNoRoom;
  if (context.previous != nullptr) context.previous->AddHints(choices, *program);
  std::optional<std::vector<plan::Home>> homes = HomesOf(context, choices, plan);
  if (!homes) return ChangeOutcome::kNoRoom;
  placement::JointPlacement joint{
      .program = *std::move(program), .result = {}, .homes = *std::move(homes)};
  const int64_t units = UnitsFor(joint.program.problem.buffers.size());
  base::Expected<problem::Result> result =
      context.Place(Hinted(context, constraints, plan, joint.program), /*minimize=*/false,
                    {std::min(context.budget.units, units)}, context.stop);
  if (!result) return base::Unexpected(result.error());
  joint.result = *std::move(result);
  if (!joint.result.allocation)
    return context.stop.Requested() ? ChangeOutcome::kStopped : ChangeOutcome::kNoRoom;
  plan::Plan better =
      answer::AssemblePlan(context, std::move(change.subgraphs), std::move(change.kept), joint);
  if (better.score >= plan.score ||
      !context.scale.WithinLimits(context.scale.CostOf(better.totals)))
    return ChangeOutcome::kNoGain;
  Take(std::move(better), plan);
  return ChangeOutcome::kTaken;
}

double ScoreWithoutPeaks(const choices::SearchContext& context, plan::Metrics totals) {
  totals.peak_bytes = 0;
  totals.off_chip_peak_bytes = 0;
  return context.scale.ScoreOf(totals);
}

}  // namespace tessera::search::partition::driver
