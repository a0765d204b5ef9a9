#pragma once

#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/search/partition/partition.h"

// Energies are the least certain figures of a profile. Would other ones have led to another plan?
namespace tessera::search::partition::analysis {

// One energy of the profile, other than stated.
struct Sensitivity {
  std::string what;    // "the energy of dram", "the energy of a multiply-accumulate"
  double factor = 1;   // what it is multiplied by
  bool within = true;  // the plan still keeps the objective's limits
  double score = 0;    // of the plan under it
  double best_score =
      0;  // of the best plan found under it; that of the plan itself where none is better
  bool undecided = false;  // a limit came before it was known whether there is a better one

  // No better choice was found.
  bool Survives() const { return within && !undecided && best_score >= score; }
};

// Whether the objective looks at energy at all; where it does not, no energy changes the choice.
bool LooksAtEnergy(const plan::Objective& objective);

// Halves and doubles the energy of each memory but the tile memory, and that of a
// multiply-accumulate on all engines, one at a time, and searches again with the same options. The
// plan is one that SearchPartition found for the graph, the profile and the options. Energies of 0
// are left out. Costs a search for each, which share what engines answered. An error is a fault of
// the program.
base::Expected<std::vector<Sensitivity>> FindSensitivities(const graph::Graph& graph,
                                                           const plan::Plan& plan,
                                                           const answer::PartitionOptions& options);

// "with the energy of dram halved the choice survives"
std::string Describe(const Sensitivity& sensitivity);

}  // namespace tessera::search::partition::analysis
