#include "tessera/search/partition/joint.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "tessera/encoder/adapt/homes.h"
#include "tessera/problem/validator.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/partition/home_placement.h"

namespace tessera::search {
namespace {

using problem::Allocation;
using problem::Bytes;

// What a search that was stopped may still take to lay out what it knows.
constexpr std::chrono::milliseconds kGrace{500};

// Of the budget, what is spent on lowering a peak that the objective does not look at.
constexpr int64_t kLoweringPeak = 2'000;

// What a buffer holds, whatever its subgraph is called.
using Key = std::tuple<int, encoder::BufferKind, int, int, int, int>;

Key KeyOf(const encoder::ProgramBuffer& buffer, int subgraph) {
  const bool whole = buffer.kind == encoder::BufferKind::kWhole;
  return {whole ? -1 : subgraph, buffer.kind, buffer.tensor, buffer.op, buffer.parity, buffer.slot};
}

const encoder::Program& ProgramOf(const IntervalChoices& interval, const Choice& choice) {
  return interval.Tiles().LadderOf(choice.candidate).program;
}

// Gives every buffer of the joint Problem the address that its subgraph found; of a buffer that several subgraphs share, the
// first address counts.
void AddHints(const Selection& selection, encoder::Program& program) {
  std::map<Key, Bytes> found;
  for (size_t s = 0; s < selection.intervals.size(); ++s) {
    const Choice& choice = selection.intervals[s]->Choices()[selection.choices[s]];
    if (!choice.allocation) continue;
    const std::vector<encoder::ProgramBuffer>& buffers = ProgramOf(*selection.intervals[s], choice).buffers;
    for (size_t i = 0; i < buffers.size(); ++i) {
      found.try_emplace(KeyOf(buffers[i], static_cast<int>(s)), choice.allocation->offsets[i]);
    }
  }
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const auto at = found.find(KeyOf(program.buffers[i], program.buffers[i].subgraph));
    if (at != found.end()) program.problem.buffers[i].hint = at->second;
  }
}

// The subgraphs' own placements and mode schedules end to end; nullopt where one lacks.
std::optional<Allocation> Compose(const Selection& selection, const problem::Problem& joint) {
  Allocation composed;
  for (const problem::Buffer& buffer : joint.buffers) {
    if (!buffer.hint) return std::nullopt;
    composed.offsets.push_back(*buffer.hint);
  }
  composed.modes.resize(joint.memories.size());
  for (size_t s = 0; s < selection.intervals.size(); ++s) {
    const Choice& choice = selection.intervals[s]->Choices()[selection.choices[s]];
    for (size_t memory = 0; memory < choice.allocation->modes.size(); ++memory) {
      const problem::ModeSchedule& part = choice.allocation->modes[memory];
      composed.modes[memory].insert(composed.modes[memory].end(), part.begin(), part.end());
    }
  }
  return composed;
}

JointPlacement Refused(problem::Status status, const std::string& reason, std::optional<Obstacle> obstacle) {
  JointPlacement refused;
  refused.result.status = status;
  refused.result.reason = reason;
  refused.obstacle = std::move(obstacle);
  return refused;
}

// What of the program is live when most bytes are.
Obstacle JointObstacle(const Planning& planning, const encoder::Program& program) {
  const Bound bound = FindBound(program.problem, 0);
  Obstacle obstacle;
  obstacle.kind = ObstacleKind::kJoint;
  obstacle.memory = planning.TileMemory().name;
  obstacle.needed = bound.bytes;
  obstacle.available = planning.Room();
  obstacle.capacity = planning.Room();
  obstacle.step = bound.step;
  obstacle.tensors = HoldingsOf(planning.graph, program, program.problem, bound.buffers);
  obstacle.problem = program.problem;
  for (problem::Buffer& buffer : obstacle.problem->buffers) buffer.hint.reset();
  return obstacle;
}

// What was fixed is where it is for a reason that the Problem does not know.
void FreeOffsets(problem::Problem& problem) {
  for (problem::Buffer& buffer : problem.buffers) buffer.offset.reset();
}

base::Expected<problem::Result> PlaceAnyhow(const Planning& planning, const Selection& selection,
                                            const problem::Problem& problem) {
  AllocateOptions options;
  options.capacity = planning.Room();
  options.minimize = planning.scale.MinimizesPeak();
  options.budget = planning.LeastBudget();
  options.stop = &planning.stop;

  problem::Result known;
  const std::optional<Allocation> composed = Compose(selection, problem);
  if (composed && problem::Validate(problem, *composed, *options.capacity, 1).empty()) {
    known.peak = problem::PeakOf(problem, *composed);
    known.lower_bound = FindBound(problem, 0).bytes;
    known.status = *known.peak <= known.lower_bound ? problem::Status::kOptimal : problem::Status::kFeasible;
    known.engine = "subgraphs";
    known.allocation = composed;
    if (!options.minimize || *known.peak <= static_cast<Bytes>(selection.cost.peak)) return known;
  }
  base::Expected<problem::Result> result = Allocate(problem, nullptr, 0, planning.engines, options);
  if (result && !result->allocation && !known.allocation && planning.stop.Requested()) {
    const base::Stop grace(base::Stop::Clock::now() + kGrace);
    options.minimize = false;
    options.stop = &grace;
    result = Allocate(problem, nullptr, 0, planning.engines, options);
  }
  if (!result) return result;
  const bool better = result->allocation && (!known.peak || *result->peak < *known.peak);
  if (better || !known.allocation) return result;
  return known;
}

// Where the objective does not look at peaks they decide between equals: a little is spent on lowering them, unless buffers had better
// stay where an older plan has them.
base::Expected<problem::Result> PlaceTiles(const Planning& planning, const Selection& selection,
                                           const problem::Problem& problem) {
  base::Expected<problem::Result> any = PlaceAnyhow(planning, selection, problem);
  const bool open = any && any->allocation && any->status != problem::Status::kOptimal;
  if (!open || planning.scale.MinimizesPeak() || planning.predecessor != nullptr) return any;
  if (*any->peak <= FindBound(problem, 0).bytes) return any;
  AllocateOptions options;
  options.capacity = planning.Room();
  options.minimize = true;
  options.budget = {std::min(planning.budget.units, kLoweringPeak)};
  options.stop = &planning.stop;
  base::Expected<problem::Result> lower = Allocate(problem, nullptr, 0, planning.engines, options);
  if (!lower || (lower->allocation && *lower->peak < *any->peak)) return lower;
  return any;
}

// First with what an older plan has where it has it, if there is one.
base::Expected<problem::Result> PlaceLike(const Planning& planning, const Selection& selection,
                                          std::span<const encoder::SubgraphChoice> choices,
                                          encoder::Program& program) {
  if (planning.predecessor != nullptr) {
    std::vector<problem::Buffer> plain = program.problem.buffers;
    planning.predecessor->AddHints(choices, program);
    base::Expected<problem::Result> like = PlaceTiles(planning, selection, program.problem);
    if (!like || like->allocation || like->status == problem::Status::kInfeasible) return like;
    program.problem.buffers = std::move(plain);
  }
  return PlaceTiles(planning, selection, program.problem);
}

}  // namespace

