// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "tessera/plan/plan.h"

// Plans written out by hand from docs/program.md, with every figure stated, for a small
// accelerator: 1 KiB of SRAM, a DRAM, one engine "pe" and one link "dma".
namespace tessera::plan {

// DRAM is the home of every role but features; alignment 16, two bytes of tables a channel,
// granularity 2.
hw_profiles::Profile SmallProfile();

// SRAM is the home of everything but constants, which are read directly from flash.
hw_profiles::Profile OneSramProfile();

graph::Tensor FeatureTensor(const std::string& id, graph::Shape shape);
graph::Tensor ConstantTensor(const std::string& id, graph::Shape shape);
graph::Operator Conv3x3(const std::string& id, int input, int weights, int output);
graph::Operator Concat(int axis, std::vector<int> inputs, int output);

// x -> a -> m -> b -> y, both 3x3 with padding 1, all maps [1, 4, rows, 4]. Tensors: 0 x, 1 wa, 2
// wb, 3 m, 4 y.
graph::Graph TwoConvs(int64_t rows);

// One convolution, one tile, a step for each transfer:
//
//     step     0 load w   1 load x   2 compute   3 store y
Plan OneConvPlan();

// Two convolutions in one subgraph, with transfers that overlap compute, five tiles of two rows:
//
//     step     0 P | 1 a  2 b | 3 a  4 b | 5 E        leaves its loop after step 2
Plan TwoConvsPlan();

// A convolution and an activation, each in its own subgraph, with all maps at home in SRAM; the
// activation works in place.
Plan OneSramPlan();

// OneConvPlan on an SRAM of two banks. Each mode reads one bank and writes the other.
Plan BankedPlan();

}  // namespace tessera::plan
