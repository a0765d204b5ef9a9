// SPDX-License-Identifier: Apache-2.0

#include "tessera/report/html_report.h"

#include <fmt/core.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tessera/base/text.h"
#include "tessera/graph/regions.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/tile_table.h"
#include "tessera/report/plan_text.h"

// The page consists of a template, a style sheet and a script, which are files of the project in
// page/. The plan occurs in it once, as JSON that the script draws from. Only the title is written
// as markup.
namespace tessera::report {
namespace {

// Returns JSON for a script element: text that could end the element, or begin markup, is escaped
// as JSON allows. Bytes that are not UTF-8 become U+FFFD.
std::string AsScriptData(const nlohmann::ordered_json& value) {
  const std::string json =
      value.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  std::string escaped;
  escaped.reserve(json.size());
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      escaped += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string WriteReport(const plan::Plan& plan, const plan::TimelineSource& timeline_of) {
  std::string page;
  std::string_view rest = report::PageTemplate();
  const auto put = [&](std::string_view mark, std::string_view content) {
    const size_t at = rest.find(mark);
    page += rest.substr(0, at);
    page += content;
    rest.remove_prefix(at + mark.size());
  };
  put("{{title}}", base::EscapeMarkup(plan.network.name + " on " + plan.profile.name));
  put("{{style}}", report::StyleSheet());
  put("{{data}}", AsScriptData(report::DataOf(plan, timeline_of)));
  put("{{script}}", report::Script());
  page += rest;
  return page;
}

namespace {

using Json = nlohmann::ordered_json;

Json AsData(const plan::Metrics& metrics) {
  Json data;
  for (const plan::Metric& metric : plan::kMetrics)
    data[std::string(metric.name)] = ValueOf(metrics, metric);
  data["energy_by_part"] = metrics.energy_by_part;
  data["off_chip_by_cause"] = metrics.off_chip_by_cause;
  data["exposed_cycles"] = metrics.exposed_cycles;
  data["recomputed_macs"] = metrics.recomputed_macs;
  data["unknown_work"] = metrics.unknown_work;
  data["peak_bytes_per_cycle"] = metrics.peak_bytes_per_cycle;
  data["bound_by"] = metrics.bound_by;
  return data;
}

Json AsData(const graph::Graph& network, const graph::Operator& op) {
  Json data;
  data["id"] = op.id;
  data["kind"] = NameOf(op.kind);
  data["inputs"] = op.inputs;
  data["weights"] = op.weights;
  data["outputs"] = op.outputs;
  if (!graph::HasUnknownWork(op)) data["macs"] = graph::MacsOf(network, op);
  return data;
}

std::string_view RoleOf(const graph::Tensor& tensor) {
  if (tensor.constant) return "constant";
  if (tensor.state) return "state";
  if (tensor.network_input) return "network input";
  if (tensor.next_of >= 0) return "next value of a state";
  return tensor.network_output ? "network output" : "feature";
}

Json AsData(const graph::Tensor& tensor) {
  Json data;
  data["id"] = tensor.id;
  data["shape"] = tensor.shape;
  data["type"] = NameOf(tensor.type);
  data["role"] = RoleOf(tensor);
  data["bytes"] = base::BytesOf(tensor.type, graph::ElementsOf(tensor.shape));
  return data;
}

Json AsData(const plan::RejectedAlternative& rejection) {
  Json data;
  data["last"] = rejection.interval.last;
  data["tile"] = rejection.tile;
  data["weights"] = NameOf(rejection.weights);
  data["halo"] = NameOf(rejection.halo);
  if (rejection.k_extent > 0) data["k_extent"] = rejection.k_extent;
  if (rejection.serialized) data["serialized"] = true;
  data["cause"] = WordFor(rejection.cause, plan::kRejectionCauseNames);
  if (rejection.score) data["score"] = *rejection.score;
  data["taken"] = rejection.taken;
  data["needs_bytes"] = rejection.needs_bytes;
  return data;
}

Json AsData(const plan::Subgraph& subgraph) {
  Json data;
  data["first"] = subgraph.interval.first;
  data["last"] = subgraph.interval.last;
  data["tile"] = subgraph.tile;
  data["tiles"] = subgraph.tiles;
  data["weights"] = NameOf(subgraph.weights);
  if (subgraph.k_extent > 0) data["k_extent"] = subgraph.k_extent;
  data["in_place"] = subgraph.in_place;
  data["halo"] = NameOf(subgraph.halo);
  if (subgraph.serialized) data["serialized"] = true;
  if (subgraph.second_stage > 0)
    data["second_stage"] = subgraph.interval.first + subgraph.second_stage;
  if (!subgraph.prefetch.empty()) data["prefetch"] = subgraph.prefetch;
  data["largest_proven"] = subgraph.largest_proven;
  data["metrics"] = AsData(subgraph.metrics);
  data["rejected_alternatives"] = Json::array();
  for (const plan::RejectedAlternative& rejection : subgraph.rejected_alternatives)
    data["rejected_alternatives"].push_back(AsData(rejection));
  return data;
}

Json HostAsData(const plan::Plan& plan) {
  const plan::verify::HostShare share = plan::verify::HostShareOf(plan);
  Json data = {{"macs", share.macs}, {"all_macs", share.all_macs}, {"operators", Json::array()}};
  for (const plan::verify::HostedOperator& hosted : share.operators)
    data["operators"].push_back({{"op", hosted.op}, {"reason", hosted.reason}});
  return data;
}

}  // namespace

Json DataOf(const plan::Plan& plan, const plan::TimelineSource& timeline_of) {
  Json data;
  data["network"] = plan.network.name;
  data["profile"] = plan.profile.name;
  data["clock_hz"] = plan.profile.clock_hz;
  data["version"] = plan.version;
  data["seed"] = plan.seed;
  data["status"] = plan.status;
  data["score"] = plan.score;
  data["metrics"] = Json::array();
  for (const plan::Metric& metric : plan::kMetrics) {
    data["metrics"].push_back({{"key", metric.name},
                               {"title", metric.title},
                               {"unit", metric.unit},
                               {"counts_work", metric.counts_work},
                               {"grows_with_work", GrowsWithWork(metric)},
                               {"is_of_front", metric.is_of_front}});
  }
  data["objective"] = {{"weights", plan.objective.weights}, {"limits", plan.objective.limits}};
  data["constraints"] = Json::array();
  for (const plan::PlanConstraint& constraint : plan.constraints)
    data["constraints"].push_back(plan::Describe(plan.network, constraint));
  data["notes"] = plan.notes;
  if (std::string error = DescribeKnownError(plan); !error.empty())
    data["notes"].push_back(std::move(error));
  for (const std::string& sentence : plan::DescribeProof(plan))
    data["notes"].push_back("proof: " + sentence);
  data["kept"] = plan.kept;
  data["peaks_at_home"] = DescribePeaksAtHome(plan);
  data["host"] = HostAsData(plan);
  data["totals"] = AsData(plan.totals);
  for (const plan::Metric& metric : plan::kMetrics) {
    data["lower_bounds"][std::string(metric.name)] =
        LowerBoundOf(plan.lower_bounds, metric, plan.objective.limits);
  }
  data["profile_totals"] = Json::array();
  for (const hw_profiles::ProfileTotal& total : hw_profiles::kProfileTotals) {
    const auto stated = plan.profile_totals.find(std::string(total.key));
    if (stated == plan.profile_totals.end()) continue;
    data["profile_totals"].push_back(
        {{"title", total.title}, {"unit", total.unit}, {"value", stated->second}});
  }
  if (plan.baseline) {
    data["baseline"] = {{"complete", plan.baseline->complete},
                        {"do_not_fit", plan.baseline->do_not_fit},
                        {"totals", AsData(plan.baseline->totals)}};
  }
  for (const char* list : {"operators", "tensors", "subgraphs"}) data[list] = Json::array();
  for (const graph::Operator& op : plan.network.operators)
    data["operators"].push_back(AsData(plan.network, op));
  for (const graph::Tensor& tensor : plan.network.tensors)
    data["tensors"].push_back(AsData(tensor));
  for (const plan::Subgraph& subgraph : plan.subgraphs)
    data["subgraphs"].push_back(AsData(subgraph));
  AddMemory(plan, data);
  AddHomes(plan, data);
  AddTimelines(plan, timeline_of, data);
  return data;
}

namespace {

using Json = nlohmann::ordered_json;

// Returns "pe.read dma.write", "read" for every engine, or "off".
std::string TextOf(const problem::BankMode& bank) {
  if (bank.off) return "off";
  std::string text;
  for (const problem::Permission& permission : bank.allowed) {
    if (!text.empty()) text += ' ';
    if (!permission.engine.empty()) text += permission.engine + '.';
    text += permission.kind == problem::AccessKind::kRead ? "read" : "write";
  }
  return text.empty() ? "hold" : text;
}

// Adds to each bank of a set the key of the set and the names of its banks.
void AddBankSets(const problem::Memory& memory, Json& banks) {
  for (const auto& [key, sets] : memory.bank_sets) {
    for (const std::vector<int>& set : sets) {
      std::vector<std::string_view> names;
      names.reserve(set.size());
      for (const int bank : set) names.emplace_back(memory.banks[static_cast<size_t>(bank)].name);
      for (const int bank : set)
        banks[static_cast<size_t>(bank)]["sets"].push_back({key, base::Join(names)});
    }
  }
}

Json AsData(const problem::Memory& memory) {
  Json data;
  data["name"] = memory.name;
  data["capacity"] = memory.capacity;
  for (const char* list : {"banks", "modes", "reserved"}) data[list] = Json::array();
  for (const problem::Bank& bank : memory.banks)
    data["banks"].push_back(
        {{"name", bank.name}, {"begin", bank.range.begin}, {"end", bank.range.end}});
  AddBankSets(memory, data["banks"]);
  for (const problem::Mode& mode : memory.modes) {
    Json banks = Json::array();
    for (const problem::BankMode& bank : mode.banks) banks.push_back(TextOf(bank));
    data["modes"].push_back({{"name", mode.name}, {"banks", std::move(banks)}});
  }
  for (const problem::Reserved& reserved : memory.reserved) {
    data["reserved"].push_back({{"begin", reserved.range.begin},
                                {"end", reserved.range.end},
                                {"reason", reserved.reason}});
  }
  return data;
}

Json AsData(const plan::StepUse& step) {
  static constexpr std::array<std::string_view, 6> kKinds = {"prologue", "load",     "compute",
                                                             "store",    "epilogue", "copy"};
  Json data;
  data["kind"] = kKinds[static_cast<size_t>(step.kind)];
  data["subgraph"] = step.subgraph;
  data["phase"] = step.phase;
  data["op"] = step.op;
  data["transfers"] = step.transfers;
  return data;
}

Json AsData(const problem::Buffer& buffer, const plan::BufferUse& use, problem::Bytes offset) {
  Json data;
  data["id"] = buffer.id;
  data["role"] = buffer.role;
  data["size"] = buffer.size;
  data["offset"] = offset;
  data["memory"] = buffer.memory;
  data["subgraph"] = use.subgraph;
  data["tensor"] = use.tensor;
  data["op"] = use.op;
  data["lives"] = Json::array();
  for (const problem::Lifespan& life : buffer.lifespans)
    data["lives"].push_back({life.lower, life.upper});
  data["accesses"] = Json::array();
  for (const problem::Access& access : buffer.accesses) {
    data["accesses"].push_back(
        {access.step, access.engine, access.kind == problem::AccessKind::kRead ? "read" : "write"});
  }
  return data;
}

}  // namespace

void AddMemory(const plan::Plan& plan, Json& data) {
  for (const char* list : {"memories", "loops", "steps", "buffers", "schedules"})
    data[list] = Json::array();
  for (const problem::Memory& memory : plan.problem.memories)
    data["memories"].push_back(AsData(memory));
  for (const problem::Loop& loop : plan.problem.loops)
    data["loops"].push_back({loop.begin, loop.end});
  for (const plan::StepUse& step : plan.steps) data["steps"].push_back(AsData(step));
  for (size_t i = 0; i < plan.problem.buffers.size(); ++i) {
    data["buffers"].push_back(
        AsData(plan.problem.buffers[i], plan.buffers[i], plan.allocation.offsets[i]));
  }
  for (const problem::ModeSchedule& schedule : plan.allocation.modes)
    data["schedules"].push_back(schedule);
}

namespace {

using Json = nlohmann::ordered_json;

// Enough to see how a loop begins, goes on and ends.
constexpr int64_t kTilesShown = 6;

constexpr std::array<std::string_view, 4> kFlows = {"compute", "in", "out", "both"};
constexpr std::array<std::string_view, 8> kActivities = {"compute", "load",   "store", "constants",
                                                         "slices",  "direct", "copy",  "prefetch"};

Json AsData(const plan::Activity& activity) {
  return {activity.begin,  activity.end,
          activity.track,  kActivities[static_cast<size_t>(activity.kind)],
          activity.tile,   activity.op,
          activity.tensor, activity.bytes};
}

Json AsData(const plan::SubgraphTimeline& timeline) {
  Json data;
  data["cycles"] = timeline.cycles;
  data["busy"] = timeline.busy;
  data["activities"] = Json::array();
  for (const plan::Activity& activity : timeline.activities)
    data["activities"].push_back(AsData(activity));
  data["omissions"] = Json::array();
  for (const plan::Omission& omission : timeline.omissions) {
    data["omissions"].push_back({{"first", omission.first},
                                 {"count", omission.count},
                                 {"begin", omission.begin},
                                 {"end", omission.end}});
  }
  return data;
}

}  // namespace

void AddTimelines(const plan::Plan& plan, const plan::TimelineSource& timeline_of, Json& data) {
  data["tracks"] = Json::array();
  data["timelines"] = Json::array();
  for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
    const plan::SubgraphTimeline timeline = timeline_of(plan, i, kTilesShown);
    if (i == 0) {
      for (const plan::Track& track : timeline.tracks)
        data["tracks"].push_back(
            {{"name", track.name}, {"flow", kFlows[static_cast<size_t>(track.flow)]}});
    }
    data["timelines"].push_back(AsData(timeline));
  }
}

}  // namespace tessera::report
