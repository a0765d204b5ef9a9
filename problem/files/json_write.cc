// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json.hpp>

#include "tessera/base/json_document.h"
#include "tessera/problem/files/json_sections.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/structure.h"

namespace tessera::problem::files {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
void PutIf(bool present, Json& object, const char* key, T value) {
  if (present) object[key] = std::move(value);
}

template <typename T>
void PutIf(Json& object, const char* key, const std::optional<T>& value) {
  if (value) object[key] = *value;
}

Json ToJson(const AddressRange& range) { return Json::array({range.begin, range.end}); }
Json ToJson(const Lifespan& life) { return Json::array({life.lower, life.upper}); }

Json ToJson(const Bank& bank) {
  Json json = Json::object();
  PutIf(!bank.name.empty(), json, "name", bank.name);
  json["range"] = ToJson(bank.range);
  if (HasPorts(bank)) json["ports"] = PortsToJson(bank.ports);
  return json;
}

// "r", "w", "rw", "hold" or "off" if one of these describes the mode, otherwise ["pe.read",
// "write"].
Json ToJson(const BankMode& mode) {
  const Permission read = {"", AccessKind::kRead};
  const Permission write = {"", AccessKind::kWrite};
  if (mode.off) return "off";
  if (mode.allowed.empty()) return "hold";
  if (mode.allowed == std::vector{read}) return "r";
  if (mode.allowed == std::vector{write}) return "w";
  if (mode.allowed == std::vector{read, write}) return "rw";
  Json list = Json::array();
  for (const Permission& permission : mode.allowed) {
    const std::string kind(kAccessWords[static_cast<size_t>(permission.kind)]);
    list.push_back(permission.engine.empty() ? kind : permission.engine + "." + kind);
  }
  return list;
}

Json ToJson(const Mode& mode) {
  Json json = Json::object();
  PutIf(!mode.name.empty(), json, "name", mode.name);
  json["banks"] = Json::array();
  for (const BankMode& bank : mode.banks) base::Append(json, "banks", ToJson(bank));
  return json;
}

Json ToJson(const std::vector<int>& listed, const std::vector<Bank>& banks) {
  Json json = Json::array();
  const References<Bank> names(banks);
  for (const int bank : listed) json.push_back(names(bank));
  return json;
}

Json ToJson(const Memory& memory) {
  Json json = Json::object();
  PutIf(!memory.name.empty(), json, "name", memory.name);
  json["capacity"] = memory.capacity;
  PutIf(memory.alignment != 1, json, "alignment", memory.alignment);
  for (const Reserved& reserved : memory.reserved) {
    Json range = {{"range", ToJson(reserved.range)}};
    PutIf(!reserved.reason.empty(), range, "reason", reserved.reason);
    base::Append(json, "reserved", std::move(range));
  }
  for (const Bank& bank : memory.banks) base::Append(json, "banks", ToJson(bank));
  for (const auto& [key, sets] : memory.bank_sets) json[key] = BankSetsToJson(sets, memory.banks);
  for (const Mode& mode : memory.modes) base::Append(json, "modes", ToJson(mode));
  if (memory.transitions) {
    const References<Mode> modes(memory.modes);
    json["transitions"] = Json::array();
    for (const auto& [from, to] : *memory.transitions)
      json["transitions"].push_back({modes(from), modes(to)});
  }
  return json;
}

Json ToJson(const Access& access) {
  Json json = {{"step", access.step}};
  PutIf(!access.engine.empty(), json, "engine", access.engine);
  json["kind"] = kAccessWords[static_cast<size_t>(access.kind)];
  return json;
}

Json ToJson(const Problem& problem, const Buffer& buffer) {
  const Memory& memory = problem.memories[static_cast<size_t>(buffer.memory)];
  Json json = {{"id", buffer.id}};
  PutIf(!buffer.name.empty(), json, "name", buffer.name);
  PutIf(!buffer.role.empty(), json, "role", buffer.role);
  json["size"] = buffer.size;
  for (const Lifespan& life : buffer.lifespans) base::Append(json, "lifespans", ToJson(life));
  PutIf(buffer.alignment != 1, json, "alignment", buffer.alignment);
  if (buffer.memory != 0) json["memory"] = References<Memory>(problem.memories)(buffer.memory);
  PutIf(buffer.span != Span::kAny, json, "span", kSpanWords[static_cast<size_t>(buffer.span)]);
  for (const int bank : buffer.allowed_banks)
    base::Append(json, "allowed_banks", References<Bank>(memory.banks)(bank));
  PutIf(json, "offset", buffer.offset);
  PutIf(json, "hint", buffer.hint);
  PutIf(json, "value", buffer.value);
  for (const Access& access : buffer.accesses) base::Append(json, "accesses", ToJson(access));
  for (const auto& [key, text] : buffer.annotations) {
    Json value = Json::parse(text, nullptr, false);
    json[key] = value.is_discarded() ? Json(text) : std::move(value);
  }
  return json;
}

// Writes only the fields that differ from the buffer.
Json ToJson(const Problem& problem, const Buffer& buffer, const Fallback& fallback) {
  Json json = Json::object();
  if (fallback.memory != buffer.memory)
    json["memory"] = References<Memory>(problem.memories)(fallback.memory);
  PutIf(fallback.size != buffer.size, json, "size", fallback.size);
  PutIf(fallback.value != 0, json, "value", fallback.value);
  return json;
}

Json ToJson(const Problem& problem, const Relation& relation) {
  Json json = {{"kind", kRelationWords[static_cast<size_t>(relation.kind)]},
               {"first", problem.buffers[static_cast<size_t>(relation.first)].id},
               {"second", problem.buffers[static_cast<size_t>(relation.second)].id}};
  PutIf(relation.kind == RelationKind::kColocate, json, "delta", relation.delta);
  return json;
}

Json ToJson(const Problem& problem, const Cost& cost) {
  Json json = Json::object();
  PutIf(!cost.name.empty(), json, "name", cost.name);
  json["kind"] = kCostWords[static_cast<size_t>(cost.kind)];
  if (cost.kind == CostKind::kReuse) {
    json["first"] = problem.buffers[static_cast<size_t>(cost.first)].id;
    json["second"] = problem.buffers[static_cast<size_t>(cost.second)].id;
  } else {
    json["memory"] = References<Memory>(problem.memories)(cost.memory);
  }
  json["weight"] = cost.weight;
  return json;
}

Json ToJson(const Problem& problem, const Ladder& ladder) {
  Json candidates = Json::array();
  for (const CandidateSizes& candidate : ladder.candidates) {
    Json::object_t sizes;
    // Ids are distinct. The look-up of the container would be quadratic.
    for (size_t i = 0; i < candidate.sizes.size(); ++i) {
      sizes.Json::object_t::Container::emplace_back(problem.buffers[i].id, candidate.sizes[i]);
    }
    candidates.push_back({{"name", candidate.name}, {"sizes", std::move(sizes)}});
  }
  return {{"candidates", std::move(candidates)}};
}

Json ModesToJson(const Problem& problem, const Allocation& allocation) {
  Json list = Json::array();
  for (size_t memory = 0; memory < allocation.modes.size(); ++memory) {
    if (allocation.modes[memory].empty()) continue;
    Json schedule = Json::array();
    const References<Mode> modes(problem.memories[memory].modes);
    for (const int mode : allocation.modes[memory]) schedule.push_back(modes(mode));
    list.push_back({{"memory", References<Memory>(problem.memories)(static_cast<int>(memory))},
                    {"first_step", Horizon(problem).lower},
                    {"schedule", std::move(schedule)}});
  }
  return list;
}

Json ToJson(const Statistics& statistics) {
  return {{"nodes", statistics.nodes},
          {"backtracks", statistics.backtracks},
          {"conflicts", statistics.conflicts}};
}

}  // namespace

