// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/partition/partition.h"

// Answers about a network and its plan that take many searches, or none.
namespace tessera::search::partition::analysis {

// The combinations of latency, energy, traffic and peak that can be reached together.

struct Front : plan::PartitionFront {
  // The result of the search for the least latency, if the front has no point.
  answer::PartitionResult refusal = {};
};

// Finds plans between the least value of each metric and the least latency. Uses at most
// `most_searches` searches with these options. The limits of their objective hold for all points.
// An error is a bad option or an error of the program.
base::Expected<Front> FindFront(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                const answer::PartitionOptions& options, int most_searches);

// Energies are the least certain figures of a profile. The analysis tests whether other values
// would lead to another plan.

// The effect of changing one energy of the profile.
struct Sensitivity {
  std::string what;    // "the energy of dram", "the energy of a multiply-accumulate"
  double factor = 1;   // the multiplier
  bool within = true;  // the plan still satisfies the limits of the objective
  double score = 0;    // of the plan with the changed energy
  // Of the best plan found with the changed energy; that of the plan itself if none is better.
  double best_score = 0;
  bool undecided = false;  // a limit came before it was known whether a better plan exists

  // Whether the plan keeps the limits and no better one exists or may exist.
  bool Survives() const { return within && !undecided && best_score >= score; }
};

// Whether the objective uses energy. If not, no energy changes the choice.
bool LooksAtEnergy(const plan::Objective& objective);

// Halves and doubles, one at a time, the energy of each memory except the tile memory, and that of
// a multiply-accumulate on all engines. Searches again with the same options for each change. The
// plan must be the result of SearchPartition for the graph, the profile and the options. Energies
// of 0 are skipped. Cost: one search for each change; the searches share the cache of engine
// answers. An error is an error of the program.
base::Expected<std::vector<Sensitivity>> FindSensitivities(const graph::Graph& graph,
                                                           const plan::Plan& plan,
                                                           const answer::PartitionOptions& options);

// "with the energy of dram halved the choice survives"
std::string Describe(const Sensitivity& sensitivity);

// Compares two profiles for one network without a search.

// Whether every plan of the network for `worse` is known to be a plan for `better` too, with at
// most the same value in each of the metrics. The optimum for `better` is then a lower bound for
// `worse`, and if there is no plan for `better`, there is none for `worse`. `metrics`: names as in
// plan/metrics.h; if empty, only the existence of plans is compared. Returns false for ratios over
// time, because a faster plan may have more power. Cost: linear in the network and the profile.
bool IsAtLeastAsGood(const graph::Graph& network, const hw_profiles::Profile& better,
                     const hw_profiles::Profile& worse, std::span<const std::string_view> metrics);

}  // namespace tessera::search::partition::analysis
