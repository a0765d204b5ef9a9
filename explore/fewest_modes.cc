// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/fewest_modes.h"

#include <fmt/format.h>
#include <tessera/modes.h>

#include <algorithm>
#include <limits>

#include "tessera/explore/objectives.h"

// The idea: plans of all networks together show which modes suffice. `tessera modes` finds the
// fewest with which every one of these plans still has a placement and a schedule, so no metric
// changes. Each removal is confirmed by evaluating the plans on the reduced profile. Then each
// remaining mode is dropped alone, and the networks are planned again, with any partition:
//
//     a network is proven to have no plan         the mode is needed
//     every network keeps its metrics             the mode goes too, and the rest is tried again
//     otherwise                                   what it costs the network that loses most
//
// This is sound: a mode is removed only with verified plans of all networks, and is called needed
// only with a proof of infeasibility. Cost: one search for the fewest modes, and for each remaining
// mode a plan of each network and metric.
namespace tessera::explore {

base::Expected<std::optional<Json>> ModeSearch::FindReduced(Json& reduced) const {
  std::vector<Plan> plans;
  for (const Planned& each : planned_) plans.push_back(each.plan);
  SearchOptions options;
  options.canceller = options_.canceller;
  options.memory_limit = options_.memory_limit;
  options.threads = options_.threads;
  options.seed = spec_.settings.seed;
  const Result<ModesAnswer> found = Modes(plans, options);
  if (!found) return base::Unexpected(AsDiagnostic(found.Error()));
  if (found->stopped && !options_.canceller.IsCancelled()) throw std::bad_alloc();
  if (found->stopped) return std::optional<Json>();
  Json memories = Json::array();
  reduced = base_;
  for (const MemoryModes& memory : found->memories) {
    memories.push_back({{"memory", memory.memory},
                        {"keep", memory.keep},
                        {"remove", memory.remove},
                        {"frees", memory.frees}});
    for (const std::string& mode : memory.remove)
      reduced = WithoutMode(std::move(reduced), {memory.memory, mode});
  }
  return std::optional(std::move(memories));
}

base::Expected<Json> ModeSearch::Confirm(const Json& reduced) {
  if (auto fault = variants_.Load({base_, reduced})) return base::Unexpected(*fault);
  Json json = Json::object();
  bool is_confirmed = variants_.FaultOf(1) == nullptr;
  for (const Planned& each : planned_) {
    if (!is_confirmed) break;
    const auto figures = variants_.Reevaluate(each.plan, 1);
    if (!figures) return base::Unexpected(figures.error());
    const PlanMetric* before = each.plan.FindMetric(each.metric);
    const auto after = figures->find(each.metric);
    is_confirmed = after != figures->end() && Rounded(after->second) <= Rounded(before->value);
  }
  json["confirmed"] = is_confirmed;
  const auto before = variants_.AreaOf(0);
  const auto after = variants_.AreaOf(1);
  if (before && after) json["area_mm2"] = {{"before", *before}, {"after", *after}};
  return json;
}

base::Expected<std::optional<ModeSearch::ModeOutcome>> ModeSearch::Replan(size_t variant,
                                                                          const std::string& mode) {
  std::vector<Question> questions;
  for (const Planned& each : planned_) questions.push_back({{each.network, variant}, each.metric});
  const auto standings = variants_.Ask(questions);
  if (!standings) return base::Unexpected(standings.error());
  if (!*standings) return std::optional<ModeOutcome>();
  ModeOutcome verdict{"free", "", "every network keeps its metrics", true};
  double worst = 1;
  for (size_t i = 0; i < planned_.size(); ++i) {
    const Standing& standing = (**standings)[i];
    const std::string& network = spec_.networks[planned_[i].network].name;
    if (standing.IsInfeasible()) return ModeOutcome{"needed", network, standing.reason, true};
    if (!standing.HasPlan()) {
      verdict = {"open", network, "no plan was found without '" + mode + "'", false};
      worst = std::numeric_limits<double>::infinity();
      continue;
    }
    const double before = planned_[i].plan.FindMetric(planned_[i].metric)->value;
    const double after = standing.metrics.at(planned_[i].metric);
    if (Rounded(after) <= Rounded(before) || after / std::max(before, 1e-300) <= worst) continue;
    worst = after / std::max(before, 1e-300);
    verdict = {"costs", network,
               fmt::format("{} is {} instead of {}", planned_[i].metric, after, before),
               Rounded(standing.at_least) > Rounded(before)};
  }
  if (verdict.word != "free") return std::optional(std::move(verdict));
  for (size_t i = 0; i < planned_.size(); ++i) {
    base::Expected<Plan> plan = variants_.PlanOf(questions[i]);
    if (!plan) return base::Unexpected(plan.error());
    planned_[i].plan = *std::move(plan);
  }
  return std::optional(std::move(verdict));
}

base::Expected<std::optional<ModeSearch::ModeOutcome>> ModeSearch::Judge(const Json& reduced,
                                                                         const ModeOf& mode) {
  if (auto fault = variants_.Load({WithoutMode(reduced, mode)})) return base::Unexpected(*fault);
  if (const std::string* fault = variants_.FaultOf(0))
    return ModeOutcome{"needed", "", "no profile is left: " + *fault, true};
  const auto bounds = variants_.FindBounds();
  if (!bounds) return base::Unexpected(bounds.error());
  for (const Planned& each : planned_) {
    if (const std::string& none = (*bounds)[each.network].none; !none.empty())
      return ModeOutcome{"needed", spec_.networks[each.network].name, none, true};
  }
  if (variants_.IsCancelled()) return std::optional<ModeOutcome>();
  return Replan(0, mode.mode);
}

base::Expected<std::optional<Json>> ModeSearch::Run() {
  Json reduced;
  auto memories = FindReduced(reduced);
  if (!memories || !*memories) return memories;
  Json json = {{"memories", **memories}, {"kept", Json::array()}};
  std::vector<ModeOf> open = ModesOf(reduced);
  for (size_t i = 0; i < open.size();) {
    const ModeOf mode = open[i];
    const auto verdict = Judge(reduced, mode);
    if (!verdict) return base::Unexpected(verdict.error());
    if (!*verdict) return std::optional<Json>();
    if ((*verdict)->word == "free") {
      // Other partitions do without the mode. The verdicts on other modes assumed it, so all are
      // repeated.
      reduced = WithoutMode(std::move(reduced), mode);
      for (Json& memory : json["memories"]) {
        if (memory.at("memory") != mode.memory) continue;
        memory["remove"].push_back(mode.mode);
        memory["keep"].erase(std::find(memory["keep"].begin(), memory["keep"].end(), mode.mode));
      }
      json["kept"] = Json::array();
      open = ModesOf(reduced);
      i = 0;
      continue;
    }
    json["kept"].push_back({{"memory", mode.memory},
                            {"mode", mode.mode},
                            {"verdict", (*verdict)->word},
                            {"network", (*verdict)->network},
                            {"proven", (*verdict)->proven},
                            {"reason", (*verdict)->reason}});
    ++i;
  }
  const base::Expected<Json> confirmed = Confirm(reduced);
  if (!confirmed) return base::Unexpected(confirmed.error());
  json.update(*confirmed);
  json["profile"] = reduced;
  return std::optional(std::move(json));
}

}  // namespace tessera::explore
