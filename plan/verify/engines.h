// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/residency.h"

// The engine of each operator, and the conditions of a subgraph on the host: docs/program.md,
// "Engines" and "The host".
namespace tessera::plan::verify {

// The engine that runs the operator on data of the type of its first operand, or of its result if
// it has no operand; or nullptr.
const hw_profiles::Engine* EngineOf(const Plan& plan, const graph::Operator& op);

// Returns the operator once for each engine that may run it, and names that engine: its own, and
// where the planner chose it or none is named, all others that list the operator.
std::vector<graph::Operator> OnEachEngine(const Plan& plan, const graph::Operator& op);

// Whether some operator may run on another engine too.
bool HasOtherEngines(const Plan& plan);

// The engines that may work at the same time, the host apart: those of a double-buffered profile
// with `concurrent`, otherwise one.
int64_t SideBySide(const hw_profiles::Profile& profile);

// Whether the host runs the operator. For an interval: whether it has one operator and the host
// runs it.
bool IsOnHost(const Plan& plan, const graph::Operator& op);
bool IsOnHost(const Plan& plan, graph::Interval interval);

// Whether the interval has several operators, of which the host runs one.
bool JoinsHost(const Plan& plan, graph::Interval interval);

// Returns why the host cannot run its operators of this subgraph, in words; empty if it can, or if
// it has none.
std::string HostFault(const Plan& plan, const Subgraph& subgraph);

// The columns of the operator's input that the engine reads as one, with as many times its channels
// (docs/program.md 14.2.18): 2 or 1.
int64_t FoldedColumns(const graph::Graph& network, const graph::Operator& op,
                      const hw_profiles::Throughput& speed);

// The number of steps in which an engine makes `made` of the first output of a convolution or
// product: docs/program.md, "Arithmetic".
int64_t EngineSteps(const graph::Graph& network, const graph::Operator& op,
                    const std::vector<int64_t>& made, const hw_profiles::Throughput& speed,
                    const std::optional<KSlices>& k_extent);

// The number of steps for one output block of a convolution: docs/program.md, "Output blocks".
int64_t BlockSteps(const graph::Graph& network, const graph::Operator& op,
                   const std::vector<int64_t>& block, const hw_profiles::Throughput& speed,
                   const std::optional<KSlices>& k_extent);

}  // namespace tessera::plan::verify
