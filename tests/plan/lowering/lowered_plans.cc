#include "lowered_plans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "../execute/base_plans.h"
#include "../execute/kept_plans.h"
#include "../execute/plans.h"
#include "../execute/prefetch_plans.h"
#include "../execute/split_k_plans.h"
#include "../fixture.h"
#include "tessera/base/arithmetic.h"
#include "tessera/plan/lowering/lowering.h"
#include "tessera/plan/verify/buffer_sizes.h"

namespace tessera::plan::lowering {
namespace {

base::TensorRole RoleOutside(const graph::Tensor& tensor) {
  using base::TensorRole;
  if (tensor.constant) return TensorRole::kConstant;
  if (tensor.state || tensor.next_of >= 0) return TensorRole::kState;
  if (tensor.network_input) return TensorRole::kNetworkInput;
  return tensor.network_output ? TensorRole::kNetworkOutput : TensorRole::kBoundary;
}

}  // namespace

Plan WithHomes(Plan plan) {
  std::map<int, Home> homes;
  std::map<int, int64_t> ends;
  for (size_t i = 0; i < plan.network.tensors.size(); ++i) {
    const graph::Tensor& tensor = plan.network.tensors[i];
    const hw_profiles::RoleLayout& layout =
        hw_profiles::LayoutOf(plan.profile, RoleOutside(tensor));
    if (layout.home == plan.profile.tile_memory) continue;
    Home& home = homes[layout.home];
    home.memory = layout.home;
    const int64_t channels =
        tensor.shape.empty() ? 1 : std::max(tensor.shape.front(), tensor.shape.back());
    problem::Buffer buffer;
    buffer.id = tensor.id;
    buffer.size = verify::StoredBytes(verify::NameExtents(tensor.shape), tensor.type,
                                      layout.channel_block, layout.row_pitch_bytes) +
                  plan.profile.table_bytes_per_channel * channels;
    buffer.lifespans = {{0, static_cast<int64_t>(plan.subgraphs.size())}};
    home.problem.buffers.push_back(buffer);
    home.allocation.offsets.push_back(ends[layout.home]);
    home.tensors.push_back(static_cast<int>(i));
    ends[layout.home] += base::RoundUp(buffer.size, 16);
  }
  plan.homes.clear();
  for (const auto& [memory, home] : homes) {
    plan.homes.push_back(home);
    int64_t& capacity = plan.profile.memories[static_cast<size_t>(memory)].capacity_bytes;
    capacity = std::max(capacity, ends[memory]);
  }
  return plan;
}

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
  return report.findings;
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
