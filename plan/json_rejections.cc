#include "tessera/plan/json_rejections.h"

#include <fmt/core.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "tessera/base/checked.h"
#include "tessera/plan/names.h"

namespace tessera::plan {
namespace {

using Json = nlohmann::ordered_json;

constexpr base::IntegerRange kTileExtent = {1, base::kMaxTotal / 2};
constexpr base::IntegerRange kNeed = {0, base::kMaxTotal};
constexpr double kHighestScore = std::numeric_limits<double>::max();

Json RejectionToJson(const Rejection& rejection, const Subgraph& subgraph, const graph::Graph& network) {
  Json json = Json::object();
  if (rejection.interval.last > subgraph.interval.last)
    json["through"] = network.operators[static_cast<size_t>(rejection.interval.last)].id;
  if (!rejection.tile.empty()) {
    json["tile"] = rejection.tile;
    json["weights"] = WordFor(rejection.weights, kWeightPolicyNames);
    json["halo"] = WordFor(rejection.halo, kHaloNames);
    if (rejection.depth > 0) json["depth"] = rejection.depth;
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

Rejection ReadRejection(const base::JsonValue& value, const Subgraph& subgraph, const graph::Graph& network) {
  base::JsonObject object = value.Object();
  Rejection rejection;
  rejection.interval = subgraph.interval;
  if (const base::JsonValue through = object.Optional("through"))
    rejection.interval.last = LastOf(through, subgraph, network);
  for (const base::JsonValue& extent : object.Items("tile", base::Presence::kOptional))
    rejection.tile.push_back(extent.Integer(kTileExtent));
  if (const base::JsonValue weights = object.Optional("weights"))
    rejection.weights = static_cast<hw_profiles::WeightPolicy>(weights.OneOf(kWeightPolicyNames));
  if (const base::JsonValue halo = object.Optional("halo"))
    rejection.halo = static_cast<hw_profiles::HaloStorage>(halo.OneOf(kHaloNames));
  if (const base::JsonValue depth = object.Optional("depth")) rejection.depth = depth.Integer(kTileExtent);
  rejection.cause = static_cast<RejectionCause>(object.OneOf("cause", kRejectionCauseNames));
  if (const base::JsonValue score = object.Optional("score"))
    rejection.score = score.Number(0, kHighestScore);
  rejection.taken = object.Number("taken", 0, kHighestScore);
  rejection.needs_bytes = object.Integer("needs_bytes", kNeed, 0);
  return rejection;
}

}  // namespace

Json RejectionsToJson(const Subgraph& subgraph, const graph::Graph& network) {
  Json json = Json::array();
  for (const Rejection& rejection : subgraph.rejected)
    json.push_back(RejectionToJson(rejection, subgraph, network));
  return json;
}

std::vector<Rejection> ReadRejections(const std::vector<base::JsonValue>& values, const Subgraph& subgraph,
                                      const graph::Graph& network) {
  std::vector<Rejection> rejections;
  rejections.reserve(values.size());
  for (const base::JsonValue& value : values) rejections.push_back(ReadRejection(value, subgraph, network));
  return rejections;
}

}  // namespace tessera::plan
