// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/lowering/byte_layout.h"

#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/execute/places.h"
#include "tessera/plan/index_box.h"
#include "tessera/plan/verify/residency.h"

namespace tessera::plan::lowering {

namespace {

using problem::AddressRange;

// Consecutive indices along one axis, in steps of its stride from the position of index 0.
struct IndexRange {
  int64_t first = 0;
  int64_t count = 0;
};

// The part of a region along one axis. Index 0 is the box's first index, or row 0 of the rolling
// buffer.
struct Along {
  int64_t extent = 0;
  int64_t low = 0;  // pads
  int64_t high = 0;
  // indices between the low pads and the box, and between the box and the high pads
  int64_t before = 0;
  int64_t behind = 0;
};

std::vector<IndexRange> IndexRangesOf(const Along& along) {
  return {{-along.before - along.low, along.low},
          {0, along.extent},
          {along.extent + along.behind, along.high}};
}

std::vector<IndexRange> IndexRangesInRollingBuffer(const Along& along, int64_t turn,
                                                   int64_t rolling_buffer_rows) {
  std::vector<IndexRange> pieces = {{-along.low, along.low}, {rolling_buffer_rows, along.high}};
  const int64_t first = turn - base::RoundDown(turn, rolling_buffer_rows);
  const int64_t before_turn = std::min(along.extent, rolling_buffer_rows - first);
  pieces.push_back({first, before_turn});
  pieces.push_back({0, along.extent - before_turn});
  return pieces;
}

void Merge(std::vector<AddressRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const AddressRange& a, const AddressRange& b) {
    return a.begin < b.begin || (a.begin == b.begin && a.end < b.end);
  });
  std::vector<AddressRange> merged;
  for (const AddressRange& range : ranges) {
    if (range.begin >= range.end) continue;
    if (!merged.empty() && range.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  ranges = std::move(merged);
}

}  // namespace

int64_t ElementBytes(const graph::Graph& network, int op, const Operand& operand) {
  if (operand.tensor < 0 || operand.table) return 1;
  if (operand.part == Part::kAddend || operand.part == Part::kPartialSums) {
    const std::vector<int>& inputs = network.operators[static_cast<size_t>(op)].inputs;
    const int typical = inputs.empty() ? operand.tensor : inputs.front();
    return base::BitsOf(base::AccumulatorOf(network.tensors[static_cast<size_t>(typical)].type)) /
           8;
  }
  return base::BitsOf(network.tensors[static_cast<size_t>(operand.tensor)].type) / 8;
}

std::vector<AddressRange> BytesOf(const graph::Graph& network, int op, const Operand& operand,
                                  const FixedRegion& region, const FixedRegion& box,
                                  int64_t spot_address) {
  const size_t rank = box.extent.size();
  const bool pads =
      !region.pad_low.empty() && (operand.part != Part::kInput || operand.stored_pads);
  const std::optional<size_t> rows = plan::RowAxisOf(rank);
  std::vector<AddressRange> ranges = {
      {spot_address + region.offset,
       spot_address + region.offset + ElementBytes(network, op, operand)}};
  std::vector<size_t> inwards(rank);  // axes from the shortest stride to the longest
  for (size_t axis = 0; axis < rank; ++axis) inwards[axis] = axis;
  std::sort(inwards.begin(), inwards.end(),
            [&](size_t a, size_t b) { return operand.strides[a] < operand.strides[b]; });
  for (const size_t axis : inwards) {
    const int64_t stride = operand.strides[axis];
    const int64_t rolling_buffer = rows == axis ? operand.rolling_buffer_rows : 0;
    Along along = {box.extent[axis], pads ? region.pad_low[axis] : 0,
                   pads ? region.pad_high[axis] : 0, 0, 0};
    if (operand.padded_around) {
      along.before = box.begin[axis];
      along.behind = network.tensors[static_cast<size_t>(operand.tensor)].shape[axis] -
                     box.begin[axis] - box.extent[axis];
    }
    std::vector<AddressRange> product;
    for (const IndexRange& piece :
         rolling_buffer > 0 ? IndexRangesInRollingBuffer(along, region.turn, rolling_buffer)
                            : IndexRangesOf(along)) {
      for (int64_t i = piece.first; i < piece.first + piece.count; ++i) {
        for (const AddressRange& range : ranges)
          product.push_back({range.begin + i * stride, range.end + i * stride});
      }
    }
    Merge(product);
    ranges = std::move(product);
  }
  return ranges;
}

namespace {

std::vector<int64_t> RowMajor(const graph::Shape& shape, int64_t element) {
  std::vector<int64_t> strides(shape.size(), element);
  for (size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

}  // namespace

std::optional<HomeLocation> FindAtHome(const Plan& plan, const execute::Contents& contents,
                                       int tensor) {
  const graph::Tensor& facts = plan.network.tensors[static_cast<size_t>(tensor)];
  const int64_t per_byte = contents.CellsPerByte();
  const int64_t element = contents.CellsPerElement(tensor);
  for (const Home& home : plan.homes) {
    const auto found = std::find(home.tensors.begin(), home.tensors.end(), tensor);
    if (found == home.tensors.end()) continue;
    HomeLocation location;
    location.memory = home.memory;
    location.address =
        home.allocation.offsets[static_cast<size_t>(found - home.tensors.begin())] * per_byte;
    location.table =
        location.address + base::BytesOf(facts.type, graph::ElementsOf(facts.shape)) * per_byte;
    const bool in_order = facts.constant || !plan::MeaningOf(facts.shape.size(), 0);
    location.strides =
        in_order ? RowMajor(facts.shape, element)
                 : execute::StridesOf(
                       facts.shape, hw_profiles::LayoutOf(plan.profile, verify::RoleAtHome(facts)),
                       element, per_byte);
    return location;
  }
  return std::nullopt;
}

}  // namespace tessera::plan::lowering
