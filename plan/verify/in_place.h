// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/program_trace.h"
#include "tessera/plan/verify/tiles.h"

// Which results may be placed on a dying operand.
namespace tessera::plan::verify {

// An operand and the result that takes its place.
using InPlacePair = std::pair<BufferUse, BufferUse>;

// Whether, in every tile, a subgraph needs the same extents of an operand and of the result. Feed
// it every tile, then query it.
class ExtentComparison {
 public:
  explicit ExtentComparison(const graph::Graph& network) : network_(network) {}
  void Look(graph::Interval interval, const Tile& tile);
  bool AlwaysEqual(int operand, int result) const { return !unequal_.contains({operand, result}); }
  bool AlwaysWhole(int result) const { return !partial_.contains(result); }

 private:
  const graph::Graph& network_;
  std::set<std::pair<int, int>> unequal_;
  std::set<int> partial_;  // results of which some tile needs a part
};

// Adds the pairs of all subgraphs with results in place. For each operator whose kind the profile
// names, in order, the pair has its first operand whose values are dead when the operator begins to
// overwrite them. This must hold for every phase. `extents`: by subgraph. `sizes` has every buffer
// that the trace saw.
void AddInPlacePairs(const Plan& plan, const std::vector<Users>& users, const Trace& trace,
                     std::span<const ExtentComparison> extents,
                     const std::map<BufferUse, Footprint>& sizes, std::vector<InPlacePair>& pairs);

// Adds the pairs of operators that compute their result channel by channel, before all other pairs.
// `operators` has, by subgraph, those in which no channel overwrites a later one (ChannelSurvey).
// The call removes those that do not get a pair.
void AddChannelPairs(const Plan& plan, const std::vector<Users>& users, const Trace& trace,
                     std::vector<std::set<int>>& operators, std::vector<InPlacePair>& pairs);

// Depthwise operators that compute their result channel by channel in the place of their operand:
// docs/program.md, Channel by channel.

// The operators of one subgraph in which no channel of the result overwrites a later channel of the
// operand. Feed it every tile, then query it. The plan must outlive it.
class ChannelSurvey {
 public:
  ChannelSurvey(const Plan& plan, const std::vector<Users>& users, const Subgraph& subgraph);

  void Look(const Tile& tile);

  // `largest` is over all these tiles.
  std::set<int> Able(const LargestExtents& largest) const;

 private:
  bool IsWhole(int tensor) const { return held_.at(tensor).residency == Residency::kWhole; }
  int64_t ChannelsIn(const Tile& tile, int tensor) const;
  int64_t ColumnBytes(int tensor, const LargestExtents& largest) const;
  bool BeginsRowsWithColumns(int tensor, int64_t column_bytes) const;

  const Plan& plan_;
  std::set<int> operators_;   // the operators that have not been excluded yet
  std::map<int, Held> held_;  // their operands and results
};

// Adds to the trace the scratch of operators that work in this way, if nothing else requires
// scratch.
void AddChannelScratch(const Plan& plan, int subgraph, const std::set<int>& operators,
                       Trace& trace);

// The pairs of a state and its next value, where the next value must lie in the place of the state:
// docs/program.md, "State aliasing".
std::vector<InPlacePair> FindAliasedStates(const Plan& plan, const std::vector<Users>& users,
                                           const Trace& trace);

// Whether the next value of a state must lie in the state's place if both have whole buffers.
// `next` has a state.
bool MayTakePlaceOfState(const Plan& plan, const std::vector<Users>& users, int next);

// Whether it must do so if all other operators that read the state come before the one that makes
// `next`.
bool MayTakePlaceAfterReaders(const Plan& plan, const std::vector<Users>& users, int next);

}  // namespace tessera::plan::verify
