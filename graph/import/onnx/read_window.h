// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tessera/graph/import/onnx/translations.h"

// The window of an ONNX convolution or pool, from its attributes.
//
// ONNX lists have an entry for each spatial axis. A Window has rows and columns; if the file has
// one spatial axis, that axis is the columns.
namespace tessera::graph::import::onnx {

// The rank 4 form of a feature map with fewer axes: [batch, channels, columns] gets one row.
// nullopt for ranks other than 3 and 4.
std::optional<Shape> AsFeatureMap(const Shape& shape);

// Returns why a window over an input of another rank is a barrier.
tl::unexpected<common::Obstacle> NoFeatureMap(const Shape& shape);

// Rows and columns of a list with an entry for each of `axes` spatial axes, each at least `least`.
// An empty list and a missing row have the value `otherwise`.
tl::expected<std::array<int64_t, 2>, common::Obstacle> ReadSpatial(const common::Node& node,
                                                                   std::string_view attribute,
                                                                   size_t axes, int64_t otherwise,
                                                                   int64_t least);

// The window of a convolution or pool: strides, dilations, pads, auto_pad. `kernel` has an extent
// for each of the input's spatial axes, `input` is the shape in the file. Pads of a transposed
// convolution are returned as stated.
tl::expected<Window, common::Obstacle> ReadWindow(const common::Node& node, const Shape& input,
                                                  const std::vector<int64_t>& kernel);

}  // namespace tessera::graph::import::onnx
