// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/program_template.h"
#include "tessera/encoder/program/residence.h"
#include "tessera/graph/tiling/cached_halo.h"

namespace tessera::encoder::program {
namespace {

using hw_profiles::HaloStorage;
using hw_profiles::WeightPolicy;

// Whether another weight policy would make another program.
bool WeightsMatter(const SubgraphUses& uses) {
  return std::any_of(uses.constants.begin(), uses.constants.end(),
                     [](const TensorUse& use) { return use.residence != Residence::kWhole; });
}

// Whether the policy is streamed, but no constant can be streamed.
bool IsResidentByAnotherName(const SubgraphUses& uses, WeightPolicy weights) {
  return weights == WeightPolicy::kStreamed &&
         std::none_of(uses.constants.begin(), uses.constants.end(),
                      [](const TensorUse& use) { return use.residence == Residence::kStreamed; });
}

// Whether some operator might put its result in place of an operand.
bool MayBeInPlace(const graph::Graph& graph, const hw_profiles::Profile& profile,
                  graph::Interval interval) {
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

// The effect of keeping rows, for some tile shape of an interval.
enum class Keeping : uint8_t {
  kNothing,
  kOrder,  // only the order of tiles, because of strips
  kRows,
};

bool MayCut(const graph::Graph& graph, const hw_profiles::Profile& profile,
            graph::Interval interval, base::Axis name) {
  const graph::Shape& output = OutputShape(graph, interval);
  const std::optional<size_t> axis = graph::tiling::AxisOf(output, name);
  return axis && graph::tiling::CanCut(graph, interval, *axis) &&
         std::any_of(profile.tiling.axes.begin(), profile.tiling.axes.end(),
                     [&](const hw_profiles::AxisGranularity& each) {
                       return each.axis == name && each.granularity < output[*axis];
                     });
}

// The result may be a later enumerator than the true one, never an earlier one.
Keeping FindKeeping(const graph::Graph& graph, const hw_profiles::Profile& profile,
                    const SubgraphUses& uses) {
  if (!MayCut(graph, profile, uses.interval, base::Axis::kRows)) return Keeping::kNothing;
  const auto counts = [&uses](int tensor) { return GainsByKeeping(UseOf(uses, tensor)); };
  if (graph::tiling::MayShareRows(graph, uses.interval, counts)) return Keeping::kRows;
  const bool makes_strips = profile.tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered &&
                            profile.tiling.implicit_padding &&
                            MayCut(graph, profile, uses.interval, base::Axis::kColumns);
  return makes_strips ? Keeping::kOrder : Keeping::kNothing;
}

// The number of multiples of the step that are listed.
constexpr int64_t kMostKExtents = 4096;

// The K extents of slices: multiples of the operator's step. An operator whose K extent exceeds its
// step has several. Long slices have fewer transfers to wait for, short ones need less space, and
// an engine's unroll or a burst may make any of them the best. So a sequence in which each is four
// times the previous one is tried first, and the others if bounds do not exclude them.
struct KExtents {
  std::vector<int64_t> first;
  std::vector<int64_t> further;
  bool all = true;
};

KExtents FindKExtents(const graph::Graph& graph, const hw_profiles::Profile& profile,
                      graph::Interval interval) {
  constexpr int64_t kNext = 4;
  KExtents k_extents;
  const std::optional<KCut> cut = FindKCut(graph, profile, interval);
  if (!cut) return k_extents;
  for (int64_t k_extent = cut->granularity; k_extent < cut->k_extent; k_extent *= kNext)
    k_extents.first.push_back(k_extent);
  for (int64_t k_extent = cut->granularity; k_extent < cut->k_extent;
       k_extent += cut->granularity) {
    if (std::binary_search(k_extents.first.begin(), k_extents.first.end(), k_extent)) continue;
    k_extents.all = static_cast<int64_t>(k_extents.further.size()) < kMostKExtents;
    if (!k_extents.all) break;
    k_extents.further.push_back(k_extent);
  }
  return k_extents;
}

// In the order of the profile. Recomputing is always possible.
std::vector<HaloStorage> HalosOf(const hw_profiles::Profile& profile) {
  std::vector<HaloStorage> halos = profile.tiling.halo;
  if (std::find(halos.begin(), halos.end(), HaloStorage::kRecompute) == halos.end())
    halos.push_back(HaloStorage::kRecompute);
  return halos;
}

// Each policy, followed by the same with serialized transfers.
std::vector<Policy> WithSerialized(const std::vector<Policy>& policies) {
  std::vector<Policy> both;
  for (const Policy& policy : policies) {
    both.push_back(policy);
    both.push_back(policy);
    both.back().serialized = true;
  }
  return both;
}

std::vector<WeightPolicy> WeightsOf(const hw_profiles::Profile& profile) {
  if (profile.tiling.weights.empty()) return {WeightPolicy::kResident};
  return profile.tiling.weights;
}

// The first policy that every interval may have.
WeightPolicy UsualOf(const std::vector<WeightPolicy>& weights) {
  const auto usual = std::find_if(weights.begin(), weights.end(),
                                  [](WeightPolicy each) { return each != WeightPolicy::kSplitK; });
  return usual == weights.end() ? weights.front() : *usual;
}

}  // namespace

OfferedPolicies OfferPolicies(const graph::Graph& graph, const hw_profiles::Profile& profile,
                              graph::Interval interval, const std::vector<int>& kept) {
  return OfferPolicies(graph, graph::UsagesOf(graph), profile, interval, kept);
}

OfferedPolicies OfferPolicies(const graph::Graph& graph, const std::vector<graph::Usage>& usages,
                              const hw_profiles::Profile& profile, graph::Interval interval,
                              const std::vector<int>& kept) {
  const std::vector<WeightPolicy> tried = WeightsOf(profile);
  const Policy fallback = {.weights = UsualOf(tried), .kept = kept};
  if (CheckWellFormed(graph, interval)) return {{fallback}, {}};
  if (RunsOnHost(graph, profile, interval)) return {{PolicyOfHost(kept)}, {}};

  const bool may_be_in_place = MayBeInPlace(graph, profile, interval);
  const bool offers_resident =
      std::find(tried.begin(), tried.end(), WeightPolicy::kResident) != tried.end();
  const std::vector<HaloStorage> halos = HalosOf(profile);
  OfferedPolicies offered;
  const auto offer = [&](const Policy& like, bool first) {
    std::vector<Policy>& policies = first ? offered.first : offered.further;
    for (const bool in_place : {true, false}) {
      if (in_place && !may_be_in_place) continue;
      policies.push_back(like);
      policies.back().in_place = in_place;
    }
  };
  std::optional<Keeping> keeping;
  bool matters = true;
  for (const WeightPolicy weights : tried) {
    const bool split_k = weights == WeightPolicy::kSplitK;
    if (!matters && !split_k) continue;
    const base::Expected<SubgraphUses> uses =
        FindUses(graph, usages, profile, interval, {.weights = weights, .kept = kept});
    if (!uses || (IsResidentByAnotherName(*uses, weights) && offers_resident)) continue;
    if (split_k) {
      const KExtents k_extents = FindKExtents(graph, profile, interval);
      for (const int64_t k_extent : k_extents.first)
        offer({.weights = weights, .kept = kept, .k_extent = k_extent}, true);
      for (const int64_t k_extent : k_extents.further)
        offer({.weights = weights, .kept = kept, .k_extent = k_extent}, false);
      offered.all = offered.all && k_extents.all;
      continue;
    }
    if (!keeping)
      keeping = halos.size() > 1 ? FindKeeping(graph, profile, *uses) : Keeping::kNothing;
    for (const bool in_place : {true, false}) {
      if (in_place && !may_be_in_place) continue;
      for (const HaloStorage halo : halos) {
        if (halo != HaloStorage::kRecompute && *keeping == Keeping::kNothing) continue;
        const bool first = halo == HaloStorage::kRecompute || *keeping == Keeping::kRows;
        (first ? offered.first : offered.further).push_back({weights, in_place, halo, kept});
      }
    }
    matters = WeightsMatter(*uses);
  }
  // The interval cannot run: building the program with any policy reports the reason.
  if (offered.first.empty()) return {{fallback}, {}};
  if (profile.tiling.may_serialize) {
    offered.first = WithSerialized(offered.first);
    offered.further = WithSerialized(offered.further);
  }
  return offered;
}

std::vector<Policy> PoliciesOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                               graph::Interval interval, const std::vector<int>& kept) {
  return OfferPolicies(graph, profile, interval, kept).first;
}

// Equivalent to OfferPolicies, whose first policies always recompute rows.
std::vector<WeightPolicy> WeightPoliciesOf(const graph::Graph& graph,
                                           const std::vector<graph::Usage>& usages,
                                           const hw_profiles::Profile& profile,
                                           graph::Interval interval, const std::vector<int>& kept) {
  const std::vector<WeightPolicy> tried = WeightsOf(profile);
  if (CheckWellFormed(graph, interval)) return {UsualOf(tried)};
  if (RunsOnHost(graph, profile, interval)) return {PolicyOfHost(kept).weights};
  const bool offers_resident =
      std::find(tried.begin(), tried.end(), WeightPolicy::kResident) != tried.end();
  std::vector<WeightPolicy> offered;
  bool matters = true;
  for (const WeightPolicy weights : tried) {
    const bool split_k = weights == WeightPolicy::kSplitK;
    if (!matters && !split_k) continue;
    const base::Expected<SubgraphUses> uses =
        FindUses(graph, usages, profile, interval, {.weights = weights, .kept = kept});
    if (!uses || (IsResidentByAnotherName(*uses, weights) && offers_resident)) continue;
    if (!split_k || FindKCut(graph, profile, interval)) offered.push_back(weights);
    if (!split_k) matters = WeightsMatter(*uses);
  }
  if (offered.empty()) return {UsualOf(tried)};
  std::sort(offered.begin(), offered.end());
  offered.erase(std::unique(offered.begin(), offered.end()), offered.end());
  return offered;
}

std::vector<Policy> AllowedPolicies(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                    graph::Interval interval, const std::vector<int>& kept) {
  std::vector<Policy> policies;
  if (CheckWellFormed(graph, interval)) return policies;
  if (RunsOnHost(graph, profile, interval)) return {PolicyOfHost(kept)};
  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  const KExtents k_extents = FindKExtents(graph, profile, interval);
  for (const WeightPolicy weights : WeightsOf(profile)) {
    if (!FindUses(graph, usages, profile, interval, {.weights = weights, .kept = kept})) continue;
    for (const bool in_place : {true, false}) {
      if (weights == WeightPolicy::kSplitK) {
        for (const std::vector<int64_t>* some : {&k_extents.first, &k_extents.further}) {
          for (const int64_t k_extent : *some)
            policies.push_back(
                {.weights = weights, .in_place = in_place, .kept = kept, .k_extent = k_extent});
        }
        continue;
      }
      for (const HaloStorage halo : HalosOf(profile))
        policies.push_back({weights, in_place, halo, kept});
    }
  }
  return profile.tiling.may_serialize ? WithSerialized(policies) : policies;
}

Policy AsOffered(const graph::Graph& graph, const hw_profiles::Profile& profile,
                 graph::Interval interval, const Policy& policy) {
  if (CheckWellFormed(graph, interval)) return policy;
  if (RunsOnHost(graph, profile, interval)) return PolicyOfHost(policy.kept);
  const OfferedPolicies offered = OfferPolicies(graph, profile, interval, policy.kept);
  const auto is_offered = [&offered](const Policy& other) {
    const auto among = [&other](const std::vector<Policy>& policies) {
      return std::find(policies.begin(), policies.end(), other) != policies.end();
    };
    return among(offered.first) || among(offered.further);
  };
  if (is_offered(policy)) return policy;
  const base::Expected<SubgraphUses> uses =
      FindUses(graph, graph::UsagesOf(graph), profile, interval, policy);
  if (!uses) return policy;
  Policy alike = policy;
  alike.in_place = policy.in_place && MayBeInPlace(graph, profile, interval);
  if (FindKeeping(graph, profile, *uses) == Keeping::kNothing) alike.halo = HaloStorage::kRecompute;
  if (is_offered(alike)) return alike;
  if (policy.weights == WeightPolicy::kSplitK) return policy;
  const bool matter = WeightsMatter(*uses);
  for (const WeightPolicy weights : WeightsOf(profile)) {
    alike.weights = weights;
    const bool same = !matter || (IsResidentByAnotherName(*uses, policy.weights) &&
                                  weights == WeightPolicy::kResident);
    if (weights != WeightPolicy::kSplitK && same && is_offered(alike)) return alike;
  }
  return policy;
}

}  // namespace tessera::encoder::program
