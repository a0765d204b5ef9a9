#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "tessera/graph/shape_inference.h"

// What the parts of InferShape share. shape_inference.cc has kinds that compute element by element or along axes,
// window_shapes.cc those with windows, moved_shapes.cc those that move data or resample it.
namespace tessera::graph {

using Inferred = tl::expected<Shape, ShapeFault>;

inline constexpr std::array<std::string_view, 2> kSpatialNames = {"rows", "columns"};

inline tl::unexpected<ShapeFault> Fault(std::string attribute, std::string message, std::string expected = "",
                                        std::string hint = "") {
  return tl::unexpected(
      ShapeFault{std::move(attribute), std::move(message), std::move(expected), std::move(hint)});
}

// Each for an operator whose one input has that shape, a feature map where the kind needs one.
Inferred InferConv(Operator& op, const Wanted& wanted, const Shape& input);
Inferred InferDepthwise(Operator& op, const Wanted& wanted, const Shape& input);
Inferred InferTransposedConv(Operator& op, const Wanted& wanted, const Shape& input);
Inferred InferPool(Operator& op, const Wanted& wanted, const Shape& input);

Inferred InferSlice(Operator& op, const Wanted& wanted, const Shape& input);
Inferred InferPad(Operator& op, const Shape& input);
Inferred InferGather(const Operator& op, const Wanted& wanted, const Shape& input);
Inferred InferReshape(const Wanted& wanted, const Shape& input);
Inferred InferTranspose(const Operator& op, const Shape& input);
Inferred InferResize(Operator& op, const Wanted& wanted, const Shape& input);
Inferred InferDepthToSpace(const Operator& op, const Shape& input);
Inferred InferSpaceToDepth(const Operator& op, const Shape& input);

}  // namespace tessera::graph
