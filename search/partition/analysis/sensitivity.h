// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/search/partition/partition.h"

// Energies are the least certain figures of a profile. The analysis tests whether other values
// would lead to another plan.
namespace tessera::search::partition::analysis {

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

}  // namespace tessera::search::partition::analysis
