// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tessera/base/arithmetic.h"
#include "tessera/base/json_document.h"
#include "tessera/problem/explanation.h"
#include "tessera/problem/files/json_sections.h"

namespace tessera::problem::files {
namespace {

using base::JsonObject;
using base::JsonValue;
using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 14> kConditionWords = {
    "buffer", "alignment", "fixed_offset",     "banks",    "access", "relation", "rule",
    "loop",   "capacity",  "memory_alignment", "reserved", "ports",  "modes",    "transitions"};
constexpr std::array<std::string_view, 7> kChangeWords = {
    "capacity", "alignment", "bank", "free_bank", "ports", "drop", "candidate"};

bool HasItem(ConditionKind kind) {
  return kind == ConditionKind::kAccess || kind == ConditionKind::kRelation ||
         kind == ConditionKind::kRule || kind == ConditionKind::kLoop ||
         kind == ConditionKind::kReserved || kind == ConditionKind::kPorts;
}

// The number of things that `item` of the condition may index; 1 if it does not index anything.
size_t CountOfItems(const Problem& problem, const Condition& condition) {
  if (condition.kind == ConditionKind::kRelation) return problem.relations.size();
  if (condition.kind == ConditionKind::kRule) return problem.rules.size();
  if (condition.kind == ConditionKind::kLoop) return problem.loops.size();
  if (condition.kind == ConditionKind::kAccess)
    return problem.buffers[static_cast<size_t>(condition.owner)].accesses.size();
  if (condition.kind < ConditionKind::kRelation) return 1;
  const Memory& memory = problem.memories[static_cast<size_t>(condition.owner)];
  return condition.kind == ConditionKind::kReserved ? memory.reserved.size() : memory.banks.size();
}

Json ToJson(const Problem& problem, const Condition& condition) {
  Json json = {{"kind", kConditionWords[static_cast<size_t>(condition.kind)]}};
  if (condition.kind < ConditionKind::kRelation) {
    json["buffer"] = problem.buffers[static_cast<size_t>(condition.owner)].id;
  } else if (condition.kind >= ConditionKind::kCapacity) {
    json["memory"] = References(problem.memories)(condition.owner);
  }
  if (HasItem(condition.kind)) json["index"] = condition.item;
  return json;
}

Json ToJson(const Problem& problem, const Change& change) {
  Json json = {{"kind", kChangeWords[static_cast<size_t>(change.kind)]}};
  if (change.kind == ChangeKind::kCandidate) {
    json["candidate"] = change.candidate;
  } else if (change.kind == ChangeKind::kBank || change.kind == ChangeKind::kFreeBank) {
    const Memory& memory = problem.memories[static_cast<size_t>(change.condition.owner)];
    json["memory"] = References(problem.memories)(change.condition.owner);
    if (change.kind == ChangeKind::kBank)
      json["bank"] = References(memory.banks)(change.condition.item);
  } else if (change.kind != ChangeKind::kAlignment ||
             change.condition.kind != ConditionKind::kBuffer) {
    json["condition"] = ToJson(problem, change.condition);
  }
  if (change.amount != 0) json["amount"] = change.amount;
  json["least"] = change.least;
  return json;
}

class Reader {
 public:
  explicit Reader(const Problem& problem) : problem_(problem), buffers_(problem.buffers) {}

  Explanation Read(const JsonValue& value) const {
    Explanation explanation;
    JsonObject object = value.Object();
    for (const JsonValue& item : object.Items("conditions"))
      explanation.conditions.push_back(ReadCondition(item));
    explanation.minimal = object.Boolean("minimal", false);
    for (const JsonValue& item : object.Items("changes", base::Presence::kOptional))
      explanation.changes.push_back(ReadChange(item));
    explanation.all_tried = object.Boolean("all_tried", false);
    std::sort(explanation.conditions.begin(), explanation.conditions.end());
    return explanation;
  }

 private:
  static int ReadIndex(JsonObject& object, std::string_view key, size_t count) {
    const JsonValue value = object.Required(key);
    if (!value) return 0;
    if (count == 0) value.Refuse("there is nothing of this kind to refer to");
    return static_cast<int>(
        value.Integer({0, std::max<int64_t>(0, static_cast<int64_t>(count) - 1)}));
  }

