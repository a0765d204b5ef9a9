// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::search {

struct RandomSubject {
  graph::Graph graph;
  hw_profiles::Profile profile;
  graph::Interval interval;
};

// For a RapidCheck property: a small network of convolutions, depthwise ones and sums, with forks
// and skips, and a profile that cuts it along some of rows, columns, channels and batch, in place
// or not, with its halo recomputed or also kept, with or without scratch, stored pads, alignments
// and banks.
RandomSubject DrawSubject();

}  // namespace tessera::search
