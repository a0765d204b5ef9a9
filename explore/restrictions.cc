// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/restrictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

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

}  // namespace tessera::explore
