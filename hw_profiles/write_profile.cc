#include <array>
#include <nlohmann/json.hpp>

#include "tessera/base/json_document.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/problem/files/json_sections.h"

namespace tessera::hw_profiles {
namespace {

using nlohmann::ordered_json;
using problem::AccessKind;

ordered_json ToJson(const Port& port) {
  return {{"read_bytes_per_cycle", port.read_bytes_per_cycle},
          {"write_bytes_per_cycle", port.write_bytes_per_cycle},
          {"shared", port.shared},
          {"read_latency_cycles", port.read_latency_cycles},
          {"write_latency_cycles", port.write_latency_cycles},
          {"burst_bytes", port.burst_bytes}};
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
  ordered_json json = {{"capacity_bytes", memory.capacity_bytes},
                       {"alignment_bytes", memory.alignment_bytes},
                       {"writable", memory.writable},
                       {"direct_read", memory.direct_read},
                       {"direct_write", memory.direct_write},
                       {"port", ToJson(memory.port)},
                       {"read_pj_per_byte", memory.read_pj_per_byte},
                       {"write_pj_per_byte", memory.write_pj_per_byte},
                       {"leakage_mw", memory.leakage_mw}};
  ordered_json& reserved = json["reserved"] = ordered_json::array();
  for (const problem::Reserved& item : memory.reserved) {
    reserved.push_back({{"begin_bytes", item.range.begin},
                        {"end_bytes", item.range.end},
                        {"reason", item.reason}});
  }
  AddBanks(memory, json);
  return json;
}

ordered_json ToJson(const Throughput& throughput) {
  if (!base::TraitsOf(throughput.kind).multiplies) {
    return {{"cycles_per_output", throughput.cycles_per_output},
            {"start_cycles", throughput.start_cycles}};
  }
  const Unroll& unroll = throughput.unroll;
  return {{"unroll",
           {{"batch", unroll.batch},
            {"out_rows", unroll.out_rows},
            {"out_columns", unroll.out_columns},
            {"out_channels", unroll.out_channels},
            {"in_channels", unroll.in_channels},
            {"kernel_rows", unroll.kernel_rows},
            {"kernel_columns", unroll.kernel_columns}}},
          {"cycles_per_step", throughput.cycles_per_step},
          {"cycles_per_output", throughput.cycles_per_output},
          {"start_cycles", throughput.start_cycles}};
}

ordered_json ToJson(const Engine& engine) {
  ordered_json operators = ordered_json::object();
  for (const Throughput& throughput : engine.throughputs) {
    std::string key(base::NameOf(throughput.kind));
    if (throughput.type) key += "." + std::string(base::NameOf(*throughput.type));
    operators[key] = ToJson(throughput);
  }
  return {{"operators", std::move(operators)},
          {"mac_pj", engine.mac_pj},
          {"outstanding", engine.outstanding}};
}

ordered_json ToJson(const Link& link, const Profile& profile) {
  const auto name = [&](int memory) { return profile.memories[static_cast<size_t>(memory)].name; };
  return {{"between", ordered_json::array({name(link.first), name(link.second)})},
          {"setup_cycles", link.setup_cycles},
          {"alignment_bytes", link.alignment_bytes},
          {"dims", link.dims},
          {"outstanding", link.outstanding}};
}

ordered_json ToJson(const RoleLayout& role, const Profile& profile) {
  const auto name = [&](int memory) { return profile.memories[static_cast<size_t>(memory)].name; };
  ordered_json home = name(role.home);
  if (!role.next_homes.empty()) home = ordered_json::array({name(role.home)});
  for (const int memory : role.next_homes) home.push_back(name(memory));
  return {{"home", std::move(home)},
          {"alignment_bytes", role.alignment_bytes},
          {"channel_block", role.channel_block},
          {"row_pitch_bytes", role.row_pitch_bytes}};
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
  }
  return {{"axes", std::move(axes)},
          {"halo", NamesOf(tiling.halo)},
          {"weights", NamesOf(tiling.weights)},
          {"dma", NameOf(tiling.dma)},
          {"implicit_padding", tiling.implicit_padding},
          {"in_place", NamesOf(tiling.in_place)},
          {"weight_granularity_channels", tiling.weight_granularity_channels},
          {"k_granularity", tiling.k_granularity}};
}

// One name, or a list of several.
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
  json["clock_hz"] = profile.clock_hz;
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
    scratch[std::string(base::NameOf(item.kind))] = {{"bytes", item.bytes},
                                                     {"factors", NamesOf(item.factors)}};
  }
  for (const Rule& rule : profile.rules) json["rules"].push_back(ToJson(rule, profile));
  json["table_bytes_per_channel"] = profile.table_bytes_per_channel;
  return base::WriteJson(json);
}

}  // namespace tessera::hw_profiles
