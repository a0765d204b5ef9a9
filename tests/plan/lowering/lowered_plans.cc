// SPDX-License-Identifier: Apache-2.0

#include "lowered_plans.h"

#include <gtest/gtest.h>

#include "../execute/base_plans.h"
#include "../execute/kept_plans.h"
#include "../execute/prefetch_plans.h"
#include "../execute/split_k_plans.h"
#include "../fixture.h"
#include "tessera/plan/lowering/lowering.h"

namespace tessera::plan::lowering {

Plan WithLowering(const Plan& plan) {
  Plan lowered = WithHomes(plan);
  const base::Expected<Program> program = Lower(lowered);
  EXPECT_TRUE(program.has_value()) << program.error().message;
  if (program) lowered.lowering = *program;
  return lowered;
}

std::vector<std::string> FindingsIn(const Plan& plan, uint64_t seed) {
  const Report report = Interpret(plan, seed);
  if (!report.obstacle.empty()) return {"obstacle: " + report.obstacle};
  std::vector<std::string> messages;
  for (const Finding& finding : report.findings) messages.push_back(finding.message);
  return messages;
}

Plan TwoAxes() {
  hw_profiles::Profile profile = SmallProfile();
  profile.memories[0].capacity_bytes = 4096;
  profile.tiling.dma = hw_profiles::DmaSteps::kDoubleBuffered;
  const encoder::program::Policy policy = {hw_profiles::WeightPolicy::kResident, false};
  return execute::Spread(TwoConvs(10), profile, {{{0, 1}, {1, 4, 4, 1}, policy}});
}

const std::vector<NamedPlan>& PlansOfEveryKind() {
  static const std::vector<NamedPlan> kPlans = {
      {"StreamedSerialized", execute::StreamedSerialized},
      {"StreamedDoubleBuffered", execute::StreamedDoubleBuffered},
      {"ThreeTiles", execute::ThreeTiles},
      {"TwoSubgraphs", execute::TwoSubgraphs},
      {"StoredPads", execute::StoredPads},
      {"WholeWithPads", execute::WholeWithPads},
      {"WithScratch", execute::WithScratch},
      {"WithState", execute::WithState},
      {"InPlace", execute::InPlace},
      {"StateAliasing", execute::StateAliasing},
      {"ByChannel", execute::ByChannel},
      {"ByChannelInRounds", execute::ByChannelInRounds},
      {"RollingBufferSerialized", execute::RollingBufferSerialized},
      {"LineBufferSerialized", execute::LineBufferSerialized},
      {"AdjacentSerialized", execute::AdjacentSerialized},
      {"RollingBufferDoubleBuffered", execute::RollingBufferDoubleBuffered},
      {"LineBufferDoubleBuffered", execute::LineBufferDoubleBuffered},
      {"AdjacentDoubleBuffered", execute::AdjacentDoubleBuffered},
      {"Banked", BankedPlan},
      {"OneSram", OneSramPlan},
      {"TwoAxes", TwoAxes},
      {"AdjacentStoredPads", execute::AdjacentStoredPads},
      {"RollingBufferStoredPads", execute::RollingBufferStoredPads},
      {"RollingBufferOfImages", execute::RollingBufferOfImages},
      {"LineBufferOfImages", execute::LineBufferOfImages},
      {"RollingBufferOfHeads", execute::RollingBufferOfHeads},
      {"SplitKSerialized", execute::SplitKSerialized},
      {"SplitKDoubleBuffered", execute::SplitKDoubleBuffered},
      {"Prefetched", execute::Prefetched}};
  return kPlans;
}

}  // namespace tessera::plan::lowering
