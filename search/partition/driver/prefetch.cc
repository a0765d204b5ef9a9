#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/encoder/program/build_program.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/driver/order_search.h"
#include "tessera/search/partition/placement/home_and_joint_placement.h"

// Constants that are loaded once delay the engines of their subgraph. If there is space, they
// arrive while the previous subgraph computes its last tile (docs/program.md, "Ahead"):
//
//     engine | .. compute | wait | compute          | .. compute | compute
//     dma    | .. store   | w w w|                  | .. store ww|
//     tile memory         |  w                      |         w
//
// The gain depends on both neighbours, so it is not a property of an interval, and the search over
// partitions does not consider it. It is tried on the partition that was found, one subgraph after
// the other, those with the largest gain first. Streamed weights may become resident for it. Each
// prefetched buffer is first placed with all others fixed. If that fails, the buffers that live in
// the two subgraphs may move, and all others stay fixed. Sound: a step is accepted only if the
// joint Problem has a placement and the score falls. The result need not be optimal: another
// partition may gain more by prefetching, and so may other subsets if space is short. Cost: for
// each subgraph that could gain, two simulations and at most two joint Problems that are mostly
// fixed.
namespace tessera::search::partition::driver {
namespace {

using hw_profiles::WeightPolicy;
using problem::Buffer;
using problem::Problem;

class Prefetcher {
 public:
  Prefetcher(const choices::SearchContext& context, const constraints::PlanConstraints& constraints,
             plan::Plan plan)
      : context_(context), constraints_(constraints), plan_(std::move(plan)) {}

  base::Expected<plan::Plan> Run() {
    const double before = plan_.score;
    for (const Candidate& candidate : Candidates()) {
      if (plan_.subgraphs[candidate.number].prefetch) continue;
      const base::Expected<Outcome> outcome = Try(candidate);
      if (!outcome) return base::Unexpected(outcome.error());
      stopped_ = *outcome == Outcome::kStopped;
      if (stopped_) break;
      if (*outcome == Outcome::kTaken) without_room_.erase(candidate.number);
      if (*outcome == Outcome::kNoRoom) without_room_.insert(candidate.number);
    }
    FindStatus();
    Note(before);
    return std::move(plan_);
  }

 private:
  enum class Outcome : uint8_t { kTaken, kNoGain, kNoRoom, kStopped };

  // A subgraph with its constants prefetched, and their policy in that case.
  struct Candidate {
    size_t number = 0;
    WeightPolicy weights = WeightPolicy::kResident;
    int64_t gain = 0;  // cycles, if nothing else changes
  };

  std::vector<encoder::program::SubgraphChoice> ChoicesOf(
      const std::vector<plan::Subgraph>& subgraphs) const {
    std::vector<encoder::program::SubgraphChoice> choices;
    choices.reserve(subgraphs.size());
    for (const plan::Subgraph& subgraph : subgraphs)
      choices.push_back(cost::ChoiceOf(subgraph, plan_.kept));
    return choices;
  }

  std::vector<plan::Subgraph> With(const Candidate& candidate) const {
    std::vector<plan::Subgraph> subgraphs = plan_.subgraphs;
    plan::Subgraph& subgraph = subgraphs[candidate.number];
    subgraph.prefetch = true;
    if (subgraph.weights != candidate.weights) subgraph.largest_proven = false;
    subgraph.weights = candidate.weights;
    for (const size_t changed : {candidate.number - 1, candidate.number}) {
      subgraphs[changed].metrics = cost::PriceOf(
          context_.graph, context_.profile, context_.simulator, subgraphs, changed, plan_.kept);
    }
    return subgraphs;
  }

  static int64_t LatencyOf(const std::vector<plan::Subgraph>& subgraphs) {
    int64_t cycles = 0;
    for (const plan::Subgraph& subgraph : subgraphs) cycles += subgraph.metrics.latency_cycles;
    return cycles;
  }

  // The subgraphs that would gain, the largest gain first: with their weight policy, or resident if
  // it is streamed.
  std::vector<Candidate> Candidates() const {
    std::vector<Candidate> candidates;
    const int64_t now = LatencyOf(plan_.subgraphs);
    for (size_t number = 1; number < plan_.subgraphs.size(); ++number) {
      if (!MayPrefetch(number)) continue;
      const WeightPolicy weights = plan_.subgraphs[number].weights;
      const auto add = [&](WeightPolicy held) {
        Candidate candidate{.number = number, .weights = held};
        candidate.gain = now - LatencyOf(With(candidate));
        if (candidate.gain > 0) candidates.push_back(candidate);
      };
      add(weights);
      if (weights == WeightPolicy::kStreamed && MayReside(plan_.subgraphs[number]))
        add(WeightPolicy::kResident);
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; });
    return candidates;
  }

  bool MayOverlap() const {
    return context_.profile.tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered;
  }

  bool MayPrefetch(size_t number) const {
    return MayOverlap() && !plan_.subgraphs[number].serialized &&
           !plan_.subgraphs[number - 1].serialized;
  }

  // Addresses of slices may be required; resident constants have no slices.
  bool MayReside(const plan::Subgraph& subgraph) const {
    const std::vector<WeightPolicy>& policies = context_.profile.tiling.weights;
    const plan::TileConfigConstraint* config = constraints_.ConfigOf(subgraph.interval);
    return std::find(policies.begin(), policies.end(), WeightPolicy::kResident) != policies.end() &&
           (config == nullptr || (!config->weights && config->addresses.empty()));
  }

