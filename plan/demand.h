#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

// What somebody asks of a plan besides fitting (docs/demands.md).
namespace tessera::plan {

// How a subgraph runs, as far as somebody cares.
struct WayDemand {
  std::optional<std::vector<int64_t>> tile;
  std::optional<hw_profiles::WeightPolicy> weights;
  std::optional<bool> in_place;
  std::optional<hw_profiles::HaloStorage> halo;
  std::map<std::string, int64_t> addresses;  // of buffers, as plan.json names them behind "s0/"
  friend bool operator==(const WayDemand&, const WayDemand&) = default;
};

enum class DemandKind : uint8_t {
  kTogether,  // all operators of the interval run in one subgraph, whatever else does
  kApart,     // a subgraph begins with the interval's only operator
  kSubgraph,  // the interval is a subgraph, which runs as `way` says
  kKeep,      // the tensor stays on chip: inside a subgraph, or kept between its subgraphs
  kSpill,     // the tensor goes home wherever it passes from one subgraph to another
  kAddress,   // wherever the tensor lies whole in the memory, it is at the offset
};

// Operators and tensors are those of one network; of a plan, its own.
struct Demand {
  DemandKind kind = DemandKind::kTogether;
  graph::Interval interval;  // kTogether, kApart, kSubgraph
  int tensor = -1;           // kKeep, kSpill, kAddress
  WayDemand way;             // kSubgraph
  std::string memory;        // kAddress: its name in the profile
  int64_t offset = 0;        // kAddress
  friend bool operator==(const Demand&, const Demand&) = default;
};

// "operators 'a' to 'c' in one subgraph".
std::string Describe(const graph::Graph& graph, const Demand& demand);

// The descriptions one after another.
std::string Describe(const graph::Graph& graph, const std::vector<Demand>& demands);

}  // namespace tessera::plan
