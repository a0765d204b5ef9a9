// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/rewriting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/vocabulary.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/layout.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/rewrites.h"
#include "tessera/search/tiling/tile_driver.h"

namespace tessera::search::partition {
namespace {

// Returns a network that consists of the operator.
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

// The least bytes of the tile memory that an operator needs.
struct Need {
  problem::Bytes bytes = 0;
  problem::Bytes longest = 0;  // of one buffer

  void Add(problem::Bytes buffer) {
    base::Accumulate(bytes, buffer);
    longest = std::max(longest, buffer);
  }
};

// Returns the elements of the operator's result in the smallest tile that the profile's axes allow.
int64_t SmallestTile(const graph::Graph& network, const hw_profiles::Profile& profile,
                     const graph::Operator& op) {
  int64_t elements = 1;
  for (const auto& extents : tiling::GridOf(Alone(network, op), profile, {0, 0}).extents)
    elements = base::SaturatingMul(elements, *std::min_element(extents.begin(), extents.end()));
  return elements;
}

// Returns the needs of the first operand and the result in the smallest tile.
Need NeedOf(const graph::Graph& network, const hw_profiles::Profile& profile,
            const graph::Operator& op) {
  const int64_t elements = SmallestTile(network, profile, op);
  Need need;
  for (const int tensor : {op.inputs.front(), op.outputs.front()})
    need.Add(base::BytesOf(network.tensors[static_cast<size_t>(tensor)].type, elements));
  return need;
}

const hw_profiles::Memory& TileMemory(const hw_profiles::Profile& profile) {
  return profile.memories[static_cast<size_t>(profile.tile_memory)];
}

bool Fits(const Need& need, const hw_profiles::Profile& profile) {
  const hw_profiles::Memory& memory = TileMemory(profile);
  return need.bytes <= memory.capacity_bytes &&
         need.longest <= encoder::program::LongestBuffer(memory);
}

// Returns the needs of the operator in every subgraph, whatever part of its result is needed: the
// axes that it reduces are whole.
Need SurelyNeeded(const graph::Graph& network, const hw_profiles::Profile& profile,
                  const graph::Operator& op, std::span<const int> axes) {
  Need need;
  for (const base::TensorRole role :
       {base::TensorRole::kNetworkInput, base::TensorRole::kBoundary, base::TensorRole::kState}) {
    if (hw_profiles::MayReadAtHome(profile, role)) return need;
  }
  const graph::Tensor& operand = network.tensors[static_cast<size_t>(op.inputs.front())];
  int64_t elements = 1;
  for (const int axis : axes)
    elements = base::SaturatingMul(elements, operand.shape[static_cast<size_t>(axis)]);
  need.Add(base::BytesOf(operand.type, elements));
  return need;
}

struct Found {
  std::vector<int> which;  // operators or tensors, ascending
  bool is_needed = false;  // as in Rewriting
};

Found FindForTwoPasses(const graph::Graph& network, const hw_profiles::Profile& profile) {
  Found found;
  for (size_t number = 0; number < network.operators.size(); ++number) {
    const graph::Operator& op = network.operators[number];
    if (!graph::CanTakeTwoPasses(op) || encoder::program::RunsOnHost(network, profile, op) ||
        Fits(NeedOf(network, profile, op), profile))
      continue;
    found.which.push_back(static_cast<int>(number));
    found.is_needed =
        found.is_needed || !Fits(SurelyNeeded(network, profile, op, op.axes), profile);
  }
  return found;
}

graph::Operator AsGlobalPool(graph::Operator op) {
  op.kind = base::OperatorKind::kGlobalPool;
  op.window = {};
  return op;
}

// Whether the operator is a pool whose one window is the whole map, and could read slices of it as
// a global pool, because the profile has that policy.
bool IsGlobalInSlices(const graph::Graph& network, const hw_profiles::Profile& profile,
                      const graph::Operator& op) {
  if (op.kind != base::OperatorKind::kPool || !op.measured.empty()) return false;
  const graph::Shape& map = graph::ShapeOf(network, op.inputs.front());
  const std::array<int64_t, 2> none = {0, 0};
  const bool is_whole = op.window.kernel == std::array{map[2], map[3]} &&
                        op.window.pad_low == none && op.window.pad_high == none;
  const std::vector<hw_profiles::WeightPolicy>& policies = profile.tiling.weights;
  const bool slices =
      std::count(policies.begin(), policies.end(), hw_profiles::WeightPolicy::kSplitK) > 0;
  const graph::Operator pool = AsGlobalPool(op);
  return is_whole && slices && !encoder::program::RunsOnHost(network, profile, op) &&
         encoder::program::EngineOf(network, profile, pool) != nullptr &&
         !encoder::program::RunsOnHost(network, profile, pool);
}

Found FindForGlobalPools(const graph::Graph& network, const hw_profiles::Profile& profile) {
  Found found;
  for (size_t number = 0; number < network.operators.size(); ++number) {
    const graph::Operator& op = network.operators[number];
    if (!IsGlobalInSlices(network, profile, op)) continue;
    const Need window = SurelyNeeded(network, profile, op, std::array{2, 3});
    Need need = NeedOf(network, profile, op);
    need.Add(base::SaturatingMul(need.longest, op.window.kernel[0] * op.window.kernel[1]));
    if (Fits(need, profile)) continue;
    found.which.push_back(static_cast<int>(number));
    found.is_needed = found.is_needed || !Fits(window, profile);
  }
  return found;
}

// Finds constants that should become states. An operator does not fit if all its constants together
// with its smallest tile exceed the tile memory.
Found FindForStates(const graph::Graph& network, const hw_profiles::Profile& profile) {
  const std::vector<graph::Usage> usages = graph::UsagesOf(network);
  const bool are_direct = hw_profiles::MayReadAtHome(profile, base::TensorRole::kConstant);
  std::set<int> chosen;
  Found found;
  for (size_t number = 0; number < network.operators.size(); ++number) {
    const graph::Operator& op = network.operators[number];
    if (op.weights.empty() || op.kind != base::OperatorKind::kElementwise ||
        encoder::program::RunsOnHost(network, profile, op))
      continue;
    Need tables;
    Need need = NeedOf(network, profile, op);
    for (const int weight : op.weights) {
      const problem::Bytes bytes =
          encoder::program::ConstantBytes(network, profile, weight, {static_cast<int>(number)});
      tables.Add(bytes);
      need.Add(bytes);
    }
    if (Fits(need, profile)) continue;
    const auto can_be_state = [&](int weight) {
      return graph::CanBeState(network, usages[static_cast<size_t>(weight)], weight);
    };
    std::copy_if(op.weights.begin(), op.weights.end(), std::inserter(chosen, chosen.end()),
                 can_be_state);
    found.is_needed = found.is_needed || (!are_direct && !Fits(tables, profile));
  }
  found.which.assign(chosen.begin(), chosen.end());
  return found;
}

problem::Bytes WholeBytes(const graph::Tensor& facts) {
  return facts.stored_bytes > 0 ? facts.stored_bytes
                                : base::BytesOf(facts.type, graph::ElementsOf(facts.shape));
}

// Returns the needs of all tensors of an operator with unknown regions.
Need NeedOfBarrier(const graph::Graph& network, const graph::Operator& op) {
  std::set<int> tensors;
  for (const auto* some : {&op.inputs, &op.weights, &op.outputs})
    tensors.insert(some->begin(), some->end());
  Need need;
  for (const int tensor : tensors)
    need.Add(WholeBytes(network.tensors[static_cast<size_t>(tensor)]));
  return need;
}

// Returns the needs of a described operator in the smallest tile.
Need NeedOfDescribed(const graph::Graph& network, const hw_profiles::Profile& profile,
                     const graph::Operator& op) {
  const int64_t smallest = SmallestTile(network, profile, op);
  Need need;
  need.Add(op.scratch_bytes);
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    const graph::Tensor& facts = network.tensors[static_cast<size_t>(op.inputs[k])];
    const graph::OperandAccess& access = op.accesses[k];
    int64_t elements = graph::ElementsOf(facts.shape);
    if (access.kind == graph::ReadPattern::kElementwise) elements = std::min(elements, smallest);
    if (access.kind == graph::ReadPattern::kWindow) {
      elements = access.every_channel ? facts.shape[1] : 1;
      for (const size_t axis : {size_t{0}, size_t{1}})
        elements *= std::min(access.window.kernel[axis], facts.shape[2 + axis]);
    }
    need.Add(base::BytesOf(facts.type, elements));
  }
  if (op.in_place.empty())
    need.Add(
        base::BytesOf(network.tensors[static_cast<size_t>(op.outputs.front())].type, smallest));
  return need;
}

// Returns the needs of a described operator in every subgraph, whatever part of its result is
// needed: the operands that it reads in full.
Need SurelyNeededOfDescribed(const graph::Graph& network, const graph::Operator& op) {
  Need need;
  need.Add(op.scratch_bytes);
  std::set<int> whole;
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    if (op.accesses[k].kind == graph::ReadPattern::kFull) whole.insert(op.inputs[k]);
  }
  for (const int tensor : whole) need.Add(WholeBytes(network.tensors[static_cast<size_t>(tensor)]));
  return need;
}

