#include "tessera/plan/demand.h"

#include <fmt/format.h>

namespace tessera::plan {
namespace {

std::string DescribeWay(const WayDemand& way) {
  std::string text;
  if (way.tile) text += fmt::format(" with tiles of {}", fmt::join(*way.tile, "x"));
  if (way.weights) text += fmt::format(", weights {}", hw_profiles::NameOf(*way.weights));
  if (way.in_place) text += *way.in_place ? ", results in place" : ", no result in place";
  if (way.halo) text += fmt::format(", halo {}", hw_profiles::NameOf(*way.halo));
  for (const auto& [id, offset] : way.addresses) text += fmt::format(", {} at address {}", id, offset);
  return text;
}

}  // namespace

std::string Describe(const graph::Graph& graph, const Demand& demand) {
  const auto op = [&](int index) -> const std::string& {
    return graph.operators[static_cast<size_t>(index)].id;
  };
  const auto tensor = [&]() -> const std::string& {
    return graph.tensors[static_cast<size_t>(demand.tensor)].id;
  };
  const auto operators = [&] {
    if (demand.interval.first == demand.interval.last)
      return fmt::format("operator '{}'", op(demand.interval.first));
    return fmt::format("operators '{}' to '{}'", op(demand.interval.first), op(demand.interval.last));
  };
  switch (demand.kind) {
    case DemandKind::kTogether:
      return operators() + " in one subgraph";
    case DemandKind::kApart:
      return fmt::format("a subgraph that begins with operator '{}'", op(demand.interval.first));
    case DemandKind::kSubgraph:
      return operators() + " as a subgraph" + DescribeWay(demand.way);
    case DemandKind::kKeep:
      return fmt::format("tensor '{}' on chip", tensor());
    case DemandKind::kSpill:
      return fmt::format("tensor '{}' at home between subgraphs", tensor());
    case DemandKind::kAddress:
      return fmt::format("tensor '{}' at address {} wherever it lies whole in memory {}", tensor(),
                         demand.offset, demand.memory);
  }
  return {};
}

std::string Describe(const graph::Graph& graph, const std::vector<Demand>& demands) {
  std::string text;
  for (const Demand& demand : demands) text += (text.empty() ? "" : "; ") + Describe(graph, demand);
  return text;
}

}  // namespace tessera::plan
