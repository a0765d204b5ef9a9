// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/base/json_document.h"
#include "tessera/plan/files/json_sections.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::files {

namespace {

using base::JsonObject;
using base::JsonValue;
using base::Presence;
using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 2> kPartitionNames = {"given", "searched"};
constexpr std::array<std::string_view, 2> kOrderNames = {"given", "search"};
constexpr base::IntegerRange kWork = {0, std::numeric_limits<int64_t>::max()};
constexpr base::IntegerRange kOperators = {1, std::numeric_limits<int32_t>::max()};

std::vector<std::string> ReadWords(const std::vector<JsonValue>& values) {
  std::vector<std::string> words;
  words.reserve(values.size());
  for (const JsonValue& value : values) words.push_back(value.String());
  return words;
}

std::vector<int> ReadOrder(const JsonValue& value, const graph::Graph& network) {
  std::vector<int> order;
  for (const JsonValue& id : value.Items()) {
    const std::optional<int> op = graph::FindOperator(network, id.String());
    if (!op) id.Refuse(fmt::format("there is no operator '{}'", id.String()));
    order.push_back(op.value_or(0));
  }
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  const bool each_once = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  if (!each_once || order.size() != network.operators.size())
    value.Refuse("this is no order of the operators", "each operator of the network once");
  return order;
}

std::shared_ptr<const Plan> ReadBefore(const JsonValue& value) {
  base::Expected<Plan> plan = ReadPlanJson(value.Text(), "");
  if (plan) {
    if (plan->digest != DigestOf(*plan))
      value.Refuse("the older plan is not what it was", DigestOf(*plan));
    return std::make_shared<const Plan>(*std::move(plan));
  }
  value.Refuse(fmt::format("the embedded older plan is refused: {}", plan.error().message),
               plan.error().expected, plan.error().hint);
  return nullptr;
}

}  // namespace

Json RunToJson(const Plan& plan) {
  const Run& run = plan.run;
  Json json = Json::object();
  json["partition"] = WordFor(run.searched ? 1 : 0, kPartitionNames);
  json["engines"] = run.engines;
  if (!run.switched_off.empty()) json["switched_off"] = run.switched_off;
  json["budget"] = run.budget;
  json["cut_off"] = run.cut_off;
  if (!run.searched) return json;
  json["order"] = WordFor(run.searches_order ? 1 : 0, kOrderNames);
  if (run.max_operators) json["max_operators"] = *run.max_operators;
  json["effort"] = run.effort;
  if (run.most_work) json["most_work"] = *run.most_work;
  json["keep_boundaries"] = run.keeps_boundaries;
  json["prefetch"] = run.prefetches;
  if (run.off_chip != OffChip::kWhole) json["off_chip"] = WordFor(run.off_chip, kOffChipNames);
  for (const int op : run.file_order)
    json["file_order"].push_back(plan.network.operators[static_cast<size_t>(op)].id);
  if (run.before) {
    base::Expected<Json> before = base::ParseJson(WritePlanJson(*run.before), "");
    if (before) json["before"] = *std::move(before);
  }
  return json;
}

Run ReadRun(const JsonValue& value, const Plan& plan) {
  JsonObject object = value.Object();
  Run run;
  run.searched = object.OneOf("partition", kPartitionNames) == 1;
  run.engines = ReadWords(object.Items("engines"));
  run.switched_off = ReadWords(object.Items("switched_off", Presence::kOptional));
  run.budget = object.Integer("budget", kWork);
  run.cut_off = object.Required("cut_off").Boolean();
  if (!run.searched) return run;
  run.searches_order = object.OneOf("order", kOrderNames) == 1;
  if (const JsonValue most = object.Optional("max_operators"))
    run.max_operators = static_cast<int>(most.Integer(kOperators));
  run.effort = object.Integer("effort", kWork);
  if (const JsonValue most = object.Optional("most_work")) run.most_work = most.Integer(kWork);
  run.keeps_boundaries = object.Required("keep_boundaries").Boolean();
  run.prefetches = object.Required("prefetch").Boolean();
  run.off_chip = static_cast<OffChip>(object.OneOf("off_chip", kOffChipNames, 0));
  if (const JsonValue order = object.Optional("file_order"))
    run.file_order = ReadOrder(order, plan.network);
  if (const JsonValue before = object.Optional("before")) run.before = ReadBefore(before);
  return run;
}

