#pragma once

#include <map>
#include <set>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/sizes.h"
#include "tessera/plan/tiles.h"
#include "tessera/plan/trace.h"

// Depthwise operators that make their result channel by channel in the place of their operand: docs/program.md, Channel by channel.
namespace tessera::plan {

// Of one subgraph, the operators of which no channel of the result comes in the way of a later one of the operand: fed with every
// tile, then asked. The plan outlives it.
class ChannelSurvey {
 public:
  ChannelSurvey(const Plan& plan, const std::vector<Users>& users, const Subgraph& subgraph);

  void Look(const Tile& tile);

  // `largest` is of all these tiles.
  std::set<int> Able(const LargestExtents& largest) const;

 private:
  bool IsWhole(int tensor) const { return held_.at(tensor).holding == Holding::kWhole; }
  int64_t ChannelsIn(const Tile& tile, int tensor) const;
  int64_t ColumnBytes(int tensor, const LargestExtents& largest) const;
  bool BeginsRowsWithColumns(int tensor, int64_t column_bytes) const;

  const Plan& plan_;
  std::set<int> operators_;   // as far as nothing speaks against them yet
  std::map<int, Held> held_;  // their operands and results
};

// Shows the trace the scratch of operators that work so, where nothing else asks for any.
void AddChannelScratch(const Plan& plan, int subgraph, const std::set<int>& operators, Trace& trace);

}  // namespace tessera::plan
