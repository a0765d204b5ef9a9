#include "tessera/plan/execute/place.h"

#include <algorithm>

namespace tessera::plan::execute {
namespace {

bool IsPad(const AxisPlace& axis, int64_t index) { return index < 0 || index >= axis.extent; }

// Runs along one axis alone, addresses and numbers counted from the base.
std::vector<Run> RunsAlong(const AxisPlace& axis, const std::vector<int64_t>& indices,
                           bool single) {
  std::vector<Run> runs;
  int64_t next = 0;
  int64_t next_position = 0;
  for (const int64_t index : indices) {
    const int64_t position = PositionOf(axis, index);
    const bool continues = !single && !runs.empty() && index == next && position == next_position;
    if (continues && IsPad(axis, index) == runs.back().pad) {
      ++runs.back().count;
    } else {
      runs.push_back({position * axis.address_step, index * axis.number_step, 1, axis.address_step,
                      axis.number_step, IsPad(axis, index)});
    }
    next = index + 1;
    next_position = position + 1;
  }
  return runs;
}

// Elements close together make a run that is quick to walk; few of them make it short.
size_t AxisOfRuns(const Place& place, const ElementSet& elements) {
  constexpr size_t kLongEnough = 8;
  size_t best = 0;
  for (size_t axis = 1; axis < place.axes.size(); ++axis) {
    const size_t least = std::min(elements.axes[best].size(), kLongEnough);
    const size_t length = std::min(elements.axes[axis].size(), kLongEnough);
    const bool closer = place.axes[axis].address_step < place.axes[best].address_step;
    if (length > least || (length == least && closer)) best = axis;
  }
  return best;
}

std::vector<Run> RunsOfListed(const Place& place, const std::vector<int64_t>& numbers) {
  std::vector<Run> runs;
  runs.reserve(numbers.size());
  for (const int64_t number : numbers) {
    int64_t address = place.base;
    for (const AxisPlace& axis : place.axes) {
      address += PositionOf(axis, number / axis.number_step % axis.extent) * axis.address_step;
    }
    runs.push_back({address, number, 1, 0, 0, false});
  }
  return runs;
}

}  // namespace

int64_t PositionOf(const AxisPlace& axis, int64_t index) {
  if (index < 0) return index;
  const int64_t rows = axis.modulus > 0 ? axis.modulus : axis.held.end - axis.held.begin;
  if (index >= axis.extent) return rows + index - axis.extent;
  const int64_t position = index - axis.held.begin;
  if (axis.modulus == 0) return position;
  const int64_t turned = (axis.made_before + position) % axis.modulus;
  return turned < 0 ? turned + axis.modulus : turned;
}

std::vector<Run> RunsOf(const Place& place, const ElementSet& elements) {
  if (elements.listed) return RunsOfListed(place, *elements.listed);
  std::vector<Run> runs = {{place.base, 0, 1, 0, 0, false}};
  if (place.axes.empty()) return runs;
  const size_t along = AxisOfRuns(place, elements);
  const auto multiply = [&](size_t axis) {
    const std::vector<Run> parts = RunsAlong(place.axes[axis], elements.axes[axis], axis != along);
    std::vector<Run> product;
    product.reserve(runs.size() * parts.size());
    for (const Run& run : runs) {
      for (const Run& part : parts) {
        product.push_back({run.address + part.address, run.number + part.number, part.count,
                           part.address_step, part.number_step, run.pad || part.pad});
      }
    }
    runs = std::move(product);
  };
  for (size_t axis = 0; axis < place.axes.size(); ++axis) {
    if (axis != along) multiply(axis);
  }
  multiply(along);
  return runs;
}

ElementSet WithPads(const Place& place, const Box& box) {
  ElementSet elements = AllOf(box);
  for (size_t axis = 0; axis < place.axes.size(); ++axis) {
    const AxisPlace& at = place.axes[axis];
    std::vector<int64_t>& indices = elements.axes[axis];
    const bool rolling_buffer = at.modulus > 0;
    const bool first = box[axis].begin == at.held.begin;
    const bool opens_rolling_buffer = first && at.made_before == 0 && !indices.empty();
    const bool last = box[axis].end == at.held.end;
    if (place.bordered || (rolling_buffer ? opens_rolling_buffer : first)) {
      for (int64_t pad = 1; pad <= at.pad_low; ++pad) indices.insert(indices.begin(), -pad);
    }
    if (place.bordered || (rolling_buffer ? opens_rolling_buffer : last)) {
      for (int64_t pad = 0; pad < at.pad_high; ++pad) indices.push_back(at.extent + pad);
    }
  }
  return elements;
}

}  // namespace tessera::plan::execute
