// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../cost/small_machine.h"
#include "networks.h"
#include "search_options.h"
#include "tessera/search/partition/analysis/reproduce.h"
#include "tessera/search/partition/partition.h"

// The independent judge on bounds of plans: true ones of small networks, and false ones.
namespace tessera::search {
namespace {

using partition::analysis::BoundConfirmation;
using partition::analysis::ConfirmBound;
using testing::HasSubstr;
using testing::Not;

class ConfirmBoundTest : public testing::TestWithParam<const char*> {
 protected:
  ConfirmBoundTest() : profile_(SmallMachine(hw_profiles::DmaSteps::kSerialized, 40)) {
    options_.engines = TestEngines();
    options_.objective = Minimise(GetParam());
    const auto found = partition::SearchPartition(graph_, profile_, options_);
    plan_ = *found->plan;
  }

  BoundConfirmation Confirm() const { return *ConfirmBound(plan_, graph_, options_); }

  const graph::Graph graph_ = Chain(2);
  const hw_profiles::Profile profile_;
  partition::answer::PartitionOptions options_;
  plan::Plan plan_;
};

TEST_P(ConfirmBoundTest, TheValueOfAnOptimalPlanIsConfirmed) {
  ASSERT_EQ(plan_.status, "optimal");
  const BoundConfirmation confirmation = Confirm();
  EXPECT_TRUE(confirmation.confirmed) << confirmation.gap;
  EXPECT_THAT(confirmation.claim, HasSubstr(std::string("no plan has ") + GetParam() + " below "));
}

TEST_P(ConfirmBoundTest, ABoundAboveAPlanIsNot) {
  plan_.totals.latency_cycles += 1;
  plan_.totals.peak_bytes += 1;
  plan_.totals.off_chip_bytes += 1;
  const BoundConfirmation confirmation = Confirm();
  EXPECT_FALSE(confirmation.confirmed);
  EXPECT_THAT(confirmation.gap, Not(""));
}

TEST_P(ConfirmBoundTest, ABoundOfAFeasiblePlanIsItsLowerBound) {
  plan_.status = "feasible";
  plan_.lower_bounds.latency_cycles = plan_.totals.latency_cycles + 1;
  plan_.lower_bounds.peak_bytes = plan_.totals.peak_bytes + 1;
  plan_.lower_bounds.off_chip_bytes = plan_.totals.off_chip_bytes + 1;
  EXPECT_FALSE(Confirm().confirmed);
}

TEST_P(ConfirmBoundTest, MeansHaveNoBoundToConfirm) {
  plan_.objective.weights = {{"latency", 1}, {"peak", 1}};
  EXPECT_FALSE(ConfirmBound(plan_, graph_, options_));
}

INSTANTIATE_TEST_SUITE_P(Metrics, ConfirmBoundTest,
                         testing::Values("latency", "peak", "off_chip_bytes"));

}  // namespace
}  // namespace tessera::search
