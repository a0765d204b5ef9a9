// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/home_tiles.h"

namespace tessera::plan::verify {

namespace {

using base::Axis;
using problem::AddressRange;

constexpr int64_t kByte = 8;

}  // namespace

HomeLayout::HomeLayout(const Plan& plan, int tensor)
    : shape_(plan.network.tensors[static_cast<size_t>(tensor)].shape),
      strides_(shape_.size()),
      element_(base::BitsOf(plan.network.tensors[static_cast<size_t>(tensor)].type)) {
  const graph::Tensor& facts = plan.network.tensors[static_cast<size_t>(tensor)];
  const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(plan.profile, RoleAtHome(facts));
  const size_t rank = shape_.size();
  const auto extent = [&](Axis axis) {
    for (size_t i = 0; i < rank; ++i) {
      if (plan::MeaningOf(rank, i) == axis) return shape_[i];
    }
    return int64_t{1};
  };
  const int64_t column = base::CeilDiv(extent(Axis::kChannels), layout.channel_block) *
                         layout.channel_block * element_;
  const int64_t pitch = kByte * layout.row_pitch_bytes;
  const int64_t row = base::CeilDiv(extent(Axis::kColumns) * column, pitch) * pitch;
  int64_t outer = extent(Axis::kRows) * row;
  for (size_t i = rank; i-- > 0;) {
    switch (plan::MeaningOf(rank, i).value_or(Axis::kBatch)) {
      case Axis::kChannels:
        strides_[i] = element_;
        break;
      case Axis::kColumns:
        strides_[i] = column;
        break;
      case Axis::kRows:
        strides_[i] = row;
        break;
      case Axis::kBatch:
        strides_[i] = outer;
        outer *= shape_[i];
        break;
    }
  }
}

std::vector<AddressRange> HomeLayout::BytesOf(const Box& part) const {
  const Box box = Widened(part);
  const std::vector<size_t> outer = OuterAxes(box);
  AddressRange run = {0, element_};
  for (size_t axis = 0; axis < box.size(); ++axis) {
    run.begin += box[axis].begin * strides_[axis];
    if (std::find(outer.begin(), outer.end(), axis) == outer.end())
      run.end *= box[axis].end - box[axis].begin;
  }
  run.end += run.begin;
  std::vector<AddressRange> bytes;
  std::vector<int64_t> index(outer.size(), 0);  // from the beginning of the part
  for (bool is_over = false; !is_over;) {
    int64_t at = 0;
    for (size_t i = 0; i < outer.size(); ++i) at += index[i] * strides_[outer[i]];
    const AddressRange next = {(run.begin + at) / kByte, base::CeilDiv(run.end + at, kByte)};
    if (bytes.empty() || bytes.back().end < next.begin) {
      bytes.push_back(next);
    } else {
      bytes.back().end = std::max(bytes.back().end, next.end);
    }
    size_t axis = outer.size();
    is_over = true;
    while (is_over && axis-- > 0) {
      is_over = ++index[axis] == box[outer[axis]].end - box[outer[axis]].begin;
      if (is_over) index[axis] = 0;
    }
  }
  return bytes;
}

Box HomeLayout::Widened(Box part) const {
  constexpr int64_t kMostRuns = 1'024;
  std::multimap<int64_t, size_t> narrow;  // axes that the part does not cover, innermost first
  for (size_t axis = 0; axis < part.size(); ++axis) {
    if (part[axis].begin > 0 || part[axis].end < shape_[axis]) narrow.emplace(strides_[axis], axis);
  }
  for (const auto& [stride, axis] : narrow) {
    int64_t runs = 1;
    for (size_t other = 0; other < part.size(); ++other) {
      const bool is_outside =
          strides_[other] > stride || (strides_[other] == stride && other > axis);
      if (is_outside) runs *= part[other].end - part[other].begin;
    }
    if (runs <= kMostRuns) break;
    part[axis] = {0, shape_[axis]};
  }
  return part;
}

// The axes along which a part does not lie in one run, the outermost first.
std::vector<size_t> HomeLayout::OuterAxes(const Box& part) const {
  std::vector<size_t> axes(part.size());
  std::iota(axes.begin(), axes.end(), size_t{0});
  std::erase_if(axes, [this](size_t axis) { return shape_[axis] == 1; });
  std::stable_sort(axes.begin(), axes.end(),
                   [this](size_t a, size_t b) { return strides_[a] > strides_[b]; });
  bool is_whole = true;
  int64_t run = element_;
  while (!axes.empty() && is_whole && strides_[axes.back()] == run) {
    const size_t axis = axes.back();
    is_whole = part[axis].end - part[axis].begin == shape_[axis];
    run *= shape_[axis];
    axes.pop_back();
  }
  return axes;
}

}  // namespace tessera::plan::verify
