// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/infeasibility/lower_bounds.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/tests/plan/fixture.h"

// The arguments of the judge that exclude every plan at once (impossible.cc), on
// networks small enough to see how far they go.
namespace tessera::plan::refutation {
namespace {

// The only window of b lies in the padding, so in one subgraph with b, a makes and reads nothing.
TEST(Impossible, IsNoOperatorOfWhichNothingIsNeeded) {
  Plan question;
  question.network.tensors = {
      FeatureTensor("x", {1, 256, 1, 1}), FeatureTensor("t", {1, 256, 1, 1}),
      ConstantTensor("w", {1, 256, 1, 1}), FeatureTensor("y", {1, 1, 1, 1})};
  question.network.tensors.front().network_input = true;
  question.network.tensors.back().network_output = true;
  graph::Operator a;
  a.id = "a";
  a.kind = base::OperatorKind::kElementwise;
  a.inputs = {0};
  a.outputs = {1};
  graph::Operator b = Conv3x3("b", 1, 2, 3);
  b.window.kernel = {1, 1};
  b.window.stride = {3, 3};
  question.network.operators = {a, b};
  question.profile = SmallProfile();
  verify::AssignHomes(question);
  EXPECT_EQ(verify::infeasibility::FindImpossible(question, verify::FindUsers(question.network),
                                                  300, 300),
            std::nullopt);
  question.network.operators.back().window.pad_low = {0, 0};
  question.network.operators.back().window.pad_high = {0, 0};
  EXPECT_NE(verify::infeasibility::FindImpossible(question, verify::FindUsers(question.network),
                                                  300, 300),
            std::nullopt);
}

// Keys need 8 of 12 columns of `project` in all 6 rows, the query 4 columns in one row: the keys'
// 6 * 8 * 8 products are certain, and those of the last matmul, in the one row that is gathered.
constexpr const char* kAttention = R"(schema: 1
name: attention
dtype: int8
inputs: [{id: x, shape: [1, 6, 8]}]
operators:
  - {id: project, kind: matmul, inputs: [x], columns: 12}
  - {id: query, kind: slice, inputs: [project], starts: [0, 0, 0], shape: [1, 1, 4]}
  - {id: keys, kind: slice, inputs: [project], starts: [0, 0, 4], shape: [1, 6, 8]}
  - {id: split, kind: reshape, inputs: [keys], shape: [6, 2, 4]}
  - {id: heads, kind: transpose, inputs: [split], permutation: [1, 0, 2]}
  - {id: sums, kind: reduce, function: mean, inputs: [heads], axis: 1}
  - {id: joined, kind: reshape, inputs: [sums], shape: [1, 8]}
  - {id: flat, kind: reshape, inputs: [heads], shape: [2, 24]}
  - {id: last, kind: matmul, inputs: [flat], columns: 5}
  - {id: first, kind: gather, inputs: [last], axis: 0, indices: 0}
outputs: [query, joined, first]
)";

TEST(LeastMetrics, CountWorkThroughSlicesReshapesAndGathers) {
  Plan question;
  const auto network = graph::import::yaml::ReadNetwork(kAttention, "attention.yaml");
  ASSERT_TRUE(network.has_value()) << base::Format(network.error());
  question.network = *network;
  question.profile = SmallProfile();
  verify::AssignHomes(question);
  const int64_t certain = 6 * 8 * 8 + 24 * 5;
  EXPECT_EQ(verify::infeasibility::LeastMetrics(question, verify::FindUsers(question.network)).macs,
            certain);
  EXPECT_EQ(search::cost::FindLowerBounds(question.network, question.profile).macs, certain);
}

// The slices take every second row and column, each others; `count` of the four.
std::string Interleaved(int count) {
  std::string text = R"(schema: 1
name: interleaved
dtype: int8
inputs: [{id: x, shape: [1, 3, 8, 6]}]
operators:
  - {id: conv, kind: conv, inputs: [x], out_channels: 4, kernel: 3, pads: same}
)";
  std::string slices;
  for (int i = 0; i < count; ++i) {
    text += fmt::format(
        "  - {{id: s{0}, kind: slice, inputs: [conv], starts: [0, 0, {1}, {2}], steps: [1, 1, 2, "
        "2], shape: [1, 4, 4, 3]}}\n",
        i, i / 2, i % 2);
    slices += fmt::format("{}s{}", i == 0 ? "" : ", ", i);
  }
  return text + "  - {id: joined, kind: concat, inputs: [" + slices + "], axis: 1}\n" +
         "outputs: [joined]\n";
}

// With stride 1 the taps of a dilated convolution read each element of a map that is at least as
// large as the distance between taps.
std::string TwoConvolutions(int64_t rows, int64_t dilation) {
  return fmt::format(R"(schema: 1
name: two
dtype: int8
inputs: [{{id: x, shape: [1, 3, {0}, {0}]}}]
operators:
  - {{id: near, kind: conv, inputs: [x], out_channels: 4, kernel: 3, pads: same}}
  - {{id: far, kind: conv, inputs: [near], out_channels: 2, kernel: 3, dilation: {1}, pads: same}}
outputs: [far]
)",
                     rows, dilation);
}