// Finds operators that should run on the host: opaque ones that do not fit. Their tensors are in
// the tile memory, unless an engine accesses their homes, as the host does.
Found FindForHost(const graph::Graph& network, const hw_profiles::Profile& profile) {
  Found found;
  if (hw_profiles::HostOf(profile) == nullptr) return found;
  static constexpr std::array kRoles = {
      base::TensorRole::kNetworkInput, base::TensorRole::kBoundary,
      base::TensorRole::kNetworkOutput, base::TensorRole::kConstant, base::TensorRole::kState};
  const bool are_direct = std::any_of(
      kRoles.begin(), kRoles.end(),
      [&profile](base::TensorRole role) { return hw_profiles::MayReadAtHome(profile, role); });
  for (size_t number = 0; number < network.operators.size(); ++number) {
    const graph::Operator& op = network.operators[number];
    if (op.kind != base::OperatorKind::kOpaque || !op.engine.empty() ||
        encoder::program::RunsOnHost(network, profile, op))
      continue;
    const bool is_barrier = graph::IsBarrier(op);
    if (Fits(is_barrier ? NeedOfBarrier(network, op) : NeedOfDescribed(network, profile, op),
             profile))
      continue;
    found.which.push_back(static_cast<int>(number));
    found.is_needed =
        found.is_needed ||
        (!are_direct && (is_barrier || !Fits(SurelyNeededOfDescribed(network, op), profile)));
  }
  return found;
}