std::vector<encoder::SubgraphChoice> ChoicesOf(const Selection& selection) {
  std::vector<encoder::SubgraphChoice> choices;
  for (size_t s = 0; s < selection.intervals.size(); ++s) {
    const IntervalChoices& interval = *selection.intervals[s];
    choices.push_back(
        interval.Tiles().Candidates()[interval.Choices()[selection.choices[s]].candidate].choice);
  }
  return choices;
}

base::Expected<JointPlacement> PlaceJointly(const Planning& planning, const Demands& demands,
                                            const Selection& selection) {
  const std::vector<encoder::SubgraphChoice> choices = ChoicesOf(selection);
  if (const auto overflow = encoder::FindHomeOverflow(planning.graph, planning.profile, choices))
    return Refused(problem::Status::kInfeasible, overflow->message,
                   ObstacleOf(planning.graph, planning.profile,
                              *encoder::FindOverfullHome(planning.graph, planning.profile, choices)));
  std::vector<encoder::HomeProblem> home_problems =
      encoder::BuildHomes(planning.graph, planning.profile, choices);
  for (encoder::HomeProblem& home : home_problems) {
    if (planning.predecessor != nullptr) planning.predecessor->AddHints(home);
    FixOffsets(demands.PinsIn(home.problem.memories.front().name), home.problem);
  }
  base::Expected<HomePlacement> homes =
      PlaceHomes(std::move(home_problems), planning.engines, planning.LeastBudget(), planning.stop);
  if (!homes) return base::Unexpected(homes.error());
  if (!homes->reason.empty()) return Refused(homes->status, homes->reason, std::move(homes->obstacle));
  base::Expected<encoder::Program> program = encoder::BuildProgram(planning.graph, planning.profile, choices);
  if (!program) return base::Unexpected(program.error());
  JointPlacement joint{.program = *std::move(program), .result = {}, .homes = std::move(homes->homes)};
  AddHints(selection, joint.program);
  for (size_t s = 0; s < choices.size(); ++s) {
    FixOffsets(demands.PinsOf(choices[s].interval, static_cast<int>(s), planning.TileMemory().name),
               joint.program.problem);
  }
  base::Expected<problem::Result> result = PlaceLike(planning, selection, choices, joint.program);
  if (!result) return base::Unexpected(result.error());
  joint.result = *std::move(result);
  if (!joint.result.allocation) joint.obstacle = JointObstacle(planning, joint.program);
  FreeOffsets(joint.program.problem);
  for (plan::Home& home : joint.homes) {
    FreeOffsets(home.problem);
    for (problem::Buffer& buffer : home.problem.buffers) buffer.hint.reset();
  }
  return joint;
}

}  // namespace tessera::search
