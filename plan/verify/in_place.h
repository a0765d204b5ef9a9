#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/program_trace.h"
#include "tessera/plan/verify/tiles.h"

// Which results may be put in the place of a dying operand.
namespace tessera::plan::verify {

// An operand and the result that takes its place.
using InPlacePair = std::pair<BufferUse, BufferUse>;

// Whether, tile by tile, a subgraph needs as much of an operand as of the result: fed with every
// tile, then asked.
class ExtentComparison {
 public:
  explicit ExtentComparison(const graph::Graph& network) : network_(network) {}
  void Look(graph::Interval interval, const Tile& tile);
  bool AlwaysEqual(int operand, int result) const { return !unequal_.contains({operand, result}); }

 private:
  const graph::Graph& network_;
  std::set<std::pair<int, int>> unequal_;
};

// Adds the pairs of one subgraph to those of the subgraphs before: for each operator whose kind the
// profile names, in order, its first operand whose values nobody needs once the operator has begun
// to overwrite them, where that holds for every phase. `sizes` holds every buffer that the trace
// saw.
void AddInPlacePairs(const Plan& plan, const std::vector<Users>& users, int subgraph,
                     const Trace& trace, const ExtentComparison& extents,
                     const std::map<BufferUse, Footprint, UseOrder>& sizes,
                     std::vector<InPlacePair>& pairs);

// The same for operators that make their result channel by channel, of which `able` says that no
// channel comes in the way of a later one (by_channel.h). Comes before all others, of any subgraph.
// Gives back those that work so.
std::set<int> AddChannelPairs(const Plan& plan, const std::vector<Users>& users, int subgraph,
                              const Trace& trace, const std::set<int>& able,
                              std::vector<InPlacePair>& pairs);

// Depthwise operators that make their result channel by channel in the place of their operand:
// docs/program.md, Channel by channel.

// Of one subgraph, the operators of which no channel of the result comes in the way of a later one
// of the operand: fed with every tile, then asked. The plan outlives it.
class ChannelSurvey {
 public:
  ChannelSurvey(const Plan& plan, const std::vector<Users>& users, const Subgraph& subgraph);

  void Look(const Tile& tile);

  // `largest` is of all these tiles.
  std::set<int> Able(const LargestExtents& largest) const;

 private:
  bool IsWhole(int tensor) const { return held_.at(tensor).residency == Residency::kWhole; }
  int64_t ChannelsIn(const Tile& tile, int tensor) const;
  int64_t ColumnBytes(int tensor, const LargestExtents& largest) const;
  bool BeginsRowsWithColumns(int tensor, int64_t column_bytes) const;

  const Plan& plan_;
  std::set<int> operators_;   // as far as nothing speaks against them yet
  std::map<int, Held> held_;  // their operands and results
};

// Shows the trace the scratch of operators that work so, where nothing else asks for any.
void AddChannelScratch(const Plan& plan, int subgraph, const std::set<int>& operators,
                       Trace& trace);

// The pairs of a state and what it is in the next run, where the latter must lie in the place of
// the former: docs/program.md, "State aliasing".
std::vector<InPlacePair> FindAliasedStates(const Plan& plan, const std::vector<Users>& users,
                                           const Trace& trace);

// Whether the next value of a state must lie in the state's place where both have whole buffers.
// `next` has a state.
bool MayTakePlaceOfState(const Plan& plan, const std::vector<Users>& users, int next);

}  // namespace tessera::plan::verify
