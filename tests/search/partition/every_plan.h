#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tessera/encoder/adapt/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::search {

// The best plan by trying everything: all 2^(n-1) partitions, all sets of kept borders, all tiles and policies; the joint
// Problem has the last word. Cost: three to the power of n, but for what is worse already before it is complete.
class EveryPlan {
 public:
  // Graph and profile outlive it. `metric`: one that adds up.
  EveryPlan(const graph::Graph& graph, const hw_profiles::Profile& profile, std::string metric);

  // Whether a plan counts.
  using Filter =
      std::function<bool(const std::vector<encoder::SubgraphChoice>& choices, const std::vector<int>& kept)>;

  // Infinite where nothing fits. `filter` may be empty.
  double BestScore(Filter filter = {});

 private:
  struct Priced {
    encoder::SubgraphChoice choice;
    double cost = 0;
  };

  void Complete(int first, const std::vector<int>& crossing, std::vector<encoder::SubgraphChoice>& so_far,
                double cost);
  int LastReader(int tensor) const;
  std::vector<int> MadeFor(int first, int last) const;
  const std::vector<Priced>& ChoicesOf(graph::Interval interval, const std::vector<int>& kept);
  bool FitsJointly(const std::vector<encoder::SubgraphChoice>& choices) const;

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const std::string metric_;
  const std::vector<graph::Usage> usages_;
  std::map<std::tuple<int, int, std::vector<int>>, std::vector<Priced>> choices_;
  Filter filter_;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace tessera::search
