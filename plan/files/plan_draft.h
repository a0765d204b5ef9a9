#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/plan/plan.h"

// A plan as a person states it: a partition, and as many addresses as they care about.
namespace tessera::plan::files {

// The address of a buffer in the tile memory, or of a tensor in its home.
struct Pin {
  std::string id;
  problem::Bytes offset = 0;
  std::string memory;   // the home's name; empty: the tile memory
  std::string pointer;  // into the document, for messages
};

struct Draft {
  graph::Graph network;
  hw_profiles::Profile profile;
  Objective objective;  // without weights: latency
  uint64_t seed = 0;
  std::vector<Subgraph> subgraphs;  // intervals, tiles and policies; the rest is unset
  std::vector<int> kept;            // as in Plan
  std::vector<Pin> pins;
};

// Reads plan.json, whole or stripped of anything that follows from network, profile and partition:
// those three must be there. Of buffers and tensors at home, "offset" counts where it is stated;
// all other known entries pass unread, and unknown keys are refused. `file` is for messages.
base::Expected<Draft> ReadDraft(std::string_view text, std::string file);

}  // namespace tessera::plan::files
