// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "tessera/plan/plan.h"

// The engine of each operator, and what the host asks of a subgraph: docs/program.md, "Engines" and
// "The host".
namespace tessera::plan::verify {

// The engine that runs the operator on data of the type of its first operand, or of its result if
// it has no operand; or nullptr.
const hw_profiles::Engine* EngineOf(const Plan& plan, const graph::Operator& op);

// Whether the host runs the operator; and whether it runs the only operator of the interval.
bool IsOnHost(const Plan& plan, const graph::Operator& op);
bool IsOnHost(const Plan& plan, graph::Interval interval);

// Whether the interval has several operators, of which the host runs one.
bool JoinsHost(const Plan& plan, graph::Interval interval);

// Why the host cannot run its operators in a subgraph like this; empty if it can, or has none.
std::string HostFault(const Plan& plan, const Subgraph& subgraph);

}  // namespace tessera::plan::verify
