#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/region.h"

// How one axis of an operator's input follows from the axes of its output.
//
// Every operator here is a product of maps, one for each axis of each input: the rows that a convolution
// needs follow from the rows asked for, whatever the columns. So a region is found axis by axis, and a map,
// built once for an operator, serves all tiles. The only thing that axes share is emptiness: an input that is
// not needed along one axis is not needed at all.
//
// All maps are monotone and exact: the result is the smallest extent that holds every index which the
// operator's definition reads for some index asked for. Cost of Apply: a few divisions; for windows that
// touch the padding, O(kernel).
namespace tessera::graph {

struct AxisMap {
  // The whole axis, whatever is asked.
  struct Whole {
    int64_t extent = 0;
  };
  // The same indices.
  struct Same {};
  // A window that slides: index o reads o*stride - pad + t*dilation for every t < kernel, where that lies in
  // the input.
  struct Slide {
    int64_t extent = 0;
    int64_t output_extent = 0;
    int64_t kernel = 1;
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t pad = 0;
  };
  // Channels of a grouped convolution: `outputs` channels of the output read the same `inputs` channels of
  // the input.
  struct Grouped {
    int64_t outputs = 1;
    int64_t inputs = 1;
  };
  // One operand of a concatenation: indices [offset, offset + extent) of the output.
  struct Part {
    int64_t offset = 0;
    int64_t extent = 0;
  };
  // A resize with half-pixel centres: index x looks at (x + 1/2) * extent / output_extent - 1/2.
  struct Scaled {
    int64_t extent = 0;
    int64_t output_extent = 0;
    ResizeMode mode = ResizeMode::kNearest;
  };
  // A reshape that merges output axes (source, source + 1, ...) into one input axis; row-major strides of
  // those axes.
  struct Merged {
    std::vector<int64_t> strides;
  };
  // A reshape that splits one output axis into several input axes; this one has the given stride and extent.
  struct Digit {
    int64_t stride = 1;
    int64_t extent = 1;
  };

  using Rule = std::variant<Whole, Same, Slide, Grouped, Part, Scaled, Merged, Digit>;

  Rule rule;
  size_t source = 0;   // the (first) output axis that decides
  size_t sources = 0;  // how many output axes decide: none for Whole, several for Merged, else one

  // The extent needed for a part of the output that is not empty on any axis. May come out empty (Part,
  // Slide).
  Extent Apply(std::span<const Extent> output) const;

  // Whether some non-empty part of the output needs nothing of the input. May err towards true.
  bool MayBeEmpty() const;

  bool IsWhole() const { return std::holds_alternative<Whole>(rule); }
};

// One map for each axis of op.inputs[input].
std::vector<AxisMap> AxisMapsOf(const Graph& graph, const Operator& op, size_t input);

}  // namespace tessera::graph
