#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/partition/partition.h"

// Which latencies, energies, traffics and peaks can be had together.
namespace tessera::search::partition::analysis {

// The metrics that points are told apart by. What MACs cost is in latency and energy.
std::vector<std::string_view> FrontMetrics();

struct FrontPoint {
  plan::Objective objective;  // a search for it finds the plan again
  plan::Plan plan;
};

struct Front {
  std::vector<FrontPoint>
      points;  // by latency, ascending; none is at least as good as another in every metric
  int searches = 0;
  bool complete =
      false;  // no search was left that could have found a plan far from those that are there
  answer::PartitionResult refusal =
      {};  // where there is no point: what the search for the least latency came to
};

// Finds plans between the least of each metric and the least latency with at most `most_searches`
// searches of these options, whose objective gives limits that hold for all points. An error is a
// bad option or a fault of the program.
base::Expected<Front> FindFront(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                const answer::PartitionOptions& options, int most_searches);

}  // namespace tessera::search::partition::analysis
