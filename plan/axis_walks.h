#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/plan/index_box.h"

// How NeedOf and ReadsOfInput go along one axis: a walk visits all output indices and gathers what
// `rule(output, add)` adds for each. And the rules of indices that no closed form is simple for.
namespace tessera::plan {

// The hull of the indices inside the operand.
struct HullWalk {
  static constexpr bool kHull = true;
  using Axis = Range;

  template <typename Rule>
  static Range Along(Range outputs, int64_t extent, const Rule& rule) {
    Range hull{extent, 0};
    const auto add = [&](int64_t index) {
      if (index < 0 || index >= extent) return;
      hull.begin = std::min(hull.begin, index);
      hull.end = std::max(hull.end, index + 1);
    };
    for (int64_t output = outputs.begin; output < outputs.end; ++output) rule(output, add);
    return hull.begin < hull.end ? hull : Range{};
  }

  static Range Every(int64_t extent) { return {0, extent}; }
};

// The indices, ascending.
struct ListWalk {
  static constexpr bool kHull = false;
  using Axis = std::vector<int64_t>;

  template <typename Rule>
  static Axis AlongAndBeyond(Range outputs, const Rule& rule) {
    Axis indices;
    const auto add = [&](int64_t index) { indices.push_back(index); };
    for (int64_t output = outputs.begin; output < outputs.end; ++output) rule(output, add);
    std::sort(indices.begin(), indices.end());
    indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
    return indices;
  }

  template <typename Rule>
  static Axis Along(Range outputs, int64_t extent, const Rule& rule) {
    Axis indices = AlongAndBeyond(outputs, rule);
    std::erase_if(indices, [extent](int64_t index) { return index < 0 || index >= extent; });
    return indices;
  }

  static Axis Every(int64_t extent) {
    Axis indices(static_cast<size_t>(extent));
    std::iota(indices.begin(), indices.end(), 0);
    return indices;
  }
};

template <typename Walk>
typename Walk::Axis SameIndex(Range outputs, int64_t extent) {
  return Walk::Along(outputs, extent, [](int64_t output, const auto& add) { add(output); });
}

// The index inside the operand for an index before or behind it. Constant padding has none.
int64_t FoundInside(int64_t index, int64_t extent, graph::PadMode mode);

// The indices, perhaps beyond the operand's edge, that output index x of a resize reads. Neighbours
// with weight 0, those of an output that lies on an index, are not read.
Range NeighboursOf(const graph::Resize& resize, int64_t x, const graph::Ratio& scale, int64_t in,
                   int64_t out);

}  // namespace tessera::plan
