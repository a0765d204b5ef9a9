// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/infeasibility/needed_boxes.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>

#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/tiles.h"

// Walks from the outputs of the network back to its inputs. If all of a box is needed, so are all
// elements that the operator reads for it. The elements must form a box without gaps, so the
// conditions for reads without gaps come first.
namespace tessera::plan::verify::infeasibility {
namespace {

// Whether each element of the result is copied from an element of the operand, and no element is
// copied twice.
bool CopiesEachOnce(const graph::Graph& network, const graph::Operator& op) {
  const auto volume = [&network](const std::vector<int>& tensors) {
    return VolumeOf(WholeOf(network.tensors[static_cast<size_t>(tensors.front())].shape));
  };
  if (base::TraitsOf(op.kind).rearranges) return volume(op.inputs) == volume(op.outputs);
  if (op.kind == base::OperatorKind::kSlice) return true;
  if (op.kind != base::OperatorKind::kGather) return false;
  const std::vector<int64_t>& indices = op.Own<base::GatherAttributes>().indices;
  return std::set<int64_t>(indices.begin(), indices.end()).size() == indices.size();
}

// Whether adjacent results read elements at most one apart along each axis, so that no element
// between them is left out.
bool Upsamples(const graph::Graph& network, const graph::Operator& op) {
  if (op.kind != base::OperatorKind::kResize) return false;
  const graph::Shape& from = network.tensors[static_cast<size_t>(op.inputs.front())].shape;
  const graph::Shape& to = network.tensors[static_cast<size_t>(op.outputs.front())].shape;
  const auto& scales = op.Own<base::ResizeAttributes>().scales;
  return std::equal(from.begin(), from.end(), to.begin(), to.end(), std::less_equal()) &&
         std::all_of(scales.begin(), scales.end(),
                     [](const base::Ratio& scale) { return scale.numerator >= scale.denominator; });
}

// Whether no element is left out between the windows of adjacent results, or between one tap at
// adjacent results and the next tap.
bool TapsMeet(const graph::ops::Window& window, const Box& made) {
  for (size_t axis = 0; axis < 2; ++axis) {
    const bool is_dense = window.dilation[axis] == 1 && window.stride[axis] <= window.kernel[axis];
    const bool interleave =
        window.stride[axis] == 1 && made[axis + 2].Length() >= window.dilation[axis];
    if (!is_dense && !interleave) return false;
  }
  return true;
}

// Definitions of reads visit the indices of an axis one by one. Axes longer than this are left out.
constexpr int64_t kLongestAxis = int64_t{1} << 22;

// The elements that a slice reads for a box of its result, and their number.
struct SliceRead {
  const base::SliceAttributes* slice = nullptr;
  Box hull;
  int64_t volume = 0;
};

// Whether the two have no element in common, because along some axis one ends before the other
// begins, or both have equal steps and different remainders.
bool AreApart(const SliceRead& a, const SliceRead& b) {
  for (size_t axis = 0; axis < a.hull.size(); ++axis) {
    if (a.hull[axis].end <= b.hull[axis].begin || b.hull[axis].end <= a.hull[axis].begin)
      return true;
    const int64_t step = std::abs(a.slice->steps[axis]);
    if (step == std::abs(b.slice->steps[axis]) &&
        (a.hull[axis].begin - b.hull[axis].begin) % step != 0)
      return true;
  }
  return false;
}

// The hull of slices of one tensor, if they have no common elements and together as many elements
// as the hull.
std::optional<Box> HullOfSlices(const std::vector<SliceRead>& reads) {
  if (reads.empty()) return std::nullopt;
  Box hull = reads.front().hull;
  int64_t volume = 0;
  for (auto read = reads.begin(); read != reads.end(); ++read) {
    for (size_t axis = 0; axis < hull.size(); ++axis) {
      hull[axis] = {std::min(hull[axis].begin, read->hull[axis].begin),
                    std::max(hull[axis].end, read->hull[axis].end)};
    }
    volume = Plus(volume, read->volume);
    const auto is_apart = [read](const SliceRead& other) { return AreApart(*read, other); };
    if (!std::all_of(reads.begin(), read, is_apart)) return std::nullopt;
  }
  return volume == VolumeOf(hull) ? std::optional(hull) : std::nullopt;
}

}  // namespace

std::optional<Box> ReadWithoutGaps(const graph::Graph& network, const graph::Operator& op,
                                   size_t operand, const Box& made) {
  const bool is_long = std::any_of(made.begin(), made.end(), [](const graph::ops::Extent& extent) {
    return extent.Length() > kLongestAxis;
  });
  if (is_long) return std::nullopt;
  const base::OperatorTraits& traits = base::TraitsOf(op.kind);
  const bool gapless =
      traits.reads_boxes || Upsamples(network, op) || (traits.slides && TapsMeet(op.window, made));
  Box read = NeedOf(network, op, operand, made);
  if (IsEmpty(read)) return std::nullopt;
  if (gapless || (CopiesEachOnce(network, op) && VolumeOf(read) == VolumeOf(made))) return read;
  return std::nullopt;
}

Box Joined(const Box& a, const Box& b) {
  Box hull = a;
  Box common = a;
  for (size_t axis = 0; axis < a.size(); ++axis) {
    hull[axis] = {std::min(a[axis].begin, b[axis].begin), std::max(a[axis].end, b[axis].end)};
    const int64_t begin = std::max(a[axis].begin, b[axis].begin);
    common[axis] = {begin, std::max(begin, std::min(a[axis].end, b[axis].end))};
  }
  if (VolumeOf(hull) == VolumeOf(a) + VolumeOf(b) - VolumeOf(common)) return hull;
  return VolumeOf(a) < VolumeOf(b) ? b : a;
}

Boxes FindNeeded(const graph::Graph& network, const std::vector<Users>& users) {
  Boxes needed(network.tensors.size());
  for (size_t i = 0; i < needed.size(); ++i) {
    const bool is_wanted =
        network.tensors[i].network_output || (users[i].readers.empty() && !users[i].makers.empty());
    if (is_wanted) needed[i] = WholeOf(network.tensors[i].shape);
  }
  std::vector<std::vector<SliceRead>> slices(network.tensors.size());
  for (auto op = network.operators.rbegin(); op != network.operators.rend(); ++op) {
    std::optional<Box>& made = needed[static_cast<size_t>(op->outputs.front())];
    const std::optional<Box> sliced =
        HullOfSlices(slices[static_cast<size_t>(op->outputs.front())]);
    if (sliced && (!made || VolumeOf(*made) < VolumeOf(*sliced))) made = sliced;
    if (!made) continue;
    if (op->kind == base::OperatorKind::kSlice) {
      slices[static_cast<size_t>(op->inputs.front())].push_back(
          {&op->Own<base::SliceAttributes>(), NeedOf(network, *op, 0, *made), VolumeOf(*made)});
    }
    for (size_t operand = 0; operand < op->inputs.size(); ++operand) {
      const std::optional<Box> read = ReadWithoutGaps(network, *op, operand, *made);
      std::optional<Box>& known = needed[static_cast<size_t>(op->inputs[operand])];
      if (read) known = known ? Joined(*known, *read) : *read;
    }
  }
  return needed;
}

using hw_profiles::HaloStorage;

LeastTiles::LeastTiles(const Plan& plan, const std::vector<Users>& users, graph::Interval interval)
    : plan_(plan) {
  const int tiled = plan.network.operators[static_cast<size_t>(interval.last)].outputs.front();
  const graph::Shape& shape = graph::ShapeOf(plan.network, tiled);
  output_ = WholeOf(shape);
  units_.assign(shape.size(), 0);
  if (IsOnHost(plan, interval)) return;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    for (const hw_profiles::AxisGranularity& offered : plan.profile.tiling.axes) {
      const bool cuts =
          MeaningOf(shape.size(), axis) == offered.axis && offered.granularity < shape[axis];
      if (!cuts || !MayCut(plan.network, users, interval, axis)) continue;
      const int64_t known = units_[axis];
      units_[axis] = known == 0 ? offered.granularity : std::min(known, offered.granularity);
    }
  }
}

