// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/restrictions.h"

#include <fmt/format.h>
#include <tessera/modes.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "tessera/api/errors.h"
#include "tessera/explore/objectives.h"
#include "tessera/explore/planner.h"

namespace tessera::explore {
namespace {

// Sets the number at the end of the keys to 1 if it is there.
void SetToOne(Json& at, const std::vector<std::string>& keys) {
  Json* value = &at;
  for (const std::string& key : keys) {
    if (!value->is_object() || !value->contains(key)) return;
    value = &(*value)[key];
  }
  *value = 1;
}

class Collector {
 public:
  explicit Collector(const Json& profile) : profile_(profile) {}

  std::vector<Restriction> Collect() {
    AddRules();
    for (const auto& [name, memory] : profile_.at("memories").items()) {
      AddAlignment({"memories", name}, "alignment_bytes", "memory '" + name + "'");
      AddPorts(name, memory);
      AddTransitions(name, memory);
      AddReserved(name, memory);
      AddBoundaries(name, memory);
    }
    const Json links = profile_.value("links", Json::object());
    for (const auto& [name, link] : links.items())
      AddAlignment({"links", name}, "alignment_bytes", "link '" + name + "'");
    const Json roles = profile_.value("roles", Json::object());
    for (const auto& [name, role] : roles.items()) {
      for (const char* key : {"alignment_bytes", "channel_block", "row_pitch_bytes"})
        AddAlignment({"roles", name}, key, "role '" + name + "'");
    }
    return std::move(found_);
  }

 private:
  void Add(std::string kind, std::string what, std::function<void(Json&)> drop) {
    found_.push_back({std::move(kind), std::move(what), std::move(drop)});
  }

  void AddRules() {
    const Json rules = profile_.value("rules", Json::array());
    for (const Json& rule : rules) {
      Add("rule", fmt::format("rule '{}'", rule.value("name", "")), [rule](Json& profile) {
        Json& all = profile["rules"];
        const auto at = std::find(all.begin(), all.end(), rule);
        if (at != all.end()) all.erase(at);
      });
    }
  }

  void AddAlignment(std::vector<std::string> keys, const std::string& key, const std::string& of) {
    const Json& part = profile_.at(keys[0]).at(keys[1]);
    const Json value = part.value(key, Json(1));
    if (!value.is_number() || value.get<double>() <= 1) return;
    keys.push_back(key);
    Add("alignment", fmt::format("{} {} of {}", key, value.dump(), of),
        [keys](Json& profile) { SetToOne(profile, keys); });
  }

  void AddPorts(const std::string& name, const Json& memory) {
    for (const char* limit : {"total", "reads", "writes"}) {
      const Json banks = memory.value("banks", Json());
      bool is_stated = memory.value("bank_ports", Json::object()).contains(limit);
      for (const Json& bank : banks.is_object() ? banks : Json::object())
        is_stated = is_stated || bank.value("ports", Json::object()).contains(limit);
      if (!is_stated) continue;
      Add("port limit", fmt::format("limit of {} of the banks of '{}'", limit, name),
          [name, key = std::string(limit)](Json& profile) {
            Json& changed = profile["memories"][name];
            if (changed.contains("bank_ports")) changed["bank_ports"].erase(key);
            if (!changed["banks"].is_object()) return;
            for (Json& bank : changed["banks"]) {
              if (bank.contains("ports")) bank["ports"].erase(key);
            }
          });
    }
  }

  void AddTransitions(const std::string& name, const Json& memory) {
    if (!memory.contains("transitions")) return;
    const Json& allowed = memory.at("transitions");
    const Json modes = memory.value("modes", Json::object());
    constexpr size_t kMostModes = 5;  // beyond, only all of them together
    for (const auto& [from, states] : modes.items()) {
      for (const auto& [to, others] : modes.items()) {
        const Json step = {from, to};
        if (from == to || modes.size() > kMostModes ||
            std::find(allowed.begin(), allowed.end(), step) != allowed.end())
          continue;
        Add("transition", fmt::format("no transition from '{}' to '{}' of '{}'", from, to, name),
            [name = name, step](Json& profile) {
              Json& changed = profile["memories"][name];
              if (changed.contains("transitions")) changed["transitions"].push_back(step);
            });
      }
    }
    Add("transition", fmt::format("all limits of transitions of '{}'", name),
        [name](Json& profile) { profile["memories"][name].erase("transitions"); });
  }

  void AddReserved(const std::string& name, const Json& memory) {
    const Json reserved = memory.value("reserved", Json::array());
    for (const Json& range : reserved) {
      Add("reserved range",
          fmt::format("bytes [{}, {}) of '{}': {}", range.at("begin_bytes").dump(),
                      range.at("end_bytes").dump(), name, range.value("reason", "reserved")),
          [name, range](Json& profile) {
            Json& all = profile["memories"][name]["reserved"];
            const auto at = std::find(all.begin(), all.end(), range);
            if (at != all.end()) all.erase(at);
          });
    }
  }

