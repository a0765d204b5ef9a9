// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "tessera/plan/plan.h"

// The engine of each operator, and the conditions of a subgraph on the host: docs/program.md,
// "Engines" and "The host".
namespace tessera::plan::verify {

// The engine that runs the operator on data of the type of its first operand, or of its result if
// it has no operand; or nullptr.
const hw_profiles::Engine* EngineOf(const Plan& plan, const graph::Operator& op);

// Whether the host runs the operator. For an interval: whether it has one operator and the host
// runs it.
bool IsOnHost(const Plan& plan, const graph::Operator& op);
bool IsOnHost(const Plan& plan, graph::Interval interval);

// Whether the interval has several operators, of which the host runs one.
bool JoinsHost(const Plan& plan, graph::Interval interval);

// Returns why the host cannot run its operators of this subgraph, in words; empty if it can, or if
// it has none.
std::string HostFault(const Plan& plan, const Subgraph& subgraph);

}  // namespace tessera::plan::verify
