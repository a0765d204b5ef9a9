// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "tessera/base/text.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/plan/verify/tile_table.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/cost/engine_choice.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/partition.h"
#include "tessera/search/partition/placement/home_and_joint_placement.h"

// Of the user's draft, only network, profile, objective, partition and addresses are used. The
// joint Problem is built as in the search, the given addresses become fixed offsets (or hints), and
// engines place the other buffers around them.
namespace tessera::search::partition {
namespace {

using encoder::program::SubgraphChoice;
using problem::Buffer;
using problem::Bytes;
using problem::Status;

constexpr const char* kHintOnMoving =
    "leave out the addresses of what has changed, or let them change (eval: --move)";

base::Diagnostic DraftFault(std::string message, std::string expected, std::string pointer = "") {
  base::Diagnostic fault;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  fault.pointer = std::move(pointer);
  return fault;
}

// Returns why the subgraphs do not cover the network, each operator once and in order, or nullopt.
std::optional<base::Diagnostic> FindGap(const plan::files::Draft& draft) {
  const auto id = [&](int op) { return draft.network.operators[static_cast<size_t>(op)].id; };
  const auto operators = static_cast<int>(draft.network.operators.size());
  if (operators == 0) return DraftFault("the network has no operators", "at least one", "/network");
  int next = 0;
  for (size_t i = 0; i < draft.subgraphs.size(); ++i) {
    const int first = draft.subgraphs[i].interval.first;
    if (first != next) {
      return DraftFault(fmt::format("subgraph {} begins with operator '{}'", i, id(first)),
                        next < operators
                            ? fmt::format("'{}', which follows the subgraph before", id(next))
                            : "no further subgraph: the network ends before",
                        fmt::format("/subgraphs/{}/operators", i));
    }
    next = draft.subgraphs[i].interval.last + 1;
  }
  if (next == operators) return std::nullopt;
  return DraftFault(fmt::format("operator '{}' is in no subgraph", id(next)),
                    "each operator in one", "/subgraphs");
}

// Gives the buffers of one memory the addresses that the draft states for them.
std::optional<base::Diagnostic> Pin(const plan::files::Draft& draft, const std::string& memory,
                                    bool may_move, problem::Problem& problem) {
  std::map<std::string_view, Buffer*> buffers;
  for (Buffer& buffer : problem.buffers) buffers.emplace(buffer.id, &buffer);
  for (const plan::files::Pin& pin : draft.pins) {
    if (pin.memory != memory || pin.by_tiles) continue;
    const auto buffer = buffers.find(pin.id);
    if (buffer != buffers.end()) {
      (may_move ? buffer->second->hint : buffer->second->offset) = pin.offset;
      continue;
    }
    if (may_move) continue;
    std::vector<std::string_view> names;
    names.reserve(buffers.size());
    for (const auto& [id, known] : buffers) names.push_back(id);
    base::Diagnostic fault = DraftFault(
        fmt::format("this partition has no '{}'{}", pin.id, memory.empty() ? "" : " in " + memory),
        "the address of something that is there", pin.pointer);
    fault.hint = base::DidYouMean(pin.id, names);
    if (fault.hint.empty()) fault.hint = kHintOnMoving;
    return fault;
  }
  return std::nullopt;
}

std::optional<base::Diagnostic> FindUnknownHome(
    const plan::files::Draft& draft, const std::vector<encoder::program::HomeProblem>& homes) {
  for (const plan::files::Pin& pin : draft.pins) {
    const bool known =
        std::any_of(homes.begin(), homes.end(), [&](const encoder::program::HomeProblem& home) {
          return home.problem.memories.front().name == pin.memory;
        });
    if (pin.memory.empty() || known) continue;
    base::Diagnostic fault =
        DraftFault(fmt::format("memory '{}' is home to nothing", pin.memory),
                   "a memory outside the tile memory that holds tensors", pin.pointer);
    fault.hint = kHintOnMoving;
    return fault;
  }
  return std::nullopt;
}

// Returns a sentence about two buffers whose fixed offsets make them share bytes at some step, if
// there are any.
std::optional<std::string> FindCollision(const problem::Problem& problem) {
  const std::vector<Buffer>& buffers = problem.buffers;
  const auto meet = [](const Buffer& a, const Buffer& b) {
    const bool apart = *a.offset + a.size <= *b.offset || *b.offset + b.size <= *a.offset;
    return !apart && std::any_of(a.lifespans.begin(), a.lifespans.end(), [&b](const auto& of_a) {
      return std::any_of(b.lifespans.begin(), b.lifespans.end(), [&of_a](const auto& of_b) {
        return of_a.lower < of_b.upper && of_b.lower < of_a.upper;
      });
    });
  };
  const auto place = [](const Buffer& buffer) {
    return fmt::format("'{}' at {} with {} bytes", buffer.id, *buffer.offset, buffer.size);
  };
  for (size_t i = 0; i < buffers.size(); ++i) {
    for (size_t k = 0; k < i && buffers[i].offset; ++k) {
      if (buffers[k].offset && meet(buffers[k], buffers[i]))
        return fmt::format("the addresses that the file gives in memory '{}' collide: {}, and {}",
                           problem.memories.front().name, place(buffers[k]), place(buffers[i]));
    }
  }
  return std::nullopt;
}

void Unpin(problem::Problem& problem) {
  for (Buffer& buffer : problem.buffers) {
    buffer.offset.reset();
    buffer.hint.reset();
  }
}

class Evaluator {
 public:
  Evaluator(const plan::files::Draft& draft, const answer::EvaluateOptions& options,
            const choices::SearchContext& context)
      : draft_(draft),
        options_(options),
        context_(context),
        choices_(cost::ChoicesOf(draft.subgraphs, draft.kept)) {}

