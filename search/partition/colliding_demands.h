#pragma once

#include "tessera/search/partition/cut_states.h"
#include "tessera/search/partition/demands.h"
#include "tessera/search/partition/partition.h"
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

// `result`, the outcome without a plan under all the demands, told in their words: where there is none without demands either, that
// is the reason. Otherwise, where they are proven to rule out every plan, as few of them as suffice: each is left out in turn, and
// stays out if what is left still rules out every plan by proof. Cost: up to two searches for each demand.
PartitionResult BlameDemands(const DemandProbe& probe, std::vector<Demand> demands, PartitionResult result);

}  // namespace tessera::search
