// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/encoder/program/build_program.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/driver/order_search.h"
#include "tessera/search/partition/driver/prefetch_schedule.h"
#include "tessera/search/partition/placement/home_and_joint_placement.h"

// Constants that are loaded once delay the engines of their subgraph. If there is space, they
// arrive while earlier subgraphs compute their last tiles (docs/program.md, "Ahead"):
//
//     engine | .. compute | wait | compute          | .. compute | compute
//     dma    | .. store   | w w w|                  | .. store ww|
//     tile memory         |  w                      |         w
//
// The gain depends on the other subgraphs, so it is not a property of an interval, and the search
// over partitions does not consider it. It is tried on the partition that was found: all subgraphs
// that stream slices of constants hold them instead if they can, and the constants are scheduled
// (prefetch_schedule.cc). A subgraph whose constants do not arrive in time then takes its slices
// back, if these delay it less, and all are scheduled again. The result is placed as one Problem,
// with the addresses of the plan as hints. If there is no placement, the schedule is made again for
// less memory. Sound: a plan is accepted only if its joint Problem has a placement and its score
// falls. It need not be optimal: another partition may gain more by prefetching. Cost: a few
// schedules and joint Problems.
namespace tessera::search::partition::driver {
namespace {

using hw_profiles::WeightPolicy;
using problem::Buffer;
using problem::Problem;

constexpr int kMostSchedules = 6;  // for one size of the memory
constexpr std::array<double, 6> kSharesOfRoom = {1.0, 0.95, 0.9, 0.8, 0.65, 0.5};

class Prefetcher {
 public:
  Prefetcher(const choices::SearchContext& context, const constraints::PlanConstraints& constraints,
             plan::Plan plan)
      : context_(context),
        constraints_(constraints),
        plan_(std::move(plan)),
        schedule_(context, plan_.kept) {}

  base::Expected<plan::Plan> Run() {
    Outcome outcome = Outcome::kNoGain;
    for (const double share : kSharesOfRoom) {
      if (!MayOverlap()) break;
      if (context_.stop.Requested()) outcome = Outcome::kStopped;
      if (outcome == Outcome::kTaken || outcome == Outcome::kStopped) break;
      const auto room = static_cast<problem::Bytes>(share * static_cast<double>(context_.Room()));
      base::Expected<std::optional<Proposal>> proposal = FindProposal(room);
      if (!proposal) return base::Unexpected(proposal.error());
      if (!*proposal) continue;
      const base::Expected<Outcome> tried = Try(**proposal);
      if (!tried) return base::Unexpected(tried.error());
      outcome = *tried;
    }
    FindStatus();
    Note(outcome);
    return std::move(plan_);
  }

 private:
  enum class Outcome : uint8_t { kTaken, kNoGain, kNoRoom, kStopped };
  using Proposal = PrefetchSchedule::Proposal;

  std::vector<encoder::program::SubgraphChoice> ChoicesOf(
      const std::vector<plan::Subgraph>& subgraphs) const {
    std::vector<encoder::program::SubgraphChoice> choices;
    choices.reserve(subgraphs.size());
    for (const plan::Subgraph& subgraph : subgraphs)
      choices.push_back(cost::ChoiceOf(subgraph, plan_.kept));
    return choices;
  }

  bool MayOverlap() const {
    return context_.profile.tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered;
  }

  static std::vector<FreeBytes> FindFree(const encoder::program::Program& program, size_t subgraphs,
                                         problem::Bytes room) {
    std::vector<problem::Bytes> change(program.steps.size() + 1);
    for (const Buffer& buffer : program.problem.buffers) {
      for (const problem::Lifespan& life : buffer.lifespans) {
        change[static_cast<size_t>(life.lower)] += buffer.size;
        change[static_cast<size_t>(life.upper)] -= buffer.size;
      }
    }
    std::vector<FreeBytes> free(subgraphs, {room, room});
    problem::Bytes load = 0;
    for (size_t step = 0; step < program.steps.size(); ++step) {
      load += change[step];
      FreeBytes& here = free[static_cast<size_t>(program.steps[step].subgraph)];
      here.throughout = std::min(here.throughout, room - load);
      if (program.steps[step].kind != plan::StepKind::kPrologue)
        here.after_prologue = std::min(here.after_prologue, room - load);
    }
    return free;
  }