  base::Expected<Evaluation> Run(const plan::Metrics& lower_bounds) {
    if (auto fault = encoder::program::FindUnkeepable(draft_.network, choices_, draft_.kept)) {
      fault->pointer = "/kept";
      return base::Unexpected(*fault);
    }
    if (const auto overflow =
            encoder::program::FindHomeOverflow(draft_.network, draft_.profile, choices_))
      return Declined(Status::kInfeasible, overflow->message);
    base::Expected<encoder::program::Program> program =
        encoder::program::BuildProgram(draft_.network, draft_.profile, choices_);
    if (!program) return base::Unexpected(program.error());
    joint_.program = *std::move(program);
    base::Expected<std::optional<Evaluation>> declined = PlaceAtHome();
    if (!declined) return base::Unexpected(declined.error());
    if (*declined) return **std::move(declined);
    declined = PlaceTiles();
    if (!declined) return base::Unexpected(declined.error());
    if (*declined) return **std::move(declined);
    return Finish(lower_bounds);
  }

 private:
  static Evaluation Declined(Status status, std::string reason) {
    Evaluation evaluation;
    evaluation.status = status;
    evaluation.reason = std::move(reason);
    return evaluation;
  }

  base::Expected<std::optional<Evaluation>> PlaceAtHome() {
    std::vector<encoder::program::HomeProblem> homes =
        encoder::program::BuildHomes(draft_.network, draft_.profile, choices_);
    if (!options_.may_move) {
      if (auto fault = FindUnknownHome(draft_, homes)) return base::Unexpected(*fault);
    }
    for (encoder::program::HomeProblem& home : homes) {
      if (auto fault =
              Pin(draft_, home.problem.memories.front().name, options_.may_move, home.problem))
        return base::Unexpected(*fault);
      if (const std::optional<std::string> collision = FindCollision(home.problem))
        return Declined(Status::kInfeasible, *collision);
    }
    base::Expected<placement::HomePlacement> placed = placement::PlaceHomes(
        std::move(homes), context_.engines, context_.budget,
        context_.scale.LooksAtOffChipPeak() ? placement::PeakEffort::kWithinBudget
                                            : placement::PeakEffort::kLittle,
        context_.stop);
    if (!placed) return base::Unexpected(placed.error());
    if (!placed->reason.empty()) return Declined(placed->status, placed->reason);
    joint_.homes = std::move(placed->homes);
    for (plan::Home& home : joint_.homes) Unpin(home.problem);
    return std::nullopt;
  }

  base::Expected<std::optional<Evaluation>> PlaceTiles() {
    problem::Problem& problem = joint_.program.problem;
    if (auto fault = Pin(draft_, "", options_.may_move, problem)) return base::Unexpected(*fault);
    allocate::AllocateOptions allocate;
    allocate.capacity = context_.Room();
    allocate.minimize = context_.scale.MinimizesPeak();
    allocate.budget = context_.budget;
    allocate.threads = options_.threads;
    allocate.stop = &context_.stop;
    base::Expected<problem::Result> result =
        allocate::Allocate(problem, nullptr, 0, context_.engines, allocate);
    if (!result) return base::Unexpected(result.error());
    if (!result->allocation) {
      Evaluation declined = Declined(result->status, result->reason);
      declined.infeasible_problem = std::move(problem);
      declined.capacity = *allocate.capacity;
      return declined;
    }
    joint_.result = *std::move(result);
    Unpin(problem);
    return std::nullopt;
  }

