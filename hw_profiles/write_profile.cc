// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "tessera/base/json_document.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/problem/files/json_sections.h"

namespace tessera::hw_profiles {
namespace {

using nlohmann::ordered_json;
using problem::AccessKind;

// Returns the fields of a section in the order of its table. `others` has the values of the keys
// without a member; keys that are absent from it are left out.
template <typename Fields, typename Section>
ordered_json FieldsToJson(const Fields& fields, const Section& section, ordered_json others) {
  ordered_json json = ordered_json::object();
  for (const auto& field : fields) {
    const std::string key(field.key);
    if (others.contains(key)) json[key] = std::move(others[key]);
    VisitValue(field, section, [&](const auto& value) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::optional<double>>) {
        if (value) json[key] = *value;
      } else {
        if (value != 0 || field.presence != Presence::kOptional) json[key] = value;
      }
    });
  }
  return json;
}

ordered_json ToJson(const problem::BankMode& bank) {
  if (bank.off) return "off";
  if (bank.allowed.empty()) return "hold";
  ordered_json json = ordered_json::array();
  for (const problem::Permission& permission : bank.allowed) {
    const std::string kind = permission.kind == AccessKind::kRead ? "read" : "write";
    json.push_back(permission.engine.empty() ? kind : permission.engine + "." + kind);
  }
  return json;
}

void AddBanks(const Memory& memory, ordered_json& json) {
  if (memory.banks.empty()) return;
  ordered_json& banks = json["banks"] = ordered_json::object();
  for (const problem::Bank& bank : memory.banks) {
    banks[bank.name] = {{"begin_bytes", bank.range.begin},
                        {"end_bytes", bank.range.end},
                        {"ports", problem::files::PortsToJson(bank.ports)}};
  }
  if (!memory.modes.empty()) {
    ordered_json& modes = json["modes"] = ordered_json::object();
    for (const problem::Mode& mode : memory.modes) {
      ordered_json& states = modes[mode.name] = ordered_json::array();
      for (const problem::BankMode& bank : mode.banks) states.push_back(ToJson(bank));
    }
  }
  if (memory.transitions) {
    ordered_json& transitions = json["transitions"] = ordered_json::array();
    for (const auto& [from, to] : *memory.transitions) {
      transitions.push_back({memory.modes[static_cast<size_t>(from)].name,
                             memory.modes[static_cast<size_t>(to)].name});
    }
  }
  json["span"] = problem::kSpanWords[static_cast<size_t>(memory.span)];
}

ordered_json ToJson(const Memory& memory) {
  ordered_json others = {{"port", FieldsToJson(kPortFields, memory.port, {})}};
  ordered_json& reserved = others["reserved"] = ordered_json::array();
  for (const problem::Reserved& item : memory.reserved) {
    reserved.push_back({{"begin_bytes", item.range.begin},
                        {"end_bytes", item.range.end},
                        {"reason", item.reason}});
  }
  AddBanks(memory, others);
  ordered_json json = FieldsToJson(kMemoryFields, memory, std::move(others));
  for (const auto& [key, sets] : memory.bank_sets)
    json[key] = problem::files::BankSetsToJson(sets, memory.banks);
  return json;
}

ordered_json ToJson(const Throughput& throughput) {
  ordered_json others = {{"unroll", FieldsToJson(kUnrollFields, throughput.unroll, {})}};
  if (throughput.other_sums)
    others["other_sums"] = FieldsToJson(kOtherSumsFields, *throughput.other_sums, {});
  return FieldsToJson(ThroughputFieldsOf(throughput.kind), throughput, std::move(others));
}

ordered_json ToJson(const Engine& engine) {
  if (engine.host)
    return FieldsToJson(kEngineFields, engine,
                        {{"host", FieldsToJson(kHostFields, *engine.host, {})}});
  ordered_json operators = ordered_json::object();
  for (const Throughput& throughput : engine.throughputs) {
    std::string key(base::NameOf(throughput.kind));
    if (throughput.type) key += "." + std::string(base::NameOf(*throughput.type));
    operators[key] = ToJson(throughput);
  }
  ordered_json others = {{"operators", std::move(operators)}};
  if (engine.blocks) others["blocks"] = FieldsToJson(kOutputBlocksFields, *engine.blocks, {});
  return FieldsToJson(kEngineFields, engine, std::move(others));
}

ordered_json ToJson(const Link& link, const Profile& profile) {
  const auto name = [&](int memory) { return profile.memories[static_cast<size_t>(memory)].name; };
  return FieldsToJson(kLinkFields, link,
                      {{"between", ordered_json::array({name(link.first), name(link.second)})}});
}