  static bool HasSlices(const plan::Subgraph& subgraph) {
    return subgraph.weights == WeightPolicy::kStreamed || subgraph.weights == WeightPolicy::kSplitK;
  }

  base::Expected<encoder::program::Program> Build(
      const std::vector<plan::Subgraph>& subgraphs) const {
    return encoder::program::BuildProgram(context_.graph, context_.profile, ChoicesOf(subgraphs));
  }

  // Whether the subgraph, by itself, can hold its constants instead of slices.
  bool FitsResident(const plan::Subgraph& subgraph, problem::Bytes room) const {
    plan::Subgraph held = subgraph;
    PrefetchSchedule::SetWeights(held, WeightPolicy::kResident);
    const base::Expected<encoder::program::Program> program = Build({held});
    return program && FindFree(*program, 1, room).front().throughout >= 0;
  }

  // The best schedule in so many bytes.
  base::Expected<std::optional<Proposal>> FindProposal(problem::Bytes room) {
    std::vector<plan::Subgraph> with = plan_.subgraphs;
    for (size_t number = 1; number < with.size(); ++number) {
      if (HasSlices(with[number]) && MayReside(with[number]) && FitsResident(with[number], room))
        PrefetchSchedule::SetWeights(with[number], WeightPolicy::kResident);
    }
    std::optional<Proposal> best;
    bool changed = true;
    for (int i = 0; i < kMostSchedules && changed && !context_.stop.Requested(); ++i) {
      const base::Expected<encoder::program::Program> program = Build(with);
      if (!program) return base::Unexpected(program.error());
      Proposal found =
          schedule_.Propose(plan_.subgraphs, with, FindFree(*program, with.size(), room));
      changed = schedule_.TakeBack(plan_.subgraphs, found.subgraphs, with);
      if (!without_room_) without_room_ = found.without_room;
      if (found.gain > 0 && (!best || found.gain > best->gain)) best = std::move(found);
    }
    return best;
  }

  // Addresses of slices may be required; resident constants have no slices.
  bool MayReside(const plan::Subgraph& subgraph) const {
    const std::vector<WeightPolicy>& policies = context_.profile.tiling.weights;
    const plan::TileConfigConstraint* config = constraints_.ConfigOf(subgraph.interval);
    return std::find(policies.begin(), policies.end(), WeightPolicy::kResident) != policies.end() &&
           (config == nullptr || (!config->weights && config->addresses.empty()));
  }

  // Accepts the proposal if the plan improves.
  base::Expected<Outcome> Try(const Proposal& proposal) {
    const std::vector<encoder::program::SubgraphChoice> choices = ChoicesOf(proposal.subgraphs);
    base::Expected<encoder::program::Program> program =
        encoder::program::BuildProgram(context_.graph, context_.profile, choices);
    if (!program) return base::Unexpected(program.error());
    if (context_.previous != nullptr) context_.previous->AddHints(choices, *program);
    placement::JointPlacement joint{
        .program = *std::move(program), .result = {}, .homes = plan_.homes};
    base::Expected<problem::Result> result = context_.Place(
        Hinted(joint.program.problem), /*minimize=*/false, context_.budget, context_.stop);
    if (!result) return base::Unexpected(result.error());
    joint.result = *std::move(result);
    if (!joint.result.allocation)
      return context_.stop.Requested() ? Outcome::kStopped : Outcome::kNoRoom;
    plan::Plan better = answer::AssemblePlan(context_, proposal.subgraphs, plan_.kept, joint);
    if (better.score >= plan_.score ||
        !context_.scale.WithinLimits(context_.scale.CostOf(better.totals)))
      return Outcome::kNoGain;
    Take(std::move(better));
    return Outcome::kTaken;
  }

