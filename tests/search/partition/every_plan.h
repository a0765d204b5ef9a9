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

// The best plan by trying everything: all 2^(n-1) partitions, all sets of kept boundary tensors,
// all tiles and policies; the joint Problem has the last word.
//
// What begins alike is followed depth first, most promising first. How promising: what it cost so
// far, and what the rest costs at least. That least is over every way to go on, remembered by where
// it begins and what is kept there; it knows nothing of placements, so it never exceeds the truth,
// and what cannot become better than the best plan so far is not followed. Cost: a simulation of
// every tile of every interval for each set of what is kept around it; then a placement for each
// that comes before the best plan.
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
    std::optional<bool> fits;  // once asked
  };

  // One subgraph more.
  struct Step {
    double least = 0;  // of it and all that follows
    Priced* next = nullptr;
    std::vector<int> behind;  // what stays on chip where it ends
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
