#pragma once

#include <span>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/program/program.h"

// Converts choices to a Problem over program time, and lists the policies of one subgraph.
namespace tessera::encoder::program {

// The program of consecutive choices: each begins where the previous one ends; they may cover a
// part of the network. Refuses what the profile cannot run, in the user's terms: an operator
// without an engine, a transfer without a link, a policy that a home does not allow, state without
// a place; and, if the choices cover the whole network, homes that overflow (homes.h). A tensor
// that one choice keeps on chip is kept by all choices.
base::Expected<Program> BuildProgram(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                     std::span<const SubgraphChoice> choices);

// The policies of an interval for a given set of kept boundary tensors, in the profile's order of
// preference. All of them keep exactly this set.
struct OfferedPolicies {
  std::vector<Policy> first;  // to be tried before all others; at least one
  // the others under which some tiles make a different program than under the first
  std::vector<Policy> further;
  bool all = true;  // false if some policies are omitted because there are too many
};
OfferedPolicies OfferPolicies(const graph::Graph& graph, const hw_profiles::Profile& profile,
                              graph::Interval interval, const std::vector<int>& kept = {});

// The first list of OfferPolicies.
std::vector<Policy> PoliciesOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                               graph::Interval interval, const std::vector<int>& kept = {});

// Every policy that docs/program.md allows for the interval, including those that make the same
// program as another one; perhaps none. For `split_k`, only the K extents of OfferPolicies.
std::vector<Policy> AllowedPolicies(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                    graph::Interval interval, const std::vector<int>& kept = {});

}  // namespace tessera::encoder::program
