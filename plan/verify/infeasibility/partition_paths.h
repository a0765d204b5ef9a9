// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/plan/verify/infeasibility/least_metrics.h"
#include "tessera/plan/verify/infeasibility/refutation.h"
#include "tessera/plan/verify/infeasibility/tile_configs.h"

// The paths through one order of the operators, from the first cut to the last.
namespace tessera::plan::verify::infeasibility {

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
