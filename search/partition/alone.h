#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/adapt/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/tiling/ladder_search.h"

// What one operator needs when it is a subgraph of its own. Where it does not fit so, that is the plainest reason why there is no plan, and
// where it does after a change, so does a plan that runs operator by operator.
namespace tessera::search {

// A tensor in a memory, or the part of it that one buffer holds.
struct Holding {
  std::string tensor;  // its id; of scratch and accumulators that of the operator
  std::string part;    // "tile", "slice", "whole": what the buffer holds of it
  problem::Bytes bytes = 0;
  friend bool operator==(const Holding&, const Holding&) = default;
};

// What these buffers of the program hold, largest first; the sizes are those of `sized`.
std::vector<Holding> HoldingsOf(const graph::Graph& graph, const encoder::Program& program,
                                const problem::Problem& sized, const std::vector<int>& buffers);

struct Alone {
  // kFeasible: in these tiles it has a placement. Else these are the tiles that need the fewest bytes among those that were tried, and none
  // fits: kInfeasible, proven for each of them, kUnknown, or kUnsupported, with no tiles.
  problem::Status status = problem::Status::kUnknown;
  graph::TileShape tile;
  encoder::Policy policy;
  problem::Problem problem;
  Bound bound;  // of the bytes that are needed at once
  // Where a buffer belongs inside one bank and no bank is long enough: the bytes of the longest. The bound is then the buffer's size.
  std::optional<problem::Bytes> longest_bank;
  std::vector<Holding> holdings;  // what makes up the bound
  std::string why;                // no placement although the bytes would do; may be empty
};

struct AloneOptions {
  Engines engines;          // they outlive the call
  base::Budget budget;      // for each question put to an engine
  problem::Bytes room = 0;  // bytes of the tile memory that may be used
  const base::Stop& stop;
};

// Tries the tile shapes with which a search begins and the smallest there is, under each way to hold weights, those that need least first.
Alone TryAlone(const graph::Graph& graph, const hw_profiles::Profile& profile, int op,
               const AloneOptions& options);

// The lowest peak with which a placement of the problem was found when its capacity does not count; nullopt where none was.
std::optional<problem::Bytes> PeakWithoutCapacity(const problem::Problem& problem,
                                                  const AloneOptions& options);

}  // namespace tessera::search