Json PortsToJson(const Ports& ports) {
  Json json = Json::object();
  PutIf(json, "total", ports.total);
  PutIf(json, "reads", ports.reads);
  PutIf(json, "writes", ports.writes);
  return json;
}

Json BankSetsToJson(const BankSets& sets, const std::vector<Bank>& banks) {
  Json json = Json::array();
  for (const std::vector<int>& set : sets) json.push_back(ToJson(set, banks));
  return json;
}

Json RequirementToJson(const Requirement& wanted, const std::vector<Bank>& banks,
                       Defaults defaults) {
  Json json = {{"kind", NameOf(wanted.kind)}};
  for (const RequirementField& field : TraitsOf(wanted.kind).fields) {
    const std::string key(field.key);
    if (const auto* number = std::get_if<Bytes Requirement::*>(&field.member)) {
      const Bytes value = wanted.**number;
      if (value != 0 || !field.optional || defaults == Defaults::kWritten) json[key] = value;
    } else if (const auto* window = std::get_if<AddressRange Requirement::*>(&field.member)) {
      json[key] = ToJson(wanted.**window);
    } else {
      json[key] = ToJson(wanted.*std::get<std::vector<int> Requirement::*>(field.member), banks);
    }
  }
  return json;
}

Json RuleToJson(const Problem& problem, const Rule& rule) {
  const auto buffer = [&](int i) -> const Buffer& {
    return problem.buffers[static_cast<size_t>(i)];
  };
  const Buffer& head = buffer(rule.pairs.empty() ? rule.buffers.front() : rule.pairs.front().first);
  Json json = Json::object();
  PutIf(!rule.name.empty(), json, "name", rule.name);
  json["require"] =
      RequirementToJson(rule.requirement, problem.memories[static_cast<size_t>(head.memory)].banks,
                        Defaults::kOmitted);
  for (const int i : rule.buffers) base::Append(json, "buffers", buffer(i).id);
  for (const auto& [first, second] : rule.pairs)
    base::Append(json, "pairs", {buffer(first).id, buffer(second).id});
  if (!rule.sizes.HoldsAll()) json["sizes"] = {rule.sizes.least, rule.sizes.most};
  return json;
}

