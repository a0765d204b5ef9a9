#include "tessera/base/vocabulary.h"

#include <gtest/gtest.h>

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

TEST(VocabularyTest, CountsBytes) {
  EXPECT_EQ(BytesOf(DataType::kInt4, 3), 2);
  EXPECT_EQ(BytesOf(DataType::kInt4, 0), 0);
  EXPECT_EQ(BytesOf(DataType::kInt8, 5), 5);
  EXPECT_EQ(BytesOf(DataType::kFloat32, 5), 20);
  EXPECT_EQ(BitsOf(DataType::kBfloat16), 16);
}

}  // namespace
}  // namespace tessera::base
