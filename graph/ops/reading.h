// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/graph/ops/operator.h"
#include "tessera/graph/ops/region.h"

// The reads of an operator, by the definition of its kind: which indices of an operand ONE index of
// the output reads. On purpose, nothing here uses interval arithmetic, except for axes whose
// indices are those of the output. axis_map.h has closed forms for the same regions; the two share
// no code, so each is a check of the other.
//
// A kind states its definition once, as a function of a `need`. The function visits output indices
// axis by axis, and the need keeps what is read: a hull of it, or every index.
//
//     rows, kernel 3, stride 2, padding 1        o = 0  reads -1 0 1
//     output [0, 2)                              o = 1  reads 1 2 3
//                                                hull [0, 4)      indices -1 0 1 2 3
//
// A definition does not clip. Needs drop indices outside the operand, except lists of taps in a
// padding that may be stored.
namespace tessera::graph::ops {

struct OperandView;

// Whether lists keep indices outside the operand: taps in a padding that may be stored.
enum class Taps : uint8_t { kInside, kInPaddingToo };

// The least box around all indices that are read.
class HullNeed {
 public:
  static constexpr bool kIsHull = true;

  // Nothing is read yet along any axis.
  explicit HullNeed(const Shape& in) : in_(in), box_(in.size()) {}

  // Adds what `rule(output, add)` adds for each output index: add(index), add.Range(begin, end).
  template <typename Rule>
  void Each(size_t axis, Extent outputs, const Rule& rule, Taps /*taps*/ = Taps::kInside) {
    Adder add{in_[axis], {in_[axis], 0}};
    for (int64_t output = outputs.begin; output < outputs.end; ++output) rule(output, add);
    box_[axis] = add.hull.begin < add.hull.end ? add.hull : Extent{};
  }
  // Each output index reads the same index.
  void Same(size_t axis, Extent outputs) {
    const Extent read = {std::max<int64_t>(outputs.begin, 0), std::min(outputs.end, in_[axis])};
    box_[axis] = read.begin < read.end ? read : Extent{};
  }
  void All(size_t axis) { box_[axis] = {0, in_[axis]}; }
  void Only(size_t axis, int64_t index) { box_[axis] = {index, index + 1}; }
  void Set(size_t axis, Extent extent) { box_[axis] = extent; }

  const Box& Take() const { return box_; }

 private:
  struct Adder {
    int64_t extent;
    Extent hull;
    void operator()(int64_t index) { Range(index, index + 1); }
    void Range(int64_t begin, int64_t end) {
      begin = std::max<int64_t>(begin, 0);
      end = std::min(end, extent);
      if (begin >= end) return;
      hull = {std::min(hull.begin, begin), std::max(hull.end, end)};
    }
  };

  const Shape& in_;
  Box box_;
};

// Every index that is read: a product of lists, one for each axis, or, if axes are mixed, elements
// by their row-major numbers. Ascending, each once.
class ListNeed {
 public:
  static constexpr bool kIsHull = false;
  using Indices = std::vector<int64_t>;

  explicit ListNeed(const Shape& in) : axes(in.size()), in_(in) {}

  template <typename Rule>
  void Each(size_t axis, Extent outputs, const Rule& rule, Taps taps = Taps::kInside) {
    Indices& indices = axes[axis];
    Adder add{indices, {}};
    for (int64_t output = outputs.begin; output < outputs.end; ++output) rule(output, add);
    Sort(indices);
    if (taps == Taps::kInPaddingToo) return;
    std::erase_if(indices, [&](int64_t index) { return index < 0 || index >= in_[axis]; });
  }
  void Same(size_t axis, Extent outputs) {
    Each(axis, outputs, [](int64_t output, auto& add) { add(output); });
  }
  void All(size_t axis) { Same(axis, {0, in_[axis]}); }
  void Only(size_t axis, int64_t index) { axes[axis] = {index}; }
  // Sets row-major numbers of elements instead of lists for axes.
  void SetNumbers(Indices elements) {
    Sort(elements);
    numbers = std::move(elements);
    axes.clear();
  }

  std::vector<Indices> axes;       // a list for each axis
  std::optional<Indices> numbers;  // if set, there are no `axes`

 private:
  struct Adder {
    Indices& indices;
    Extent last;  // many consecutive outputs read one range, or nested ranges
    void operator()(int64_t index) { indices.push_back(index); }
    void Range(int64_t begin, int64_t end) {
      if (last.begin <= begin && end <= last.end) return;
      const bool grows = begin <= last.begin && last.end <= end && last.begin < last.end;
      const Extent known = grows ? last : Extent{end, end};
      last = {begin, end};
      for (int64_t index = begin; index < known.begin; ++index) indices.push_back(index);
      for (int64_t index = known.end; index < end; ++index) indices.push_back(index);
    }
  };
  static void Sort(Indices& indices) {
    if (!std::is_sorted(indices.begin(), indices.end())) std::sort(indices.begin(), indices.end());
    indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  }

  const Shape& in_;
};

// One definition as functions for both needs. `output` is not empty.
struct Reading {
  void (*hull)(const OperandView&, const Box& output, HullNeed& need) = nullptr;
  void (*lists)(const OperandView&, const Box& output, ListNeed& need) = nullptr;
};
template <typename Definition>
constexpr Reading ReadingBy(Definition /*definition*/) {
  return {[](const OperandView& view, const Box& output, HullNeed& need) {
            Definition{}(view, output, need);
          },
          [](const OperandView& view, const Box& output, ListNeed& need) {
            Definition{}(view, output, need);
          }};
}

// Readings that the definitions of kinds share.

// The row-major numbers of the elements of a box in a tensor of that shape.
std::vector<int64_t> NumbersOf(const Box& box, const Shape& shape);

// The numbers of the elements, in a tensor of shape `in`, to which `move` maps the elements of a
// box of `out`. `move` maps coordinates to coordinates.
template <typename Move>
std::vector<int64_t> NumbersBehind(const Box& box, const Shape& out, const Shape& in,
                                   const Move& move) {
  std::vector<int64_t> numbers;
  for (const int64_t number : NumbersOf(box, out)) {
    std::vector<int64_t> at(out.size());
    int64_t rest = number;
    for (size_t axis = at.size(); axis-- > 0; rest /= out[axis]) at[axis] = rest % out[axis];
    const std::vector<int64_t> from = move(at);
    int64_t moved = 0;
    for (size_t axis = 0; axis < from.size(); ++axis) moved = moved * in[axis] + from[axis];
    numbers.push_back(moved);
  }
  return numbers;
}

template <typename Need>
void ReadEverything(const Shape& in, Need& need) {
  for (size_t axis = 0; axis < in.size(); ++axis) need.All(axis);
}

// Reads axes aligned at the right, except for the last `but_last` ones. An extent of 1 serves every
// output index.
template <typename Need>
void ReadAligned(const Shape& in, const Box& output, size_t but_last, Need& need) {
  for (size_t axis = 0; axis + but_last < in.size(); ++axis) {
    if (in[axis] == 1) {
      need.Only(axis, 0);
    } else {
      need.Same(axis, output[axis + output.size() - in.size()]);
    }
  }
}

}  // namespace tessera::graph::ops