  void AddBoundaries(const std::string& name, const Json& memory) {
    if (!memory.contains("banks")) return;
    if (memory.value("span", "any") != "any")
      Add("bank boundary",
          fmt::format("span '{}' of '{}'", memory.at("span").get<std::string>(), name),
          [name](Json& profile) { profile["memories"][name]["span"] = "any"; });
    for (const int64_t at : BoundariesOf(memory)) {
      Add("bank boundary", fmt::format("boundary of banks at byte {} of '{}'", at, name),
          [name, at](Json& profile) { Join(profile["memories"][name], at); });
    }
  }

  struct Bank {
    std::string name;
    int64_t begin = 0;
    int64_t end = 0;
  };

  static std::vector<Bank> BanksOf(const Json& memory) {
    std::vector<Bank> banks;
    const Json& stated = memory.at("banks");
    if (stated.is_number()) {
      const auto count = stated.get<int64_t>();
      const int64_t size = memory.at("capacity_bytes").get<int64_t>() / count;
      for (int64_t i = 0; i < count; ++i)
        banks.push_back({fmt::format("bank{}", i), i * size, (i + 1) * size});
      return banks;
    }
    for (const auto& [name, bank] : stated.items())
      banks.push_back(
          {name, bank.at("begin_bytes").get<int64_t>(), bank.at("end_bytes").get<int64_t>()});
    return banks;
  }

  static bool AreAlike(const Json& memory, size_t one, size_t other) {
    const Json modes = memory.value("modes", Json::object());
    return std::all_of(modes.begin(), modes.end(),
                       [&](const Json& states) { return states[one] == states[other]; });
  }

  // Returns the places where banks meet that nothing distinguishes.
  std::vector<int64_t> BoundariesOf(const Json& memory) const {
    std::vector<int64_t> boundaries;
    const Json stated = memory.value("banks", Json());
    const bool have_ports =
        !memory.value("bank_ports", Json::object()).empty() ||
        (stated.is_object() && std::any_of(stated.begin(), stated.end(), [](const Json& bank) {
           return !bank.value("ports", Json::object()).empty();
         }));
    const bool are_named =
        profile_.value("rules", Json::array()).dump().find("bank") != std::string::npos;
    if (have_ports || are_named || memory.contains("bank_groups")) return boundaries;
    const std::vector<Bank> banks = BanksOf(memory);
    for (size_t i = 1; i < banks.size(); ++i) {
      if (banks[i - 1].end == banks[i].begin && AreAlike(memory, i - 1, i))
        boundaries.push_back(banks[i].begin);
    }
    return boundaries;
  }

  // Joins the two banks that meet at this byte.
  static void Join(Json& memory, int64_t at) {
    const std::vector<Bank> banks = BanksOf(memory);
    Json joined = Json::object();
    for (size_t i = 0; i < banks.size(); ++i) {
      const bool is_first = i + 1 < banks.size() && banks[i].end == at;
      const Bank& last = is_first ? banks[i + 1] : banks[i];
      const std::string name = is_first ? banks[i].name + "_" + last.name : last.name;
      joined[name] = {{"begin_bytes", banks[i].begin}, {"end_bytes", last.end}};
      if (!is_first) continue;
      if (memory.contains("modes")) {
        for (Json& states : memory["modes"]) states.erase(i + 1);
      }
      ++i;
    }
    memory["banks"] = std::move(joined);
  }

  const Json& profile_;
  std::vector<Restriction> found_;
};

}  // namespace

std::vector<Restriction> RestrictionsOf(const Json& profile) {
  return Collector(profile).Collect();
}

std::vector<ModeOf> ModesOf(const Json& profile) {
  std::vector<ModeOf> found;
  for (const auto& [name, memory] : profile.at("memories").items()) {
    const Json modes = memory.value("modes", Json::object());
    if (modes.size() < 2) continue;
    for (const auto& [mode, states] : modes.items()) found.push_back({name, mode});
  }
  return found;
}

Json WithoutMode(Json profile, const ModeOf& mode) {
  Json& memory = profile["memories"][mode.memory];
  memory["modes"].erase(mode.mode);
  if (memory.contains("transitions")) {
    Json kept = Json::array();
    for (const Json& step : memory["transitions"]) {
      if (step[0] != mode.mode && step[1] != mode.mode) kept.push_back(step);
    }
    memory["transitions"] = std::move(kept);
  }
  return profile;
}

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

base::Expected<std::optional<Json>> ModeSearch::FindReduced(Json& reduced) const {
  std::vector<Plan> plans;
  for (const Planned& each : planned_) plans.push_back(each.plan);
  SearchOptions options;
  options.canceller = options_.canceller;
  options.memory_limit = options_.memory_limit;
  SetThreads(options_.threads, options);
  options.seed = spec_.settings.seed;
  const Result<ModesAnswer> found = Modes(plans, options);
  if (!found) return base::Unexpected(api::AsDiagnostic(found.Error()));
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