  // The Problem with the addresses of the plan as hints.
  Problem Hinted(Problem problem) const {
    std::map<std::string_view, problem::Bytes> known;
    for (size_t i = 0; i < plan_.problem.buffers.size(); ++i)
      known.emplace(plan_.problem.buffers[i].id, plan_.allocation.offsets[i]);
    for (Buffer& buffer : problem.buffers) {
      if (const auto at = known.find(buffer.id); at != known.end()) buffer.hint = at->second;
    }
    for (size_t s = 0; s < plan_.subgraphs.size(); ++s) {
      tiling::FixOffsets(constraints_.PinsOf(plan_.subgraphs[s].interval, static_cast<int>(s),
                                             context_.TileMemory().name),
                         problem);
    }
    return problem;
  }

  // All that follows from the partition. What was found out about it stays, but that a subgraph is
  // not run as it is run now.
  void Take(plan::Plan better) {
    for (plan::Subgraph& subgraph : better.subgraphs) {
      std::erase_if(
          subgraph.rejected_alternatives, [&](const plan::RejectedAlternative& rejection) {
            return rejection.interval == subgraph.interval && rejection.tile == subgraph.tile &&
                   rejection.weights == subgraph.weights && rejection.halo == subgraph.halo &&
                   rejection.k_extent == subgraph.k_extent &&
                   rejection.serialized == subgraph.serialized;
          });
    }
    plan_.subgraphs = std::move(better.subgraphs);
    plan_.problem = std::move(better.problem);
    plan_.allocation = std::move(better.allocation);
    plan_.buffers = std::move(better.buffers);
    plan_.steps = std::move(better.steps);
    plan_.totals = std::move(better.totals);
    plan_.score = better.score;
  }

  // The search saw plans without prefetched constants alone.
  void FindStatus() {
    if (!MayOverlap()) return;
    if (plan_.score <= plan_.bound && plan::IsKnownValue(plan_.network, plan_.objective)) {
      plan_.scope = {};
      plan_.proven = true;
    } else {
      plan_.scope.policies =
          "prefetched constants, which were tried on the partition that was found";
    }
    plan_.status = plan_.proven && plan::CoversAll(plan_.scope) ? "optimal" : "feasible";
  }

  void Note(Outcome outcome) {
    const auto taken =
        std::count_if(plan_.subgraphs.begin(), plan_.subgraphs.end(),
                      [](const plan::Subgraph& subgraph) { return !subgraph.prefetch.empty(); });
    const int without_room = without_room_.value_or(0);
    std::string note;
    if (!MayOverlap()) {
      note = "constants are not prefetched where transfers have steps of their own";
    } else if (taken > 0) {
      note = fmt::format("{} subgraph{} {} constants prefetched", taken, taken == 1 ? "" : "s",
                         taken == 1 ? "has its" : "have their");
    } else if (outcome == Outcome::kStopped) {
      note = "no constants are prefetched; time ended before all was tried";
    } else if (outcome == Outcome::kNoRoom || without_room > 0) {
      note = "no constants are prefetched";
    } else {
      note = "no subgraph gains by prefetching constants";
    }
    if (taken == 0 && outcome == Outcome::kNoRoom) {
      note += "; no room was found for those that would gain";
    } else if (without_room > 0) {
      note +=
          fmt::format("; no room was found for {}{}", taken > 0 ? "another " : "", without_room);
    }
    plan_.notes.push_back(std::move(note));
  }

  const choices::SearchContext& context_;
  const constraints::PlanConstraints& constraints_;
  plan::Plan plan_;
  PrefetchSchedule schedule_;
  std::optional<int> without_room_;  // subgraphs, in all of the memory
};

}  // namespace

base::Expected<plan::Plan> Prefetch(const choices::SearchContext& context,
                                    const constraints::PlanConstraints& constraints,
                                    plan::Plan plan) {
  return Prefetcher(context, constraints, std::move(plan)).Run();
}

}  // namespace tessera::search::partition::driver