graph::Graph WithGlobalPools(graph::Graph network, const std::vector<int>& operators) {
  for (const int op : operators) {
    graph::Operator& pool = network.operators[static_cast<size_t>(op)];
    pool = AsGlobalPool(std::move(pool));
  }
  return network;
}

graph::Graph OnHost(graph::Graph network, const hw_profiles::Profile& profile,
                    const std::vector<int>& operators) {
  for (const int op : operators)
    network.operators[static_cast<size_t>(op)].engine = hw_profiles::HostOf(profile)->name;
  return network;
}

}  // namespace

std::optional<Rewriting> RewriteWhatDoesNotFit(const graph::Graph& network,
                                               const hw_profiles::Profile& profile) {
  const Found states = FindForStates(network, profile);
  const Found ops = FindForTwoPasses(network, profile);
  const Found hosted = FindForHost(network, profile);
  const Found pools = FindForGlobalPools(network, profile);
  if (states.which.empty() && ops.which.empty() && hosted.which.empty() && pools.which.empty())
    return std::nullopt;
  const graph::Graph rewritten = graph::InTwoPasses(
      graph::WithStates(OnHost(WithGlobalPools(network, pools.which), profile, hosted.which),
                        states.which),
      ops.which);
  Rewriting rewriting{graph::Renumbered(rewritten, graph::TensorsByMaker(rewritten)),
                      {},
                      states.is_needed || ops.is_needed || hosted.is_needed || pools.is_needed};
  const auto note = [&](std::string_view what, const std::vector<std::string>& ids) {
    if (ids.empty()) return;
    rewriting.notes.push_back(
        fmt::format("{} in '{}': {}; status and bound are those of the network of this plan", what,
                    TileMemory(profile).name, fmt::join(ids, ", ")));
  };
  const auto ids_of = [](const auto& all, const std::vector<int>& which) {
    std::vector<std::string> ids;
    ids.reserve(which.size());
    for (const int each : which) ids.push_back(all[static_cast<size_t>(each)].id);
    return ids;
  };
  note("constants as states that are written once, because they do not fit",
       ids_of(network.tensors, states.which));
  note("in two passes, because one does not fit", ids_of(network.operators, ops.which));
  note("pools over whole maps in slices, because these do not fit",
       ids_of(network.operators, pools.which));
  std::vector<int> measured;
  std::set_union(ops.which.begin(), ops.which.end(), hosted.which.begin(), hosted.which.end(),
                 std::back_inserter(measured));
  std::erase_if(measured, [&network](int op) {
    return network.operators[static_cast<size_t>(op)].measured.empty();
  });
  if (!measured.empty())
    rewriting.notes.push_back(
        fmt::format("measured tiles of operators in another form are not used: {}",
                    fmt::join(ids_of(network.operators, measured), ", ")));
  note("on the host, because what one tile of them needs does not fit",
       ids_of(network.operators, hosted.which));
  return rewriting;
}

}  // namespace tessera::search::partition
