#pragma once

#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/simulate/coverage.h"

namespace tessera::search {

// SubgraphBound of one interval for many sets of kept borders: what does not depend on them is found once. Graph, profile and
// usages outlive it.
class SubgraphBounds {
 public:
  SubgraphBounds(const graph::Graph& graph, const hw_profiles::Profile& profile,
                 const std::vector<graph::Usage>& usages, graph::Interval interval);

  plan::Metrics Find(const std::vector<int>& kept) const;

 private:
  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const std::vector<graph::Usage>& usages_;
  Coverage coverage_;
  std::vector<hw_profiles::WeightPolicy> weight_policies_;  // that the profile allows here, each once
};

}  // namespace tessera::search
