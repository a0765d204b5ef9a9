// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "tessera/graph/ops/operator.h"
#include "tessera/graph/ops/region.h"

// How one axis of an operator's input follows from the axes of its output.
//
// Every operator here is a product of maps, one for each axis of each input: the rows that a
// convolution needs follow from the rows of the output, for all columns. So a region is found axis
// by axis, and a map, built once for an operator, serves all tiles. Axes share only emptiness: an
// input that is not needed along one axis is not needed at all.
//
// All maps are exact: the result is the smallest extent that contains every index that the
// operator's definition reads for some index of the given output. Only a reshape may have whole
// axes that are not (reshape.cc). Cost of Apply: a few divisions; for windows that touch the
// padding and transposed ones with holes, O(kernel); for listed indices, O(Listed::kRun + output
// indices / Listed::kRun).
namespace tessera::graph::ops {

struct AxisMap {
  // Every output needs the whole axis.
  struct Whole {
    int64_t extent = 0;
  };
  // Each output index reads the same index.
  struct Same {};
  // A sliding window: index o reads o*stride - pad + t*dilation for every t < kernel, if that lies
  // in the input.
  struct Slide {
    int64_t extent = 0;
    int64_t output_extent = 0;
    int64_t kernel = 1;
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t pad = 0;
  };
  // A window that slides over the output: input i adds to output i*stride - pad + t*dilation for
  // every t < kernel.
  struct Spread {
    int64_t extent = 0;
    int64_t output_extent = 0;
    int64_t kernel = 1;
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t pad = 0;
  };
  // Channels of a grouped convolution: `outputs` channels of the output read the same `inputs`
  // channels of the input.
  struct Grouped {
    int64_t outputs = 1;
    int64_t inputs = 1;
  };
  // One operand of a concatenation, or the input of a constant pad: indices [offset, offset +
  // extent) of the output.
  struct Part {
    int64_t offset = 0;
    int64_t extent = 0;
  };
  // A resize: index x is at (x * step + shift) / scale. Inputs with weight 0 are not read: an
  // output that lies on an input reads only that one. Beyond either end the last input is used.
  struct Scaled {
    int64_t extent = 0;
    int64_t step = 0;
    int64_t shift = 0;
    int64_t scale = 1;
    ResizeMode mode = ResizeMode::kNearest;
    NearestRounding rounding = NearestRounding::kRoundPreferFloor;
  };
  // A slice: index x is start + x * step.
  struct Strided {
    int64_t start = 0;
    int64_t step = 1;
  };
  // Padding from the input itself: index x is x - low, mapped back into the input by the mode (not
  // kConstant).
  struct Padded {
    int64_t extent = 0;
    int64_t low = 0;
    PadMode mode = PadMode::kEdge;
  };
  // Index x is indices[x].
  struct Listed {
    static constexpr int64_t kRun = 256;
    explicit Listed(std::vector<int64_t> listed);
    std::vector<int64_t> indices;
    std::vector<Extent> runs;  // what each kRun consecutive outputs need
  };
  // Every output reads this one index.
  struct Fixed {
    int64_t index = 0;
  };
  // A reshape that merges output axes (source, source + 1, ...) into one input axis; row-major
  // strides of those axes. `behind` elements have the same index of that axis: more than 1 if the
  // same output axes make further input axes after it.
  struct Merged {
    std::vector<int64_t> strides;
    int64_t behind = 1;
  };
  // A reshape that splits one output axis into several input axes. This one has the given stride
  // and extent.
  struct Digit {
    int64_t stride = 1;
    int64_t extent = 1;
  };
  // Rows or columns of a space-to-depth: a digit of the output channel, plus a row or column (the
  // second source) times the digit's extent.
  struct Unfolded {
    Digit phase;
  };
  // Channels of a depth-to-space: a channel, and the phases in a block of the row and the column,
  // each times its weight. Sources are channels, rows and columns.
  struct Folded {
    int64_t block = 1;
    std::array<int64_t, 3> weights = {1, 1, 1};
  };

  // A rule that only one kind has. The source of the kind defines the function. Its arguments are
  // the kind's numbers and the parts of the output's axes from `source` on.
  struct OfKind {
    using Numbers = std::array<int64_t, 4>;
    Extent (*function)(const Numbers&, std::span<const Extent> outputs) = nullptr;
    Numbers numbers = {};
    bool may_be_empty = false;
    Extent Apply(std::span<const Extent> outputs) const { return function(numbers, outputs); }
  };

  using Rule = std::variant<Whole, Same, Slide, Spread, Grouped, Part, Scaled, Strided, Padded,
                            Listed, Fixed, Merged, Digit, Unfolded, Folded, OfKind>;

  Rule rule;
  size_t source = 0;  // the (first) output axis on which it depends
  // the number of output axes on which it depends: 0 for Whole and Fixed, several where documented
  size_t sources = 0;
  size_t source_step = 1;  // from one of these axes to the next

  // The extent needed for a part of the output that is not empty on any axis. The result may be
  // empty (Part, Slide, Spread, OfKind).
  Extent Apply(std::span<const Extent> output) const;

  // Whether some non-empty part of the output needs nothing of the input. The result may be true
  // although no such part exists.
  bool MayBeEmpty() const;

  bool IsWhole() const { return std::holds_alternative<Whole>(rule); }
};

// Maps that the definitions of kinds share.

inline AxisMap WholeAxis(int64_t extent) { return {AxisMap::Whole{extent}, 0, 0}; }
inline AxisMap SameAxis(size_t source) { return {AxisMap::Same{}, source, 1}; }

// One map for each input axis.
std::vector<AxisMap> WholeAxes(const Shape& input);
std::vector<AxisMap> SameAxes(size_t rank);
// Axes aligned at the right. An extent of 1 serves every index of the output.
std::vector<AxisMap> BroadcastAxes(const Shape& input, const Shape& output);

}  // namespace tessera::graph::ops
