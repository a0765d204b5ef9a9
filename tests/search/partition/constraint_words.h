// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "tessera/graph/graph.h"
#include "tessera/search/partition/constraints/plan_constraints.h"

// Short forms of constraints for tests.
namespace tessera::search {

inline plan::PlanConstraint Together(int first, int last) {
  return {.kind = plan::PlanConstraintKind::kTogether,
          .interval = {first, last},
          .config = {},
          .memory = {}};
}

inline plan::PlanConstraint Apart(int op) {
  return {
      .kind = plan::PlanConstraintKind::kApart, .interval = {op, op}, .config = {}, .memory = {}};
}

inline plan::PlanConstraint Subgraph(int first, int last, plan::TileConfigConstraint config = {}) {
  return {.kind = plan::PlanConstraintKind::kSubgraph,
          .interval = {first, last},
          .config = std::move(config),
          .memory = {}};
}

inline plan::PlanConstraint Keep(int tensor) {
  return {.kind = plan::PlanConstraintKind::kKeep,
          .interval = {},
          .tensor = tensor,
          .config = {},
          .memory = {}};
}

inline plan::PlanConstraint Spill(int tensor) {
  return {.kind = plan::PlanConstraintKind::kSpill,
          .interval = {},
          .tensor = tensor,
          .config = {},
          .memory = {}};
}

inline plan::PlanConstraint Address(int tensor, const std::string& memory, int64_t offset) {
  plan::PlanConstraint constraint;
  constraint.kind = plan::PlanConstraintKind::kAddress;
  constraint.tensor = tensor;
  constraint.memory = memory;
  constraint.offset = offset;
  return constraint;
}

inline plan::TileConfigConstraint At(const std::string& buffer, int64_t offset) {
  plan::TileConfigConstraint config;
  config.addresses = {{buffer, offset}};
  return config;
}

inline int ResultOf(const graph::Graph& graph, int op) {
  return graph.operators[static_cast<size_t>(op)].outputs.front();
}

}  // namespace tessera::search
