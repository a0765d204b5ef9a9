// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tessera/base/json_document.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/plan/files/json_sections.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/files/json_sections.h"

namespace tessera::plan::files {

namespace {

using Json = nlohmann::ordered_json;

// JSON text of another module as a value. The writers of that module always produce valid JSON.
Json Embed(const std::string& text) {
  const base::Expected<Json> value = base::ParseJson(text, "");
  return value ? *value : Json();
}

Json MetricsToJson(const Metrics& metrics) {
  Json json = Json::object();
  for (const MetricField& field : kMetricFields) {
    Json& value = json[std::string(field.key)];
    std::visit([&](auto member) { value = metrics.*member; }, field.member);
  }
  json["bound_by"] = metrics.bound_by;
  return json;
}

class PlanWriter {
 public:
  explicit PlanWriter(const Plan& plan)
      : plan_(plan),
        memory_(plan.profile.memories[static_cast<size_t>(plan.profile.tile_memory)]),
        first_scheduled_(problem::Horizon(plan.problem).lower),
        steps_(plan.subgraphs.size()),
        buffers_(plan.subgraphs.size()) {
    for (size_t i = 0; i < plan.steps.size(); ++i)
      steps_[static_cast<size_t>(plan.steps[i].subgraph)].push_back(i);
    for (size_t i = 0; i < plan.buffers.size(); ++i) {
      const int subgraph = plan.buffers[i].subgraph;
      (subgraph < 0 ? whole_ : buffers_[static_cast<size_t>(subgraph)]).push_back(i);
    }
  }

  Json Run(std::optional<double> time_ms) const {
    Json json = Json::object();
    json["format"] = "tessera-plan";
    json["version"] = 1;
    json["made_by"] = plan_.version;
    json["digest"] = DigestOf(plan_);
    json["name"] = plan_.problem.name;
    json["status"] = plan_.status;
    json["score"] = plan_.score;
    json["bound"] = plan_.bound;
    json["scope"] = ScopeToJson(false);
    if (plan_.proven && !CoversAll(plan_.scope)) json["proven_within"] = ScopeToJson(true);
    if (time_ms) json["time_ms"] = *time_ms;
    json["objective"] = {{"weights", plan_.objective.weights}, {"limits", plan_.objective.limits}};
    if (!plan_.constraints.empty()) json["constraints"] = ConstraintsToJson(plan_);
    json["seed"] = plan_.seed;
    json["run"] = RunToJson(plan_);
    json["totals"] = MetricsToJson(plan_.totals);
    json["lower_bounds"] = MetricsToJson(plan_.lower_bounds);
    if (!plan_.profile_totals.empty()) json["profile_totals"] = plan_.profile_totals;
    if (plan_.baseline) json["baseline"] = ToJson(*plan_.baseline);
    json["notes"] = plan_.notes;
    for (const int tensor : plan_.kept) json["kept"].push_back(TensorId(tensor));
    json["subgraphs"] = Json::array();
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) {
      json["subgraphs"].push_back(SubgraphToJson(static_cast<int>(i)));
    }
    json["buffers"] = BuffersToJson(whole_);
    if (const Json homes = TensorHomesToJson(plan_); !homes.is_null()) json["tensor_homes"] = homes;
    json["homes"] = HomesToJson(plan_);
    json["loops"] = LoopsToJson();
    json["relations"] = RelationsToJson();
    for (const problem::Rule& rule : plan_.problem.rules)
      json["rules"].push_back(problem::files::RuleToJson(plan_.problem, InOrderOfFile(rule)));
    if (plan_.lowering) json["lowering"] = files::ToJson(plan_);
    json["network"] = Embed(graph::import::yaml::WriteNetworkJson(plan_.network));
    json["profile"] = Embed(hw_profiles::WriteProfileJson(plan_.profile));
    return json;
  }

 private:
  // The file lists whole buffers first and then the buffers of each subgraph.
  problem::Rule InOrderOfFile(problem::Rule rule) const {
    const auto subgraph_of = [this](int buffer) {
      return plan_.buffers[static_cast<size_t>(buffer)].subgraph;
    };
    std::stable_sort(rule.buffers.begin(), rule.buffers.end(),
                     [&](int a, int b) { return subgraph_of(a) < subgraph_of(b); });
    return rule;
  }

  const std::string& OperatorId(int op) const {
    return plan_.network.operators[static_cast<size_t>(op)].id;
  }
  const std::string& TensorId(int tensor) const {
    return plan_.network.tensors[static_cast<size_t>(tensor)].id;
  }
  const std::string& BufferId(int buffer) const {
    return plan_.problem.buffers[static_cast<size_t>(buffer)].id;
  }

  Json ScopeToJson(bool restrictions_alone) const {
    Json json = Json::object();
    for (const ScopePart& part : kScopeParts) {
      const std::string& left_out = plan_.scope.*part.left_out;
      if (!left_out.empty()) {
        json[part.name] = "all but " + left_out;
      } else if (!restrictions_alone && part.is_always_written) {
        json[part.name] = "all";
      }
    }
    return json;
  }

