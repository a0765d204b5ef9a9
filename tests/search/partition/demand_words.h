#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "tessera/graph/graph.h"
#include "tessera/search/partition/demands.h"

// Demands in few words.
namespace tessera::search {

inline Demand Together(int first, int last) {
  return {.kind = DemandKind::kTogether, .interval = {first, last}, .way = {}, .memory = {}};
}

inline Demand Apart(int op) {
  return {.kind = DemandKind::kApart, .interval = {op, op}, .way = {}, .memory = {}};
}

inline Demand Subgraph(int first, int last, WayDemand way = {}) {
  return {.kind = DemandKind::kSubgraph, .interval = {first, last}, .way = std::move(way), .memory = {}};
}

inline Demand Keep(int tensor) {
  return {.kind = DemandKind::kKeep, .interval = {}, .tensor = tensor, .way = {}, .memory = {}};
}

inline Demand Spill(int tensor) {
  return {.kind = DemandKind::kSpill, .interval = {}, .tensor = tensor, .way = {}, .memory = {}};
}

inline Demand Address(int tensor, const std::string& memory, int64_t offset) {
  Demand demand;
  demand.kind = DemandKind::kAddress;
  demand.tensor = tensor;
  demand.memory = memory;
  demand.offset = offset;
  return demand;
}

inline WayDemand At(const std::string& buffer, int64_t offset) {
  WayDemand way;
  way.addresses = {{buffer, offset}};
  return way;
}

inline int ResultOf(const graph::Graph& graph, int op) {
  return graph.operators[static_cast<size_t>(op)].outputs.front();
}

}  // namespace tessera::search
