// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "fixture.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/graph/regions.h"
#include "tessera/plan/verify/derivation.h"

// The partitions that msf-CNN (Huang, Baccelli 2025) published for its MobileNetV2. A block of
// several convolutions makes one element of its result at a time, sliding along the row: columns
// are cached, rows are recomputed for every row of the result.
namespace tessera::plan {
namespace {

graph::Graph Network() {
  std::stringstream text;
  text << std::ifstream(std::string(EXAMPLES_FOLDER) + "/networks/mobilenet_v2_035.yaml").rdbuf();
  return graph::import::yaml::ReadNetwork(text.str(), "mobilenet_v2_035.yaml").value();
}

// Operators `from`, `from` + 3, .. up to the last of the 53.
std::vector<int> EveryThird(std::vector<int> ends, int from) {
  for (int end = from; end <= 52; end += 3) ends.push_back(end);
  return ends;
}

struct Published {
  int64_t memory = 0;
  int64_t macs = 0;
  std::vector<int> ends;  // the last operator of each block
};

std::vector<Published> Partitions() {
  return {
      {7'887, 31'758'160, {12, 15, 21, 24, 27, 30, 33, 36, 39, 42, 45, 48, 52}},
      {13'926,
       29'560'000,
       {12, 15, 21, 22, 24, 25, 27, 28, 30, 33, 36, 42, 43, 45, 46, 48, 49, 52}},
      {15'340, 26'132'080, {6,  12, 15, 21, 22, 24, 25, 27, 28, 30,
                            31, 33, 36, 41, 43, 45, 46, 48, 49, 52}},
      {21'288, 24'536'110, {6,  9,  12, 15, 22, 24, 25, 27, 28, 30, 31,
                            33, 34, 36, 37, 39, 40, 41, 43, 46, 49, 52}},
      {25'674, 23'700'946, {6,  9,  12, 13, 15, 16, 18, 19, 21, 22, 25, 28,
                            31, 33, 34, 36, 37, 39, 40, 41, 43, 46, 49, 52}},
      {63'741, 23'249'938, EveryThird({1, 12, 13}, 16)},
      {67'905, 20'751'538, EveryThird({1, 6, 9, 13}, 16)},
      {83'065, 19'265'890, EveryThird({1, 3, 6, 7, 9, 10, 11, 13}, 16)},
      {181'440, 18'909'490, EveryThird({1, 3, 4, 6, 7, 10, 13}, 16)},
  };
}

const graph::Tensor& ResultOf(const graph::Graph& network, int op) {
  return network
      .tensors[static_cast<size_t>(network.operators[static_cast<size_t>(op)].outputs.front())];
}

int64_t RowsOf(const graph::Graph& network, int op) { return ResultOf(network, op).shape[2]; }

int64_t MacsOf(const graph::Graph& network, int op) {
  return graph::MacsOf(network, network.operators[static_cast<size_t>(op)],
                       graph::ops::WholeBox(ResultOf(network, op).shape));
}

// The formula: a convolution of a block makes T rows for each position that a window of T rows has
// within its result. The window moves by the product of the strides behind it. The formula does not
// count rows that the windows miss at the borders.
int64_t MacsByFormula(const graph::Graph& network, int first, int last) {
  if (first == last) return MacsOf(network, first);
  int64_t macs = 0;
  int64_t window = 1;
  int64_t step = 1;
  for (int op = last; op >= first; --op) {
    const int64_t rows = RowsOf(network, op);
    const int64_t positions = (rows - window) / step + 1;
    macs += MacsOf(network, op) / rows * window * positions;
    const graph::Window& taps = network.operators[static_cast<size_t>(op)].window;
    window = (window - 1) * taps.stride[0] + taps.kernel[0];
    step *= taps.stride[0];
  }
  return macs;
}

// Blocks in tiles of one row. Elements cached along the row are made once.
Plan PlanOf(const graph::Graph& network, const std::vector<int>& ends) {
  Plan plan;
  plan.network = network;
  plan.profile = SmallProfile();
  int first = 0;
  for (const int last : ends) {
    Subgraph subgraph;
    subgraph.interval = {first, last};
    subgraph.tile = ResultOf(network, last).shape;
    if (first < last) subgraph.tile[2] = 1;
    subgraph.tiles = first < last ? RowsOf(network, last) : 1;
    plan.subgraphs.push_back(subgraph);
    first = last + 1;
  }
  return plan;
}

int64_t MacsCounted(const Plan& plan) {
  int64_t macs = 0;
  for (const verify::Work& work : verify::Derive(plan).work) macs += work.macs;
  return macs;
}

TEST(MsfCnn, NineTotalsFollowFromItsFormula) {
  const graph::Graph network = Network();
  for (const Published& published : Partitions()) {
    int64_t macs = 0;
    int first = 0;
    for (const int last : published.ends) {
      macs += MacsByFormula(network, first, last);
      first = last + 1;
    }
    EXPECT_EQ(macs, published.macs) << published.memory;
  }
}

// Where strides lead beyond the border, the formula leaves out rows that the result needs. Counted
// tile by tile there are more.
TEST(MsfCnn, CountedTileByTileThereIsMore) {
  const graph::Graph network = Network();
  const std::vector<int64_t> counted = {35'512'762, 32'064'466, 27'508'810, 25'090'906, 24'038'338,
                                        23'868'058, 20'878'258, 19'287'490, 18'909'490};
  const std::vector<Published> partitions = Partitions();
  for (size_t i = 0; i < counted.size(); ++i) {
    EXPECT_EQ(MacsCounted(PlanOf(network, partitions[i].ends)), counted[i]) << partitions[i].memory;
  }
}

TEST(MsfCnn, UnfusedItTakesEveryMultiplicationOnceAndTwoMapsAtATime) {
  const graph::Graph network = Network();
  int64_t macs = 0;
  int64_t peak = 0;
  for (int op = 0; op < 53; ++op) {
    macs += MacsOf(network, op);
    // The memory in question holds neither the network's input nor its output.
    const int64_t operand = op == 0 ? 0 : graph::ElementsOf(ResultOf(network, op - 1).shape);
    const int64_t result = op == 52 ? 0 : graph::ElementsOf(ResultOf(network, op).shape);
    peak = std::max(peak, operand + result);
  }
  EXPECT_EQ(macs, 18'909'490);
  EXPECT_EQ(peak, 194'400);
}

}  // namespace
}  // namespace tessera::plan
