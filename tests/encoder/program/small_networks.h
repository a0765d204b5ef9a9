// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

// Networks and profiles small enough to derive programs by hand.
namespace tessera::encoder {

// Grows a network operator by operator.
class Network {
 public:
  explicit Network(std::string name = "small") { graph.name = std::move(name); }

  int Tensor(std::string id, graph::Shape shape);
  int Input(std::string id, graph::Shape shape);
  int Constant(std::string id, graph::Shape shape);
  int State(std::string id, graph::Shape shape);
  void Output(int tensor) { graph.tensors[static_cast<size_t>(tensor)].network_output = true; }

  // A convolution over rows alone: `kernel` x 1, stride 1.
  void Conv(std::string id, int input, int weights, int output, int64_t kernel, int64_t pad);
  void Elementwise(std::string id, std::vector<int> inputs, int output);

  graph::Graph graph;
};

//     x [1,2,8,4] --conv1 3x1, padded--> a [1,4,8,4] --conv2 1x1--> y [1,3,8,4];
//     w1: 24 elements, w2: 12
//
// Or with `rows` rows.
Network TwoConvs(int64_t rows = 8);

// Off-chip "dram" is home to everything but features, which live in "sram" of `capacity` bytes;
// link "dma", engine "pe".
hw_profiles::Profile TwoLevels(hw_profiles::DmaSteps dma, int64_t capacity = 1000);

// "sram" is home to everything but constants, which are read directly from "flash".
hw_profiles::Profile OneSram(int64_t capacity = 1000);

hw_profiles::RoleLayout& Layout(hw_profiles::Profile& profile, base::TensorRole role);

// "s0/x@0: 40 bytes, [2,4), 2 dma w, 3 pe r": every buffer in order.
std::vector<std::string> Describe(const problem::Problem& problem);

// The one buffer of that id, described; empty when there is none.
std::string Describe(const problem::Problem& problem, const std::string& id);

// "s0/a@0 = s0/y@0": every colocation, in order.
std::vector<std::string> DescribeColocations(const problem::Problem& problem);

inline constexpr program::Policy kResident = {hw_profiles::WeightPolicy::kResident, false};
inline constexpr program::Policy kStreamed = {hw_profiles::WeightPolicy::kStreamed, false};
inline constexpr program::Policy kDirect = {hw_profiles::WeightPolicy::kDirect, false};

// The program of that one subgraph, which is well formed.
program::Program ProgramOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                           const program::SubgraphChoice& choice);

// The reason why that cut has no program, with its cure; "accepted" when there is one.
std::string RefusalOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                      const std::vector<program::SubgraphChoice>& choices);

// The subgraph of TwoConvs cut into tiles of `rows` of its `of` output rows. Of 8, 4 rows: two
// tiles, each with one halo row: x has 5 rows. 3 rows: three tiles, the middle one needs 5 rows of
// x. 2 rows: four tiles, two of which need 4 rows of x.
program::Program TwoConvsIn(const hw_profiles::Profile& profile, int64_t rows,
                            program::Policy policy, int64_t of = 8);

// In place where permitted.
inline constexpr program::Policy kInPlace = {hw_profiles::WeightPolicy::kResident, true};

// Colocations of the program in which the whole network is one subgraph.
std::vector<std::string> ColocationsOf(const graph::Graph& graph,
                                       const hw_profiles::Profile& profile,
                                       graph::tiling::TileShape tile,
                                       program::Policy policy = kInPlace);

// "[2,6) exits 6": every loop in order.
std::vector<std::string> DescribeLoops(const problem::Problem& problem);

// "0 load x w1": every step in order with its kind and transfers; computes name their operator.
std::vector<std::string> DescribeSteps(const graph::Graph& graph, const program::Program& program);

}  // namespace tessera::encoder
