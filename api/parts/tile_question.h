// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

// The operators and the tile of a question, as a user states them.
namespace tessera::api::parts {

// The network, the profile and the interval of a query.
struct TileSubject {
  graph::Graph network;  // with homes (encoder/program/homes.h)
  hw_profiles::Profile profile;
  graph::Interval interval;
  std::vector<std::string> notes;  // messages of the network's reader

  std::string Text() const;
};

// A question that cannot be asked: bad input, or a network that the profile cannot run.
struct TileRefusal {
  base::Diagnostic diagnostic;
  bool is_unsupported = false;
};

// "conv2", "1": an id, or a number from 0. `option` is for messages.
base::Expected<int> ParseOperator(const std::string& word, const graph::Graph& network,
                                  const std::string& option);

// "conv1..conv3", "0..2", "conv2": operators, both ends included. Empty: the whole network.
base::Expected<graph::Interval> ParseInterval(const std::string& words, const graph::Graph& network,
                                              const std::string& option = "--ops");

// Returns a tile of the interval's output that the profile allows: "7x56" is rows by columns,
// "rows=7,channels=32" names axes, and "1x32x7x56" states every extent of the output in order. Axes
// that are not named stay whole. Refuses an invalid tile, and suggests the nearest valid ones.
base::Expected<graph::tiling::TileShape> ParseTileShape(const std::string& words,
                                                        const graph::Graph& network,
                                                        const hw_profiles::Profile& profile,
                                                        graph::Interval interval);

// Returns the Problem of one tile under one policy, as the user of `tessera tile` states them. An
// empty tile is the whole output; an empty policy is the one that the profile prefers.
tl::expected<problem::Problem, TileRefusal> FormulateTile(const TileSubject& subject,
                                                          const std::string& tile,
                                                          const std::string& policy);

}  // namespace tessera::api::parts
