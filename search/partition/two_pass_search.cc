#include "tessera/search/partition/two_pass_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/saturating.h"
#include "tessera/base/vocabulary.h"
#include "tessera/graph/two_passes.h"
#include "tessera/search/tiling/tile_driver.h"

namespace tessera::search::partition {
namespace {

// The operator as a network of its own.
graph::Graph Alone(const graph::Graph& network, const graph::Operator& op) {
  graph::Graph alone;
  graph::Operator only = op;
  for (auto* tensors : {&only.inputs, &only.weights, &only.outputs}) {
    for (int& tensor : *tensors) {
      const graph::Tensor& facts = network.tensors[static_cast<size_t>(tensor)];
      tensor = static_cast<int>(alone.tensors.size());
      graph::Tensor& copy = alone.tensors.emplace_back();
      copy.id = facts.id;
      copy.shape = facts.shape;
      copy.type = facts.type;
      copy.constant = facts.constant;
      copy.network_input = tensors == &only.inputs;
      copy.network_output = tensors == &only.outputs;
    }
  }
  alone.operators.push_back(std::move(only));
  return alone;
}

// Bytes of operand and result in the smallest tile that the profile's axes allow.
problem::Bytes LeastBytes(const graph::Graph& alone, const hw_profiles::Profile& profile) {
  int64_t elements = 1;
  for (const std::vector<int64_t>& extents : tiling::GridOf(alone, profile, {0, 0}).extents)
    elements = base::SaturatingMul(elements, *std::min_element(extents.begin(), extents.end()));
  const graph::Operator& op = alone.operators.front();
  problem::Bytes bytes = 0;
  for (const int tensor : {op.inputs.front(), op.outputs.front()})
    bytes += base::BytesOf(alone.tensors[static_cast<size_t>(tensor)].type, elements);
  return bytes;
}

}  // namespace

std::vector<int> FindForTwoPasses(const graph::Graph& network,
                                  const hw_profiles::Profile& profile) {
  const problem::Bytes capacity =
      profile.memories[static_cast<size_t>(profile.tile_memory)].capacity_bytes;
  std::vector<int> ops;
  for (size_t op = 0; op < network.operators.size(); ++op) {
    const graph::Operator& facts = network.operators[op];
    if (graph::CanTakeTwoPasses(facts) && LeastBytes(Alone(network, facts), profile) > capacity)
      ops.push_back(static_cast<int>(op));
  }
  return ops;
}

void NoteTwoPasses(const graph::Graph& network, const std::vector<int>& ops, plan::Plan& plan) {
  std::vector<std::string> ids;
  for (const int op : ops) ids.push_back(network.operators[static_cast<size_t>(op)].id);
  plan.notes.push_back(fmt::format(
      "in two passes, because one does not fit in '{}': {}; status and bound are those of the "
      "network of this plan",
      plan.profile.memories[static_cast<size_t>(plan.profile.tile_memory)].name,
      fmt::join(ids, ", ")));
}

}  // namespace tessera::search::partition