  Json ToJson(const Baseline& baseline) const {
    Json ids = Json::array();
    for (const int op : baseline.do_not_fit) ids.push_back(OperatorId(op));
    Json json = Json::object();
    json["complete"] = baseline.complete;
    json["do_not_fit"] = ids;
    json["score"] = baseline.score;
    json["totals"] = MetricsToJson(baseline.totals);
    return json;
  }

  Json SubgraphToJson(int index) const {
    const Subgraph& subgraph = plan_.subgraphs[static_cast<size_t>(index)];
    Json operators = Json::array();
    for (int op = subgraph.interval.first; op <= subgraph.interval.last; ++op)
      operators.push_back(OperatorId(op));
    Json json = Json::object();
    json["operators"] = operators;
    json["tile"] = subgraph.tile;
    json["tiles"] = subgraph.tiles;
    json["policies"] = {{"weights", hw_profiles::NameOf(subgraph.weights)},
                        {"in_place", subgraph.in_place},
                        {"halo", hw_profiles::NameOf(subgraph.halo)}};
    if (subgraph.k_extent > 0) json["policies"]["k_extent"] = subgraph.k_extent;
    if (subgraph.serialized) json["policies"]["serialized"] = true;
    if (subgraph.second_stage > 0)
      json["policies"]["second_stage"] =
          OperatorId(subgraph.interval.first + subgraph.second_stage);
    if (!subgraph.prefetch.empty()) json["policies"]["prefetch"] = subgraph.prefetch;
    json["largest_proven"] = subgraph.largest_proven;
    json["metrics"] = MetricsToJson(subgraph.metrics);
    if (!subgraph.rejected_alternatives.empty())
      json["rejected_alternatives"] = RejectedAlternativesToJson(subgraph, plan_.network);
    const std::vector<size_t>& steps = steps_[static_cast<size_t>(index)];
    json["first_step"] = steps.empty() ? plan_.steps.size() : steps.front();
    json["steps"] = Json::array();
    for (const size_t step : steps) json["steps"].push_back(StepToJson(step));
    json["buffers"] = BuffersToJson(buffers_[static_cast<size_t>(index)]);
    return json;
  }

  Json StepToJson(size_t index) const {
    const StepUse& step = plan_.steps[index];
    Json json = Json::object();
    json["kind"] = WordFor(step.kind, kStepKindNames);
    json["phase"] = step.phase;
    if (step.op >= 0) json["operator"] = OperatorId(step.op);
    if (!step.transfers.empty()) {
      json["transfers"] = Json::array();
      for (const int tensor : step.transfers) json["transfers"].push_back(TensorId(tensor));
    }
    if (plan_.allocation.modes.empty()) return json;
    const problem::ModeSchedule& schedule = plan_.allocation.modes.front();
    const auto at = static_cast<problem::Step>(index) - first_scheduled_;
    if (at >= 0 && at < static_cast<problem::Step>(schedule.size())) {
      json["mode"] = memory_.modes.at(static_cast<size_t>(schedule[static_cast<size_t>(at)])).name;
    }
    return json;
  }

  Json BuffersToJson(const std::vector<size_t>& buffers) const {
    Json json = Json::array();
    for (const size_t buffer : buffers) json.push_back(BufferToJson(buffer));
    return json;
  }

  Json BufferToJson(size_t index) const {
    const problem::Buffer& buffer = plan_.problem.buffers[index];
    const BufferUse& use = plan_.buffers[index];
    const problem::Bytes offset = plan_.allocation.offsets[index];
    Json json = Json::object();
    json["id"] = buffer.id;
    if (!buffer.name.empty()) json["name"] = buffer.name;
    if (!buffer.role.empty()) json["role"] = buffer.role;
    json["kind"] = WordFor(use.kind, kBufferKindNames);
    if (use.tensor >= 0) json["tensor"] = TensorId(use.tensor);
    if (use.op >= 0) json["operator"] = OperatorId(use.op);
    if (use.phase != 0) json["phase"] = use.phase;
    if (use.slot != 0) json["slot"] = use.slot;
    json["memory"] = memory_.name;
    json["offset"] = offset;
    json["size"] = buffer.size;
    json["alignment"] = buffer.alignment;
    json["span"] = WordFor(buffer.span, problem::kSpanWords);
    json["banks"] = BanksTouched(offset, offset + buffer.size);
    if (!buffer.allowed_banks.empty()) json["allowed_banks"] = buffer.allowed_banks;
    if (buffer.offset) json["fixed"] = *buffer.offset;
    if (buffer.hint) json["hint"] = *buffer.hint;
    json["lifespans"] = Json::array();
    for (const problem::Lifespan& life : buffer.lifespans)
      json["lifespans"].push_back({life.lower, life.upper});
    json["accesses"] = Json::array();
    for (const problem::Access& access : buffer.accesses) {
      json["accesses"].push_back(
          {access.step, access.engine, WordFor(access.kind, problem::kAccessWords)});
    }
    if (!buffer.annotations.empty()) json["annotations"] = buffer.annotations;
    return json;
  }