ordered_json ToJson(const RoleLayout& role, const Profile& profile) {
  const auto name = [&](int memory) { return profile.memories[static_cast<size_t>(memory)].name; };
  ordered_json home = name(role.home);
  if (!role.next_homes.empty()) home = ordered_json::array({name(role.home)});
  for (const int memory : role.next_homes) home.push_back(name(memory));
  return FieldsToJson(kRoleFields, role, {{"home", std::move(home)}});
}

template <typename Kind>
ordered_json NamesOf(const std::vector<Kind>& kinds) {
  ordered_json json = ordered_json::array();
  for (const Kind kind : kinds) json.push_back(NameOf(kind));
  return json;
}

ordered_json ToJson(const Tiling& tiling) {
  ordered_json axes = ordered_json::array();
  for (const AxisGranularity& axis : tiling.axes) {
    axes.push_back({{"axis", NameOf(axis.axis)}, {"granularity", axis.granularity}});
    if (axis.later) axes.back()["later"] = true;
  }
  ordered_json dma = NameOf(tiling.dma);
  if (tiling.may_serialize)
    dma = ordered_json::array({NameOf(tiling.dma), NameOf(DmaSteps::kSerialized)});
  return FieldsToJson(kTilingFields, tiling,
                      {{"axes", std::move(axes)},
                       {"halo", NamesOf(tiling.halo)},
                       {"weights", NamesOf(tiling.weights)},
                       {"dma", std::move(dma)},
                       {"in_place", NamesOf(tiling.in_place)}});
}

// Writes one name, or a list of several names.
void PutNames(ordered_json& json, const char* key, const ordered_json& names) {
  if (!names.empty()) json[key] = names.size() == 1 ? names.front() : names;
}

ordered_json ToJson(const Selector& select) {
  ordered_json json = ordered_json::object();
  PutNames(json, "role", select.roles);
  PutNames(json, "operator", NamesOf(select.operators));
  PutNames(json, "type", NamesOf(select.types));
  if (select.sizes.least > 1) json["at_least_bytes"] = select.sizes.least;
  if (select.sizes.most < base::kMaxTotal) json["at_most_bytes"] = select.sizes.most;
  if (!select.name.empty()) json["name"] = select.name;
  if (!select.operands.empty()) json["operands"] = NamesOf(select.operands);
  if (select.ping_pong) json["pair"] = "ping_pong";
  return json;
}

ordered_json ToJson(const Rule& rule, const Profile& profile) {
  const Memory& memory = profile.memories[static_cast<size_t>(profile.tile_memory)];
  ordered_json json = ordered_json::object();
  if (!rule.name.empty()) json["name"] = rule.name;
  json["select"] = ToJson(rule.select);
  json["require"] = problem::files::RequirementToJson(rule.require, memory.banks,
                                                      problem::files::Defaults::kWritten);
  return json;
}

}  // namespace

std::string WriteProfileJson(const Profile& profile) {
  ordered_json json = {{"schema", 1}, {"name", profile.name}};
  if (!profile.description.empty()) json["description"] = profile.description;
  if (profile.known_error)
    json["known_error"] = FieldsToJson(kKnownErrorFields, *profile.known_error,
                                       {{"source", profile.known_error->source}});
  ordered_json& memories = json["memories"] = ordered_json::object();
  for (const Memory& memory : profile.memories) memories[memory.name] = ToJson(memory);
  json["tile_memory"] = profile.memories[static_cast<size_t>(profile.tile_memory)].name;
  ordered_json& engines = json["engines"] = ordered_json::object();
  for (const Engine& engine : profile.engines) engines[engine.name] = ToJson(engine);
  ordered_json& links = json["links"] = ordered_json::object();
  for (const Link& link : profile.links) links[link.name] = ToJson(link, profile);
  ordered_json& roles = json["roles"] = ordered_json::object();
  for (size_t role = 0; role < profile.roles.size(); ++role) {
    roles[std::string(base::TensorRoleNames()[role])] = ToJson(profile.roles[role], profile);
  }
  json["tiling"] = ToJson(profile.tiling);
  ordered_json& scratch = json["scratch"] = ordered_json::object();
  for (const Scratch& item : profile.scratch) {
    scratch[std::string(base::NameOf(item.kind))] =
        FieldsToJson(kScratchFields, item, {{"factors", NamesOf(item.factors)}});
  }
  for (const Rule& rule : profile.rules) json["rules"].push_back(ToJson(rule, profile));
  return base::WriteJson(FieldsToJson(kProfileFields, profile, std::move(json)));
}

}  // namespace tessera::hw_profiles
