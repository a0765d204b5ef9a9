// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "tessera/graph/ops/operator.h"

// Infers the shape of an operator's output from its attributes and the shapes of its inputs. All
// readers of networks share these rules.
namespace tessera::graph::ops {

// The properties of an operator that a network states and Operator does not store, from which the
// output's shape follows.
struct Wanted {
  std::optional<int64_t> out_channels;  // conv, transposed_conv
  int64_t multiplier = 1;               // depthwise: output channels for each input channel
  // Conv, depthwise, pool: output extent = ceil(input / stride), and the low pads are the smaller
  // ones. Transposed conv: output extent = input * stride.
  bool same_pads = false;
  // Transposed conv, rows and columns: the output's extent beyond (input - 1) * stride + reach -
  // pads.
  std::array<int64_t, 2> output_padding = {0, 0};
  // Pool: the last window may reach beyond the padding if it begins before the high pad.
  bool ceil_mode = false;
  // Global pool, reduce: reduced axes stay with extent 1. Gather: the axis stays, although there is
  // one index.
  bool keep_axes = true;
  std::optional<int64_t> columns;  // matmul with one input
  // Resize: extents of the output's last axes; empty: from the scales. Pool: rows and columns of
  // the output, at least the extents without windows that reach beyond the padding, and at most
  // those with all such windows; empty: by ceil_mode.
  std::vector<int64_t> size;
  std::optional<Shape> shape;  // reshape, slice
  // Elementwise: shapes of constants, and with them `shape`, if its output has extents that only
  // constants have. Its inputs are broadcast along those.
  std::vector<Shape> tables;
};

// A violation of the rules by one attribute.
struct ShapeFault {
  std::string attribute;  // "inputs", "kernel", ...
  std::string message;
  std::string expected;
  std::string hint;
};

// The shape of the only output of `op`. The attributes of `op` are set, except inputs, weights and
// outputs. Fills in pads if `wanted` requests `same`, and missing entries of lists by axis: steps
// of a slice (1), pads (0), scales of a resize (1 for its first axes). Every extent is at least 1
// and the product at most 2^56. Not for opaque operators.
tl::expected<Shape, ShapeFault> InferShape(Operator& op, const Wanted& wanted,
                                           const std::vector<Shape>& inputs);

// The shape of the first weight that `op` needs, or nullopt for kinds without a weight of their
// own.
std::optional<Shape> WeightShapeOf(const Operator& op, const std::vector<Shape>& inputs,
                                   const Shape& output);

// Returns why a described operator with that output cannot read an operand of that shape with this
// access; nullopt if it can.
std::optional<ShapeFault> CheckAccess(const OperandAccess& access, const Shape& operand,
                                      const Shape& output);

// The common shape of the operands, aligned at the right, or nullopt if they do not agree.
std::optional<Shape> Broadcast(const Shape& a, const Shape& b);

inline constexpr int64_t kMostElements = int64_t{1} << 56;

// Whether all extents are >= 1 and their product is at most kMostElements, so that the number of
// bits stays within 2^62.
bool IsCountable(const Shape& shape);

// "[1, 3, 224, 224]".
std::string ToText(const Shape& shape);

// Shared by the definitions of kinds.

using Inferred = tl::expected<Shape, ShapeFault>;

inline tl::unexpected<ShapeFault> Fault(std::string attribute, std::string message,
                                        std::string expected = "", std::string hint = "") {
  return tl::unexpected(
      ShapeFault{std::move(attribute), std::move(message), std::move(expected), std::move(hint)});
}

tl::unexpected<ShapeFault> WrongRank(const Shape& found, std::string expected);
tl::unexpected<ShapeFault> Disagreeing(const Shape& a, const Shape& b, std::string expected);
tl::unexpected<ShapeFault> NotOneForEachAxis(std::string attribute, size_t found, size_t axes);

// Returns a fault if the input has no such axis.
std::optional<ShapeFault> CheckAxis(int axis, const Shape& input);

}  // namespace tessera::graph::ops
