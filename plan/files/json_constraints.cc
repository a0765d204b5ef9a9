#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/files/json_sections.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::files {
namespace {

using base::JsonObject;
using base::JsonValue;
using base::Presence;
using Json = nlohmann::ordered_json;

constexpr base::IntegerRange kDemandedExtent = {1, base::kMaxTotal / 2};
constexpr base::IntegerRange kDemandedOffset = {0, base::kMaxTotal / 2};

class DemandWriter {
 public:
  explicit DemandWriter(const graph::Graph& network) : network_(network) {}

  Json Run(const std::vector<Demand>& demands) const {
    Json json = {{"schema", 1}};
    for (const Demand& demand : demands) Add(demand, json);
    return json;
  }

 private:
  void Add(const Demand& demand, Json& json) const {
    switch (demand.kind) {
      case DemandKind::kTogether:
        return json["together"].push_back(Operators(demand.interval));
      case DemandKind::kApart:
        return json["apart"].push_back(Operator(demand.interval.first));
      case DemandKind::kSubgraph:
        return json["subgraphs"].push_back(SubgraphOf(demand));
      case DemandKind::kKeep:
        return json["keep"].push_back(Tensor(demand.tensor));
      case DemandKind::kSpill:
        return json["spill"].push_back(Tensor(demand.tensor));
      case DemandKind::kAddress:
        return json["addresses"].push_back(
            {{"tensor", Tensor(demand.tensor)}, {"memory", demand.memory}, {"offset", demand.offset}});
    }
  }

  const std::string& Operator(int op) const { return network_.operators[static_cast<size_t>(op)].id; }
  const std::string& Tensor(int tensor) const { return network_.tensors[static_cast<size_t>(tensor)].id; }

  // The first and the last, which need not be two.
  Json Operators(graph::Interval interval) const {
    Json json = Json::array({Operator(interval.first)});
    if (interval.last > interval.first) json.push_back(Operator(interval.last));
    return json;
  }

  Json SubgraphOf(const Demand& demand) const {
    const WayDemand& way = demand.way;
    Json json = {{"operators", Operators(demand.interval)}};
    if (way.tile) json["tile"] = *way.tile;
    if (way.weights) json["weights"] = WordFor(*way.weights, kWeightPolicyNames);
    if (way.in_place) json["in_place"] = *way.in_place;
    if (way.halo) json["halo"] = WordFor(*way.halo, kHaloNames);
    if (!way.addresses.empty()) json["addresses"] = way.addresses;
    return json;
  }

  const graph::Graph& network_;
};

class DemandReader {
 public:
  explicit DemandReader(const Plan& plan) : plan_(plan) {}

  std::vector<Demand> Run(const JsonValue& value) {
    JsonObject object = value.Object();
    object.Integer("schema", {1, 1});
    for (const JsonValue& operators : object.Items("together", Presence::kOptional))
      Add(DemandKind::kTogether).interval = IntervalOf(operators);
    for (const JsonValue& id : object.Items("apart", Presence::kOptional)) {
      const int op = OperatorOf(id);
      Add(DemandKind::kApart).interval = {op, op};
    }
    for (const JsonValue& entry : object.Items("subgraphs", Presence::kOptional)) ReadSubgraph(entry);
    for (const JsonValue& id : object.Items("keep", Presence::kOptional))
      Add(DemandKind::kKeep).tensor = TensorOf(id);
    for (const JsonValue& id : object.Items("spill", Presence::kOptional))
      Add(DemandKind::kSpill).tensor = TensorOf(id);
    for (const JsonValue& entry : object.Items("addresses", Presence::kOptional)) ReadAddress(entry);
    return std::move(demands_);
  }

 private:
  Demand& Add(DemandKind kind) {
    demands_.emplace_back();
    demands_.back().kind = kind;
    return demands_.back();
  }

  int OperatorOf(const JsonValue& id) const {
    const std::optional<int> op = graph::FindOperator(plan_.network, id.String());
    if (!op) id.Refuse(fmt::format("there is no operator '{}'", id.String()));
    return op.value_or(0);
  }

  int TensorOf(const JsonValue& id) const {
    const std::optional<int> tensor = graph::FindTensor(plan_.network, id.String());
    if (!tensor) id.Refuse(fmt::format("there is no tensor '{}'", id.String()));
    return tensor.value_or(0);
  }

  // The first operator and, where there are several, the last.
  graph::Interval IntervalOf(const JsonValue& list) const {
    std::vector<int> operators;
    for (const JsonValue& id : list.Items()) operators.push_back(OperatorOf(id));
    if (operators.size() == 1) return {operators.front(), operators.front()};
    if (operators.size() == 2 && operators.front() < operators.back())
      return {operators.front(), operators.back()};
    list.Refuse("these are no operators from a first to a last",
                "one operator, or two of which the second runs behind the first");
    return {};
  }

  void ReadSubgraph(const JsonValue& value) {
    JsonObject object = value.Object();
    Demand& demand = Add(DemandKind::kSubgraph);
    if (const JsonValue operators = object.Required("operators")) demand.interval = IntervalOf(operators);
    WayDemand& way = demand.way;
    if (const JsonValue tile = object.Optional("tile")) {
      way.tile.emplace();
      for (const JsonValue& extent : tile.Items()) way.tile->push_back(extent.Integer(kDemandedExtent));
    }
    if (const JsonValue weights = object.Optional("weights"))
      way.weights = static_cast<hw_profiles::WeightPolicy>(weights.OneOf(kWeightPolicyNames));
    if (const JsonValue in_place = object.Optional("in_place")) way.in_place = in_place.Boolean();
    if (const JsonValue halo = object.Optional("halo"))
      way.halo = static_cast<hw_profiles::HaloStorage>(halo.OneOf(kHaloNames));
    if (const JsonValue addresses = object.Optional("addresses")) {
      JsonObject entries = addresses.Object();
      for (const auto& [id, offset] : entries.Members())
        way.addresses.emplace(id, offset.Integer(kDemandedOffset));
    }
  }

  void ReadAddress(const JsonValue& value) {
    JsonObject object = value.Object();
    Demand& demand = Add(DemandKind::kAddress);
    if (const JsonValue tensor = object.Required("tensor")) demand.tensor = TensorOf(tensor);
    std::vector<std::string_view> memories;
    for (const hw_profiles::Memory& memory : plan_.profile.memories) memories.push_back(memory.name);
    demand.memory = memories[object.OneOf("memory", memories)];
    demand.offset = object.Integer("offset", kDemandedOffset);
  }

  const Plan& plan_;
  std::vector<Demand> demands_;
};

}  // namespace

Json DemandsToJson(const Plan& plan) { return DemandWriter(plan.network).Run(plan.demands); }

std::vector<Demand> ReadDemands(const JsonValue& value, const Plan& plan) {
  return DemandReader(plan).Run(value);
}

}  // namespace tessera::plan::files
