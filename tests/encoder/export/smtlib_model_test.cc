// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "model_fault.h"
#include "tessera/encoder/export/formula.h"
#include "two_banks.h"

// Valid and invalid output of an SMT solver about the formula of TwoBanks.
namespace tessera::encoder {
namespace {

using testing::HasSubstr;

// The answer of get-value with these values of |offset of in / 16| and of mode m1.
std::string Output(const std::string& offset = "0", const std::string& m1 = "false") {
  return "sat\n((|offset of in / 16| " + offset +
         ")\n"
         " (|offset of out / 16| 2) (|in below out| true)\n"
         " (|mode of sram at step 1 is m0| true) (|mode of sram at step 1 is m1| " +
         m1 + "))\n";
}

base::Expected<exports::Decoded> ReadModel(const std::string& output) {
  exports::FormulaOptions options;
  options.capacity = 64;
  return exports::Decode(TwoBanks(), options, output, "model.txt");
}

TEST(SmtlibModel, OfGetValueBecomesAnAllocation) {
  const base::Expected<exports::Decoded> decoded = ReadModel(Output());
  ASSERT_TRUE(decoded.has_value()) << base::Format(decoded.error());
  ASSERT_TRUE(decoded->allocation.has_value()) << decoded->broken;
  EXPECT_EQ(decoded->allocation->offsets, (std::vector<problem::Bytes>{0, 32}));
  EXPECT_EQ(decoded->allocation->modes, (std::vector<problem::ModeSchedule>{{0}}));
}

TEST(SmtlibModel, OfGetModelBecomesAnAllocation) {
  const base::Expected<exports::Decoded> decoded = ReadModel(
      "sat\n(\n(define-fun |offset of in / 16| () Int 2)\n"
      "(define-fun |offset of out / 16| () Int 1) ; a comment\n"
      "(define-fun |in below out| () Bool false)\n"
      "(define-fun |mode of sram at step 1 is m0| () Bool false)\n"
      "(define-fun |mode of sram at step 1 is m1| () Bool true)\n)\n");
  ASSERT_TRUE(decoded.has_value()) << base::Format(decoded.error());
  ASSERT_TRUE(decoded->allocation.has_value()) << decoded->broken;
  EXPECT_EQ(decoded->allocation->offsets, (std::vector<problem::Bytes>{32, 16}));
  EXPECT_EQ(decoded->allocation->modes, (std::vector<problem::ModeSchedule>{{1}}));
}

TEST(SmtlibModel, ThatBreaksAConditionIsRefusedInWords) {
  EXPECT_EQ(ReadModel(Output("0", "true"))->broken,
            "modes: if mode of sram at step 1 is m0, then mode of sram at step 1 is not m1");
  EXPECT_EQ(ReadModel(Output("3"))->broken,
            "modes: if offset of in >= 32, then mode of sram at step 1 is not m0");
}

TEST(SmtlibModel, ThatBreaksAnOrderIsRefusedInWords) {
  const std::string output =
      "sat ((|offset of in / 16| 1) (|offset of out / 16| 1) (|in below out| true)\n"
      "(|mode of sram at step 1 is m0| true) (|mode of sram at step 1 is m1| false))";
  const base::Expected<exports::Decoded> decoded = ReadModel(output);
  ASSERT_TRUE(decoded.has_value()) << base::Format(decoded.error());
  EXPECT_THAT(decoded->broken, HasSubstr("offset of out"));
}

TEST(SmtlibModel, AClaimFollowedByAnErrorIsNoAllocation) {
  const base::Expected<exports::Decoded> refuted =
      ReadModel("unsat\n(error \"cannot get a model: \"\"unsat\"\"\")\n");
  ASSERT_TRUE(refuted.has_value()) << base::Format(refuted.error());
  EXPECT_EQ(refuted->claim, exports::Decoded::Claim::kNothingFits);
  EXPECT_EQ(ReadModel("unknown")->claim, exports::Decoded::Claim::kUndecided);
}

class SmtlibFault : public testing::TestWithParam<ModelFault> {};

TEST_P(SmtlibFault, IsRefusedWithItsPlace) {
  ExpectRefused(ReadModel(GetParam().output), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Of, SmtlibFault,
    testing::Values(
        ModelFault{"no_model", "sat\n", 2, 1, "gives no value to 'in below out'"},
        ModelFault{"error_for_a_model", "sat\n(error \"out of memory\")\n", 2, 1,
                   "reports an error"},
        ModelFault{"cut_off", "sat\n((|in below out| true)\n", 2, 1, "truncated"},
        ModelFault{"open_bar", "sat\n((|in below", 2, 3, "| is never closed"},
        ModelFault{"open_quote", "unsat (error \"x", 1, 14, "\" is never closed"},
        ModelFault{"too_many_parentheses", "sat\n)\n", 2, 1, "closes nothing"},
        ModelFault{"deep", "sat" + std::string(200, '('), 1, 104, "nested too deeply"},
        ModelFault{"two_answers", "sat\nunsat\n", 2, 1, "contradicts the one above"},
        ModelFault{"model_of_the_unsatisfiable", "unsat\n((|in below out| true))\n", 2, 1,
                   "without 'sat'"},
        ModelFault{"foreign_word", "sat\nmaybe\n", 2, 1, "no answer of an SMT solver"},
        ModelFault{"unknown_name", "sat\n((|in above out| true))\n", 2, 3,
                   "no variable 'in above out'"},
        ModelFault{"no_binding", "sat\n((|in below out|))\n", 2, 2, "gives no variable a value"},
        ModelFault{"integer_for_a_truth", "sat\n((|in below out| 1))\n", 2, 18, "is a truth"},
        ModelFault{"truth_for_an_integer", Output("true"), 2, 23, "is an integer"},
        ModelFault{"value_beyond_the_domain", Output("4"), 2, 23, "has no such value"},
        ModelFault{"negative_value", Output("(- 1)"), 2, 23, "has no such value"},
        ModelFault{"value_beyond_64_bits", Output("99999999999999999999"), 2, 23, "is an integer"},
        ModelFault{"contradiction", "sat ((|in below out| true) (|in below out| false))", 1, 29,
                   "contradicts"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tessera::encoder
