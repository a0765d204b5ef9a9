// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/coverage.h"
#include "tessera/search/cost/traffic.h"

// The bytes that every tiling of an interval moves and accesses, tensor by tensor.
namespace tessera::search::cost {

// Whether the interval is one subgraph, or may be cut further.
enum class Scope : uint8_t { kAnyCut, kOneSubgraph };

// The arguments must outlive this object.
class CertainTraffic {
 public:
  // Positions of tensors refer to Coverage::Whole().tensors.

  // Bytes that an operator reads or writes in the tile memory.
  struct Access {
    size_t tensor = 0;
    Direction direction = Direction::kRead;
    int64_t bytes = 0;
  };

  // Bytes of a tensor that cross the port of its home.
  struct Crossing {
    std::optional<int> home;  // nullopt: nothing crosses
    Direction direction = Direction::kRead;
    int64_t bytes = 0;
    bool moved = false;  // only DMA can move them
  };

  // All traffic with the same boundary tensors kept. Whether a tensor is kept only changes its own
  // accesses and its own crossing.
  struct Parts {
    std::vector<std::vector<Access>> accesses;  // by operator of the interval
    std::vector<Crossing> crossings;            // by tensor
  };

  // `on_host`: by operator of the interval.
  CertainTraffic(const graph::Graph& graph, const hw_profiles::Profile& profile,
                 const std::vector<graph::Usage>& usages, const Coverage& coverage, Scope scope,
                 std::span<const char> on_host)
      : graph_(graph),
        profile_(profile),
        usages_(usages),
        coverage_(coverage),
        interval_(coverage.Whole().interval),
        scope_(scope),
        on_host_(on_host) {}

  // Returns the traffic with these tensors kept. Operators that are not among `all`, which is
  // parallel to the interval, access nothing for certain.
  Parts Find(const std::vector<int>& kept, std::span<const char> all) const;

  // Returns the extents of an operator's first result, without a state from which it grows in
  // place. `part` stores them if there is such a state.
  graph::tiling::ExtentsView MovedOf(int op, graph::tiling::Extents& part) const;

  // Returns the axis of growth in some order of the operators, because bounds hold for all orders.
  std::optional<size_t> GrowthOf(const graph::Operator& op) const;

  bool RunsOnHost(int op) const { return on_host_[static_cast<size_t>(op - interval_.first)] != 0; }
  // Returns whether the host makes or reads the tensor inside the interval. The host does so in the
  // tensor's home.
  bool IsUsedByHost(int tensor) const;

 private:
  const graph::Usage& UsageOf(int tensor) const { return usages_[static_cast<size_t>(tensor)]; }
  const graph::Operator& OpAt(int op) const { return graph_.operators[static_cast<size_t>(op)]; }
  std::vector<Access> AccessesOf(int op, std::span<const Route> routes) const;
  Crossing CrossingOf(size_t tensor, const Route& route) const;
  int64_t PortBytes(size_t tensor, const Route& route, graph::tiling::ExtentsView extents,
                    Direction direction) const;
  bool MayBeWrittenDirectly(const Route& route) const;

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const std::vector<graph::Usage>& usages_;
  const Coverage& coverage_;
  graph::Interval interval_;
  Scope scope_;
  std::span<const char> on_host_;
};

}  // namespace tessera::search::cost
