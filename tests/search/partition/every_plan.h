// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

namespace tessera::search {

// The best plan by exhaustive search: all 2^(n-1) partitions, all sets of kept boundary tensors,
// all tiles and policies. The joint Problem decides.
//
// The search is depth first and follows the most promising beginning first. A beginning is ranked
// by its cost so far plus the least cost of the rest. That least cost is the minimum over all
// continuations, remembered by position and kept tensors. It ignores placements, so it never
// exceeds the true cost. A beginning that cannot become better than the best plan so far is
// dropped. Cost: a simulation of every tile of every interval for each set of kept tensors around
// it; then a placement for each candidate that comes before the best plan.
class EveryPlan {
 public:
  // Graph and profile outlive it. `metric`: one that adds up.
  EveryPlan(const graph::Graph& graph, const hw_profiles::Profile& profile, std::string metric);

  // Whether a plan counts.
  using Filter = std::function<bool(const std::vector<encoder::program::SubgraphChoice>& choices,
                                    const std::vector<int>& kept)>;

  // Infinite where nothing fits. `filter` may be empty.
  double BestScore(Filter filter = {});

 private:
  struct Priced {
    encoder::program::SubgraphChoice choice;
    problem::Problem problem;
    double cost = 0;
    std::optional<bool> fits;  // once decided
  };

  // One subgraph more.
  struct Step {
    double least = 0;  // of this subgraph and all behind it
    Priced* next = nullptr;
    std::vector<int> behind;  // tensors that stay on chip where it ends
  };

  using Visit =
      std::function<void(std::vector<Priced>& choices, int last, std::vector<int> behind)>;
  void ForEachInterval(int first, const std::vector<int>& crossing, const Visit& visit);
  double LeastFrom(int first, const std::vector<int>& crossing);
  void Complete(int first, const std::vector<int>& crossing,
                std::vector<encoder::program::SubgraphChoice>& so_far, double cost);
  int LastReader(int tensor) const;
  std::vector<int> MadeFor(int first, int last) const;
  std::vector<Priced>& ChoicesOf(graph::Interval interval, const std::vector<int>& kept);
  bool FitsJointly(const std::vector<encoder::program::SubgraphChoice>& choices) const;

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const std::string metric_;
  const std::vector<graph::Usage> usages_;
  std::map<std::tuple<int, int, std::vector<int>>, std::vector<Priced>> choices_;
  std::map<std::pair<int, std::vector<int>>, double> least_;
  Filter filter_;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace tessera::search
