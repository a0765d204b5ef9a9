// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/vocabulary.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tessera::base {
namespace {

TEST(VocabularyTest, EveryNameReadsBack) {
  for (const std::string_view name : DataTypeNames())
    EXPECT_EQ(NameOf(ParseDataType(name).value()), name);
  for (const std::string_view name : OperatorKindNames())
    EXPECT_EQ(NameOf(ParseOperatorKind(name).value()), name);
  for (const std::string_view name : TensorRoleNames())
    EXPECT_EQ(NameOf(ParseTensorRole(name).value()), name);
}

TEST(VocabularyTest, UnknownNamesAreRefused) {
  EXPECT_EQ(ParseDataType("int7"), std::nullopt);
  EXPECT_EQ(ParseOperatorKind(""), std::nullopt);
  EXPECT_EQ(ParseTensorRole("Boundary"), std::nullopt);
}

TEST(VocabularyTest, SumsAreWiderThanWhatIsAddedUp) {
  EXPECT_EQ(AccumulatorOf(DataType::kInt4), DataType::kInt32);
  EXPECT_EQ(AccumulatorOf(DataType::kUint8), DataType::kInt32);
  EXPECT_EQ(AccumulatorOf(DataType::kInt16), DataType::kInt64);
  EXPECT_EQ(AccumulatorOf(DataType::kInt32), DataType::kInt64);
  EXPECT_EQ(AccumulatorOf(DataType::kBfloat16), DataType::kFloat32);
  EXPECT_EQ(AccumulatorOf(DataType::kFloat64), DataType::kFloat64);
}

// The names of the kinds with a trait.
std::string KindsWith(bool OperatorTraits::*trait) {
  std::string names;
  for (const OperatorTraits& traits : kOperatorTraits) {
    if (traits.*trait) names += (names.empty() ? "" : " ") + std::string(traits.name);
  }
  return names;
}

TEST(OperatorTraits, AreThoseOfTheKinds) {
  EXPECT_EQ(TraitsOf(OperatorKind::kConv).name, "conv");
  EXPECT_EQ(TraitsOf(OperatorKind::kMatmul).name, "matmul");
  EXPECT_EQ(TraitsOf(OperatorKind::kOpaque).name, "opaque");
  EXPECT_EQ(
      KindsWith(&OperatorTraits::moves_data),
      "concat slice pad gather reshape transpose depth_to_space space_to_depth space_to_batch");
  EXPECT_EQ(KindsWith(&OperatorTraits::multiplies), "conv depthwise transposed_conv matmul");
  EXPECT_EQ(KindsWith(&OperatorTraits::convolves), "conv depthwise transposed_conv");
  EXPECT_EQ(KindsWith(&OperatorTraits::slides), "conv depthwise pool");
  EXPECT_EQ(KindsWith(&OperatorTraits::fuses_activation),
            "conv depthwise transposed_conv pool global_pool reduce elementwise matmul layer_norm");
  EXPECT_EQ(KindsWith(&OperatorTraits::keeps_channels),
            "conv depthwise transposed_conv pool elementwise softmax layer_norm cumsum");
  EXPECT_EQ(KindsWith(&OperatorTraits::mixes_axes),
            "reshape depth_to_space space_to_depth space_to_batch");
  EXPECT_EQ(KindsWith(&OperatorTraits::always_reads),
            "global_pool reduce elementwise slice matmul softmax layer_norm resize top_k");
  EXPECT_EQ(
      KindsWith(&OperatorTraits::reads_boxes),
      "global_pool reduce elementwise concat matmul softmax layer_norm transpose cumsum top_k");
  EXPECT_EQ(KindsWith(&OperatorTraits::may_overwrite), "depthwise elementwise");
}

TEST(VocabularyTest, CountsBytes) {
  EXPECT_EQ(BytesOf(DataType::kInt4, 3), 2);
  EXPECT_EQ(BytesOf(DataType::kInt4, 0), 0);
  EXPECT_EQ(BytesOf(DataType::kInt8, 5), 5);
  EXPECT_EQ(BytesOf(DataType::kFloat32, 5), 20);
  EXPECT_EQ(BitsOf(DataType::kBfloat16), 16);
}

}  // namespace
}  // namespace tessera::base
