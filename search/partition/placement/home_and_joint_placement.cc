// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/placement/home_and_joint_placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/problem/validator.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/allocate/portfolio.h"

namespace tessera::search::partition::placement {

// Homes are large and have few tensors. A greedy order usually meets the bound, and most objectives
// do not use the peak. So little work is spent on lowering it, and none if addresses are preferred
// or fixed. The search for any placement may use the whole budget, and at least that for results
// that every plan needs.
namespace {

using problem::Result;

constexpr int64_t kLoweringBudget = 2'000;

// The time that a stopped search may still use for one home.
constexpr std::chrono::milliseconds kHomeGrace{200};

base::Expected<Result> PlaceHome(const problem::Problem& problem, const tiling::Engines& engines,
                                 const base::Budget& budget, PeakEffort effort,
                                 const base::Stop& stop) {
  allocate::AllocateOptions options;
  const bool hinted = std::any_of(
      problem.buffers.begin(), problem.buffers.end(),
      [](const problem::Buffer& each) { return each.hint.has_value() || each.offset.has_value(); });
  options.minimize = !hinted || effort == PeakEffort::kWithinBudget;
  if (hinted) options.capacity = problem.memories.front().capacity;
  options.budget.units =
      effort == PeakEffort::kLittle ? std::min(budget.units, kLoweringBudget) : budget.units;
  options.stop = &stop;
  base::Expected<Result> result = allocate::Allocate(problem, nullptr, 0, engines, options);
  if (!result || result->allocation || result->status != problem::Status::kUnknown) return result;
  const base::Stop grace(base::Stop::Clock::now() + kHomeGrace);
  options.minimize = false;
  options.capacity = problem.memories.front().capacity;
  options.budget.units = std::max(budget.units, choices::SearchContext::kLeastBudget);
  if (stop.Requested()) options.stop = &grace;
  return allocate::Allocate(problem, nullptr, 0, engines, options);
}

// Returns the obstacle of a home: the tensors that need most at the same time.
Obstacle ObstacleIn(const problem::Problem& problem) {
  const allocate::Bound bound = allocate::FindBound(problem, 0);
  Obstacle obstacle;
  obstacle.kind = ObstacleKind::kHome;
  obstacle.memory = problem.memories.front().name;
  obstacle.needed = bound.bytes;
  obstacle.available = problem.memories.front().capacity;
  obstacle.capacity = obstacle.available;
  obstacle.problem = problem;
  for (const int buffer : bound.buffers) {
    const problem::Buffer& tensor = problem.buffers[static_cast<size_t>(buffer)];
    obstacle.tensors.push_back({tensor.id, "whole", tensor.size});
  }
  return obstacle;
}

}  // namespace

base::Expected<HomePlacement> PlaceHomes(std::vector<encoder::program::HomeProblem> problems,
                                         const tiling::Engines& engines, const base::Budget& budget,
                                         PeakEffort effort, const base::Stop& stop) {
  HomePlacement placement;
  for (encoder::program::HomeProblem& home : problems) {
    base::Expected<Result> result = PlaceHome(home.problem, engines, budget, effort, stop);
    if (!result) return base::Unexpected(result.error());
    if (!result->allocation) {
      placement.status = result->status;
      placement.reason = fmt::format("tensors at home in memory '{}' have no addresses: {}",
                                     home.problem.memories.front().name, result->reason);
      placement.obstacle = ObstacleIn(home.problem);
      return placement;
    }
    placement.are_lowest = placement.are_lowest && result->status == problem::Status::kOptimal;
    placement.homes.push_back({.memory = home.memory,
                               .problem = std::move(home.problem),
                               .allocation = *std::move(result->allocation),
                               .tensors = std::move(home.tensors)});
  }
  return placement;
}

namespace {

using problem::Allocation;
using problem::Bytes;

// The time that a stopped search may still use to place its results.
constexpr std::chrono::milliseconds kGrace{500};

// The part of the budget for lowering a peak that the objective does not use.
constexpr int64_t kLoweringPeak = 2'000;

// The contents of a buffer. A whole tensor has no subgraph.
using Key = std::tuple<int, encoder::program::BufferKind, int, int, int, int>;

Key KeyOf(const encoder::program::BufferUse& buffer, int subgraph) {
  const bool whole = buffer.kind == encoder::program::BufferKind::kWhole;
  return {whole ? -1 : subgraph, buffer.kind, buffer.tensor, buffer.op, buffer.phase, buffer.slot};
}

// Gives every buffer of the joint Problem its address in the placement of its subgraph as a hint. A
// buffer that several subgraphs share gets the first of their addresses.
void AddHints(const paths::Selection& selection, encoder::program::Program& program) {
  std::map<Key, Bytes> found;
  for (size_t s = 0; s < selection.subgraphs.size(); ++s) {
    const choices::Choice& choice = selection.subgraphs[s].Chosen();
    if (!choice.allocation) continue;
    const std::vector<encoder::program::BufferUse>& buffers =
        selection.subgraphs[s].Choices().Tiles().CandidatesOf(choice.candidate).program.buffers;
    for (size_t i = 0; i < buffers.size(); ++i) {
      found.try_emplace(KeyOf(buffers[i], static_cast<int>(s)), choice.allocation->offsets[i]);
    }
  }
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const auto at = found.find(KeyOf(program.buffers[i], program.buffers[i].subgraph));
    if (at != found.end()) program.problem.buffers[i].hint = at->second;
  }
}

// Returns the placements and mode schedules of the single subgraphs in sequence; nullopt if one is
// missing.
std::optional<Allocation> Compose(const paths::Selection& selection,
                                  const problem::Problem& joint) {
  Allocation composed;
  for (const problem::Buffer& buffer : joint.buffers) {
    if (!buffer.hint) return std::nullopt;
    composed.offsets.push_back(*buffer.hint);
  }
  composed.modes.resize(joint.memories.size());
  for (const paths::Selected& subgraph : selection.subgraphs) {
    const std::vector<problem::ModeSchedule>& modes = subgraph.Chosen().allocation->modes;
    for (size_t memory = 0; memory < modes.size(); ++memory) {
      const problem::ModeSchedule& part = modes[memory];
      composed.modes[memory].insert(composed.modes[memory].end(), part.begin(), part.end());
    }
  }
  return composed;
}

JointPlacement RefusedAtHome(problem::Status status, const std::string& reason,
                             std::optional<Obstacle> obstacle) {
  JointPlacement refused;
  refused.result.status = status;
  refused.result.reason = reason;
  refused.obstacle = std::move(obstacle);
  refused.fails_at_home = true;
  return refused;
}

// Returns why the homes exceed the limit on the off-chip peak, if they do: with gaps between
// tensors they may, although the tensors alone do not.
std::optional<std::string> ExcessOfOffChipPeak(const choices::SearchContext& context,
                                               std::span<const plan::Home> homes) {
  if (!context.scale.LimitsOffChipPeak()) return std::nullopt;
  const Bytes peak = plan::OffChipPeakOf(homes);
  if (static_cast<double>(peak) <= context.scale.OffChipPeakLimit()) return std::nullopt;
  return fmt::format("the addresses found for tensors at home take {} bytes, and {} are allowed",
                     peak, context.scale.OffChipPeakLimit());
}

// Returns the obstacle of a joint Problem: the buffers that live at the step with the largest load.
Obstacle JointObstacle(const choices::SearchContext& context,
                       const encoder::program::Program& program) {
  const allocate::Bound bound = allocate::FindBound(program.problem, 0);
  Obstacle obstacle;
  obstacle.kind = ObstacleKind::kJoint;
  obstacle.memory = context.TileMemory().name;
  obstacle.needed = bound.bytes;
  obstacle.available = context.Room();
  obstacle.capacity = context.Room();
  obstacle.step = bound.step;
  obstacle.tensors = HeldPartsOf(context.graph, program, program.problem, bound.buffers);
  obstacle.problem = program.problem;
  for (problem::Buffer& buffer : obstacle.problem->buffers) buffer.hint.reset();
  return obstacle;
}

// Removes the fixed offsets from a Problem, which does not contain the reasons for them.
void FreeOffsets(problem::Problem& problem) {
  for (problem::Buffer& buffer : problem.buffers) buffer.offset.reset();
}

base::Expected<problem::Result> PlaceAnyhow(const choices::SearchContext& context,
                                            const paths::Selection& selection,
                                            const problem::Problem& problem) {
  const bool minimize = context.scale.MinimizesPeak();
  problem::Result known;
  const std::optional<Allocation> composed = Compose(selection, problem);
  if (composed && problem::Validate(problem, *composed, context.Room(), 1).empty()) {
    known.peak = problem::PeakOf(problem, *composed);
    known.lower_bound = allocate::FindBound(problem, 0).bytes;
    known.status =
        *known.peak <= known.lower_bound ? problem::Status::kOptimal : problem::Status::kFeasible;
    known.engine = "subgraphs";
    known.allocation = composed;
    if (!minimize || *known.peak <= static_cast<Bytes>(selection.cost.maxima[cost::kPeakMaximum]))
      return known;
  }
  base::Expected<problem::Result> result =
      context.Place(problem, minimize, context.LeastBudget(), context.stop);
  if (result && !result->allocation && !known.allocation && context.stop.Requested()) {
    const base::Stop grace(base::Stop::Clock::now() + kGrace);
    result = context.Place(problem, /*minimize=*/false, context.LeastBudget(), grace);
  }
  if (!result) return result;
  const bool better = result->allocation && (!known.peak || *result->peak < *known.peak);
  if (better || !known.allocation) return result;
  if (minimize && result->status == problem::Status::kOptimal) known.status = result->status;
  return known;
}

// Places the buffers of the tile memory. If the objective does not use peaks, they still decide
// between equal plans, so a little work is spent on lowering them, unless addresses of a previous
// plan are preferred.
base::Expected<problem::Result> PlaceTiles(const choices::SearchContext& context,
                                           const paths::Selection& selection,
                                           const problem::Problem& problem) {
  base::Expected<problem::Result> any = PlaceAnyhow(context, selection, problem);
  const bool open = any && any->allocation && any->status != problem::Status::kOptimal;
  if (!open || context.scale.MinimizesPeak() || context.previous != nullptr) return any;
  if (*any->peak <= allocate::FindBound(problem, 0).bytes) return any;
  const base::Budget little{std::min(context.budget.units, kLoweringPeak)};
  base::Expected<problem::Result> lower =
      context.Place(problem, /*minimize=*/true, little, context.stop);
  if (!lower || (lower->allocation && *lower->peak < *any->peak)) return lower;
  return any;
}

// Tries the addresses of a previous plan first, if there is one.
base::Expected<problem::Result> PlaceLike(const choices::SearchContext& context,
                                          const paths::Selection& selection,
                                          std::span<const encoder::program::SubgraphChoice> choices,
                                          encoder::program::Program& program) {
  if (context.previous != nullptr) {
    std::vector<problem::Buffer> plain = program.problem.buffers;
    context.previous->AddHints(choices, program);
    base::Expected<problem::Result> like = PlaceTiles(context, selection, program.problem);
    if (!like || like->allocation || like->status == problem::Status::kInfeasible) return like;
    program.problem.buffers = std::move(plain);
  }
  return PlaceTiles(context, selection, program.problem);
}

}  // namespace

