// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/program/engine_choice.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::encoder::program {
namespace {

using hw_profiles::Engine;
using hw_profiles::Profile;

const graph::Operator& OperatorAt(const graph::Graph& graph, int op) {
  return graph.operators[static_cast<size_t>(op)];
}

// The first operator of the interval that runs on the host.
const graph::Operator* FindOnHost(const graph::Graph& graph, const Profile& profile,
                                  graph::Interval interval) {
  if (hw_profiles::HostOf(profile) == nullptr) return nullptr;
  for (int i = interval.first; i <= interval.last; ++i) {
    if (RunsOnHost(graph, profile, OperatorAt(graph, i))) return &OperatorAt(graph, i);
  }
  return nullptr;
}

}  // namespace

base::DataType WorkingType(const graph::Graph& graph, const graph::Operator& op) {
  const std::vector<int>& operands = op.inputs.empty() ? op.outputs : op.inputs;
  return operands.empty() ? base::DataType::kInt8
                          : graph.tensors[static_cast<size_t>(operands.front())].type;
}

const Engine* EngineOf(const graph::Graph& graph, const Profile& profile,
                       const graph::Operator& op) {
  return hw_profiles::EngineFor(profile, op.kind, WorkingType(graph, op), op.engine);
}

bool RunsOnHost(const graph::Graph& graph, const Profile& profile, const graph::Operator& op) {
  const Engine* engine = EngineOf(graph, profile, op);
  return engine != nullptr && engine->host;
}

bool RunsOnHost(const graph::Graph& graph, const Profile& profile, graph::Interval interval) {
  return interval.first == interval.last && FindOnHost(graph, profile, interval) != nullptr;
}

bool JoinsHost(const graph::Graph& graph, const Profile& profile, graph::Interval interval) {
  return interval.first < interval.last && FindOnHost(graph, profile, interval) != nullptr;
}

Policy PolicyOfHost(std::vector<int> kept) {
  return {.weights = hw_profiles::WeightPolicy::kDirect, .kept = std::move(kept)};
}

std::optional<base::Diagnostic> FindUnfitForHost(const graph::Graph& graph, const Profile& profile,
                                                 graph::Interval interval, const Policy& policy) {
  const graph::Operator* op = FindOnHost(graph, profile, interval);
  const bool alone = interval.first == interval.last;
  if (op == nullptr || (alone && policy == PolicyOfHost(policy.kept))) return std::nullopt;
  base::Diagnostic refusal;
  refusal.message = fmt::format("operator '{}' runs on '{}', the host of profile '{}'", op->id,
                                hw_profiles::HostOf(profile)->name, profile.name);
  refusal.expected = alone ? "weights: direct, without kept rows and results in place"
                           : "a subgraph of this operator alone";
  return refusal;
}

}  // namespace tessera::encoder::program
