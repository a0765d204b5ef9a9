// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

// Profiles with a host, and what it runs: a third statement of docs/program.md, "The host".
namespace tessera {

// Takes kinds from the engines, some of them for one data type alone, and adds a host, first or
// last.
inline void DrawHost(base::Random& random, hw_profiles::Profile& profile) {
  for (hw_profiles::Engine& engine : profile.engines) {
    const hw_profiles::Throughput first = engine.throughputs.front();
    std::erase_if(engine.throughputs, [&](const auto&) { return random.Chance(0.35); });
    if (engine.throughputs.empty()) engine.throughputs = {first};
    for (hw_profiles::Throughput& throughput : engine.throughputs) {
      if (random.Chance(0.15)) throughput.type = base::DataType::kInt8;
    }
  }
  hw_profiles::Engine host;
  host.name = "host";
  host.mac_pj = static_cast<double>(random.Uniform(0, 3));
  host.host = {.start_cycles = random.Uniform(0, 30),
               .cycles_per_output = 0.25 * static_cast<double>(random.Uniform(0, 9)),
               .cycles_per_mac = 0.25 * static_cast<double>(random.Uniform(0, 9))};
  profile.engines.insert(random.Chance(0.5) ? profile.engines.begin() : profile.engines.end(),
                         std::move(host));
}

// Whether the profile's host runs the operator: no other engine lists its kind and type, or the
// operator names the host.
inline bool IsHosted(const graph::Graph& network, const hw_profiles::Profile& profile, int op) {
  const auto& engines = profile.engines;
  const auto host =
      std::find_if(engines.begin(), engines.end(), [](const auto& each) { return each.host; });
  const graph::Operator& facts = network.operators[static_cast<size_t>(op)];
  if (host == engines.end()) return false;
  if (!facts.engine.empty()) return facts.engine == host->name;
  const int typical = facts.inputs.empty() ? facts.outputs.front() : facts.inputs.front();
  const base::DataType type = network.tensors[static_cast<size_t>(typical)].type;
  for (const hw_profiles::Engine& engine : engines) {
    for (const hw_profiles::Throughput& entry : engine.throughputs) {
      if (entry.type && *entry.type != type) continue;
      if (entry.kind == facts.kind) return false;
      if (entry.kind == base::OperatorKind::kReshape && base::TraitsOf(facts.kind).moves_data)
        return false;
    }
  }
  return true;
}

// As many operators of the interval, from its first one on, as may be one subgraph: the host runs
// each of its own alone.
inline graph::Interval WithoutHosted(const graph::Graph& network,
                                     const hw_profiles::Profile& profile,
                                     graph::Interval interval) {
  for (int op = interval.first; op <= interval.last; ++op) {
    if (IsHosted(network, profile, op)) return {interval.first, std::max(interval.first, op - 1)};
  }
  return interval;
}

}  // namespace tessera