std::vector<encoder::program::SubgraphChoice> ChoicesOf(const paths::Selection& selection) {
  std::vector<encoder::program::SubgraphChoice> choices;
  for (const paths::Selected& subgraph : selection.subgraphs)
    choices.push_back(subgraph.Choices().Tiles().Candidates()[subgraph.Chosen().candidate].choice);
  return choices;
}

base::Expected<JointPlacement> PlaceJointly(const choices::SearchContext& context,
                                            const constraints::PlanConstraints& constraints,
                                            const paths::Selection& selection) {
  const std::vector<encoder::program::SubgraphChoice> choices = ChoicesOf(selection);
  if (const auto overflow =
          encoder::program::FindHomeOverflow(context.graph, context.profile, choices))
    return RefusedAtHome(
        problem::Status::kInfeasible, overflow->message,
        ObstacleOf(context.graph, context.profile,
                   *encoder::program::FindOverfullHome(context.graph, context.profile, choices)));
  std::vector<encoder::program::HomeProblem> home_problems =
      encoder::program::BuildHomes(context.graph, context.profile, choices);
  for (encoder::program::HomeProblem& home : home_problems) {
    if (context.previous != nullptr) context.previous->AddHints(home);
    tiling::FixOffsets(constraints.PinsIn(home.problem.memories.front().name), home.problem);
  }
  base::Expected<HomePlacement> homes = PlaceHomes(
      std::move(home_problems), context.engines, context.budget,
      context.scale.LooksAtOffChipPeak() ? PeakEffort::kWithinBudget : PeakEffort::kLittle,
      context.stop);
  if (!homes) return base::Unexpected(homes.error());
  if (!homes->reason.empty())
    return RefusedAtHome(homes->status, homes->reason, std::move(homes->obstacle));
  if (auto excess = ExcessOfOffChipPeak(context, homes->homes))
    return RefusedAtHome(problem::Status::kUnknown, *excess, std::nullopt);
  base::Expected<encoder::program::Program> program =
      encoder::program::BuildProgram(context.graph, context.profile, choices);
  if (!program) return base::Unexpected(program.error());
  JointPlacement joint{.program = *std::move(program),
                       .result = {},
                       .homes = std::move(homes->homes),
                       .are_homes_lowest = homes->are_lowest};
  AddHints(selection, joint.program);
  for (size_t s = 0; s < choices.size(); ++s) {
    tiling::FixOffsets(
        constraints.PinsOf(choices[s].interval, static_cast<int>(s), context.TileMemory().name),
        joint.program.problem);
  }
  base::Expected<problem::Result> result = PlaceLike(context, selection, choices, joint.program);
  if (!result) return base::Unexpected(result.error());
  joint.result = *std::move(result);
  if (!joint.result.allocation) joint.obstacle = JointObstacle(context, joint.program);
  FreeOffsets(joint.program.problem);
  for (plan::Home& home : joint.homes) {
    FreeOffsets(home.problem);
    for (problem::Buffer& buffer : home.problem.buffers) buffer.hint.reset();
  }
  return joint;
}

}  // namespace tessera::search::partition::placement
