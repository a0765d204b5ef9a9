// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/json_document.h"
#include "tessera/base/json_reader.h"
#include "tessera/problem/files/json_sections.h"
#include "tessera/problem/files/other_formats.h"
#include "tessera/problem/well_formed.h"

// Lists of tensors like those of ExecuTorch, TVM and TFLite-Micro.
namespace tessera::problem::files {
namespace {

using base::Expected;
using base::JsonObject;
using base::JsonReader;
using base::JsonValue;
using base::Presence;
using base::Unexpected;
using Json = nlohmann::ordered_json;

// The first part that this format cannot state; empty if there is none. None of these formats
// states capacities.
std::string Beyond(const Problem& problem, bool states_pairs) {
  for (const Memory& memory : problem.memories) {
    if (!memory.reserved.empty()) return "reserved ranges";
    if (!memory.banks.empty() || !memory.modes.empty()) return "banks and modes";
  }
  if (!problem.rules.empty()) return "rules";
  if (!problem.costs.empty()) return "costs";
  if (!problem.loops.empty()) return "loops";
  if (!states_pairs && !problem.relations.empty()) return "relations";
  for (const Relation& relation : problem.relations) {
    if (relation.kind != RelationKind::kSeparate && relation.kind != RelationKind::kExclusive)
      return "relations other than separate and exclusive";
  }
  return "";
}

constexpr base::IntegerRange kMemoryIds = {0, std::numeric_limits<int>::max()};

// The names of the parts of a buffer: the name here, then the name in one of these formats.
using Names = std::span<const std::pair<std::string_view, std::string_view>>;

Expected<Problem> Checked(JsonReader& reader, Problem problem, Names names) {
  if (!reader.Failed()) {
    if (std::optional<base::Diagnostic> fault = CheckWellFormed(problem)) {
      for (const auto& [ours, theirs] : names) {
        const size_t at = fault->pointer.find(ours);
        if (at != std::string::npos) fault->pointer.replace(at, ours.size(), theirs);
      }
      reader.Refuse(*std::move(fault));
    }
  }
  return reader.Finish(std::move(problem));
}

// The number of each memory in the format: its name if all names are such numbers.
std::vector<int64_t> NumbersOf(const std::vector<Memory>& memories) {
  std::vector<int64_t> numbers;
  for (const Memory& memory : memories) {
    int64_t number = -1;
    std::from_chars(memory.name.data(), memory.name.data() + memory.name.size(), number);
    if (kMemoryIds.least <= number && number <= kMemoryIds.most &&
        memory.name == std::to_string(number))
      numbers.push_back(number);
  }
  if (numbers.size() == memories.size()) return numbers;
  numbers.resize(memories.size());
  std::iota(numbers.begin(), numbers.end(), 1);
  return numbers;
}

}  // namespace

Expected<Problem> ReadExecutorch(std::string_view text, std::string_view file) {
  JsonReader reader(text, std::string(file));
  Problem problem;
  std::map<int64_t, int> memory_of;
  {
    JsonObject root = reader.Root().Object();
    for (const JsonValue& item : root.Items("tensors")) {
      JsonObject tensor = item.Object();
      Buffer& buffer = problem.buffers.emplace_back();
      buffer.id = tensor.String("name");
      buffer.size = tensor.Integer("allocated_memory", kSizes);
      buffer.alignment = tensor.Integer("alignment", kSizes, 1);
      const std::vector<JsonValue> ends = tensor.Required("lifetime").Items(2);
      if (!reader.Failed())
        buffer.lifespans = {{ends[0].Integer(kSteps), ends[1].Integer(kSteps) + 1}};
      const int64_t id = tensor.Integer("mem_id", kMemoryIds, 1);
      const auto [found, fresh] = memory_of.emplace(id, static_cast<int>(problem.memories.size()));
      if (fresh) {
        problem.memories.emplace_back();
        problem.memories.back().name = std::to_string(id);
        problem.memories.back().capacity = base::kMaxTotal;
      }
      buffer.memory = found->second;
      if (const JsonValue offset = tensor.Optional("mem_offset"))
        buffer.offset = offset.Integer(kAddresses);
    }
  }
  if (problem.memories.empty()) {
    problem.memories.emplace_back();
    problem.memories[0].capacity = base::kMaxTotal;
  }
  static constexpr auto kNames =
      std::to_array<std::pair<std::string_view, std::string_view>>({{"/buffers/", "/tensors/"},
                                                                    {"/lifespans/0", "/lifetime"},
                                                                    {"/size", "/allocated_memory"},
                                                                    {"/offset", "/mem_offset"},
                                                                    {"/id", "/name"}});
  return Checked(reader, std::move(problem), kNames);
}

Expected<std::string> WriteExecutorch(const Problem& problem) {
  static constexpr std::string_view kName = "executorch";
  if (const std::string beyond = Beyond(problem, false); !beyond.empty())
    return Unexpected(CannotState(kName, beyond));
  const std::vector<int64_t> numbers = NumbersOf(problem.memories);
  Json root = Json::object();
  root["tensors"] = Json::array();
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.lifespans.size() > 1)
      return Unexpected(CannotState(kName, fmt::format("the gaps of '{}'", buffer.id)));
    Json tensor = Json::object();
    tensor["name"] = buffer.id;
    tensor["allocated_memory"] = buffer.size;
    if (AlignmentOf(problem, buffer) != 1) tensor["alignment"] = AlignmentOf(problem, buffer);
    tensor["lifetime"] = Json::array({buffer.lifespans[0].lower, buffer.lifespans[0].upper - 1});
    tensor["mem_id"] = numbers[static_cast<size_t>(buffer.memory)];
    if (buffer.offset) tensor["mem_offset"] = *buffer.offset;
    base::Append(root, "tensors", std::move(tensor));
  }
  return base::WriteJson(root);
}

