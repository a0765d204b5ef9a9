#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/problem/problem.h"

// Everything that one subgraph may be, by trying it: every tile, every policy.
namespace tessera::plan::verify::infeasibility {

// Metrics that add up over the subgraphs of a plan, in this order.
inline constexpr std::array<std::string_view, 4> kSummed = {"latency", "energy", "off_chip_bytes",
                                                            "macs"};
using Sums = std::array<double, kSummed.size()>;

// One way to run an interval.
struct SubgraphConfig {
  Subgraph subgraph;
  Sums sums = {};
};

// A network in one order, and what its subgraphs may be.
class SubgraphConfigs {
 public:
  // `question`: network, profile, objective and constraints; `order`: its operators as they run.
  // `room`: bytes of the tile memory that may be used.
  SubgraphConfigs(const Plan& question, std::span<const int> order, int64_t room,
                  const base::Stop& stop);

  const Plan& InOrder() const { return probe_; }
  const std::vector<Users>& UsersOf() const { return users_; }

  // Tile shapes times operators that Find looks at.
  int64_t WorkOf(graph::Interval interval) const;

  // The ways to run the interval where these boundary tensors are kept (ascending), as far as
  // nothing refuses them: the profile and the validator allow the way, each home holds what is
  // there, no step needs more than the room, and no limit is exceeded. Of ways that cost the same
  // and have the same Problem one stands for all. Takes from `work` the tiles times operators that
  // it looks at, and gives up with nullopt where that would become negative, at the stop, and where
  // one way has too many tiles.
  std::optional<std::vector<SubgraphConfig>> Find(graph::Interval interval,
                                                  const std::vector<int>& kept, int64_t& work);

  // What has to be placed in the tile memory while the subgraph runs.
  problem::Problem ProblemOf(const SubgraphConfig& config, const std::vector<int>& kept);

  // What has to be placed in the tile memory and in each home if these subgraphs are the program.
  std::vector<problem::Problem> ProblemsOf(const std::vector<Subgraph>& subgraphs,
                                           const std::vector<int>& kept);

 private:
  std::vector<std::vector<int64_t>> ExtentsOf(graph::Interval interval) const;
  std::vector<std::vector<int64_t>> TilesOf(graph::Interval interval) const;
  std::vector<Subgraph> PoliciesOf(graph::Interval interval) const;
  size_t Surround(const Subgraph& subgraph, const std::vector<int>& kept);
  bool HomesHold(size_t index);
  bool HasRoom(const Subgraph& subgraph, const std::vector<int>& kept, int64_t& work);
  bool IsBeyondLimits(const Sums& sums) const;
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
