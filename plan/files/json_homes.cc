// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/files/json_sections.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/residency.h"

namespace tessera::plan::files {
namespace {

using Json = nlohmann::ordered_json;
using base::IntegerRange;
using base::JsonObject;
using base::JsonValue;

constexpr IntegerRange kHomeSize = {1, base::kMaxTotal / 2};
constexpr IntegerRange kHomeOffset = {0, base::kMaxTotal / 2};
constexpr IntegerRange kSubgraphs = {0, std::numeric_limits<int32_t>::max()};

Json ResidentToJson(const Plan& plan, const Home& home, size_t index) {
  const problem::Buffer& buffer = home.problem.buffers[index];
  Json json = Json::object();
  json["tensor"] = plan.network.tensors[static_cast<size_t>(home.tensors[index])].id;
  if (!buffer.role.empty()) json["role"] = buffer.role;
  json["offset"] = home.allocation.offsets[index];
  json["size"] = buffer.size;
  json["alignment"] = buffer.alignment;
  json["subgraphs"] = {buffer.lifespans.front().lower, buffer.lifespans.front().upper};
  return json;
}

int ReadTensor(const JsonValue& value, const Plan& plan) {
  if (!value) return 0;
  const std::string id = value.String();
  const std::optional<int> tensor = graph::FindTensor(plan.network, id);
  if (!tensor) value.Refuse(fmt::format("there is no tensor '{}'", id));
  return tensor.value_or(0);
}

void ReadResident(const JsonValue& value, const Plan& plan, Home& home) {
  JsonObject object = value.Object();
  problem::Buffer buffer;
  home.tensors.push_back(ReadTensor(object.Required("tensor"), plan));
  buffer.id = plan.network.tensors[static_cast<size_t>(home.tensors.back())].id;
  buffer.role = object.String("role", "");
  home.allocation.offsets.push_back(object.Integer("offset", kHomeOffset));
  buffer.size = object.Integer("size", kHomeSize);
  buffer.alignment = object.Integer("alignment", kHomeSize);
  buffer.span = plan.profile.memories[static_cast<size_t>(home.memory)].span;
  const JsonValue subgraphs = object.Required("subgraphs");
  if (subgraphs) {
    const std::vector<JsonValue> ends = subgraphs.Items(2);
    if (ends.size() == 2)
      buffer.lifespans = {{ends[0].Integer(kSubgraphs), ends[1].Integer(kSubgraphs)}};
  }
  home.problem.buffers.push_back(std::move(buffer));
}

int ReadMemory(const JsonValue& value, const Plan& plan) {
  if (!value) return 0;
  std::vector<std::string_view> names;
  for (const hw_profiles::Memory& memory : plan.profile.memories) names.push_back(memory.name);
  const auto memory = static_cast<int>(value.OneOf(names));
  if (memory == plan.profile.tile_memory)
    value.Refuse("tensors at home in the tile memory are buffers");
  return memory;
}

Home ReadHome(const JsonValue& value, const Plan& plan) {
  JsonObject object = value.Object();
  Home home;
  home.memory = ReadMemory(object.Required("memory"), plan);
  home.problem.memories = {verify::HomeMemory(plan.profile, home.memory)};
  home.problem.name =
      fmt::format("{} in {}", plan.network.name, home.problem.memories.front().name);
  for (const JsonValue& resident : object.Items("tensors")) ReadResident(resident, plan, home);
  if (const JsonValue by_tiles = object.Optional("by_tiles")) home.by_tiles = by_tiles.Boolean();
  if (home.by_tiles) home.lower_bound = object.Integer("lower_bound", kHomeOffset);
  const JsonValue peak = object.Required("peak");
  const problem::Bytes found = PeakOf(home);
  if (peak && peak.Integer(kHomeOffset) != found)
    peak.Refuse("the tensors end elsewhere", fmt::format("{}", found));
  return home;
}

bool HasSeveralHomes(const Plan& plan, int tensor) {
  const base::TensorRole role =
      verify::RoleAtHome(plan.network.tensors[static_cast<size_t>(tensor)]);
  return !hw_profiles::LayoutOf(plan.profile, role).next_homes.empty();
}

// The index of the memory in the list of the tensor's homes.
int ReadPlace(const JsonValue& value, const Plan& plan, int tensor) {
  const base::TensorRole role =
      verify::RoleAtHome(plan.network.tensors[static_cast<size_t>(tensor)]);
  const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(plan.profile, role);
  std::vector<std::string_view> names;
  for (int place = 0; place <= static_cast<int>(layout.next_homes.size()); ++place)
    names.push_back(
        plan.profile.memories[static_cast<size_t>(hw_profiles::HomeAt(layout, place))].name);
  return static_cast<int>(value.OneOf(names));
}

}  // namespace

Json TensorHomesToJson(const Plan& plan) {
  Json json;
  for (int tensor = 0; tensor < static_cast<int>(plan.network.tensors.size()); ++tensor) {
    if (!HasSeveralHomes(plan, tensor)) continue;
    json[plan.network.tensors[static_cast<size_t>(tensor)].id] =
        plan.profile.memories[static_cast<size_t>(verify::HomeOf(plan, tensor))].name;
  }
  return json;
}

void ReadTensorHomes(const JsonValue& value, const JsonValue& network, Plan& plan) {
  std::map<int, JsonValue> stated;
  if (value) {
    JsonObject object = value.Object();
    for (const auto& [id, memory] : object.Members()) {
      const std::optional<int> tensor = graph::FindTensor(plan.network, id);
      if (!tensor) return memory.Refuse(fmt::format("there is no tensor '{}'", id));
      if (!HasSeveralHomes(plan, *tensor))
        return memory.Refuse(fmt::format("tensor '{}' has one home", id),
                             "tensors whose role has several");
      stated.emplace(*tensor, memory);
    }
  }
  for (int tensor = 0; tensor < static_cast<int>(plan.network.tensors.size()); ++tensor) {
    if (!HasSeveralHomes(plan, tensor)) continue;
    graph::Tensor& facts = plan.network.tensors[static_cast<size_t>(tensor)];
    const auto memory = stated.find(tensor);
    if (memory == stated.end()) {
      return (value ? value : network)
          .Refuse(fmt::format("the home of tensor '{}' is not stated, and its role has several",
                              facts.id),
                  "an entry of tensor_homes for it");
    }
    facts.home = ReadPlace(memory->second, plan, tensor);
  }
}

Json HomesToJson(const Plan& plan) {
  Json json = Json::array();
  for (const Home& home : plan.homes) {
    Json entry = Json::object();
    entry["memory"] = plan.profile.memories[static_cast<size_t>(home.memory)].name;
    if (home.by_tiles) entry["by_tiles"] = true;
    entry["peak"] = PeakOf(home);
    if (home.by_tiles) entry["lower_bound"] = home.lower_bound;
    entry["tensors"] = Json::array();
    for (size_t i = 0; i < home.tensors.size(); ++i)
      entry["tensors"].push_back(ResidentToJson(plan, home, i));
    json.push_back(std::move(entry));
  }
  return json;
}

std::vector<Home> ReadHomes(const std::vector<JsonValue>& values, const Plan& plan) {
  std::vector<Home> homes;
  if (plan.network.tensors.empty()) return homes;
  for (const JsonValue& value : values) homes.push_back(ReadHome(value, plan));
  return homes;
}

}  // namespace tessera::plan::files
