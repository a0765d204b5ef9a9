// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/infeasibility/least_metrics.h"
#include "tessera/plan/verify/infeasibility/refutation.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/problem/problem.h"

// All possible forms of one subgraph, by enumeration of every tile and policy; the sequences of
// subgraphs from the first operator to the last; and the sums of their metrics.
namespace tessera::plan::verify::infeasibility {

// Values that add up over subgraphs: those of kSummedMetrics, then of kRatioMetrics the excess over
// the limit (ExcessOf), which may be negative. 0 without a limit, so that configurations do not
// differ in it.
using Sums = std::array<double, kSummedMetrics.size() + kRatioMetrics.size()>;

// The limit of each sum; 0 for an excess. A ratio has no limit if some work is unknown, because the
// latency is then a lower bound, and the ratio may be less than computed.
using SumLimits = std::array<std::optional<double>, std::tuple_size_v<Sums>>;
SumLimits LimitsOfSums(const Plan& question);

// The sums of a subgraph with these metrics.
Sums SumsOf(const Metrics& metrics, const Plan& question);

// Lower bounds of the sums of subgraphs whose metrics are at least these.
Sums LeastSums(const Metrics& least, const Plan& question);

Sums Added(Sums a, const Sums& b);

// Whether the number is that of an excess.
constexpr bool IsExcess(size_t sum) { return sum >= kSummedMetrics.size(); }

// Whether no limit is exceeded. The excesses of a part do not count, because later subgraphs may
// compensate them.
enum class SumOf : uint8_t { kPart, kWhole };
bool AreWithin(const SumLimits& limits, const Sums& sums, SumOf what);

// Whether each sum of `a` that has a limit is at most that of `b`.
bool AreAsLow(const SumLimits& limits, const Sums& a, const Sums& b);

// Whether all operators state their work.
bool IsWorkKnown(const graph::Graph& network);

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
  bool may_cost_less_;  // the same tiles may take less time and energy, on other engines or in two
                        // stages
};

// The paths through one order of the operators, from the first cut to the last.

inline constexpr auto kTooMuch =
    "there are more tiles and policies than an independent check tries";

// A tile configuration, and whether a placement of it is possible.
struct TestedConfig {
  enum class Placing : uint8_t { kOpen, kPossible, kImpossible };
  SubgraphConfig config;
  Placing placing = Placing::kOpen;
};

// The tile configurations of an interval, computed on demand.
struct Choices {
  std::optional<std::vector<TestedConfig>> configs;
  int64_t work = 0;  // the approximate work to find them
};

// Shared by all orders: an interval is the same in two orders if the same operators come before it,
// and the same operators are in it in the same order.
struct Shared {
  using Interval = std::pair<std::vector<int>, std::vector<int>>;
  std::map<Interval, int64_t> lower_bounds;
  std::map<std::pair<Interval, std::vector<int>>, Choices> choices;  // and by the kept tensors
  int64_t work = 0;                                                  // the remaining work
};

class Passage {
 public:
  // All arguments except the order must outlive it. `room`: bytes of the tile memory that may be
  // used.
  Passage(const Plan& question, std::span<const int> order, int64_t room, Shared& shared,
          Placements& placements, const base::Stop& stop);

  // Whether it is proven that the order has no path. If not, Gap states what is not proven.
  bool IsBarred();
  const std::string& Gap() const { return gap_; }

 private:
  // A cut, and the tensors made before it that are kept for operators after it.
  struct CutState {
    int cut = 0;
    std::vector<int> kept;
    friend bool operator<(const CutState& a, const CutState& b) {
      return std::tie(a.cut, a.kept) < std::tie(b.cut, b.kept);
    }
  };

  struct Arc {
    graph::Interval interval;
    std::vector<int> kept;
    CutState to;
    Choices* choices = nullptr;
    Sums least = {};  // of all configurations
  };

  // The least sums of a path from the first cut to a state.
  struct Label {
    Sums sums = {};
    const Arc* arc = nullptr;
    size_t config = 0;
    const Label* before = nullptr;
    int64_t work = 0;  // to find the unknown tile configurations of the arcs on the path
  };

  // arcs with the index of a configuration; kUnknown if the configurations are not known
  using Path = std::vector<std::pair<const Arc*, size_t>>;
  static constexpr size_t kUnknown = static_cast<size_t>(-1);

  Shared::Interval KeyOf(graph::Interval interval) const;
  bool IsSmallEnough() const;
  void FindOpenIntervals();
  bool IsOpen(graph::Interval interval);
  bool BuildArcs();
  bool AddArcs(const CutState& state, std::vector<CutState>& next);
  void DropArcsBeyondLimits();
  std::vector<std::vector<int>> KeptSets(const CutState& state, graph::Interval interval);
  bool MayKeep(int tensor) const;
  Choices& ChoicesOf(graph::Interval interval, const std::vector<int>& kept);
  bool FindConfigs(const Arc& arc);
  bool FindCheapestUnknown(const Path& path);
  std::optional<Path> FindPath();
  bool Follow(const Arc& arc, const Label& before, std::vector<Label>& labels);
  bool AddLabel(std::vector<Label>& labels, const Label& label) const;
  bool Test(const Arc& arc, TestedConfig& tested);
  bool AllProgramsFail();
  bool Fail(const CutState& state, const Sums& sums, Path& path);
  bool FailsAsProgram(const Path& path);
  bool GiveUp(std::string why);

  const Plan& question_;
  const std::vector<int> order_;
  const int64_t room_;
  Shared& shared_;
  Placements& placements_;
  const base::Stop& stop_;
  SubgraphConfigs finder_;
  LeastOfIntervals least_of_;
  const SumLimits limits_;
  // whether a state has a next value, so that the order before an interval matters
  bool hands_on_ = false;
  std::map<graph::Interval, bool, bool (*)(const graph::Interval&, const graph::Interval&)> open_;
  std::map<CutState, std::vector<Arc>> arcs_;
  // least sums from the state to the end, over all and over the known configurations; absent if no
  // path leads to the end
  std::map<CutState, Sums> least_to_end_;
  std::map<CutState, Sums> known_to_end_;
  int64_t programs_ = 0;
  size_t labels_ = 0;  // of one search for a path
  std::string gap_;
};

}  // namespace tessera::plan::verify::infeasibility