namespace {

using Json = nlohmann::ordered_json;

constexpr base::IntegerRange kTileExtent = {1, base::kMaxTotal / 2};
constexpr base::IntegerRange kNeed = {0, base::kMaxTotal};
constexpr double kHighestScore = std::numeric_limits<double>::max();

Json RejectedAlternativeToJson(const RejectedAlternative& rejection, const Subgraph& subgraph,
                               const graph::Graph& network) {
  Json json = Json::object();
  if (rejection.interval.last > subgraph.interval.last)
    json["through"] = network.operators[static_cast<size_t>(rejection.interval.last)].id;
  if (!rejection.tile.empty()) {
    json["tile"] = rejection.tile;
    json["weights"] = hw_profiles::NameOf(rejection.weights);
    json["halo"] = hw_profiles::NameOf(rejection.halo);
    if (rejection.k_extent > 0) json["k_extent"] = rejection.k_extent;
    if (rejection.serialized) json["serialized"] = true;
  }
  json["cause"] = WordFor(rejection.cause, kRejectionCauseNames);
  if (rejection.score) json["score"] = *rejection.score;
  json["taken"] = rejection.taken;
  if (rejection.needs_bytes > 0) json["needs_bytes"] = rejection.needs_bytes;
  return json;
}

int LastOf(const base::JsonValue& through, const Subgraph& subgraph, const graph::Graph& network) {
  const std::string id = through.String();
  const std::optional<int> op = graph::FindOperator(network, id);
  if (op && *op > subgraph.interval.last) return *op;
  through.Refuse(op ? fmt::format("operator '{}' is not behind the subgraph", id)
                    : fmt::format("there is no operator '{}'", id));
  return subgraph.interval.last;
}

RejectedAlternative ReadRejectedAlternative(const base::JsonValue& value, const Subgraph& subgraph,
                                            const graph::Graph& network) {
  base::JsonObject object = value.Object();
  RejectedAlternative rejection;
  rejection.interval = subgraph.interval;
  if (const base::JsonValue through = object.Optional("through"))
    rejection.interval.last = LastOf(through, subgraph, network);
  for (const base::JsonValue& extent : object.Items("tile", base::Presence::kOptional))
    rejection.tile.push_back(extent.Integer(kTileExtent));
  if (const base::JsonValue weights = object.Optional("weights"))
    rejection.weights =
        static_cast<hw_profiles::WeightPolicy>(weights.OneOf(hw_profiles::WeightPolicyNames()));
  if (const base::JsonValue halo = object.Optional("halo"))
    rejection.halo =
        static_cast<hw_profiles::HaloStorage>(halo.OneOf(hw_profiles::HaloStorageNames()));
  if (const base::JsonValue k_extent = object.Optional("k_extent"))
    rejection.k_extent = k_extent.Integer(kTileExtent);
  if (const base::JsonValue serialized = object.Optional("serialized"))
    rejection.serialized = serialized.Boolean();
  rejection.cause = static_cast<RejectionCause>(object.OneOf("cause", kRejectionCauseNames));
  if (const base::JsonValue score = object.Optional("score"))
    rejection.score = score.Number(0, kHighestScore);
  rejection.taken = object.Number("taken", 0, kHighestScore);
  rejection.needs_bytes = object.Integer("needs_bytes", kNeed, 0);
  return rejection;
}

}  // namespace

Json RejectedAlternativesToJson(const Subgraph& subgraph, const graph::Graph& network) {
  Json json = Json::array();
  for (const RejectedAlternative& rejection : subgraph.rejected_alternatives)
    json.push_back(RejectedAlternativeToJson(rejection, subgraph, network));
  return json;
}

std::vector<RejectedAlternative> ReadRejectedAlternatives(
    const std::vector<base::JsonValue>& values, const Subgraph& subgraph,
    const graph::Graph& network) {
  std::vector<RejectedAlternative> rejections;
  rejections.reserve(values.size());
  for (const base::JsonValue& value : values)
    rejections.push_back(ReadRejectedAlternative(value, subgraph, network));
  return rejections;
}

}  // namespace tessera::plan::files
