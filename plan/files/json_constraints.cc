// SPDX-License-Identifier: Apache-2.0

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

constexpr base::IntegerRange kRequiredExtent = {1, base::kMaxTotal / 2};
constexpr base::IntegerRange kRequiredOffset = {0, base::kMaxTotal / 2};

class ConstraintWriter {
 public:
  explicit ConstraintWriter(const graph::Graph& network) : network_(network) {}

  Json Run(const std::vector<PlanConstraint>& constraints) const {
    Json json = {{"schema", 1}};
    for (const PlanConstraint& constraint : constraints) Add(constraint, json);
    return json;
  }

 private:
  void Add(const PlanConstraint& constraint, Json& json) const {
    switch (constraint.kind) {
      case PlanConstraintKind::kTogether:
        return json["together"].push_back(Operators(constraint.interval));
      case PlanConstraintKind::kApart:
        return json["apart"].push_back(Operator(constraint.interval.first));
      case PlanConstraintKind::kSubgraph:
        return json["subgraphs"].push_back(SubgraphOf(constraint));
      case PlanConstraintKind::kKeep:
        return json["keep"].push_back(Tensor(constraint.tensor));
      case PlanConstraintKind::kSpill:
        return json["spill"].push_back(Tensor(constraint.tensor));
      case PlanConstraintKind::kAddress:
        return json["addresses"].push_back({{"tensor", Tensor(constraint.tensor)},
                                            {"memory", constraint.memory},
                                            {"offset", constraint.offset}});
    }
  }

  const std::string& Operator(int op) const {
    return network_.operators[static_cast<size_t>(op)].id;
  }
  const std::string& Tensor(int tensor) const {
    return network_.tensors[static_cast<size_t>(tensor)].id;
  }

  // The first and the last operator of the interval; they may be the same.
  Json Operators(graph::Interval interval) const {
    Json json = Json::array({Operator(interval.first)});
    if (interval.last > interval.first) json.push_back(Operator(interval.last));
    return json;
  }

  Json SubgraphOf(const PlanConstraint& constraint) const {
    const TileConfigConstraint& config = constraint.config;
    Json json = {{"operators", Operators(constraint.interval)}};
    if (config.tile) json["tile"] = *config.tile;
    if (config.weights) json["weights"] = hw_profiles::NameOf(*config.weights);
    if (config.in_place) json["in_place"] = *config.in_place;
    if (config.serialized) json["serialized"] = *config.serialized;
    if (config.halo) json["halo"] = hw_profiles::NameOf(*config.halo);
    if (!config.addresses.empty()) json["addresses"] = config.addresses;
    return json;
  }

  const graph::Graph& network_;
};

class ConstraintReader {
 public:
  explicit ConstraintReader(const Plan& plan) : plan_(plan) {}

  std::vector<PlanConstraint> Run(const JsonValue& value) {
    JsonObject object = value.Object();
    object.Integer("schema", {1, 1});
    for (const JsonValue& operators : object.Items("together", Presence::kOptional))
      Add(PlanConstraintKind::kTogether).interval = IntervalOf(operators);
    for (const JsonValue& id : object.Items("apart", Presence::kOptional)) {
      const int op = OperatorOf(id);
      Add(PlanConstraintKind::kApart).interval = {op, op};
    }
    for (const JsonValue& entry : object.Items("subgraphs", Presence::kOptional))
      ReadSubgraph(entry);
    for (const JsonValue& id : object.Items("keep", Presence::kOptional))
      Add(PlanConstraintKind::kKeep).tensor = TensorOf(id);
    for (const JsonValue& id : object.Items("spill", Presence::kOptional))
      Add(PlanConstraintKind::kSpill).tensor = TensorOf(id);
    for (const JsonValue& entry : object.Items("addresses", Presence::kOptional))
      ReadAddress(entry);
    return std::move(constraints_);
  }

 private:
  PlanConstraint& Add(PlanConstraintKind kind) {
    constraints_.emplace_back();
    constraints_.back().kind = kind;
    return constraints_.back();
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

  // The first operator and, if there are several, the last.
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
    PlanConstraint& constraint = Add(PlanConstraintKind::kSubgraph);
    if (const JsonValue operators = object.Required("operators"))
      constraint.interval = IntervalOf(operators);
    TileConfigConstraint& config = constraint.config;
    if (const JsonValue tile = object.Optional("tile")) {
      config.tile.emplace();
      for (const JsonValue& extent : tile.Items())
        config.tile->push_back(extent.Integer(kRequiredExtent));
    }
    if (const JsonValue weights = object.Optional("weights"))
      config.weights =
          static_cast<hw_profiles::WeightPolicy>(weights.OneOf(hw_profiles::WeightPolicyNames()));
    if (const JsonValue in_place = object.Optional("in_place"))
      config.in_place = in_place.Boolean();
    if (const JsonValue serialized = object.Optional("serialized"))
      config.serialized = serialized.Boolean();
    if (const JsonValue halo = object.Optional("halo"))
      config.halo =
          static_cast<hw_profiles::HaloStorage>(halo.OneOf(hw_profiles::HaloStorageNames()));
    if (const JsonValue addresses = object.Optional("addresses")) {
      JsonObject entries = addresses.Object();
      for (const auto& [id, offset] : entries.Members())
        config.addresses.emplace(id, offset.Integer(kRequiredOffset));
    }
  }

  void ReadAddress(const JsonValue& value) {
    JsonObject object = value.Object();
    PlanConstraint& constraint = Add(PlanConstraintKind::kAddress);
    if (const JsonValue tensor = object.Required("tensor")) constraint.tensor = TensorOf(tensor);
    std::vector<std::string_view> memories;
    for (const hw_profiles::Memory& memory : plan_.profile.memories)
      memories.push_back(memory.name);
    constraint.memory = memories[object.OneOf("memory", memories)];
    constraint.offset = object.Integer("offset", kRequiredOffset);
  }

  const Plan& plan_;
  std::vector<PlanConstraint> constraints_;
};

}  // namespace

Json ConstraintsToJson(const Plan& plan) {
  return ConstraintWriter(plan.network).Run(plan.constraints);
}

std::vector<PlanConstraint> ReadConstraints(const JsonValue& value, const Plan& plan) {
  return ConstraintReader(plan).Run(value);
}

}  // namespace tessera::plan::files
