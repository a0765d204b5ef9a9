// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

// The engine of each operator, and the host, which runs what no other engine lists
// (docs/program.md, "Engines" and "The host").
namespace tessera::encoder::program {

// The data type that an operator works on: that of its first input, or of its first output if it
// has no input.
base::DataType WorkingType(const graph::Graph& graph, const graph::Operator& op);

// The engine that runs the operator, or nullptr.
const hw_profiles::Engine* EngineOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                    const graph::Operator& op);

bool RunsOnHost(const graph::Graph& graph, const hw_profiles::Profile& profile,
                const graph::Operator& op);

// Whether the interval is one operator that runs on the host. Such a subgraph has only whole
// buffers in the tile memory.
bool RunsOnHost(const graph::Graph& graph, const hw_profiles::Profile& profile,
                graph::Interval interval);

// Whether the interval has several operators and the host runs one of them, which no subgraph may.
bool JoinsHost(const graph::Graph& graph, const hw_profiles::Profile& profile,
               graph::Interval interval);

// The only policy of a subgraph on the host.
Policy PolicyOfHost(std::vector<int> kept);

// Returns why the interval cannot be a subgraph with this policy if the host runs one of its
// operators, or nullopt.
std::optional<base::Diagnostic> FindUnfitForHost(const graph::Graph& graph,
                                                 const hw_profiles::Profile& profile,
                                                 graph::Interval interval, const Policy& policy);

}  // namespace tessera::encoder::program
