#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/ops/region.h"

// How one axis of an operator's input follows from the axes of its output.
//
// Every operator here is a product of maps, one for each axis of each input: the rows that a
// convolution needs follow from the rows asked for, whatever the columns. So a region is found axis
// by axis, and a map, built once for an operator, serves all tiles. The only thing that axes share
// is emptiness: an input that is not needed along one axis is not needed at all.
//
// All maps are exact: the result is the smallest extent that holds every index which the operator's
// definition reads for some index asked for. Cost of Apply: a few divisions; for windows that touch
// the padding and transposed ones with holes, O(kernel); for listed indices, O(indices asked for).
namespace tessera::graph::ops {

struct AxisMap {
  // The whole axis, whatever is asked.
  struct Whole {
    int64_t extent = 0;
  };
  // The same indices.
  struct Same {};
  // A window that slides: index o reads o*stride - pad + t*dilation for every t < kernel, where
  // that lies in the input.
  struct Slide {
    int64_t extent = 0;
    int64_t output_extent = 0;
    int64_t kernel = 1;
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t pad = 0;
  };
  // A window slid over the output: input i adds to output i*stride - pad + t*dilation for every t <
  // kernel.
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
  // One operand of a concatenation, or what a constant pads: indices [offset, offset + extent) of
  // the output.
  struct Part {
    int64_t offset = 0;
    int64_t extent = 0;
  };
  // A resize: index x looks at (x * step + shift) / scale. Inputs of weight 0 are not read: an
  // output that lies on an input reads that one. Beyond either end the last input stands for those
  // that are missing.
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
  // Padding from the input itself: index x is x - low, brought back into the input by the mode (not
  // kConstant).
  struct Padded {
    int64_t extent = 0;
    int64_t low = 0;
    PadMode mode = PadMode::kEdge;
  };
  // Index x is indices[x].
  struct Listed {
    std::vector<int64_t> indices;
  };
  // One index, whatever is asked.
  struct Fixed {
    int64_t index = 0;
  };
  // A reshape that merges output axes (source, source + 1, ...) into one input axis; row-major
  // strides of those axes.
  struct Merged {
    std::vector<int64_t> strides;
  };
  // A reshape that splits one output axis into several input axes; this one has the given stride
  // and extent.
  struct Digit {
    int64_t stride = 1;
    int64_t extent = 1;
  };
  // Rows or columns of a space-to-depth: a digit of the channel asked for, and a row or column,
  // which is the second source, times the digit's extent.
  struct Unfolded {
    Digit phase;
  };
  // Channels of a depth-to-space: a channel, and the phases in a block of the row and the column,
  // each times its weight. Sources are channels, rows and columns.
  struct Folded {
    int64_t block = 1;
    std::array<int64_t, 3> weights = {1, 1, 1};
  };

  using Rule = std::variant<Whole, Same, Slide, Spread, Grouped, Part, Scaled, Strided, Padded,
                            Listed, Fixed, Merged, Digit, Unfolded, Folded>;

  Rule rule;
  size_t source = 0;  // the (first) output axis that decides
  size_t sources =
      0;  // how many output axes decide: none for Whole and Fixed, several for those that say so
  size_t source_step = 1;  // from one of them to the next

  // The extent needed for a part of the output that is not empty on any axis. May come out empty
  // (Part, Slide, Spread).
  Extent Apply(std::span<const Extent> output) const;

  // Whether some non-empty part of the output needs nothing of the input. May err towards true.
  bool MayBeEmpty() const;

  bool IsWhole() const { return std::holds_alternative<Whole>(rule); }
};

// One map for each axis of op.inputs[input], from the operator's definition.
std::vector<AxisMap> AxisMapsOf(const Graph& graph, const Operator& op, size_t input);

// The axis maps of operators that move data or resample it; operator_maps.cc has the others.

inline AxisMap WholeAxis(int64_t extent) { return {AxisMap::Whole{extent}, 0, 0}; }
inline AxisMap SameAxis(size_t source) { return {AxisMap::Same{}, source, 1}; }

// Of an input axis each.
std::vector<AxisMap> WholeAxes(const Shape& input);
std::vector<AxisMap> SameAxes(size_t rank);

std::vector<AxisMap> MapsOfSlice(const Operator& op);
std::vector<AxisMap> MapsOfPad(const Operator& op, const Shape& input);
std::vector<AxisMap> MapsOfGather(const Operator& op, const Shape& input, const Shape& output);
std::vector<AxisMap> MapsOfTranspose(const Operator& op);
std::vector<AxisMap> MapsOfReshape(const Shape& input, const Shape& output);
std::vector<AxisMap> MapsOfResize(const Operator& op, const Shape& input, const Shape& output);
std::vector<AxisMap> MapsOfDepthToSpace(const Operator& op, const Shape& input,
                                        const Shape& output);
std::vector<AxisMap> MapsOfSpaceToDepth(const Operator& op, const Shape& input);

}  // namespace tessera::graph::ops
