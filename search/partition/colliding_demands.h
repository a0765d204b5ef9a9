#pragma once

#include "tessera/search/partition/cut_states.h"
#include "tessera/search/partition/demands.h"
#include "tessera/search/partition/options_and_result.h"
#include "tessera/search/partition/path_search.h"
#include "tessera/search/partition/refusal.h"

// Which of the demands are to blame where no plan keeps all of them.
namespace tessera::search {

// A search for single subgraphs that fit in a row, for any demands. Refers to what it is made of.
struct DemandProbe {
  const Planning& planning;
  const Floors& floors;
  Keeping keeping = Keeping::kWherePossible;
  Reach reach;
  int threads = 1;

  // What is said where there is no such row; kFeasible where there is one, whether or not it fits as a whole.
  PartitionResult Run(const std::vector<Demand>& demands, Telling telling = Telling::kVerdict) const;
};

// Adds to `result`, the outcome without a plan under all the demands, those that are to blame. If
// there is no plan without demands either, the result is the one without demands. If the demands
// are proven to rule out every plan, those that are named suffice for that: each is left out in
// turn, and stays out if the others still rule out every plan by proof. Cost: up to two searches
// for each demand.
PartitionResult BlameDemands(const DemandProbe& probe, std::vector<Demand> demands, PartitionResult result);

// States the demands of a result without a plan in its reason.
void NameDemands(PartitionResult& result);

}  // namespace tessera::search