  int ReadMemory(JsonObject& object) const {
    const JsonValue value = object.Required("memory");
    return value ? ReadReference(value, problem_.memories, "memory") : 0;
  }

  int ReadBuffer(JsonObject& object) const {
    const JsonValue value = object.Required("buffer");
    return value ? buffers_.Read(value) : 0;
  }

  // After a refusal the result is unusable, but safe to return.
  Condition ReadCondition(const JsonValue& value) const {
    Condition condition;
    JsonObject object = value.Object();
    object.Optional("text");
    condition.kind = static_cast<ConditionKind>(object.OneOf("kind", kConditionWords));
    if (condition.kind < ConditionKind::kRelation) {
      condition.owner = ReadBuffer(object);
      if (problem_.buffers.empty()) return {};
    } else if (condition.kind >= ConditionKind::kCapacity) {
      condition.owner = ReadMemory(object);
    }
    if (HasItem(condition.kind))
      condition.item = ReadIndex(object, "index", CountOfItems(problem_, condition));
    if (!IsStated(condition)) value.Refuse("the problem states no such condition");
    return condition;
  }

  // Whether the problem has the optional part that the condition refers to.
  bool IsStated(const Condition& condition) const {
    const auto owner = static_cast<size_t>(condition.owner);
    if (condition.kind == ConditionKind::kFixedOffset)
      return problem_.buffers[owner].offset.has_value();
    if (condition.kind == ConditionKind::kTransitions)
      return problem_.memories[owner].transitions.has_value();
    return true;
  }

  // Whether this kind of change applies to the condition.
  static bool Suits(const Change& change) {
    if (change.kind == ChangeKind::kCapacity)
      return change.condition.kind == ConditionKind::kCapacity;
    if (change.kind == ChangeKind::kPorts) return change.condition.kind == ConditionKind::kPorts;
    return true;
  }

  Change ReadChange(const JsonValue& value) const {
    Change change;
    JsonObject object = value.Object();
    object.Optional("text");
    change.kind = static_cast<ChangeKind>(object.OneOf("kind", kChangeWords));
    if (change.kind == ChangeKind::kCandidate) {
      change.candidate = object.String("candidate");
    } else if (change.kind == ChangeKind::kBank || change.kind == ChangeKind::kFreeBank) {
      change.condition.kind = ConditionKind::kCapacity;
      change.condition.owner = ReadMemory(object);
      const auto& banks = problem_.memories[static_cast<size_t>(change.condition.owner)].banks;
      if (change.kind == ChangeKind::kBank) {
        if (const JsonValue bank = object.Required("bank"))
          change.condition.item = ReadReference(bank, banks, "bank");
      }
    } else {
      const bool of_all = change.kind == ChangeKind::kAlignment;
      const JsonValue condition =
          of_all ? object.Optional("condition") : object.Required("condition");
      if (condition) change.condition = ReadCondition(condition);
    }
    change.amount = object.Integer("amount", {0, base::kMaxTotal}, 0);
    change.least = object.Boolean("least", true);
    if (!Suits(change)) value.Refuse("the change does not suit its condition");
    return change;
  }

  const Problem& problem_;
  BufferIndex buffers_;
};

}  // namespace

Json ExplanationToJson(const Problem& problem, const Explanation& explanation, Bytes capacity) {
  Json json;
  json["conditions"] = Json::array();
  for (const Condition& condition : explanation.conditions) {
    base::Append(json, "conditions", ToJson(problem, condition));
    json["conditions"].back()["text"] = Describe(problem, condition, capacity);
  }
  json["minimal"] = explanation.minimal;
  json["changes"] = Json::array();
  for (const Change& change : explanation.changes) {
    base::Append(json, "changes", ToJson(problem, change));
    json["changes"].back()["text"] = Describe(problem, change, capacity);
  }
  json["all_tried"] = explanation.all_tried;
  return json;
}

Explanation ReadExplanation(const JsonValue& value, const Problem& problem) {
  return Reader(problem).Read(value);
}

}  // namespace tessera::problem::files