  // Accepts the candidate if the plan improves.
  base::Expected<Outcome> Try(const Candidate& candidate) {
    if (context_.stop.Requested()) return Outcome::kStopped;
    std::vector<plan::Subgraph> subgraphs = With(candidate);
    if (LatencyOf(subgraphs) >= LatencyOf(plan_.subgraphs)) return Outcome::kNoGain;
    const std::vector<encoder::program::SubgraphChoice> choices = ChoicesOf(subgraphs);
    base::Expected<encoder::program::Program> program =
        encoder::program::BuildProgram(context_.graph, context_.profile, choices);
    if (!program) return base::Unexpected(program.error());
    if (context_.previous != nullptr) context_.previous->AddHints(choices, *program);
    placement::JointPlacement joint{
        .program = *std::move(program), .result = {}, .homes = plan_.homes};
    for (const bool may_move : {false, true}) {
      base::Expected<problem::Result> result =
          context_.Place(Fixed(joint.program, candidate.number, may_move), /*minimize=*/false,
                         context_.budget, context_.stop);
      if (!result) return base::Unexpected(result.error());
      joint.result = *std::move(result);
      if (joint.result.allocation) break;
    }
    if (!joint.result.allocation)
      return context_.stop.Requested() ? Outcome::kStopped : Outcome::kNoRoom;
    plan::Plan better = answer::AssemblePlan(context_, std::move(subgraphs), plan_.kept, joint);
    if (better.score >= plan_.score ||
        !context_.scale.WithinLimits(context_.scale.CostOf(better.totals)))
      return Outcome::kNoGain;
    Take(std::move(better), candidate.number);
    return Outcome::kTaken;
  }

  // The Problem with every buffer of the plan fixed at its address, except the constants of the
  // subgraph; with `may_move`, also except the buffers that live in it or in the previous subgraph.
  Problem Fixed(const encoder::program::Program& program, size_t number, bool may_move) const {
    std::map<std::string_view, problem::Bytes> known;
    for (size_t i = 0; i < plan_.problem.buffers.size(); ++i)
      known.emplace(plan_.problem.buffers[i].id, plan_.allocation.offsets[i]);
    Problem problem = program.problem;
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      Buffer& buffer = problem.buffers[i];
      const auto at = known.find(buffer.id);
      if (at == known.end()) continue;
      const encoder::program::BufferUse& meaning = program.buffers[i];
      const bool arrives = meaning.kind == encoder::program::BufferKind::kResident &&
                           meaning.subgraph == static_cast<int>(number);
      const bool moves = arrives || (may_move && LivesIn(program, buffer, number));
      (moves ? buffer.hint : buffer.offset) = at->second;
    }
    for (size_t s = 0; s < plan_.subgraphs.size(); ++s) {
      tiling::FixOffsets(constraints_.PinsOf(plan_.subgraphs[s].interval, static_cast<int>(s),
                                             context_.TileMemory().name),
                         problem);
    }
    return problem;
  }

  static bool LivesIn(const encoder::program::Program& program, const Buffer& buffer,
                      size_t number) {
    const auto subgraph = static_cast<int>(number);
    return std::any_of(
        buffer.lifespans.begin(), buffer.lifespans.end(), [&](const problem::Lifespan& life) {
          const auto begin = program.steps.begin();
          return std::any_of(begin + life.lower, begin + life.upper,
                             [&](const encoder::program::StepUse& step) {
                               return step.subgraph == subgraph || step.subgraph + 1 == subgraph;
                             });
        });
  }

  // All that follows from the partition; what was found out about it stays, but that the subgraph
  // is not run as it is run now.
  void Take(plan::Plan better, size_t number) {
    plan::Subgraph& subgraph = better.subgraphs[number];
    const auto is_taken = [&](const plan::RejectedAlternative& rejection) {
      return rejection.interval == subgraph.interval && rejection.tile == subgraph.tile &&
             rejection.weights == subgraph.weights && rejection.halo == subgraph.halo &&
             rejection.k_extent == subgraph.k_extent && rejection.serialized == subgraph.serialized;
    };
    subgraph.rejected_alternatives.erase(
        std::remove_if(subgraph.rejected_alternatives.begin(), subgraph.rejected_alternatives.end(),
                       is_taken),
        subgraph.rejected_alternatives.end());
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

  void Note(double before) {
    const auto taken =
        std::count_if(plan_.subgraphs.begin(), plan_.subgraphs.end(),
                      [](const plan::Subgraph& subgraph) { return subgraph.prefetch; });
    std::string note;
    if (!MayOverlap()) {
      note = "constants are not prefetched where transfers have steps of their own";
    } else if (taken > 0) {
      note = fmt::format("{} subgraph{} {} constants prefetched; the score was {}", taken,
                         taken == 1 ? "" : "s", taken == 1 ? "has its" : "have their", before);
    } else if (without_room_.empty() && !stopped_) {
      note = "no subgraph gains by prefetching constants";
    } else {
      note = "no constants are prefetched";
    }
    if (!without_room_.empty())
      note += fmt::format("; no room was found for {}{} that would gain",
                          taken > 0 ? "another " : "", without_room_.size());
    if (stopped_) note += "; time ended before all was tried";
    plan_.notes.push_back(std::move(note));
  }

  const choices::SearchContext& context_;
  const constraints::PlanConstraints& constraints_;
  plan::Plan plan_;
  std::set<size_t> without_room_;  // subgraphs that would gain
  bool stopped_ = false;
};

}  // namespace

base::Expected<plan::Plan> Prefetch(const choices::SearchContext& context,
                                    const constraints::PlanConstraints& constraints,
                                    plan::Plan plan) {
  return Prefetcher(context, constraints, std::move(plan)).Run();
}

}  // namespace tessera::search::partition::driver