  Json BanksTouched(problem::Bytes begin, problem::Bytes end) const {
    Json names = Json::array();
    for (const problem::Bank& bank : memory_.banks) {
      if (bank.range.begin < end && begin < bank.range.end) names.push_back(bank.name);
    }
    return names;
  }

  Json LoopsToJson() const {
    Json json = Json::array();
    for (const problem::Loop& loop : plan_.problem.loops) {
      json.push_back({{"begin", loop.begin}, {"end", loop.end}, {"exits", loop.exits}});
    }
    return json;
  }

  Json RelationsToJson() const {
    Json json = Json::array();
    for (const problem::Relation& relation : plan_.problem.relations) {
      Json entry = Json::object();
      entry["kind"] = WordFor(relation.kind, problem::kRelationWords);
      entry["first"] = BufferId(relation.first);
      entry["second"] = BufferId(relation.second);
      if (relation.delta != 0) entry["delta"] = relation.delta;
      json.push_back(std::move(entry));
    }
    return json;
  }

  const Plan& plan_;
  const hw_profiles::Memory& memory_;
  const problem::Step first_scheduled_;       // the step of the first entry of a mode schedule
  std::vector<std::vector<size_t>> steps_;    // by subgraph
  std::vector<std::vector<size_t>> buffers_;  // by subgraph
  std::vector<size_t> whole_;                 // buffers of no subgraph
};

}  // namespace

std::string WritePlanJson(const Plan& plan, std::optional<double> time_ms) {
  return base::WriteJson(PlanWriter(plan).Run(time_ms));
}

namespace {

using Json = nlohmann::ordered_json;

uint64_t Fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3;
  }
  return hash;
}

Json OffsetsOf(const problem::Problem& problem, const problem::Allocation& allocation) {
  std::map<std::string, problem::Bytes> offsets;
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    offsets.emplace(problem.buffers[i].id, allocation.offsets[i]);
  return offsets;
}

Json AskedOf(const Plan& plan) {
  Json json = {{"made_by", plan.version}, {"seed", plan.seed}, {"run", RunToJson(plan)}};
  json["objective"] = {plan.objective.weights, plan.objective.limits};
  // Files list constraints by kind, with the kinds in any order.
  const Json constraints = ConstraintsToJson(plan);
  std::map<std::string, Json> by_kind;
  for (const auto& [kind, list] : constraints.items()) by_kind.emplace(kind, list);
  json["constraints"] = by_kind;
  return json;
}

Json ChosenOf(const Plan& plan) {
  Json json = Json::object();
  for (const int tensor : plan.kept)
    json["kept"].push_back(plan.network.tensors[static_cast<size_t>(tensor)].id);
  for (const Subgraph& subgraph : plan.subgraphs) {
    json["subgraphs"].push_back({subgraph.interval.first, subgraph.interval.last, subgraph.tile,
                                 hw_profiles::NameOf(subgraph.weights), subgraph.in_place,
                                 hw_profiles::NameOf(subgraph.halo), subgraph.k_extent,
                                 subgraph.serialized, subgraph.prefetch});
    if (subgraph.second_stage > 0) json["subgraphs"].back().push_back(subgraph.second_stage);
  }
  json["offsets"] = OffsetsOf(plan.problem, plan.allocation);
  for (const problem::ModeSchedule& schedule : plan.allocation.modes) {
    if (!schedule.empty()) json["modes"].push_back(schedule);
  }
  for (const Home& home : plan.homes) {
    Json entry = {home.memory, OffsetsOf(home.problem, home.allocation)};
    if (home.by_tiles) entry.push_back("by_tiles");
    json["homes"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace

std::string DigestOf(const Plan& plan) {
  const Json given = {AskedOf(plan), ChosenOf(plan)};
  return fmt::format("fnv1a-{:016x}", Fnv1a(base::WriteJson(given) +
                                            graph::import::yaml::WriteNetworkJson(plan.network) +
                                            hw_profiles::WriteProfileJson(plan.profile)));
}

void CheckDigest(const Plan& plan, verify::Findings& findings) {
  if (plan.digest.empty()) {
    findings.Note(
        verify::ViolationKind::kDigest,
        "the plan states no digest of what it is made from; `tessera eval` makes it whole again");
    return;
  }
  const std::string expected = DigestOf(plan);
  if (plan.digest == expected) return;
  findings.Note(
      verify::ViolationKind::kDigest,
      fmt::format(
          "the plan states {}, but what it is made from gives {}: its question, its "
          "partition, an address or a mode was changed; `tessera eval` makes it whole again",
          plan.digest, expected));
}

}  // namespace tessera::plan::files
