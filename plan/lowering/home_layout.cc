#include "tessera/plan/lowering/home_layout.h"

#include <algorithm>

#include "tessera/base/checked.h"
#include "tessera/plan/execute/elements.h"

namespace tessera::plan::lowering {
namespace {

using base::Axis;

std::vector<int64_t> RowMajor(const graph::Shape& shape, int64_t element) {
  std::vector<int64_t> strides(shape.size(), element);
  for (size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

// Batch by batch, row by row, column by column, channels side by side in blocks; rows at their pitch.
std::vector<int64_t> InLayout(const graph::Tensor& tensor, const hw_profiles::RoleLayout& layout) {
  const size_t rank = tensor.shape.size();
  const int64_t element = base::BitsOf(tensor.type) / 8;
  const auto extent = [&](Axis wanted) {
    for (size_t axis = 0; axis < rank; ++axis) {
      if (execute::MeaningOf(rank, axis) == wanted) return tensor.shape[axis];
    }
    return int64_t{1};
  };
  const int64_t column = base::RoundUp(extent(Axis::kChannels), layout.channel_block) * element;
  const int64_t row = base::RoundUp(column * extent(Axis::kColumns), layout.row_pitch_bytes);
  std::vector<int64_t> strides;
  for (size_t axis = 0; axis < rank; ++axis) {
    switch (*execute::MeaningOf(rank, axis)) {
      case Axis::kChannels:
        strides.push_back(element);
        break;
      case Axis::kColumns:
        strides.push_back(column);
        break;
      case Axis::kRows:
        strides.push_back(row);
        break;
      case Axis::kBatch:
        strides.push_back(row * extent(Axis::kRows));
        break;
    }
  }
  return strides;
}

// Of tensors that lie in a home: all but features.
base::TensorRole RoleAtHome(const graph::Tensor& tensor) {
  using base::TensorRole;
  if (tensor.constant) return TensorRole::kConstant;
  if (tensor.state || tensor.next_of >= 0) return TensorRole::kState;
  if (tensor.network_input) return TensorRole::kNetworkInput;
  return tensor.network_output ? TensorRole::kNetworkOutput : TensorRole::kBorder;
}

}  // namespace

std::optional<HomeLayout> FindAtHome(const Plan& plan, int tensor) {
  const graph::Tensor& facts = plan.network.tensors[static_cast<size_t>(tensor)];
  for (const Home& home : plan.homes) {
    const auto found = std::find(home.tensors.begin(), home.tensors.end(), tensor);
    if (found == home.tensors.end()) continue;
    HomeLayout layout;
    layout.memory = home.memory;
    layout.address = home.allocation.offsets[static_cast<size_t>(found - home.tensors.begin())];
    layout.table = layout.address + base::BytesOf(facts.type, graph::ElementsOf(facts.shape));
    const bool in_order = facts.constant || !execute::MeaningOf(facts.shape.size(), 0);
    layout.strides = in_order ? RowMajor(facts.shape, base::BitsOf(facts.type) / 8)
                              : InLayout(facts, hw_profiles::LayoutOf(plan.profile, RoleAtHome(facts)));
    return layout;
  }
  return std::nullopt;
}

}  // namespace tessera::plan::lowering
