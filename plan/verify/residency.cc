#include "tessera/plan/verify/residency.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "tessera/base/arithmetic.h"

// The factors of an operator's product, from its definition:
//
//     convolution    out[n, o, y, x]  = sum over d and taps of   in[n, d, ..] * filter[o, d, ..]
//     matmul         out[.., i, j]    = sum over d of            first[.., i, d] * second[.., d, j]
//
// The axis of d in each factor is the axis along which slices run; o or j is the constant's
// channel.
namespace tessera::plan::verify {

namespace {

using base::OperatorKind;

class Reading {
 public:
  Reading(const Plan& plan, const Subgraph& subgraph)
      : plan_(plan), op_(plan.network.operators[static_cast<size_t>(subgraph.interval.first)]) {
    slices_.op = subgraph.interval.first;
    slices_.granularity = KExtentOfSlices(plan, subgraph);
  }

  std::optional<KSlices> Find() {
    const bool read = op_.kind == OperatorKind::kConv     ? ReadConv()
                      : op_.kind == OperatorKind::kMatmul ? ReadMatmul()
                                                          : false;
    if (!read || slices_.k_extent <= slices_.granularity) return std::nullopt;
    return slices_;
  }

 private:
  const graph::Tensor& At(int tensor) const {
    return plan_.network.tensors[static_cast<size_t>(tensor)];
  }

  // False if the tensor is also another factor, or has another K.
  bool Multiply(int tensor, size_t axis) {
    const graph::Shape& shape = At(tensor).shape;
    if (axis >= shape.size()) return false;
    if (slices_.along.empty()) slices_.k_extent = shape[axis];
    return shape[axis] == slices_.k_extent && slices_.along.emplace(tensor, axis).second;
  }

  // A constant is one factor only, as its shape and type imply.
  bool MultiplyConstant(size_t rank, size_t axis, size_t channels, size_t result_channels) {
    if (op_.weights.empty()) return false;
    slices_.constant = op_.weights.front();
    slices_.channels = channels;
    slices_.result_channels = result_channels;
    const graph::Tensor& constant = At(slices_.constant);
    const graph::Shape& result = At(op_.outputs.front()).shape;
    const auto times = std::count(op_.weights.begin(), op_.weights.end(), slices_.constant);
    return times == 1 && constant.stored_bytes == 0 && constant.shape.size() == rank &&
           result_channels < result.size() && constant.shape[channels] == result[result_channels] &&
           Multiply(slices_.constant, axis);
  }

  bool ReadConv() {
    return op_.groups == 1 && op_.inputs.size() == 1 && Multiply(op_.inputs.front(), 1) &&
           MultiplyConstant(4, 1, 0, 1);
  }

  bool ReadMatmul() {
    if (op_.inputs.empty() || op_.inputs.size() > 2) return false;
    const size_t rank = At(op_.inputs.front()).shape.size();
    if (rank < 2 || !Multiply(op_.inputs.front(), op_.transpose_first ? rank - 2 : rank - 1))
      return false;
    if (op_.inputs.size() == 1)
      return MultiplyConstant(2, 0, 1, At(op_.outputs.front()).shape.size() - 1);
    const size_t other = At(op_.inputs.back()).shape.size();
    return other >= 2 && Multiply(op_.inputs.back(), op_.transpose_second ? other - 1 : other - 2);
  }

