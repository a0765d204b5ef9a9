#include "tessera/plan/json_write.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tessera/base/json_parser.h"
#include "tessera/base/json_writer.h"
#include "tessera/graph/yaml.h"
#include "tessera/hw_profiles/writer.h"
#include "tessera/plan/digest.h"
#include "tessera/plan/json_demands.h"
#include "tessera/plan/json_homes.h"
#include "tessera/plan/json_rejections.h"
#include "tessera/plan/json_run.h"
#include "tessera/plan/lowering/json_write.h"
#include "tessera/plan/names.h"
#include "tessera/problem/json_rules.h"

namespace tessera::plan {
namespace {

using Json = nlohmann::ordered_json;

// JSON text of another room as a value; its writers make nothing that does not parse.
Json Embed(const std::string& text) {
  const base::Expected<Json> value = base::ParseJson(text, "");
  return value ? *value : Json();
}

Json MetricsToJson(const Metrics& metrics) {
  Json json = Json::object();
  json["latency_cycles"] = metrics.latency_cycles;
  json["energy_pj"] = metrics.energy_pj;
  json["energy_by_part"] = metrics.energy_by_part;
  json["off_chip_bytes"] = metrics.off_chip_bytes;
  json["off_chip_by_cause"] = metrics.off_chip_by_cause;
  json["macs"] = metrics.macs;
  json["recomputed_macs"] = metrics.recomputed_macs;
  json["unknown_work"] = metrics.unknown_work;
  json["peak_bytes"] = metrics.peak_bytes;
  json["peak_bytes_per_cycle"] = metrics.peak_bytes_per_cycle;
  json["bound_by"] = metrics.bound_by;
  return json;
}

class PlanWriter {
 public:
  explicit PlanWriter(const Plan& plan)
      : plan_(plan),
        memory_(plan.profile.memories[static_cast<size_t>(plan.profile.tile_memory)]),
        first_scheduled_(problem::Horizon(plan.problem).lower) {}

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
    if (!plan_.demands.empty()) json["demands"] = DemandsToJson(plan_);
    json["seed"] = plan_.seed;
    json["run"] = RunToJson(plan_);
    json["totals"] = MetricsToJson(plan_.totals);
    json["lower_bounds"] = MetricsToJson(plan_.lower_bounds);
    json["baseline"] = BaselineToJson();
    json["notes"] = plan_.notes;
    for (const int tensor : plan_.kept) json["kept"].push_back(TensorId(tensor));
    json["subgraphs"] = Json::array();
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) {
      json["subgraphs"].push_back(SubgraphToJson(static_cast<int>(i)));
    }
    json["buffers"] = BuffersToJson(-1);
    if (const Json homes = TensorHomesToJson(plan_); !homes.is_null()) json["tensor_homes"] = homes;
    json["homes"] = HomesToJson(plan_);
    json["loops"] = LoopsToJson();
    json["relations"] = RelationsToJson();
    for (const problem::Rule& rule : plan_.problem.rules)
      json["rules"].push_back(problem::RuleToJson(plan_.problem, InOrderOfFile(rule)));
    if (plan_.lowering) json["lowering"] = lowering::ToJson(plan_);
    json["network"] = Embed(graph::WriteNetworkJson(plan_.network));
    json["profile"] = Embed(hw_profiles::WriteProfileJson(plan_.profile));
    return json;
  }

 private:
  // The file has buffers subgraph by subgraph, behind those of none.
  problem::Rule InOrderOfFile(problem::Rule rule) const {
    const auto subgraph_of = [this](int buffer) {
      return plan_.buffers[static_cast<size_t>(buffer)].subgraph;
    };
    std::stable_sort(rule.buffers.begin(), rule.buffers.end(),
                     [&](int a, int b) { return subgraph_of(a) < subgraph_of(b); });
    return rule;
  }

  const std::string& OperatorId(int op) const { return plan_.network.operators[static_cast<size_t>(op)].id; }
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
      } else if (!restrictions_alone) {
        json[part.name] = "all";
      }
    }
    return json;
  }

  Json BaselineToJson() const {
    Json ids = Json::array();
    for (const int op : plan_.baseline.do_not_fit) ids.push_back(OperatorId(op));
    Json json = Json::object();
    json["complete"] = plan_.baseline.complete;
    json["do_not_fit"] = ids;
    json["score"] = plan_.baseline.score;
    json["totals"] = MetricsToJson(plan_.baseline.totals);
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
    json["policies"] = {{"weights", WordFor(subgraph.weights, kWeightPolicyNames)},
                        {"in_place", subgraph.in_place},
                        {"halo", WordFor(subgraph.halo, kHaloNames)}};
    if (subgraph.depth > 0) json["policies"]["depth"] = subgraph.depth;
    if (subgraph.prefetch) json["policies"]["prefetch"] = true;
    json["largest_proven"] = subgraph.largest_proven;
    json["metrics"] = MetricsToJson(subgraph.metrics);
    if (!subgraph.rejected.empty()) json["rejected"] = RejectionsToJson(subgraph, plan_.network);
    const auto mine = [index](const StepUse& step) { return step.subgraph == index; };
    json["first_step"] = std::find_if(plan_.steps.begin(), plan_.steps.end(), mine) - plan_.steps.begin();
    json["steps"] = Json::array();
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      if (mine(plan_.steps[i])) json["steps"].push_back(StepToJson(i));
    }
    json["buffers"] = BuffersToJson(index);
    return json;
  }

  Json StepToJson(size_t index) const {
    const StepUse& step = plan_.steps[index];
    Json json = Json::object();
    json["kind"] = WordFor(step.kind, kStepKindNames);
    json["parity"] = step.parity;
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

  // Of one subgraph; -1: of none.
  Json BuffersToJson(int subgraph) const {
    Json json = Json::array();
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      if (plan_.buffers[i].subgraph == subgraph) json.push_back(BufferToJson(i));
    }
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
    if (use.parity != 0) json["parity"] = use.parity;
    if (use.slot != 0) json["slot"] = use.slot;
    json["memory"] = memory_.name;
    json["offset"] = offset;
    json["size"] = buffer.size;
    json["alignment"] = buffer.alignment;
    json["span"] = WordFor(buffer.span, kSpanNames);
    json["banks"] = BanksTouched(offset, offset + buffer.size);
    if (!buffer.allowed_banks.empty()) json["allowed_banks"] = buffer.allowed_banks;
    if (buffer.offset) json["fixed"] = *buffer.offset;
    if (buffer.hint) json["hint"] = *buffer.hint;
    json["lifespans"] = Json::array();
    for (const problem::Lifespan& life : buffer.lifespans)
      json["lifespans"].push_back({life.lower, life.upper});
    json["accesses"] = Json::array();
    for (const problem::Access& access : buffer.accesses) {
      json["accesses"].push_back({access.step, access.engine, WordFor(access.kind, kAccessKindNames)});
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
      entry["kind"] = WordFor(relation.kind, kRelationKindNames);
      entry["first"] = BufferId(relation.first);
      entry["second"] = BufferId(relation.second);
      if (relation.delta != 0) entry["delta"] = relation.delta;
      json.push_back(std::move(entry));
    }
    return json;
  }

  const Plan& plan_;
  const hw_profiles::Memory& memory_;
  const problem::Step first_scheduled_;  // the step of the first entry of a mode schedule
};

}  // namespace

std::string WritePlanJson(const Plan& plan, std::optional<double> time_ms) {
  return base::WriteJson(PlanWriter(plan).Run(time_ms));
}

}  // namespace tessera::plan
