#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "tessera/graph/graph.h"
#include "tessera/search/partition/constraints/plan_constraints.h"

// Demands in few words.
namespace tessera::search {

inline plan::Demand Together(int first, int last) {
  return {.kind = plan::DemandKind::kTogether, .interval = {first, last}, .way = {}, .memory = {}};
}

inline plan::Demand Apart(int op) {
  return {.kind = plan::DemandKind::kApart, .interval = {op, op}, .way = {}, .memory = {}};
}

inline plan::Demand Subgraph(int first, int last, plan::WayDemand way = {}) {
  return {
      .kind = plan::DemandKind::kSubgraph, .interval = {first, last}, .way = std::move(way), .memory = {}};
}

inline plan::Demand Keep(int tensor) {
  return {.kind = plan::DemandKind::kKeep, .interval = {}, .tensor = tensor, .way = {}, .memory = {}};
}

inline plan::Demand Spill(int tensor) {
  return {.kind = plan::DemandKind::kSpill, .interval = {}, .tensor = tensor, .way = {}, .memory = {}};
}

inline plan::Demand Address(int tensor, const std::string& memory, int64_t offset) {
  plan::Demand demand;
  demand.kind = plan::DemandKind::kAddress;
  demand.tensor = tensor;
  demand.memory = memory;
  demand.offset = offset;
  return demand;
}

inline plan::WayDemand At(const std::string& buffer, int64_t offset) {
  plan::WayDemand way;
  way.addresses = {{buffer, offset}};
  return way;
}

inline int ResultOf(const graph::Graph& graph, int op) {
  return graph.operators[static_cast<size_t>(op)].outputs.front();
}

}  // namespace tessera::search
