// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::search::fit {

// The cycles that one subgraph took on the hardware.
struct Measurement {
  std::shared_ptr<const graph::Graph> network;
  graph::Interval interval;
  graph::tiling::TileShape tile;
  encoder::program::Policy policy;
  double cycles = 0;
  int line = 0;  // of the file
};

// Returns the network with this name.
using NetworkLoader =
    std::function<base::Expected<std::shared_ptr<const graph::Graph>>(const std::string& name)>;

// Reads measurements from CSV with a header line. The columns, in any order, are `network` (a
// file), `operators` (ID or ID..ID), `rows` (of a tile; empty: all), `weights` (a policy; empty:
// resident) and `cycles`. Refuses unknown columns, operators that are not in the network, rows that
// cannot be cut, subgraphs that the profile cannot run, and cycles that are not positive.
base::Expected<std::vector<Measurement>> ReadMeasurements(std::string_view text,
                                                          const std::string& file,
                                                          const hw_profiles::Profile& profile,
                                                          const NetworkLoader& load);

}  // namespace tessera::search::fit
