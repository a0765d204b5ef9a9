// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/files/json_sections.h"

namespace tessera::problem::files {

using base::JsonObject;
using base::JsonValue;

AddressRange ReadRange(const JsonValue& value) {
  const std::vector<JsonValue> ends = value.Items(2);
  return {ends[0].Integer(kAddresses), ends[1].Integer(kAddresses)};
}

BufferIndex::BufferIndex(const std::vector<Buffer>& buffers) {
  for (size_t i = 0; i < buffers.size(); ++i) by_id_.emplace(buffers[i].id, i);
}

std::optional<size_t> BufferIndex::Find(const std::string& id, const JsonValue& where) const {
  if (const auto found = by_id_.find(id); found != by_id_.end()) return found->second;
  std::vector<std::string_view> ids;
  for (const auto& [known, index] : by_id_) ids.push_back(known);
  where.Refuse(fmt::format("there is no buffer '{}'", id), "the id of a buffer",
               base::DidYouMean(id, ids));
  return std::nullopt;
}

int BufferIndex::Read(const JsonValue& id) const {
  return static_cast<int>(Find(id.String(), id).value_or(0));
}

std::vector<Bytes> BufferIndex::ReadAll(const JsonValue& value, base::IntegerRange range,
                                        const std::vector<Buffer>& buffers) const {
  std::vector<Bytes> numbers(buffers.size(), 0);
  std::vector<bool> present(buffers.size(), false);
  JsonObject object = value.Object();
  for (const auto& [id, number] : object.Members()) {
    const std::optional<size_t> index = Find(id, number);
    if (!index) return numbers;
    numbers[*index] = number.Integer(range);
    present[*index] = true;
  }
  const auto missing = std::find(present.begin(), present.end(), false);
  if (missing != present.end()) {
    const Buffer& buffer = buffers[static_cast<size_t>(missing - present.begin())];
    value.Refuse(fmt::format("buffer '{}' is missing", buffer.id), "an entry for each buffer");
  }
  return numbers;
}

namespace {

using base::JsonObject;
using base::JsonValue;
using base::Presence;

// Reads the value of one field. `memory` has the banks that it may name.
class FieldReader {
 public:
  FieldReader(JsonObject& object, const RequirementField& field, const Memory& memory,
              Requirement& wanted)
      : object_(object), field_(field), memory_(memory), wanted_(wanted) {}

  void operator()(Bytes Requirement::*number) const {
    const base::IntegerRange range = {field_.least, base::kMaxTotal};
    wanted_.*number = field_.optional ? object_.Integer(field_.key, range, 0)
                                      : object_.Integer(field_.key, range);
  }
  void operator()(AddressRange Requirement::*window) const {
    if (const JsonValue value = object_.Required(field_.key)) wanted_.*window = ReadRange(value);
  }
  void operator()(std::vector<int> Requirement::*banks) const {
    for (const JsonValue& bank : object_.Items(field_.key))
      (wanted_.*banks).push_back(ReadReference(bank, memory_.banks, "bank"));
  }

 private:
  JsonObject& object_;
  const RequirementField& field_;
  const Memory& memory_;
  Requirement& wanted_;
};

Requirement ReadRequirement(const JsonValue& value, const Memory& memory) {
  JsonObject object = value.Object();
  Requirement wanted;
  wanted.kind = static_cast<RequirementKind>(object.OneOf("kind", RequirementNames()));
  for (const RequirementField& field : TraitsOf(wanted.kind).fields)
    std::visit(FieldReader(object, field, memory, wanted), field.member);
  return wanted;
}

// The memory of the first buffer that the rule names; an empty memory if it names no buffer.
Memory MemoryOf(const Rule& rule, const Problem& problem) {
  const int first = !rule.buffers.empty() ? rule.buffers.front()
                    : !rule.pairs.empty() ? rule.pairs.front().first
                                          : -1;
  if (first < 0 || static_cast<size_t>(first) >= problem.buffers.size()) return {};
  const auto memory = static_cast<size_t>(problem.buffers[static_cast<size_t>(first)].memory);
  return memory < problem.memories.size() ? problem.memories[memory] : Memory{};
}

}  // namespace

Rule ReadRule(const JsonValue& value, const Problem& problem, const BufferIndex& buffers) {
  JsonObject object = value.Object();
  Rule rule;
  rule.name = object.String("name", "");
  for (const JsonValue& id : object.Items("buffers", Presence::kOptional))
    rule.buffers.push_back(buffers.Read(id));
  for (const JsonValue& pair : object.Items("pairs", Presence::kOptional)) {
    const std::vector<JsonValue> ends = pair.Items(2);
    const int first = buffers.Read(ends[0]);
    rule.pairs.emplace_back(first, buffers.Read(ends[1]));
  }
  if (const JsonValue sizes = object.Optional("sizes")) {
    const std::vector<JsonValue> ends = sizes.Items(2);
    rule.sizes = {ends[0].Integer(kSizes), ends[1].Integer(kSizes)};
  }
  if (const JsonValue wanted = object.Required("require"))
    rule.requirement = ReadRequirement(wanted, MemoryOf(rule, problem));
  return rule;
}

Cost ReadCost(const JsonValue& value, const Problem& problem, const BufferIndex& buffers) {
  JsonObject object = value.Object();
  Cost cost;
  cost.name = object.String("name", "");
  cost.kind = static_cast<CostKind>(object.OneOf("kind", kCostWords));
  cost.weight = object.Integer("weight", kAddresses, 1);
  if (cost.kind == CostKind::kModeSwitch) {
    if (const JsonValue memory = object.Optional("memory"))
      cost.memory = ReadReference(memory, problem.memories, "memory");
    return cost;
  }
  if (const JsonValue first = object.Required("first")) cost.first = buffers.Read(first);
  if (const JsonValue second = object.Required("second")) cost.second = buffers.Read(second);
  return cost;
}

}  // namespace tessera::problem::files
