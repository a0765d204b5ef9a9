#include <algorithm>

#include "tessera/encoder/adapt/choice.h"
#include "tessera/encoder/adapt/program.h"
#include "tessera/encoder/adapt/residence.h"

namespace tessera::encoder {
namespace {

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

}  // namespace

std::vector<Policy> PoliciesOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                               graph::Interval interval) {
  std::vector<WeightPolicy> tried = profile.tiling.weights;
  if (tried.empty()) tried.push_back(WeightPolicy::kResident);
  const Policy fallback = {tried.front(), false};
  if (FindFault(graph, interval)) return {fallback};

  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  const bool may_be_in_place = MayBeInPlace(graph, profile, interval);
  const bool offers_resident = std::find(tried.begin(), tried.end(), WeightPolicy::kResident) != tried.end();
  std::vector<Policy> policies;
  for (const WeightPolicy weights : tried) {
    const base::Expected<SubgraphUses> uses = FindUses(graph, usages, profile, interval, weights);
    if (!uses || (IsResidentByAnotherName(*uses, weights) && offers_resident)) continue;
    if (may_be_in_place) policies.push_back({weights, true});
    policies.push_back({weights, false});
    if (!WeightsMatter(*uses)) break;
  }
  // Nothing runs here: building the program with any policy says why.
  if (policies.empty()) policies.push_back(fallback);
  return policies;
}

}  // namespace tessera::encoder
