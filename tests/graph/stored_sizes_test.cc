// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/common/stored_sizes.h"

#include <gtest/gtest.h>

#include <utility>

#include "tessera/graph/import/yaml/network_yaml.h"

// Constants whose stored size differs from the size of their shape.
namespace tessera::graph {
namespace {

Graph ConvWithWeights() {
  return import::yaml::ReadNetwork(
             "schema: 1\nname: n\ninputs: [{id: x, shape: [1, 4, 8, 8]}]\n"
             "constants: [{id: 'w,1', shape: [4, 4, 1, 1]}]\n"
             "operators: [{id: a, kind: conv, inputs: [x], weights: ['w,1'], out_channels: 4, "
             "kernel: 1}]\n",
             "n.yaml")
      .value();
}

int64_t StoredBytesOf(const Graph& graph, std::string_view id) {
  return graph.tensors[static_cast<size_t>(FindTensor(graph, id).value())].stored_bytes;
}

TEST(StoredSizes, TheLastCommaDividesAndBlanksDoNotCount) {
  Graph graph = ConvWithWeights();
  ASSERT_TRUE(import::common::ReadStoredSizes("\xef\xbb\xbftensor,bytes\r\n\r\n w,1 , 5 \r\n",
                                              "s.csv", graph));
  EXPECT_EQ(StoredBytesOf(graph, "w,1"), 5);
}

TEST(StoredSizes, SurviveTheRoundTripThroughJson) {
  Graph graph = ConvWithWeights();
  ASSERT_TRUE(import::common::ReadStoredSizes("tensor,bytes\nw,1,5\n", "s.csv", graph));
  EXPECT_EQ(import::yaml::ReadNetwork(import::yaml::WriteNetworkJson(graph), "n.json").value(),
            graph);
}

struct WrongSizes {
  const char* name;
  const char* csv;
  int line;
  int column;
  const char* message;
};

void PrintTo(const WrongSizes& wrong, std::ostream* out) { *out << wrong.name; }

class StoredSizesFault : public testing::TestWithParam<WrongSizes> {};

TEST_P(StoredSizesFault, IsReportedWithItsPlace) {
  Graph graph = ConvWithWeights();
  const base::Expected<void> read = import::common::ReadStoredSizes(GetParam().csv, "s.csv", graph);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().file, "s.csv");
  EXPECT_EQ(std::pair(read.error().line, read.error().column),
            std::pair(GetParam().line, GetParam().column));
  EXPECT_EQ(read.error().message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Of, StoredSizesFault,
    testing::Values(
        WrongSizes{"header", "w,1,5\n", 1, 1, "another header"},
        WrongSizes{"no_comma", "tensor,bytes\nw\n", 2, 1, "a line without a comma"},
        WrongSizes{"unknown", "tensor,bytes\nw,2,5\n", 2, 1, "there is no constant 'w,2'"},
        WrongSizes{"feature", "tensor,bytes\nx,5\n", 2, 1, "there is no constant 'x'"},
        WrongSizes{"twice", "tensor,bytes\nw,1,5\nw,1,5\n", 3, 1, "constant 'w,1' comes twice"},
        WrongSizes{"nothing", "tensor,bytes\nw,1,0\n", 2, 5, "bytes '0'"},
        WrongSizes{"huge", "tensor,bytes\nw,1,72057594037927937\n", 2, 5,
                   "bytes '72057594037927937'"},
        WrongSizes{"no_number", "tensor,bytes\nw,1,5k\n", 2, 5, "bytes '5k'"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tessera::graph