TEST(LeastMetrics, CountWorkThroughInterleavedReads) {
  const auto expect = [](const std::string& text, int64_t macs) {
    Plan question;
    const auto network = graph::import::yaml::ReadNetwork(text, "interleaved.yaml");
    ASSERT_TRUE(network.has_value()) << base::Format(network.error());
    question.network = *network;
    question.profile = SmallProfile();
    verify::AssignHomes(question);
    EXPECT_EQ(
        verify::infeasibility::LeastMetrics(question, verify::FindUsers(question.network)).macs,
        macs);
    EXPECT_EQ(search::cost::FindLowerBounds(question.network, question.profile).macs, macs);
  };
  expect(Interleaved(4), 8 * 6 * 4 * 3 * 9);
  expect(Interleaved(3), 0);
  expect(TwoConvolutions(9, 3), 9 * 9 * (4 * 3 + 2 * 4) * 9);
  expect(TwoConvolutions(9, 9), 9 * 9 * (4 * 3 + 2 * 4) * 9);
  expect(TwoConvolutions(9, 10), 9 * 9 * 2 * 4 * 9);
}

// In the middle of the map, the taps of the convolution are 12 rows and columns apart. The resize
// reads all of its result, so that a tile somewhere makes this element, whatever the order.
std::string Dilated(int64_t resized) {
  return fmt::format(R"(schema: 1
name: dilated
dtype: int8
inputs: [{{id: x, shape: [1, 4, 33, 33]}}]
operators:
  - {{id: conv, kind: conv, inputs: [x], out_channels: 4, kernel: 3, dilation: 12, pads: same}}
  - {{id: resized, kind: resize, inputs: [conv], mode: bilinear, size: [{0}, {0}]}}
outputs: [resized]
)",
                     resized);
}

Plan QuestionAbout(const std::string& network) {
  Plan question;
  question.network = graph::import::yaml::ReadNetwork(network, "network.yaml").value();
  question.profile = SmallProfile();
  question.profile.tiling.weights = {hw_profiles::WeightPolicy::kStreamed};
  verify::AssignHomes(question);
  return question;
}

// What the first operator needs in every subgraph.
int64_t NeedOfFirst(const std::string& network) {
  const Plan question = QuestionAbout(network);
  const std::vector<verify::Users> users = verify::FindUsers(question.network);
  const auto result = static_cast<size_t>(question.network.operators.front().outputs.front());
  return verify::infeasibility::NeedAnywhere(
      question, users, 0, verify::infeasibility::FindNeeded(question.network, users)[result]);
}

TEST(FindImpossible, SeesTheNeedOfTheMiddle) {
  const int64_t need = NeedOfFirst(Dilated(66));
  EXPECT_GT(need, 4 * 25 * 25);
  EXPECT_LE(need, 4 * 25 * 25 + 1000);
  const Plan question = QuestionAbout(Dilated(66));
  EXPECT_THAT(verify::infeasibility::FindImpossible(question, verify::FindUsers(question.network),
                                                    need - 1, need - 1)
                  .value_or(""),
              testing::HasSubstr("operator 'conv' fits in no subgraph: each needs "));
}

// A smaller result may be made of other elements alone.
TEST(FindImpossible, TakesSamplesForGaps) { EXPECT_LE(NeedOfFirst(Dilated(8)), 4 * 25 * 25); }

// Three banks, of which no mode lets one of the first two be read and the other be written. The
// last begins at byte 512.
TEST(FindUnservedOperator, CountsBanksThatBeginBelowTheLimit) {
  Plan question;
  question.network = TwoConvs(4);
  question.profile = SmallProfile();
  hw_profiles::Memory& memory =
      question.profile.memories[static_cast<size_t>(question.profile.tile_memory)];
  memory.span = problem::Span::kSingle;
  memory.banks = {{"b0", {0, 256}, {}}, {"b1", {256, 512}, {}}, {"b2", {512, 1024}, {}}};
  const problem::BankMode read{.allowed = {{"", problem::AccessKind::kRead}}};
  const problem::BankMode written{.allowed = {{"", problem::AccessKind::kWrite}}};
  memory.modes = {{"forward", {read, read, written}}, {"reverse", {written, written, read}}};
  verify::AssignHomes(question);
  const std::vector<verify::Users> users = verify::FindUsers(question.network);
  const auto needed = verify::infeasibility::FindNeeded(question.network, users);
  EXPECT_THAT(verify::infeasibility::FindUnservedOperator(question, 0, 512, needed).value_or(""),
              testing::HasSubstr("in some mode, of the banks that begin below byte 512"));
  for (const int64_t end : {513, 1024})
    EXPECT_EQ(verify::infeasibility::FindUnservedOperator(question, 0, end, needed), std::nullopt);
}

}  // namespace
}  // namespace tessera::plan::refutation
