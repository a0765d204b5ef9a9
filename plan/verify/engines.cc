// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/engines.h"

#include <fmt/core.h>

#include <algorithm>

namespace tessera::plan::verify {

namespace {

// Whether the engine has a speed for the operator: an entry of its kind, or of a reshape if it only
// moves data, for this data type or for all.
bool Lists(const hw_profiles::Engine& engine, const graph::Operator& op, base::DataType type) {
  const auto& entries = engine.throughputs;
  return std::any_of(entries.begin(), entries.end(), [&](const hw_profiles::Throughput& entry) {
    const bool same = entry.kind == op.kind || (entry.kind == base::OperatorKind::kReshape &&
                                                base::TraitsOf(op.kind).moves_data);
    return same && entry.type.value_or(type) == type;
  });
}

}  // namespace

// Engines are tried in the order of the profile, the host last.
const hw_profiles::Engine* EngineOf(const Plan& plan, const graph::Operator& op) {
  const int typical = op.inputs.empty() ? op.outputs.front() : op.inputs.front();
  const base::DataType type = plan.network.tensors[static_cast<size_t>(typical)].type;
  const hw_profiles::Engine* first = nullptr;
  const hw_profiles::Engine* host = nullptr;
  for (const hw_profiles::Engine& engine : plan.profile.engines) {
    if (!op.engine.empty() && op.engine != engine.name) continue;
    if (engine.host) {
      host = &engine;
    } else if (first == nullptr && Lists(engine, op, type)) {
      first = &engine;
    }
  }
  return first != nullptr ? first : host;
}

bool IsOnHost(const Plan& plan, const graph::Operator& op) {
  const hw_profiles::Engine* engine = EngineOf(plan, op);
  return engine != nullptr && engine->host;
}

bool IsOnHost(const Plan& plan, graph::Interval interval) {
  return interval.first == interval.last &&
         IsOnHost(plan, plan.network.operators[static_cast<size_t>(interval.first)]);
}

bool JoinsHost(const Plan& plan, graph::Interval interval) {
  if (interval.first == interval.last) return false;
  for (int op = interval.first; op <= interval.last; ++op) {
    if (IsOnHost(plan, plan.network.operators[static_cast<size_t>(op)])) return true;
  }
  return false;
}

std::string HostFault(const Plan& plan, const Subgraph& subgraph) {
  if (JoinsHost(plan, subgraph.interval))
    return "has several operators, of which the host runs one";
  if (!IsOnHost(plan, subgraph.interval)) return "";
  if (subgraph.tiles != 1) return "is on the host, but has several tiles";
  if (subgraph.weights != hw_profiles::WeightPolicy::kDirect)
    return "is on the host, but does not hold weights direct";
  if (subgraph.halo != hw_profiles::HaloStorage::kRecompute)
    return "is on the host, but keeps rows";
  if (subgraph.serialized) return "is on the host, but is serialized";
  return subgraph.in_place ? "is on the host, but puts results in place" : "";
}

}  // namespace tessera::plan::verify