bool LeastTiles::AreSeveral() const {
  return std::any_of(units_.begin(), units_.end(), [](int64_t unit) { return unit > 0; });
}

bool LeastTiles::MayKeepRows() const {
  const auto rows = RowAxisOf(output_.size());
  const std::vector<HaloStorage>& halo = plan_.profile.tiling.halo;
  return rows && Cuts(*rows) && std::any_of(halo.begin(), halo.end(), [](HaloStorage each) {
           return each != HaloStorage::kRecompute;
         });
}

// The unit that contains an index, or all of the axis if it is not cut.
Range LeastTiles::UnitAround(size_t axis, int64_t index) const {
  const int64_t extent = output_[axis].end;
  const int64_t unit = units_[axis];
  if (unit == 0) return {0, extent};
  const int64_t begin = index / unit * unit;
  return {begin, std::min(begin + unit, extent)};
}

Box LeastTiles::Around(bool from_top) const {
  Box tile = output_;
  for (size_t axis = 0; axis < output_.size(); ++axis) {
    const bool is_rows = MeaningOf(output_.size(), axis) == base::Axis::kRows;
    tile[axis] = UnitAround(axis, from_top && is_rows ? 0 : output_[axis].end / 2);
  }
  return tile;
}

Box LeastTiles::TopOfStrip() const {
  Box tile = AroundTop();
  for (size_t axis = 0; axis < output_.size(); ++axis) {
    const auto name = MeaningOf(output_.size(), axis);
    const bool divides = name == base::Axis::kRows || name == base::Axis::kBatch ||
                         (name == base::Axis::kColumns && plan_.profile.tiling.implicit_padding);
    if (!divides) tile[axis] = output_[axis];
  }
  return tile;
}

}  // namespace tessera::plan::verify::infeasibility
