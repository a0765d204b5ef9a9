#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tessera/plan/sizes.h"
#include "tessera/plan/tiles.h"
#include "tessera/plan/trace.h"

// Which results may be put in the place of a dying operand.
namespace tessera::plan {

// An operand and the result that takes its place.
using InPlacePair = std::pair<BufferUse, BufferUse>;

// Whether, tile by tile, a subgraph needs as much of an operand as of the result: fed with every tile, then asked.
class ExtentComparison {
 public:
  explicit ExtentComparison(const graph::Graph& network) : network_(network) {}
  void Look(graph::Interval interval, const Tile& tile);
  bool AlwaysEqual(int operand, int result) const { return !unequal_.contains({operand, result}); }

 private:
  const graph::Graph& network_;
  std::set<std::pair<int, int>> unequal_;
};

// Adds the pairs of one subgraph to those of the subgraphs before: for each operator whose kind the profile names, in
// order, its first operand whose values nobody needs once the operator has begun to overwrite them, where that holds for
// every parity. `sizes` holds every buffer that the trace saw.
void AddInPlacePairs(const Plan& plan, const std::vector<Users>& users, int subgraph, const Trace& trace,
                     const ExtentComparison& extents, const std::map<BufferUse, Footprint, UseOrder>& sizes,
                     std::vector<InPlacePair>& pairs);

// The same for operators that make their result channel by channel, of which `able` says that no channel comes in the way of a later
// one (by_channel.h). Comes before all others, of any subgraph. Gives back those that work so.
std::set<int> AddChannelPairs(const Plan& plan, const std::vector<Users>& users, int subgraph,
                              const Trace& trace, const std::set<int>& able, std::vector<InPlacePair>& pairs);

}  // namespace tessera::plan