std::string WriteProblem(const ProblemDocument& document) {
  return WriteProblem(document.problem, document.ladder ? &*document.ladder : nullptr,
                      &document.fallbacks);
}

std::string WriteProblem(const Problem& problem, const Ladder* ladder, const Fallbacks* fallbacks) {
  Json json = {{"format", kProblemFormat}, {"version", kFormatVersion}};
  PutIf(!problem.name.empty(), json, "name", problem.name);
  json["memories"] = Json::array();
  for (const Memory& memory : problem.memories) base::Append(json, "memories", ToJson(memory));
  json["buffers"] = Json::array();
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    Json written = ToJson(problem, buffer);
    if (fallbacks != nullptr && !fallbacks->empty() && (*fallbacks)[i])
      written["fallback"] = ToJson(problem, buffer, *(*fallbacks)[i]);
    base::Append(json, "buffers", std::move(written));
  }
  for (const Relation& relation : problem.relations)
    base::Append(json, "relations", ToJson(problem, relation));
  for (const Loop& loop : problem.loops) {
    base::Append(json, "loops", {{"begin", loop.begin}, {"end", loop.end}, {"exits", loop.exits}});
  }
  for (const Rule& rule : problem.rules) base::Append(json, "rules", RuleToJson(problem, rule));
  for (const Cost& cost : problem.costs) base::Append(json, "costs", ToJson(problem, cost));
  if (ladder != nullptr) json["tile_candidates"] = ToJson(problem, *ladder);
  return base::WriteJson(json);
}

std::string WriteAllocation(const Problem& problem, const AllocationDocument& document) {
  const Result& result = document.result;
  Json json = {{"format", kAllocationFormat}, {"version", kFormatVersion}};
  PutIf(!problem.name.empty(), json, "problem", problem.name);
  json["status"] = kStatusWords[static_cast<size_t>(result.status)];
  PutIf(json, "capacity", document.capacity);
  PutIf(json, "candidate", document.candidate);
  PutIf(json, "peak", result.peak);
  json["lower_bound"] = result.lower_bound;
  if (result.peak) json["gap"] = *result.peak - result.lower_bound;
  for (const MemoryPeak& each : document.peaks) {
    base::Append(json, "memories",
                 {{"memory", each.memory}, {"peak", each.peak}, {"lower_bound", each.lower_bound}});
  }
  PutIf(!document.peaks.empty(), json, "score", document.score);
  PutIf(!document.peaks.empty(), json, "score_bound", document.score_bound);
  PutIf(json, "cost", result.cost);
  if (result.cost) json["least_cost"] = result.least_cost;
  PutIf(!result.engine.empty(), json, "engine", result.engine);
  PutIf(!result.reason.empty(), json, "reason", result.reason);
  if (result.explanation) {
    const Bytes capacity = document.capacity.value_or(problem.memories[0].capacity);
    json["explanation"] = ExplanationToJson(problem, *result.explanation, capacity);
  }
  PutIf(json, "seed", document.seed);
  PutIf(json, "time_ms", document.time_ms);
  json["statistics"] = ToJson(result.statistics);
  if (!result.allocation) return base::WriteJson(json);

  Json::object_t offsets;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    offsets.Json::object_t::Container::emplace_back(problem.buffers[i].id,
                                                    result.allocation->offsets[i]);
  }
  json["offsets"] = std::move(offsets);
  if (Json modes = ModesToJson(problem, *result.allocation); !modes.empty())
    json["modes"] = std::move(modes);
  return base::WriteJson(json);
}

}  // namespace tessera::problem::files
