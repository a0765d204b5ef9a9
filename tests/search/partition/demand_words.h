#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "tessera/graph/graph.h"
#include "tessera/search/partition/constraints/plan_constraints.h"

// Demands in few words.
namespace tessera::search {

inline partition::constraints::Demand Together(int first, int last) {
  return {.kind = partition::constraints::DemandKind::kTogether, .interval = {first, last}, .way = {}, .memory = {}};
}

inline partition::constraints::Demand Apart(int op) {
  return {.kind = partition::constraints::DemandKind::kApart, .interval = {op, op}, .way = {}, .memory = {}};
}

inline partition::constraints::Demand Subgraph(int first, int last, partition::constraints::WayDemand way = {}) {
  return {.kind = partition::constraints::DemandKind::kSubgraph, .interval = {first, last}, .way = std::move(way), .memory = {}};
}

inline partition::constraints::Demand Keep(int tensor) {
  return {.kind = partition::constraints::DemandKind::kKeep, .interval = {}, .tensor = tensor, .way = {}, .memory = {}};
}

inline partition::constraints::Demand Spill(int tensor) {
  return {.kind = partition::constraints::DemandKind::kSpill, .interval = {}, .tensor = tensor, .way = {}, .memory = {}};
}

inline partition::constraints::Demand Address(int tensor, const std::string& memory, int64_t offset) {
  partition::constraints::Demand demand;
  demand.kind = partition::constraints::DemandKind::kAddress;
  demand.tensor = tensor;
  demand.memory = memory;
  demand.offset = offset;
  return demand;
}

inline partition::constraints::WayDemand At(const std::string& buffer, int64_t offset) {
  partition::constraints::WayDemand way;
  way.addresses = {{buffer, offset}};
  return way;
}

inline int ResultOf(const graph::Graph& graph, int op) {
  return graph.operators[static_cast<size_t>(op)].outputs.front();
}

}  // namespace tessera::search
