// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/execute/program.h"
#include "tessera/plan/verify/tiles.h"

namespace tessera::plan::execute {
namespace {

// The limits of what an execution can hold and visit.
constexpr int64_t kMostBytes = int64_t{1} << 31;
constexpr int64_t kMostElements = int64_t{1} << 32;
constexpr int64_t kMostTiles = int64_t{1} << 24;

bool IsIndex(int index, size_t count) { return index >= 0 && static_cast<size_t>(index) < count; }

std::string FindObstacleInSteps(const Plan& plan) {
  int subgraph = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const StepUse& step = plan.steps[i];
    if (step.subgraph < subgraph || !IsIndex(step.subgraph, plan.subgraphs.size())) {
      return fmt::format("step {} is out of its subgraph's order", i);
    }
    subgraph = step.subgraph;
    const graph::Interval interval = plan.subgraphs[static_cast<size_t>(subgraph)].interval;
    const bool needs_operator = step.kind == StepKind::kCompute || step.kind == StepKind::kCopy;
    if ((needs_operator || step.op >= 0) && (step.op < interval.first || interval.last < step.op)) {
      return fmt::format("step {} names no operator of its subgraph", i);
    }
    if (step.phase != 0 && step.phase != 1) return fmt::format("step {} has no phase", i);
    for (const int tensor : step.transfers) {
      if (!IsIndex(tensor, plan.network.tensors.size()))
        return fmt::format("step {} moves no tensor", i);
    }
  }
  return "";
}

}  // namespace

std::string FindObstacle(const Plan& plan) {
  if (plan.subgraphs.empty() || plan.steps.empty()) return "the plan has no steps";
  if (plan.problem.buffers.size() != plan.buffers.size() ||
      plan.problem.buffers.size() != plan.allocation.offsets.size()) {
    return "buffers, their uses and their offsets are not the same number";
  }
  int next = plan.subgraphs.front().interval.first;
  for (const Subgraph& subgraph : plan.subgraphs) {
    if (subgraph.interval.first != next || subgraph.interval.last < next || next < 0 ||
        !IsIndex(subgraph.interval.last, plan.network.operators.size())) {
      return "subgraphs are not neighbouring intervals of the operators";
    }
    next = subgraph.interval.last + 1;
    const graph::Operator& last =
        plan.network.operators[static_cast<size_t>(subgraph.interval.last)];
    const graph::Shape& shape =
        plan.network.tensors[static_cast<size_t>(last.outputs.front())].shape;
    if (subgraph.tiles < 1 || subgraph.tile.size() != shape.size() ||
        std::any_of(subgraph.tile.begin(), subgraph.tile.end(),
                    [](int64_t extent) { return extent < 1; })) {
      return "a subgraph has no tiles";
    }
    if (verify::CountTiles(shape, subgraph.tile) > kMostTiles)
      return "a subgraph has more tiles than an execution can go through";
    if (subgraph.halo != hw_profiles::HaloStorage::kRecompute &&
        !verify::MayCacheHalo(plan.profile, shape, subgraph.tile)) {
      return "a subgraph keeps rows of tiles that do not lie one below the other";
    }
  }
  const int64_t capacity =
      plan.profile.memories[static_cast<size_t>(plan.profile.tile_memory)].capacity_bytes;
  if (std::min(capacity, EndOfBuffers(plan)) > kMostBytes)
    return "the tile memory is too large to execute";
  for (const graph::Tensor& tensor : plan.network.tensors) {
    if (graph::ElementsOf(tensor.shape) > kMostElements) {
      return fmt::format("tensor '{}' has more elements than an execution can tell apart",
                         tensor.id);
    }
    if (tensor.stored_bytes > 0 &&
        tensor.stored_bytes != base::BytesOf(tensor.type, graph::ElementsOf(tensor.shape))) {
      return fmt::format("the bytes of constant '{}' have no known elements: it has stored_bytes",
                         tensor.id);
    }
  }
  return FindObstacleInSteps(plan);
}

int64_t EndOfBuffers(const Plan& plan) {
  int64_t end = 0;
  for (size_t i = 0; i < plan.problem.buffers.size(); ++i) {
    end = std::max(end, plan.allocation.offsets[i] + plan.problem.buffers[i].size);
  }
  return end;
}

}  // namespace tessera::plan::execute