  const Plan& plan_;
  const graph::Operator& op_;
  KSlices slices_;
};

}  // namespace

int64_t KSlices::Count() const { return base::CeilDiv(k_extent, granularity); }

Range KSlices::SliceAt(int64_t slice) const {
  return {std::min(slice * granularity, k_extent), std::min((slice + 1) * granularity, k_extent)};
}

int64_t KExtentOfSlices(const Plan& plan, const Subgraph& subgraph) {
  if (subgraph.weights != hw_profiles::WeightPolicy::kSplitK) return 0;
  return subgraph.k_extent > 0 ? subgraph.k_extent : plan.profile.tiling.k_granularity;
}

std::optional<KSlices> FindKSlices(const Plan& plan, const Subgraph& subgraph) {
  const bool one = subgraph.interval.first == subgraph.interval.last;
  if (subgraph.weights != hw_profiles::WeightPolicy::kSplitK || !one) return std::nullopt;
  return Reading(plan, subgraph).Find();
}

std::string SplitKFault(const Plan& plan, const Subgraph& subgraph) {
  if (subgraph.weights != hw_profiles::WeightPolicy::kSplitK)
    return subgraph.k_extent == 0 ? ""
                                  : "states the K extent of slices, but is not held as split_k";
  const int64_t slice = KExtentOfSlices(plan, subgraph);
  const int64_t granularity = plan.profile.tiling.k_granularity;
  if (slice % granularity != 0)
    return fmt::format("has slices of K extent {}, no multiple of {}", slice, granularity);
  const auto& policies = plan.profile.tiling.weights;
  if (std::find(policies.begin(), policies.end(), subgraph.weights) == policies.end())
    return "holds operands as split_k, which the profile does not";
  if (subgraph.halo != hw_profiles::HaloStorage::kRecompute)
    return "is held as split_k and keeps rows";
  if (!FindKSlices(plan, subgraph))
    return fmt::format(
        "is held as split_k, but is no convolution of one group or matmul deeper than {}", slice);
  return "";
}

namespace {

using base::TensorRole;
using hw_profiles::Memory;
using hw_profiles::WeightPolicy;

void AddOnce(std::vector<int>& operators, int op) {
  if (operators.empty() || operators.back() != op) operators.push_back(op);
}

// Whether computing some output channels of the operator uses those channels of the constant and no
// others. This holds for the filters of a convolution, one of which makes one channel, and for the
// columns of the matrix of a matmul with one operand. For any other constant (a bias, a table, a
// second factor) the part that an output channel uses is unknown.
bool IsTakenByChannel(const graph::Graph& network, const graph::Operator& op, int constant) {
  const graph::Shape& have = network.tensors[static_cast<size_t>(constant)].shape;
  const graph::Shape& make = network.tensors[static_cast<size_t>(op.outputs.front())].shape;
  if (op.weights.front() != constant ||
      std::count(op.weights.begin(), op.weights.end(), constant) != 1)
    return false;
  if (base::TraitsOf(op.kind).convolves)
    return !have.empty() && make.size() > 1 && have.front() == make[1];
  return op.kind == base::OperatorKind::kMatmul && op.inputs.size() == 1 && !make.empty() &&
         (have.empty() ? make.back() == 1 : have.back() == make.back());
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
Residency HoldElsewhere(const Held& held, const Memory& home) {
  if (held.role == TensorRole::kState) return Residency::kDirect;
  if (!held.made) return home.direct_read ? Residency::kDirect : Residency::kLoaded;
  const bool direct = home.direct_write && (!held.read || home.direct_read);
  return direct ? Residency::kDirect : Residency::kStored;
}

std::string FaultOf(const Held& held, const Memory& home, const std::string& tensor) {
  const bool reads_home = held.residency == Residency::kDirect && held.read;
  const bool writes_home = held.residency == Residency::kDirect && held.made;
  if (reads_home && !home.direct_read) {
    return fmt::format("'{}' is read in memory '{}', where engines cannot read", tensor, home.name);
  }
  if (writes_home && !home.direct_write) {
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
  const Memory& home = plan.profile.memories[static_cast<size_t>(held.home)];
  held.residency = held.role == TensorRole::kConstant
                       ? HoldConstant(plan, users[index], subgraph, tensor)
                       : HoldElsewhere(held, home);
  if (held.residency == Residency::kLoaded && IsMultipliedInSplitK(plan, subgraph, tensor))
    held.residency = Residency::kStreamed;
  if (held.residency != Residency::kDirect) {
    const hw_profiles::Link* link =
        hw_profiles::LinkBetween(plan.profile, held.home, plan.profile.tile_memory);
    if (link != nullptr) held.link = link->name;
  }
  held.fault = FaultOf(held, home, facts.id);
  return held;
}

const hw_profiles::Engine* EngineOf(const Plan& plan, const graph::Operator& op) {
  const int typical = op.inputs.empty() ? op.outputs.front() : op.inputs.front();
  return hw_profiles::EngineFor(plan.profile, op.kind,
                                plan.network.tensors[static_cast<size_t>(typical)].type, op.engine);
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

Slicing SlicingOf(const Plan& plan, const graph::Operator& op, int constant) {
  const graph::Shape& shape = plan.network.tensors[static_cast<size_t>(constant)].shape;
  Slicing slicing;
  if (op.kind == base::OperatorKind::kMatmul && !shape.empty()) {
    slicing.axis = shape.size() - 1;
    slicing.result_axis =
        plan.network.tensors[static_cast<size_t>(op.outputs.front())].shape.size() - 1;
  }
  if (!shape.empty()) slicing.channels = shape[slicing.axis];
  slicing.granularity = std::min(slicing.channels, plan.profile.tiling.weight_granularity_channels);
  slicing.slices = base::CeilDiv(slicing.channels, slicing.granularity);
  return slicing;
}

}  // namespace tessera::plan::verify
