#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tessera/plan/holdings.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/trace.h"

namespace tessera::plan {

// A rule of the profile and what it is about in this program: buffers, or pairs of them.
struct RuleReach {
  const hw_profiles::Rule* rule = nullptr;
  std::set<BufferUse, UseOrder> buffers;
  std::vector<std::pair<BufferUse, BufferUse>> pairs;
};

// The profile's rules that are about anything (docs/program.md, "Rules"), found by asking of each buffer that
// the trace saw, and of each two, whether the rule is about them. Cost: rules * buffers^2 of a subgraph *
// operators.
std::vector<RuleReach> FindRules(const Plan& plan, const std::vector<Users>& users, const Trace& trace);

}  // namespace tessera::plan