  Evaluation Finish(const plan::Metrics& lower_bounds) {
    std::vector<plan::Subgraph> subgraphs = draft_.subgraphs;
    for (plan::Subgraph& subgraph : subgraphs) {
      subgraph.tiles = graph::tiling::Tile(draft_.network, subgraph.interval, subgraph.tile).tiles;
      subgraph.largest_proven = answer::IsWholeOutput(draft_.network, subgraph);
    }
    // The time of a subgraph depends on the tiles of later ones, whose constants it carries.
    for (size_t i = 0; i < subgraphs.size(); ++i) {
      subgraphs[i].metrics = cost::PriceOf(draft_.network, draft_.profile, context_.simulator,
                                           subgraphs, i, draft_.kept);
    }
    plan::Plan plan = answer::AssemblePlan(context_, std::move(subgraphs), draft_.kept, joint_);
    if (auto declined = ShareByTiles(plan)) return *std::move(declined);
    plan.score = context_.scale.ScoreOf(plan.totals);
    plan.lower_bounds = lower_bounds;
    plan.bound = context_.scale.ScoreOfBounds(lower_bounds);
    answer::ClaimNothing(plan);
    plan.notes.insert(plan.notes.begin(), "the partition was given, not searched for");
    if (auto note = plan::verify::NoteOnHost(plan)) plan.notes.push_back(*std::move(note));
    if (auto note = plan::verify::NoteOnMeasured(plan)) plan.notes.push_back(*std::move(note));
    if (auto note = plan::NoteOnUnknownWork(plan.network, plan.objective))
      plan.notes.push_back(*std::move(note));
    plan.version = options_.version;
    plan.run = answer::RecordOf(options_);
    plan.baseline = answer::FindBaseline(plan, context_.scale, context_.engines, options_.threads,
                                         context_.stop);
    plan.run.cut_off = plan.run.cut_off || !plan.baseline;
    plan.seed = draft_.seed;
    Evaluation evaluation;
    evaluation.status = Status::kFeasible;
    evaluation.violations = plan::verify::Validate(plan);
    if (evaluation.violations.empty()) evaluation.plan = std::move(plan);
    return evaluation;
  }

  // Places homes with the addresses by tiles that the draft states. These are dropped if they do
  // not fit and may move.
  std::optional<Evaluation> ShareByTiles(plan::Plan& plan) const {
    placement::HomePins pins;
    for (const plan::files::Pin& pin : draft_.pins) {
      const bool is_home =
          std::any_of(plan.homes.begin(), plan.homes.end(), [&pin](const plan::Home& home) {
            return home.problem.memories.front().name == pin.memory;
          });
      if (pin.by_tiles && (is_home || !options_.may_move))
        pins.emplace(std::pair(pin.memory, pin.id), pin.offset);
    }
    if (pins.empty()) return std::nullopt;
    off_chip::PlaceOptions options;
    options.engines = context_.engines;
    options.budget = context_.budget;
    options.stop = &context_.stop;
    options.threads = options_.threads;
    auto placed = placement::PlaceHomesByTiles(plan, pins, options);
    const auto is_placed = [&](const auto& pin) {
      return std::any_of(plan.homes.begin(), plan.homes.end(), [&](const plan::Home& home) {
        return home.by_tiles && home.problem.memories.front().name == pin.first.first;
      });
    };
    if (placed && std::all_of(pins.begin(), pins.end(), is_placed)) return std::nullopt;
    if (placed && options_.may_move) return std::nullopt;
    return Declined(Status::kUnknown,
                    placed ? "tensors at home cannot share the given addresses tile by tile: " +
                                 plan.notes.back()
                           : placed.error().message);
  }

  const plan::files::Draft& draft_;
  const answer::EvaluateOptions& options_;
  const choices::SearchContext& context_;
  const std::vector<SubgraphChoice> choices_;
  placement::JointPlacement joint_;
};

}  // namespace

base::Expected<Evaluation> Evaluate(const plan::files::Draft& stated,
                                    const answer::EvaluateOptions& options) {
  plan::files::Draft draft = stated;
  draft.network =
      cost::WithEngines(encoder::program::WithHomes(std::move(draft.network), draft.profile),
                        draft.profile, draft.objective.weights);
  // If the tile memory is the home of boundary tensors, all of them lie there anyway.
  if (options.may_move && hw_profiles::LayoutOf(draft.profile, base::TensorRole::kBoundary).home ==
                              draft.profile.tile_memory)
    draft.kept.clear();
  if (auto fault = FindGap(draft)) return base::Unexpected(*fault);
  const plan::Metrics lower_bounds = cost::FindLowerBounds(draft.network, draft.profile);
  const base::Expected<cost::Scale> scale = cost::Scale::Make(draft.objective, lower_bounds);
  if (!scale) return base::Unexpected(scale.error());
  const base::Stop never;
  const cost::Simulator simulator(draft.network, draft.profile);
  const choices::SearchContext context{.graph = draft.network,
                                       .profile = draft.profile,
                                       .simulator = simulator,
                                       .scale = *scale,
                                       .stop = options.stop != nullptr ? *options.stop : never,
                                       .engines = options.engines,
                                       .tile_engines = options.engines,
                                       .budget = options.budget};
  return Evaluator(draft, options, context).Run(lower_bounds);
}

}  // namespace tessera::search::partition
