// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "model_fault.h"
#include "tessera/encoder/export/formula.h"
#include "tessera/problem/validator.h"
#include "two_banks.h"

// Valid and invalid output of a SAT solver. The formula is that of TwoBanks: variables 2 to 4 are
// the offset of `in` at or above 16, 32, 48; 5 to 7 that of `out`; 8 `in below out`; 9 and 10 modes
// m0 and m1.
namespace tessera::encoder {
namespace {

using testing::HasSubstr;

const std::string kModel = "c a solver\ns SATISFIABLE\nv 1 -2 -3 -4 5 6 -7 8\nv 9 -10 0\n";

base::Expected<exports::Decoded> Read(const std::string& output) {
  exports::FormulaOptions options;
  options.capacity = 64;
  return exports::Decode(TwoBanks(), options, output, "model.txt");
}

TEST(DimacsModel, BecomesAnAllocation) {
  const base::Expected<exports::Decoded> decoded = Read(kModel);
  ASSERT_TRUE(decoded.has_value()) << base::Format(decoded.error());
  EXPECT_EQ(decoded->claim, exports::Decoded::Claim::kModel);
  ASSERT_TRUE(decoded->allocation.has_value()) << decoded->broken;
  EXPECT_EQ(decoded->allocation->offsets, (std::vector<problem::Bytes>{0, 32}));
  EXPECT_EQ(decoded->allocation->modes, (std::vector<problem::ModeSchedule>{{0}}));
  EXPECT_TRUE(problem::Validate(TwoBanks().problem, *decoded->allocation, 64).empty());
}

TEST(DimacsModel, MayLeaveOpenWhatNoClauseNeeds) {
  // With m0 chosen, no clause implies the bound of `in` at 16: [in >= 32] is false either way.
  const base::Expected<exports::Decoded> decoded =
      Read("s SATISFIABLE\nv 1 -3 -4 5 6 -7 8 9 -10 0\n");
  ASSERT_TRUE(decoded.has_value()) << base::Format(decoded.error());
  EXPECT_TRUE(decoded->allocation.has_value()) << decoded->broken;
}

TEST(DimacsModel, AClaimIsNoAllocation) {
  const base::Expected<exports::Decoded> refuted = Read("s UNSATISFIABLE\n");
  ASSERT_TRUE(refuted.has_value());
  EXPECT_EQ(refuted->claim, exports::Decoded::Claim::kNothingFits);
  EXPECT_FALSE(refuted->allocation.has_value());
  const base::Expected<exports::Decoded> unknown = Read("c timeout\ns UNKNOWN\n");
  ASSERT_TRUE(unknown.has_value());
  EXPECT_EQ(unknown->claim, exports::Decoded::Claim::kUndecided);
}

TEST(DimacsModel, ThatBreaksAConditionIsRefusedInWords) {
  const base::Expected<exports::Decoded> decoded =
      Read("s SATISFIABLE\nv 1 -2 -3 -4 5 6 -7 8 -9 10 0\n");
  ASSERT_TRUE(decoded.has_value());
  EXPECT_FALSE(decoded->allocation.has_value());
  EXPECT_EQ(decoded->broken, "modes: if mode of sram at step 1 is m1, then offset of in >= 32");
}

class DimacsFault : public testing::TestWithParam<ModelFault> {};

TEST_P(DimacsFault, IsRefusedWithItsPlace) { ExpectRefused(Read(GetParam().output), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Of, DimacsFault,
    testing::Values(
        ModelFault{"empty", "", 0, 1, "ends without a status"},
        ModelFault{"comments_only", "c nothing\n", 1, 10, "ends without a status"},
        ModelFault{"values_without_status", "v 1 0\n", 1, 6, "ends without a status"},
        ModelFault{"status_without_values", "s SATISFIABLE\n", 1, 14, "gives no values"},
        ModelFault{"cut_off", "s SATISFIABLE\nv 1 -2 -3\n", 2, 10, "without 0"},
        ModelFault{"cut_off_before_a_needed_variable", "s SATISFIABLE\nv 1 -2 0\n", 2, 9,
                   "no value to variable 3"},
        ModelFault{"unknown_status", "s MAYBE\n", 1, 3, "no status"},
        ModelFault{"two_statuses", "s SATISFIABLE\ns UNSATISFIABLE\n", 2, 3,
                   "contradicts the one above"},
        ModelFault{"values_of_the_unsatisfiable", "s UNSATISFIABLE\nv 1 0\n", 2, 6,
                   "although it is not satisfiable"},
        ModelFault{"both_signs", "s SATISFIABLE\nv 2 -2 0\n", 2, 5, "variable 2 contradicts"},
        ModelFault{"constant_denied", "s SATISFIABLE\nv -1 0\n", 2, 3, "variable 1 is true"},
        ModelFault{"variable_of_another_formula", "s SATISFIABLE\nv 1 11 0\n", 2, 5,
                   "no variable 11"},
        ModelFault{"number_beyond_64_bits", "s SATISFIABLE\nv 99999999999999999999 0\n", 2, 3,
                   "no variable 9999"},
        ModelFault{"word_for_a_number", "s SATISFIABLE\nv 1 x2 0\n", 2, 5, "no literal"},
        ModelFault{"number_with_a_tail", "s SATISFIABLE\nv 1 2x 0\n", 2, 5, "no literal"},
        ModelFault{"values_after_the_end", "s SATISFIABLE\nv 1 0\nv 2 0\n", 3, 3,
                   "ended with 0 before"},
        ModelFault{"foreign_line", "s SATISFIABLE\nw 1 0\n", 2, 1, "no line of a SAT solver"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tessera::encoder