Expected<Problem> ReadTvm(std::string_view text, std::string_view file) {
  JsonReader reader(text, std::string(file));
  Problem problem;
  problem.memories.emplace_back();
  problem.memories[0].capacity = base::kMaxTotal;
  {
    JsonObject root = reader.Root().Object();
    std::map<std::string, int> number;
    std::vector<std::pair<int, JsonValue>> conflicts;
    for (const JsonValue& item : root.Items("buffers")) {
      JsonObject object = item.Object();
      const auto at = static_cast<int>(problem.buffers.size());
      Buffer& buffer = problem.buffers.emplace_back();
      buffer.id = object.String("name_hint");
      buffer.size = object.Integer("size_bytes", kSizes);
      buffer.alignment = object.Integer("byte_alignment", kSizes, 1);
      buffer.lifespans = {{at, at + 1}};
      if (const JsonValue offset = object.Optional("byte_offset"))
        buffer.offset = offset.Integer(kAddresses);
      number.emplace(buffer.id, at);
      for (const JsonValue& other : object.Items("conflicts", Presence::kOptional))
        conflicts.emplace_back(at, other);
    }
    std::map<std::pair<int, int>, bool> known;
    for (const auto& [at, other] : conflicts) {
      const auto found = number.find(other.String());
      if (found == number.end()) {
        other.Refuse("no buffer has this name", "a name_hint of the list");
        break;
      }
      if (found->second == at || !known.emplace(std::minmax(at, found->second), true).second)
        continue;
      problem.relations.push_back(
          {RelationKind::kSeparate, std::min(at, found->second), std::max(at, found->second)});
    }
  }
  static constexpr auto kNames = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"/size", "/size_bytes"},
       {"/alignment", "/byte_alignment"},
       {"/offset", "/byte_offset"},
       {"/id", "/name_hint"}});
  return Checked(reader, std::move(problem), kNames);
}

Expected<std::string> WriteTvm(const Problem& problem) {
  static constexpr std::string_view kName = "tvm";
  static constexpr int64_t kMostPairs = 10'000'000;
  if (const std::string beyond = Beyond(problem, true); !beyond.empty())
    return Unexpected(CannotState(kName, beyond));
  if (problem.memories.size() != 1) return Unexpected(CannotState(kName, "several memories"));
  if (Summarize(problem).pairs > kMostPairs)
    return Unexpected(CannotState(kName, fmt::format("more than {} conflicts", kMostPairs)));
  const size_t count = problem.buffers.size();
  std::vector<std::vector<size_t>> conflicts(count);
  const StatedPairs stated(problem);
  for (size_t a = 0; a < count; ++a) {
    for (size_t b = a + 1; b < count; ++b) {
      const StatedPairs::Pair pair{static_cast<int>(a), static_cast<int>(b)};
      const bool meets =
          stated.separate.contains(pair) || (!stated.exclusive.contains(pair) &&
                                             LiveTogether(problem.buffers[a], problem.buffers[b]));
      if (!meets) continue;
      conflicts[a].push_back(b);
      conflicts[b].push_back(a);
    }
  }
  Json root = Json::object();
  root["buffers"] = Json::array();
  for (size_t i = 0; i < count; ++i) {
    const Buffer& buffer = problem.buffers[i];
    Json object = Json::object();
    object["name_hint"] = buffer.id;
    object["size_bytes"] = buffer.size;
    object["byte_alignment"] = AlignmentOf(problem, buffer);
    if (buffer.offset) object["byte_offset"] = *buffer.offset;
    object["conflicts"] = Json::array();
    for (const size_t other : conflicts[i])
      base::Append(object, "conflicts", problem.buffers[other].id);
    base::Append(root, "buffers", std::move(object));
  }
  return base::WriteJson(root);
}

Expected<std::string> WriteTfliteMicro(const Problem& problem) {
  static constexpr std::string_view kName = "tflite-micro";
  static constexpr int64_t kVersion = 1, kSubgraph = 0;
  if (problem.memories.size() != 1) return Unexpected(CannotState(kName, "several memories"));
  const bool are_all_fixed =
      std::all_of(problem.buffers.begin(), problem.buffers.end(),
                  [](const Buffer& buffer) { return buffer.offset.has_value(); });
  if (const std::string beyond = Beyond(problem, false); !are_all_fixed && !beyond.empty())
    return Unexpected(CannotState(kName, beyond));
  Json plan = Json::array({kVersion, kSubgraph, static_cast<int64_t>(problem.buffers.size())});
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.offset.value_or(0) > std::numeric_limits<int32_t>::max())
      return Unexpected(CannotState(kName, fmt::format("the offset of '{}'", buffer.id)));
    plan.push_back(buffer.offset.value_or(-1));
  }
  return base::WriteJsonLine(plan) + "\n";
}

}  // namespace tessera::problem::files
