// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/base/yaml_reader.h"
#include "tessera/search/partition/constraints/plan_constraints.h"

namespace tessera::search::partition::constraints {
namespace {

using base::YamlNode;

constexpr int64_t kMostExtent = int64_t{1} << 56;
constexpr int64_t kMostOffset = base::kMaxTotal / 2;

class ConstraintReader {
 public:
  ConstraintReader(base::YamlReader& reader, const graph::Graph& graph,
                   const hw_profiles::Profile& profile)
      : root_(reader.Root()), graph_(graph), profile_(profile) {}

  void Read() {
    root_.OnlyKeys({"schema", "together", "apart", "subgraphs", "keep", "spill", "addresses"});
    root_.At("schema").Integer(1, 1);
    for (const YamlNode& operators : Items("together"))
      Add({.kind = PlanConstraintKind::kTogether,
           .interval = Hull(operators),
           .config = {},
           .memory = {}},
          operators);
    for (const YamlNode& name : Items("apart")) {
      const int op = Operator(name);
      Add({.kind = PlanConstraintKind::kApart, .interval = {op, op}, .config = {}, .memory = {}},
          name);
    }
    for (const YamlNode& entry : Items("subgraphs")) ReadSubgraph(entry);
    for (const YamlNode& name : Items("keep"))
      Add({.kind = PlanConstraintKind::kKeep,
           .interval = {},
           .tensor = Tensor(name),
           .config = {},
           .memory = {}},
          name);
    for (const YamlNode& name : Items("spill"))
      Add({.kind = PlanConstraintKind::kSpill,
           .interval = {},
           .tensor = Tensor(name),
           .config = {},
           .memory = {}},
          name);
    for (const YamlNode& entry : Items("addresses")) ReadAddress(entry);
  }

  void ComplainOfFaults(std::optional<int> max_operators) const {
    const std::optional<ConstraintFault> fault =
        CheckWellFormed(graph_, profile_, constraints_, max_operators);
    if (fault) Complain(places_[fault->constraint], fault->diagnostic);
  }

  std::vector<PlanConstraint> Take() { return std::move(constraints_); }

 private:
  std::vector<YamlNode> Items(std::string_view key) const {
    const YamlNode list = root_.Maybe(key);
    return list ? list.Items() : std::vector<YamlNode>();
  }

  void Add(PlanConstraint constraint, const YamlNode& place) {
    constraints_.push_back(std::move(constraint));
    places_.push_back(place);
  }

  static void Complain(const YamlNode& place, const base::Diagnostic& fault) {
    place.Complain(fault.message, fault.expected, fault.hint);
  }

  // Returns the index; or complains and returns 0.
  static int Index(const YamlNode& place, const base::Expected<int>& found) {
    if (found) return *found;
    Complain(place, found.error());
    return 0;
  }

  int Operator(const YamlNode& name) const {
    return Index(name, LookUpOperator(graph_, name.Text()));
  }
  int Tensor(const YamlNode& name) const { return Index(name, LookUpTensor(graph_, name.Text())); }

  // Returns the interval from the first to the last of the operators in the list.
  graph::Interval Hull(const YamlNode& list) const {
    std::vector<int> operators;
    for (const YamlNode& name : list.Items()) operators.push_back(Operator(name));
    if (operators.empty()) {
      list.Complain("no operators", "at least one");
      return {};
    }
    const auto [least, most] = std::minmax_element(operators.begin(), operators.end());
    return {*least, *most};
  }

  void ReadSubgraph(const YamlNode& entry) {
    entry.OnlyKeys({"operators", "tile", "weights", "in_place", "halo", "serialized", "addresses"});
    const graph::Interval interval = Hull(entry.At("operators"));
    TileConfigConstraint config;
    if (const YamlNode tile = entry.Maybe("tile")) config.tile = tile.Integers(1, kMostExtent);
    if (const YamlNode weights = entry.Maybe("weights"))
      config.weights =
          static_cast<hw_profiles::WeightPolicy>(weights.OneOf(hw_profiles::WeightPolicyNames()));
    if (const YamlNode in_place = entry.Maybe("in_place")) config.in_place = in_place.Boolean();
    if (const YamlNode halo = entry.Maybe("halo"))
      config.halo =
          static_cast<hw_profiles::HaloStorage>(halo.OneOf(hw_profiles::HaloStorageNames()));
    if (const YamlNode serialized = entry.Maybe("serialized"))
      config.serialized = serialized.Boolean();
    if (const YamlNode addresses = entry.Maybe("addresses")) {
      for (const auto& [id, offset] : addresses.Entries())
        config.addresses.emplace(id, offset.Integer(0, kMostOffset));
    }
    Add({.kind = PlanConstraintKind::kSubgraph,
         .interval = interval,
         .config = std::move(config),
         .memory = {}},
        entry);
  }

  void ReadAddress(const YamlNode& entry) {
    entry.OnlyKeys({"tensor", "memory", "offset"});
    std::vector<std::string_view> memories;
    for (const hw_profiles::Memory& memory : profile_.memories) memories.push_back(memory.name);
    PlanConstraint constraint;
    constraint.kind = PlanConstraintKind::kAddress;
    constraint.tensor = Tensor(entry.At("tensor"));
    const size_t memory = entry.At("memory").OneOf(memories);
    constraint.memory = profile_.memories[memory].name;
    constraint.offset = entry.At("offset").Integer(0, kMostOffset);
    Add(std::move(constraint), entry);
  }

  const YamlNode root_;
  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  std::vector<PlanConstraint> constraints_;
  std::vector<YamlNode> places_;  // parallel: the node of each
};

}  // namespace

base::Expected<std::vector<PlanConstraint>> ReadConstraints(std::string text, std::string file_name,
                                                            const graph::Graph& graph,
                                                            const hw_profiles::Profile& profile,
                                                            std::optional<int> max_operators) {
  const base::Expected<base::YamlFile> file =
      base::YamlFile::Parse(std::move(text), std::move(file_name));
  if (!file) return base::Unexpected(file.error());
  base::YamlReader reader(*file);
  ConstraintReader constraints(reader, graph, profile);
  constraints.Read();
  if (!reader.Failed()) constraints.ComplainOfFaults(max_operators);
  if (reader.Failed()) return base::Unexpected(reader.TakeFault());
  return constraints.Take();
}

}  // namespace tessera::search::partition::constraints
