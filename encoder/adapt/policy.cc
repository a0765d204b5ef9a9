#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/base/checked.h"
#include "tessera/encoder/adapt/by_channel.h"
#include "tessera/encoder/adapt/choice.h"
#include "tessera/encoder/adapt/halo.h"
#include "tessera/encoder/adapt/program.h"
#include "tessera/encoder/adapt/residence.h"
#include "tessera/graph/kept_rows.h"

namespace tessera::encoder {
namespace {

using hw_profiles::HaloStorage;
using hw_profiles::WeightPolicy;

// Whether holding weights in another way would make another program.
bool WeightsMatter(const SubgraphUses& uses) {
  return std::any_of(uses.constants.begin(), uses.constants.end(),
                     [](const TensorUse& use) { return use.residence != Residence::kWhole; });
}

// Whether the policy is to stream, and nothing can be.
bool IsResidentByAnotherName(const SubgraphUses& uses, WeightPolicy weights) {
  return weights == WeightPolicy::kStreamed &&
         std::none_of(uses.constants.begin(), uses.constants.end(),
                      [](const TensorUse& use) { return use.residence == Residence::kStreamed; });
}

// Whether some operator might put its result in place of an operand.
bool MayBeInPlace(const graph::Graph& graph, const hw_profiles::Profile& profile, graph::Interval interval) {
  const std::vector<base::OperatorKind>& kinds = profile.tiling.in_place;
  for (int i = interval.first; i <= interval.last; ++i) {
    const graph::Operator& op = graph.operators[static_cast<size_t>(i)];
    const bool named = std::find(kinds.begin(), kinds.end(), op.kind) != kinds.end();
    if (WorksByChannel(graph, profile, op)) return true;
    if ((!named && op.in_place.empty()) || op.outputs.empty()) continue;
    const graph::Tensor& result = graph.tensors[static_cast<size_t>(op.outputs.front())];
    const auto is_alike = [&](int input) {
      const graph::Tensor& operand = graph.tensors[static_cast<size_t>(input)];
      return operand.type == result.type && operand.shape == result.shape;
    };
    if (std::any_of(op.inputs.begin(), op.inputs.end(), is_alike)) return true;
  }
  return false;
}

// Whether two halves of the output, one below the other, share rows of some tile buffer.
bool HaloMatters(const graph::Graph& graph, const hw_profiles::Profile& profile, SubgraphUses uses) {
  const std::vector<hw_profiles::AxisGranule>& axes = profile.tiling.axes;
  const graph::Shape& output = OutputShape(graph, uses.interval);
  const std::optional<size_t> rows = graph::AxisOf(output, graph::Axis::kRows);
  const bool cuts_rows = std::any_of(axes.begin(), axes.end(), [](const hw_profiles::AxisGranule& axis) {
    return axis.axis == graph::Axis::kRows;
  });
  if (!rows || !cuts_rows || !graph::CanCut(graph, uses.interval, *rows)) return false;
  graph::TileShape half = output;
  half[*rows] = base::CeilDiv(output[*rows], 2);
  if (!graph::CutsStrips(output, half)) return false;
  return MarkCached(CutTiles(graph, uses.interval, half, HaloStorage::kRing), HaloStorage::kRing, uses);
}

// The policies for weights, each with the depth of its slices, if it is by depth: from the profile's granule on, each four times the
// one before, as long as the operator is deeper.
std::vector<std::pair<WeightPolicy, int64_t>> Holdings(const graph::Graph& graph,
                                                       const hw_profiles::Profile& profile,
                                                       graph::Interval interval,
                                                       const std::vector<WeightPolicy>& tried) {
  constexpr int64_t kNext = 4;
  std::vector<std::pair<WeightPolicy, int64_t>> holdings;
  for (const WeightPolicy weights : tried) {
    if (weights != WeightPolicy::kByDepth) {
      holdings.emplace_back(weights, 0);
      continue;
    }
    int64_t depth = profile.tiling.depth_granule;
    for (; FindDepthCut(graph, profile, interval, depth); depth *= kNext)
      holdings.emplace_back(weights, depth);
  }
  return holdings;
}

// In the profile's order; recomputing is always possible.
std::vector<HaloStorage> HalosOf(const hw_profiles::Profile& profile) {
  std::vector<HaloStorage> halos = profile.tiling.halo;
  if (std::find(halos.begin(), halos.end(), HaloStorage::kRecompute) == halos.end())
    halos.push_back(HaloStorage::kRecompute);
  return halos;
}

}  // namespace

std::vector<Policy> PoliciesOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                               graph::Interval interval, const std::vector<int>& kept) {
  std::vector<WeightPolicy> tried = profile.tiling.weights;
  if (tried.empty()) tried.push_back(WeightPolicy::kResident);
  const auto usual = std::find_if(tried.begin(), tried.end(),
                                  [](WeightPolicy each) { return each != WeightPolicy::kByDepth; });
  const Policy fallback = {.weights = usual == tried.end() ? tried.front() : *usual, .kept = kept};
  if (FindFault(graph, interval)) return {fallback};

  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  const bool may_be_in_place = MayBeInPlace(graph, profile, interval);
  const bool offers_resident = std::find(tried.begin(), tried.end(), WeightPolicy::kResident) != tried.end();
  const std::vector<HaloStorage> halos = HalosOf(profile);
  std::vector<Policy> policies;
  bool matters = true;
  for (const auto& [weights, depth] : Holdings(graph, profile, interval, tried)) {
    const bool by_depth = weights == WeightPolicy::kByDepth;
    if (!matters && !by_depth) continue;
    const base::Expected<SubgraphUses> uses =
        FindUses(graph, usages, profile, interval, {.weights = weights, .kept = kept, .depth = depth});
    if (!uses || (IsResidentByAnotherName(*uses, weights) && offers_resident)) continue;
    const bool caches = !by_depth && halos.size() > 1 && HaloMatters(graph, profile, *uses);
    for (const bool in_place : {true, false}) {
      if (in_place && !may_be_in_place) continue;
      for (const HaloStorage halo : halos) {
        if (caches || halo == HaloStorage::kRecompute)
          policies.push_back({weights, in_place, halo, kept, depth});
      }
    }
    if (!by_depth) matters = WeightsMatter(*uses);
  }
  // Nothing runs here: building the program with any policy says why.
  if (policies.empty()) policies.push_back(fallback);
  return policies;
}

}  // namespace tessera::encoder
