// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/residency.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/engines.h"

// The factors of an operator's product, from its definition:
//
//     convolution    out[n, o, y, x]  = sum over d and taps of   in[n, d, ..] * filter[o, d, ..]
//     matmul         out[.., i, j]    = sum over d of            first[.., i, d] * second[.., d, j]
//
//     reduction      out[..]          = over all d, ..       of  in[.., d, ..]
//
// The axis of d in each factor is the axis along which slices run; o or j is the constant's
// channel. Of the axes that a reduction combines, d is the first.
namespace tessera::plan::verify {

using base::OperatorKind;

std::optional<FilterAxes> FilterAxesOf(const graph::Graph& network, const graph::Operator& op,
                                       size_t position) {
  if (position != 0) return std::nullopt;
  const graph::Shape& filters = ShapeOf(network, op.weights.front());
  const graph::Shape& out = ShapeOf(network, op.outputs.front());
  if (filters.empty() || out.empty()) return std::nullopt;
  if (base::TraitsOf(op.kind).convolves && out.size() > 1 && filters.front() == out[1])
    return FilterAxes{0, 1};
  const bool columns = op.kind == OperatorKind::kMatmul && op.inputs.size() == 1;
  if (columns && filters.back() == out.back())
    return FilterAxes{filters.size() - 1, out.size() - 1};
  return std::nullopt;
}

std::vector<int> OrderOf(const std::vector<int>& permutation, size_t rank) {
  if (!permutation.empty()) return permutation;
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

namespace {

bool IsReduction(const graph::Operator& op) {
  return op.kind == OperatorKind::kGlobalPool || op.kind == OperatorKind::kReduce;
}

bool AddsUpAllChannels(const graph::Operator& op) {
  return (op.kind == OperatorKind::kConv || op.kind == OperatorKind::kTransposedConv) &&
         op.groups == 1;
}

}  // namespace

std::optional<size_t> KAxisOfInput(const graph::Graph& network, const graph::Operator& op,
                                   size_t position) {
  const size_t rank = ShapeOf(network, op.inputs[position]).size();
  if (AddsUpAllChannels(op) && position == 0) return 1;
  if (op.kind == OperatorKind::kGlobalPool) return rank - 2;
  if (op.kind == OperatorKind::kReduce)
    return static_cast<size_t>(*std::min_element(op.axes.begin(), op.axes.end()));
  if (op.kind != OperatorKind::kMatmul || rank < 2) return std::nullopt;
  const auto& product = op.Own<base::MatmulAttributes>();
  const bool last = position == 0 ? !product.transpose_first : product.transpose_second;
  return static_cast<size_t>(
      OrderOf(product.operand_axes.at(position), rank)[rank - (last ? 1 : 2)]);
}

std::optional<size_t> KAxisOfFilters(const graph::Graph& network, const graph::Operator& op) {
  if (!FilterAxesOf(network, op, 0)) return std::nullopt;
  const size_t rank = ShapeOf(network, op.weights.front()).size();
  if (AddsUpAllChannels(op) && rank == 4) return 1;
  if (op.kind == OperatorKind::kMatmul && rank == 2) return 0;
  return std::nullopt;
}

bool IsDoubleBuffered(const Plan& plan, const Subgraph& subgraph) {
  return plan.profile.tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered && !subgraph.serialized;
}

int64_t KSlices::Count() const { return base::CeilDiv(k_extent, granularity); }

Range KSlices::SliceAt(int64_t slice) const {
  return {std::min(slice * granularity, k_extent), std::min((slice + 1) * granularity, k_extent)};
}

int64_t KStepOf(const Plan& plan, const Subgraph& subgraph) {
  constexpr int64_t kMostSlices = 128;
  const int64_t step = plan.profile.tiling.k_granularity;
  const graph::Operator& op = plan.network.operators[static_cast<size_t>(subgraph.interval.first)];
  if (!IsReduction(op)) return step;
  const graph::Shape& in = ShapeOf(plan.network, op.inputs.front());
  const std::optional<size_t> axis = KAxisOfInput(plan.network, op, 0);
  if (!axis || *axis >= in.size()) return step;
  return std::min(step, base::CeilDiv(in[*axis], kMostSlices));
}

int64_t KExtentOfSlices(const Plan& plan, const Subgraph& subgraph) {
  if (subgraph.weights != hw_profiles::WeightPolicy::kSplitK) return 0;
  return subgraph.k_extent > 0 ? subgraph.k_extent : KStepOf(plan, subgraph);
}

std::optional<KSlices> FindKSlices(const Plan& plan, const Subgraph& subgraph) {
  const bool one = subgraph.interval.first == subgraph.interval.last;
  if (subgraph.weights != hw_profiles::WeightPolicy::kSplitK || !one) return std::nullopt;
  const graph::Graph& network = plan.network;
  const graph::Operator& op = network.operators[static_cast<size_t>(subgraph.interval.first)];
  KSlices slices;
  slices.op = subgraph.interval.first;
  slices.granularity = KExtentOfSlices(plan, subgraph);
  // False if the tensor is also another factor, or has another K.
  const auto multiply = [&](int tensor, std::optional<size_t> axis) {
    const graph::Shape& shape = ShapeOf(network, tensor);
    if (!axis || *axis >= shape.size()) return false;
    if (slices.along.empty()) slices.k_extent = shape[*axis];
    return shape[*axis] == slices.k_extent && slices.along.emplace(tensor, *axis).second;
  };
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (!multiply(op.inputs[i], KAxisOfInput(network, op, i))) return std::nullopt;
  }
  const bool reduces = IsReduction(op);
  if (reduces && !op.weights.empty()) return std::nullopt;
  if (!reduces && (op.kind != OperatorKind::kMatmul || op.inputs.size() != 2)) {
    if (op.weights.empty()) return std::nullopt;
    slices.constant = op.weights.front();
    const std::optional<FilterAxes> filters = FilterAxesOf(network, op, 0);
    const bool is_one_factor =  // as its shape and type imply
        filters && std::count(op.weights.begin(), op.weights.end(), slices.constant) == 1 &&
        network.tensors[static_cast<size_t>(slices.constant)].stored_bytes == 0;
    if (!is_one_factor || !multiply(slices.constant, KAxisOfFilters(network, op)))
      return std::nullopt;
    slices.channels = filters->constant;
    slices.result_channels = filters->result;
  }
  return slices.k_extent > slices.granularity ? std::optional(slices) : std::nullopt;
}

std::string SplitKFault(const Plan& plan, const Subgraph& subgraph) {
  if (subgraph.weights != hw_profiles::WeightPolicy::kSplitK)
    return subgraph.k_extent == 0 ? ""
                                  : "states the K extent of slices, but is not held as split_k";
  const int64_t slice = KExtentOfSlices(plan, subgraph);
  const int64_t step = KStepOf(plan, subgraph);
  if (slice % step != 0)
    return fmt::format("has slices of K extent {}, no multiple of {}", slice, step);
  const auto& policies = plan.profile.tiling.weights;
  if (std::find(policies.begin(), policies.end(), subgraph.weights) == policies.end())
    return "holds operands as split_k, which the profile does not";
  if (subgraph.halo != hw_profiles::HaloStorage::kRecompute)
    return "is held as split_k and keeps rows";
  if (!FindKSlices(plan, subgraph))
    return fmt::format("is held as split_k, but adds up nothing along a K greater than {}", slice);
  return "";
}

namespace {

using base::TensorRole;
using hw_profiles::Memory;
using hw_profiles::WeightPolicy;

void AddOnce(std::vector<int>& operators, int op) {
  if (operators.empty() || operators.back() != op) operators.push_back(op);
}

// Whether each output channel of the operator uses that channel of the constant alone.
bool IsTakenByChannel(const graph::Graph& network, const graph::Operator& op, int constant) {
  return op.weights.front() == constant && FilterAxesOf(network, op, 0) &&
         std::count(op.weights.begin(), op.weights.end(), constant) == 1;
}

bool IsMultipliedInSplitK(const Plan& plan, const Subgraph& subgraph, int tensor) {
  const std::optional<KSlices> slices = FindKSlices(plan, subgraph);
  return slices && slices->along.contains(tensor);
}

Residency HoldConstant(const Plan& plan, const Users& users, const Subgraph& subgraph,
                       int constant) {
  if (subgraph.weights == WeightPolicy::kDirect) return Residency::kDirect;
  if (subgraph.weights == WeightPolicy::kResident) return Residency::kResident;
  if (subgraph.weights == WeightPolicy::kSplitK)
    return IsMultipliedInSplitK(plan, subgraph, constant) ? Residency::kStreamed
                                                          : Residency::kResident;
  const bool by_channel = std::all_of(users.readers.begin(), users.readers.end(), [&](int reader) {
    return !Contains(subgraph.interval, reader) ||
           IsTakenByChannel(plan.network, plan.network.operators[static_cast<size_t>(reader)],
                            constant);
  });
  return by_channel ? Residency::kStreamed : Residency::kResident;
}

// A tensor that is not a constant and not at home in the tile memory.
Residency HoldElsewhere(const hw_profiles::Profile& profile, const Held& held) {
  const bool reads = hw_profiles::MayReadAt(profile, held.role, held.home);
  if (!held.made) return reads ? Residency::kDirect : Residency::kLoaded;
  const bool writes = hw_profiles::MayWriteAt(profile, held.role, held.home);
  return writes && (!held.read || reads) ? Residency::kDirect : Residency::kStored;
}

std::string FaultOf(const hw_profiles::Profile& profile, const Held& held,
                    const std::string& tensor, bool on_host) {
  const Memory& home = profile.memories[static_cast<size_t>(held.home)];
  const bool reads_home = held.residency == Residency::kDirect && held.read;
  const bool writes_home = held.residency == Residency::kDirect && held.made;
  if (reads_home && !on_host && !hw_profiles::MayReadAt(profile, held.role, held.home)) {
    return fmt::format("'{}' is read in memory '{}', where engines cannot read", tensor, home.name);
  }
  if (writes_home && !on_host && !hw_profiles::MayWriteAt(profile, held.role, held.home)) {
    return fmt::format("'{}' is written in memory '{}', where engines cannot write", tensor,
                       home.name);
  }
  if ((writes_home || held.residency == Residency::kStored) && !home.writable) {
    return fmt::format("'{}' leaves to memory '{}', which cannot be written", tensor, home.name);
  }
  const bool moves = held.residency == Residency::kLoaded || held.residency == Residency::kStored ||
                     held.residency == Residency::kResident ||
                     held.residency == Residency::kStreamed;
  if (moves && held.link.empty()) {
    return fmt::format("no link moves '{}' between memory '{}' and the tile memory", tensor,
                       home.name);
  }
  return "";
}

}  // namespace

std::vector<Users> FindUsers(const graph::Graph& network) {
  std::vector<Users> users(network.tensors.size());
  for (size_t i = 0; i < network.operators.size(); ++i) {
    const auto op = static_cast<int>(i);
    for (const int tensor : network.operators[i].inputs)
      AddOnce(users[static_cast<size_t>(tensor)].readers, op);
    for (const int tensor : network.operators[i].weights)
      AddOnce(users[static_cast<size_t>(tensor)].readers, op);
    for (const int tensor : network.operators[i].outputs)
      AddOnce(users[static_cast<size_t>(tensor)].makers, op);
  }
  return users;
}

bool Contains(graph::Interval interval, int op) {
  return interval.first <= op && op <= interval.last;
}

bool AnyInside(const std::vector<int>& operators, graph::Interval interval) {
  return std::any_of(operators.begin(), operators.end(),
                     [&](int op) { return Contains(interval, op); });
}

graph::Interval TouchedIn(const Users& users, graph::Interval interval) {
  graph::Interval touched = {interval.last, interval.first};
  for (const std::vector<int>* list : {&users.makers, &users.readers}) {
    for (const int op : *list) {
      if (!Contains(interval, op)) continue;
      touched.first = std::min(touched.first, op);
      touched.last = std::max(touched.last, op);
    }
  }
  return touched;
}

TensorRole RoleOf(const graph::Tensor& tensor, const Users& users, graph::Interval interval) {
  if (tensor.constant) return TensorRole::kConstant;
  if (tensor.state || tensor.next_of >= 0) return TensorRole::kState;
  if (tensor.network_input) return TensorRole::kNetworkInput;
  if (tensor.network_output) return TensorRole::kNetworkOutput;
  const auto inside = [&](int op) { return Contains(interval, op); };
  const bool stays = AnyInside(users.makers, interval) &&
                     std::all_of(users.readers.begin(), users.readers.end(), inside);
  return stays ? TensorRole::kFeature : TensorRole::kBoundary;
}

bool IsMadeForOthers(const graph::Tensor& tensor, const Users& users, graph::Interval interval) {
  return AnyInside(users.makers, interval) &&
         (tensor.network_output || tensor.state || users.readers.empty() ||
          users.AreReadAfter(interval.last));
}

TensorRole RoleOf(const Plan& plan, const std::vector<Users>& users, const BufferUse& use) {
  const Users& who = users[static_cast<size_t>(use.tensor)];
  graph::Interval interval = plan.subgraphs.front().interval;
  if (use.subgraph >= 0) interval = plan.subgraphs[static_cast<size_t>(use.subgraph)].interval;
  for (const Subgraph& subgraph : plan.subgraphs) {
    if (use.subgraph < 0 && AnyInside(who.makers, subgraph.interval)) {
      interval = subgraph.interval;
      break;
    }
  }
  return RoleOf(plan.network.tensors[static_cast<size_t>(use.tensor)], who, interval);
}

TensorRole RoleAtHome(const graph::Tensor& tensor) {
  if (tensor.constant) return TensorRole::kConstant;
  if (tensor.state || tensor.next_of >= 0) return TensorRole::kState;
  if (tensor.network_input) return TensorRole::kNetworkInput;
  return tensor.network_output ? TensorRole::kNetworkOutput : TensorRole::kBoundary;
}

int HomeOf(const Plan& plan, int tensor) {
  const graph::Tensor& facts = plan.network.tensors[static_cast<size_t>(tensor)];
  return hw_profiles::HomeAt(hw_profiles::LayoutOf(plan.profile, RoleAtHome(facts)), facts.home);
}

bool IsStateInTileMemory(const Plan& plan, int tensor) {
  return RoleAtHome(plan.network.tensors[static_cast<size_t>(tensor)]) == TensorRole::kState &&
         HomeOf(plan, tensor) == plan.profile.tile_memory;
}

int MemoryOf(const Plan& plan, int tensor, TensorRole role) {
  const bool kept = role == TensorRole::kBoundary &&
                    std::find(plan.kept.begin(), plan.kept.end(), tensor) != plan.kept.end();
  if (kept || role == TensorRole::kFeature) return plan.profile.tile_memory;
  return HomeOf(plan, tensor);
}

Held ResidencyOf(const Plan& plan, const std::vector<Users>& users, const Subgraph& subgraph,
                 int tensor) {
  const auto index = static_cast<size_t>(tensor);
  const graph::Tensor& facts = plan.network.tensors[index];
  Held held;
  held.role = RoleOf(facts, users[index], subgraph.interval);
  held.home = MemoryOf(plan, tensor, held.role);
  held.made = AnyInside(users[index].makers, subgraph.interval);
  held.read = AnyInside(users[index].readers, subgraph.interval);
  if (held.role == TensorRole::kFeature) return held;
  if (held.home == plan.profile.tile_memory) {
    held.residency = Residency::kWhole;
    return held;
  }
  const bool on_host = IsOnHost(plan, subgraph.interval);
  held.residency = on_host ? Residency::kDirect
                   : held.role == TensorRole::kConstant
                       ? HoldConstant(plan, users[index], subgraph, tensor)
                       : HoldElsewhere(plan.profile, held);
  if (held.residency == Residency::kLoaded && IsMultipliedInSplitK(plan, subgraph, tensor))
    held.residency = Residency::kStreamed;
  if (held.residency != Residency::kDirect) {
    const hw_profiles::Link* link =
        hw_profiles::LinkBetween(plan.profile, held.home, plan.profile.tile_memory);
    if (link != nullptr) held.link = link->name;
  }
  held.fault = FaultOf(plan.profile, held, facts.id, on_host);
  return held;
}

std::vector<int> TensorsOf(const graph::Graph& network, graph::Interval interval) {
  std::set<int> tensors;
  for (int i = interval.first; i <= interval.last; ++i) {
    const graph::Operator& op = network.operators[static_cast<size_t>(i)];
    tensors.insert(op.inputs.begin(), op.inputs.end());
    tensors.insert(op.weights.begin(), op.weights.end());
    tensors.insert(op.outputs.begin(), op.outputs.end());
  }
  return {tensors.begin(), tensors.end()};
}

namespace {

// The maximum bytes of one buffer in the tile memory.
int64_t LongestBuffer(const hw_profiles::Profile& profile) {
  const hw_profiles::Memory& memory = profile.memories[static_cast<size_t>(profile.tile_memory)];
  if (memory.span != problem::Span::kSingle) return memory.capacity_bytes;
  std::vector<int64_t> lengths = {0};
  for (const problem::Bank& bank : memory.banks)
    lengths.push_back(bank.range.end - bank.range.begin);
  return *std::max_element(lengths.begin(), lengths.end());
}

}  // namespace

Slicing SlicingOf(const Plan& plan, const graph::Operator& op, int constant) {
  const graph::Shape& shape = plan.network.tensors[static_cast<size_t>(constant)].shape;
  Slicing slicing;
  if (!shape.empty()) {
    slicing.channels = op.kind == base::OperatorKind::kMatmul ? shape.back() : shape.front();
  }
  slicing.granularity = std::min(slicing.channels, plan.profile.tiling.weight_granularity_channels);
  const auto& weights = plan.profile.tiling.weights;
  const bool has_k_slices =
      std::count(weights.begin(), weights.end(), hw_profiles::WeightPolicy::kSplitK) > 0 &&
      (op.kind == OperatorKind::kConv ? op.groups == 1 : op.kind == OperatorKind::kMatmul) &&
      plan.network.tensors[static_cast<size_t>(constant)].stored_bytes == 0;
  const double most = 0.75 * static_cast<double>(LongestBuffer(plan.profile));
  for (const int64_t least = (slicing.granularity + 3) / 4;
       !has_k_slices && slicing.granularity > least &&
       static_cast<double>(
           BytesOfChannels(plan, op, constant, slicing.channels, slicing.granularity)) > most;)
    slicing.granularity -= slicing.granularity / 2;
  slicing.slices = base::CeilDiv(slicing.channels, slicing.granularity);
  return slicing;
}

}  // namespace tessera::plan::verify
