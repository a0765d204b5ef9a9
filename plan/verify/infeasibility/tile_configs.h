// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/infeasibility/least_metrics.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/problem/problem.h"

// All possible forms of one subgraph, by enumeration: every tile, every policy.
namespace tessera::plan::verify::infeasibility {

// One tile configuration of an interval.
struct SubgraphConfig {
  Subgraph subgraph;
  Sums sums = {};
};

// A network in one order, and the possible forms of its subgraphs.
class SubgraphConfigs {
 public:
  // `question`: network, profile, objective and constraints; `order`: its operators in execution
  // order. `room`: bytes of the tile memory that may be used.
  SubgraphConfigs(const Plan& question, std::span<const int> order, int64_t room,
                  const base::Stop& stop);

  const Plan& InOrder() const { return probe_; }
  const std::vector<Users>& UsersOf() const { return users_; }

  // The number of tile shapes times operators that Find examines.
  int64_t WorkOf(graph::Interval interval) const;

  // Finds the tile configurations of the interval with these boundary tensors kept (ascending) that
  // pass all checks: the profile and the validator allow the configuration, each home has room for
  // its contents, no step needs more than `room`, and no limit is exceeded. Of configurations with
  // the same cost and the same Problem, only one is returned. Subtracts from `work` the tiles times
  // operators that it examines. Returns nullopt if `work` would become negative, at the stop, and
  // if one configuration has too many tiles.
  std::optional<std::vector<SubgraphConfig>> Find(graph::Interval interval,
                                                  const std::vector<int>& kept, int64_t& work);

  // The Problem of the tile memory while the subgraph runs.
  problem::Problem ProblemOf(const SubgraphConfig& config, const std::vector<int>& kept);

  // The Problems of the tile memory and of each home if these subgraphs are the program.
  std::vector<problem::Problem> ProblemsOf(const std::vector<Subgraph>& subgraphs,
                                           const std::vector<int>& kept);

 private:
  std::vector<std::vector<int64_t>> ExtentsOf(graph::Interval interval) const;
  std::vector<std::vector<int64_t>> TilesOf(graph::Interval interval) const;
  std::vector<Subgraph> PoliciesOf(graph::Interval interval) const;
  size_t Surround(const Subgraph& subgraph, const std::vector<int>& kept);
  bool HomesHold(size_t index);
  bool HasRoom(const Subgraph& subgraph, const std::vector<int>& kept, int64_t& work);
  bool IsBeyondLimits(const Metrics& metrics) const;
  std::optional<SubgraphConfig> Try(const Subgraph& subgraph, const std::vector<int>& kept,
                                    std::set<std::pair<Sums, std::string>>& seen);
  bool HasRequiredBuffers(const problem::Problem& problem, size_t subgraph) const;
  void Pin(problem::Problem& problem, size_t subgraph) const;

  Plan probe_;
  std::vector<Users> users_;
  std::vector<int> order_;
  int64_t room_;
  const base::Stop& stop_;
};

}  // namespace tessera::plan::verify::infeasibility
