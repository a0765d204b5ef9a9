// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

// Networks and a machine small enough to compute costs by hand.
namespace tessera::search {

// Grows a network operator by operator; every call returns the index of the result.
class NetworkBuilder {
 public:
  int Input(graph::Shape shape);
  // `kernel` x 1, padded by kernel/2 on both sides, with the given number of channels.
  int Conv(int input, int64_t kernel, int64_t channels, int64_t stride = 1);
  int ConvWith(int input, int weights, int64_t kernel, int64_t stride = 1);
  int Add(int a, int b);
  int Weights(graph::Shape shape);
  graph::Graph Finish(int output);

 private:
  int Tensor(std::string id, graph::Shape shape);
  graph::Graph graph_;
};

// Memory 0 is "dram", the home of everything but features: it reads 4 and writes 2 bytes a cycle
// over one shared port, with 7 and 5 cycles of latency, bursts of 4 bytes, 10 and 20 pJ a byte.
// Memory 1 is "sram", the tile memory: 1000 bytes a cycle, 1 and 2 pJ a byte. The link "dma" takes
// 3 cycles to set up. The engine multiplies 2 input by 2 output channels a cycle after 5 cycles of
// start, adds two elements a cycle, and takes 0.5 pJ for a multiply-accumulate. 1 GHz, no leakage.
// Tiles are cut along rows.
hw_profiles::Profile SmallMachine(hw_profiles::DmaSteps dma, int64_t capacity = 1 << 20);

// x [1,2,4,3] --1x1--> y [1,2,4,3], 4 bytes of weights. A row has 6 bytes.
graph::Graph Pointwise();

hw_profiles::RoleLayout& LayoutIn(hw_profiles::Profile& profile, base::TensorRole role);

}  // namespace tessera::search
