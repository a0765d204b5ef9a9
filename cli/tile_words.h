#pragma once

#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling.h"
#include "tessera/hw_profiles/profile.h"

// How people write operators and tile shapes.
namespace tessera::cli {

// "conv2", "1": an id, or a number from 0. `option` is for messages.
base::Expected<int> ParseOperator(const std::string& word, const graph::Graph& network,
                                  const std::string& option);

// "conv1..conv3", "0..2", "conv2": operators, both ends included. Empty: the whole network.
base::Expected<graph::Interval> ParseInterval(const std::string& words, const graph::Graph& network,
                                              const std::string& option = "--ops");

// A tile of the interval's output that the profile allows: "7x56" is rows by columns, "rows=7,channels=32" names axes, and
// "1x32x7x56" gives every extent of the output in its order. Axes that are not named stay whole. Refuses what is no such tile,
// with the nearest that are.
base::Expected<graph::TileShape> ParseTileShape(const std::string& words, const graph::Graph& network,
                                                const hw_profiles::Profile& profile,
                                                graph::Interval interval);

}  // namespace tessera::cli
