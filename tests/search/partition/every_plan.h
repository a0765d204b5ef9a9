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

// The best plan by trying all of them.
namespace tessera::search {

// All partitions, all sets of kept borders, all tiles and policies; the joint Problem has the last word.
class EveryPlan {
 public:
  // Whether a plan counts.
  using Filter =
      std::function<bool(const std::vector<encoder::SubgraphChoice>& choices, const std::vector<int>& kept)>;

  EveryPlan(const graph::Graph& graph, const hw_profiles::Profile& profile, std::string metric)
      : graph_(graph), profile_(profile), metric_(std::move(metric)) {}

  // The least value of the metric; infinite where no plan fits. `filter` may be empty.
  double BestScore(const Filter& filter = {});

 private:
  struct Priced {
    encoder::SubgraphChoice choice;
    double cost = 0;
  };

  void Complete(const std::vector<graph::Interval>& intervals, const std::vector<int>& kept,
                const std::vector<encoder::SubgraphChoice>& so_far, double cost);
  const std::vector<Priced>& ChoicesOf(graph::Interval interval, const std::vector<int>& kept);
  bool FitsJointly(const std::vector<encoder::SubgraphChoice>& choices) const;

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const std::string metric_;
  Filter filter_;
  std::map<std::tuple<int, int, std::vector<int>>, std::vector<Priced>>
      choices_;  // those that fit alone, the cheapest first
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace tessera::search
