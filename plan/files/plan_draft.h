// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/plan/plan.h"

// A plan as the user states it: a partition, and optionally some addresses.
namespace tessera::plan::files {

// The address of a buffer in the tile memory, or of a tensor in its home.
struct Pin {
  std::string id;
  problem::Bytes offset = 0;
  std::string memory;     // the home's name; empty: the tile memory
  std::string pointer;    // into the document, for messages
  bool by_tiles = false;  // at home, where tensors share addresses tile by tile
};

struct Draft {
  graph::Graph network;
  hw_profiles::Profile profile;
  Objective objective;  // latency if no weights are stated
  uint64_t seed = 0;
  std::vector<Subgraph> subgraphs;  // intervals, tiles and policies; the rest is unset
  std::vector<int> kept;            // as in Plan
  std::vector<Pin> pins;
};

// Reads plan.json. All entries that follow from network, profile and partition may be absent; these
// three are required. For buffers and tensors at home, "offset" is used if it is stated. All other
// known entries are ignored, and unknown keys are refused. `file` is used in messages only.
base::Expected<Draft> ReadDraft(std::string_view text, std::string file);

}  // namespace tessera::plan::files
