// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/yaml/measured_costs.h"

#include <gmock/gmock.h>

#include <string>

#include "tessera/graph/import/yaml/network_yaml.h"

namespace tessera::graph::import::yaml {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Two equal convolutions, and one with another kernel.
constexpr const char* kNetwork = R"(schema: 1
name: three
inputs:
  - {id: x, shape: [1, 4, 6, 6]}
operators:
  - {id: a, kind: conv, inputs: [x], out_channels: 4, kernel: 3, pads: same}
  - {id: b, kind: conv, inputs: [a], out_channels: 4, kernel: 3, pads: same}
  - {id: c, kind: conv, inputs: [b], out_channels: 4, kernel: 1}
outputs: [c]
)";

Graph Network() { return *ReadNetwork(kNetwork, "three.yaml"); }

MeasuredTile Tile(Shape tile, int64_t cycles, std::optional<double> pj = {}) {
  return {std::move(tile), "npu", cycles, pj};
}

TEST(MeasuredCosts, AreOfAnOperatorOrOfAllWithASignature) {
  Graph graph = Network();
  const std::string both = SignatureOf(graph, graph.operators[0]);
  EXPECT_EQ(both, SignatureOf(graph, graph.operators[1]));
  EXPECT_NE(both, SignatureOf(graph, graph.operators[2]));
  EXPECT_THAT(both, testing::MatchesRegex("conv-[0-9a-f]+"));
  const auto read = ReadMeasuredCosts(
      "operator,tile,engine,cycles,pj\n" + both + ",1x4x6x6,npu,90,\nc,1x4x2x6,npu,7,1.5\n",
      "costs.csv", graph);
  ASSERT_TRUE(read) << base::Format(read.error());
  EXPECT_THAT(graph.operators[0].measured, ElementsAre(Tile({1, 4, 6, 6}, 90)));
  EXPECT_THAT(graph.operators[1].measured, ElementsAre(Tile({1, 4, 6, 6}, 90)));
  EXPECT_THAT(graph.operators[2].measured, ElementsAre(Tile({1, 4, 2, 6}, 7, 1.5)));
  EXPECT_EQ(SignatureOf(graph, graph.operators[0]), both) << "measurements are no part of it";
}

TEST(MeasuredCosts, OfAnIdGoBeforeThoseOfASignature) {
  Graph graph = Network();
  const std::string both = SignatureOf(graph, graph.operators[0]);
  const auto note = ReadMeasuredCosts("operator,tile,engine,cycles\na,1x4x6x6,npu,5\n" + both +
                                          ",1x4x6x6,npu,90\nconv-0123456789abcdef,1x1,npu,1\n",
                                      "costs.csv", graph);
  ASSERT_TRUE(note) << base::Format(note.error());
  EXPECT_EQ(*note, "rows of costs.csv with signatures of other networks: 1");
  EXPECT_THAT(graph.operators[0].measured, ElementsAre(Tile({1, 4, 6, 6}, 5)));
  EXPECT_THAT(graph.operators[1].measured, ElementsAre(Tile({1, 4, 6, 6}, 90)));
}

TEST(MeasuredCosts, ReplaceThoseOfTheNetwork) {
  Graph graph = Network();
  AddMeasured(graph.operators[0], Tile({1, 4, 6, 6}, 1));
  AddMeasured(graph.operators[0], Tile({1, 4, 3, 6}, 2));
  ASSERT_TRUE(ReadMeasuredCosts("operator,tile,engine,cycles\na,1x4x6x6,npu,90\n", "", graph));
  EXPECT_THAT(graph.operators[0].measured,
              ElementsAre(Tile({1, 4, 3, 6}, 2), Tile({1, 4, 6, 6}, 90)));
}

TEST(MeasuredCosts, SurviveWritingAndReading) {
  Graph graph = Network();
  AddMeasured(graph.operators[1], Tile({1, 4, 6, 6}, 1, 0.25));
  AddMeasured(graph.operators[1], Tile({1, 4, 3, 6}, 2));
  const std::string json = WriteNetworkJson(graph);
  const base::Expected<Graph> again = ReadNetwork(json, "again.json");
  ASSERT_TRUE(again) << base::Format(again.error());
  EXPECT_EQ(again->operators, graph.operators);
  EXPECT_EQ(WriteNetworkJson(*again), json);
}

void ExpectFault(const std::string& row, int column, const std::string& message) {
  Graph graph = Network();
  const auto read =
      ReadMeasuredCosts("operator,tile,engine,cycles,pj\n" + row + "\n", "costs.csv", graph);
  ASSERT_FALSE(read) << row;
  EXPECT_EQ(read.error().line, 2);
  EXPECT_EQ(read.error().column, column) << row;
  EXPECT_THAT(read.error().message, HasSubstr(message)) << row;
  EXPECT_THAT(read.error().expected, Not(IsEmpty()));
}

TEST(MeasuredCosts, AreRefusedWithTheirPlace) {
  ExpectFault("d,1x4x6x6,npu,1,", 1, "no such operator");
  ExpectFault("a,1x4x6,npu,1,", 3, "no tile of the operator's output, which is [1, 4, 6, 6]");
  ExpectFault("a,1x4x7x6,npu,1,", 3, "no tile");
  ExpectFault("a,1x4x0x6,npu,1,", 3, "no tile");
  ExpectFault("a,1x4x6x,npu,1,", 3, "no tile");
  ExpectFault("a,1x4x6x6,,1,", 11, "no engine");
  ExpectFault("a,1x4x6x6,npu,-1,", 15, "no number of cycles");
  ExpectFault("a,1x4x6x6,npu,1.5,", 15, "no number of cycles");
  ExpectFault("a,1x4x6x6,npu,1,-2", 17, "no energy");
  ExpectFault("a,1x4x6x6,npu,1,nan", 17, "no energy");
  Graph graph = Network();
  const auto twice = ReadMeasuredCosts(
      "operator,tile,engine,cycles\na,1x4x6x6,npu,1\na,1x4x6x6,npu,2\n", "", graph);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().line, 3);
}

TEST(MeasuredCosts, OfANetworkFileAreRefusedWithTheirPlace) {
  const auto fault = [](const std::string& entry) {
    std::string text = kNetwork;
    text.replace(text.find("kernel: 1}"), 10, "kernel: 1, measured: [" + entry + "]}");
    const base::Expected<Graph> read = ReadNetwork(text, "three.yaml");
    EXPECT_FALSE(read) << entry;
    return read ? "" : read.error().message;
  };
  EXPECT_THAT(fault("{tile: [1, 4, 6], engine: npu, cycles: 1}"),
              HasSubstr("a tile of [1, 4, 6] where the output is [1, 4, 6, 6]"));
  EXPECT_THAT(fault("{tile: [1, 4, 6, 7], engine: npu, cycles: 1}"), HasSubstr("a tile of"));
  EXPECT_THAT(fault("{tile: [1, 4, 6, 6], engine: npu, cycles: 1},"
                    " {tile: [1, 4, 6, 6], engine: npu, cycles: 2}"),
              HasSubstr("is measured twice"));
  EXPECT_THAT(fault("{tile: [1, 4, 6, 6], engine: npu, cycle: 1}"), HasSubstr("cycle"));
}

}  // namespace
}  // namespace tessera::graph::import::yaml
