#pragma once

#include <tl/expected.hpp>

#include "tessera/graph/import/common/draft.h"

namespace tessera::graph::import::onnx {

// The rank 4 form of a feature map with fewer axes: [batch, channels, columns] gets one row.
// nullopt for ranks other than 3 and 4.
std::optional<Shape> AsFeatureMap(const Shape& shape);

// Why a window over an input of another rank is a barrier.
tl::unexpected<common::Obstacle> NoFeatureMap(const Shape& shape);

// The window of a convolution or pool: strides, dilations, pads, auto_pad. `kernel` has an extent
// for each of the input's spatial axes, `input` is the shape in the file. Pads of a transposed
// convolution are returned as stated.
tl::expected<Window, common::Obstacle> ReadWindow(const common::Node& node, const Shape& input,
                                                  const std::vector<int64_t>& kernel);

// Rows and columns of a list with an entry for each spatial axis; `otherwise` if the list is empty
// or a row is missing.
tl::expected<std::array<int64_t, 2>, common::Obstacle> ReadSpatial(const common::Node& node,
                                                                   std::string_view attribute,
                                                                   size_t axes, int64_t otherwise,
                                                                   int64_t least);

// Whether the node is a pool that rounds its number of windows up.
bool RoundsUp(const common::Node& node);

}  // namespace tessera::graph::import::onnx
