#pragma once

#include <span>
#include <vector>

#include "tessera/encoder/adapt/program.h"

namespace tessera::encoder {

// The profile's rules, resolved onto the buffers of a program whose subgraphs cover these intervals
// (docs/program.md, "Rules"). A rule that selects nothing is left out. Cost: rules * buffers * operators of a
// subgraph.
std::vector<problem::Rule> ResolveRules(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                        const Program& program, std::span<const graph::Interval> intervals);

}  // namespace tessera::encoder
