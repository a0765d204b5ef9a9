#pragma once

#include <array>
#include <cstdint>
#include <string_view>

// The kinds of operators, and the facts about each that follow from the kind alone. graph/ops/ has
// what depends on attributes and shapes too.
namespace tessera::base {

enum class OperatorKind : uint8_t {
  kConv,
  kDepthwise,
  kTransposedConv,
  kPool,
  kGlobalPool,
  kReduce,
  kElementwise,
  kConcat,
  kSlice,
  kPad,
  kGather,
  kMatmul,
  kSoftmax,
  kLayerNorm,
  kReshape,
  kResize,
  kTranspose,
  kDepthToSpace,
  kSpaceToDepth,
  kOpaque,
};

struct OperatorTraits {
  std::string_view name;  // in YAML and JSON
  // The output holds elements of the operands, or a filler, and nothing is computed.
  bool moves_data = false;
  // Outputs are sums of products. Engines unroll the loops of such operators and state their speed
  // by steps. Each output channel reads a part of its own of a constant factor.
  bool multiplies = false;
  bool convolves = false;  // the first constant holds filters of rows and columns
  // Windows slide over rows and columns of the input. Their padding may be stored with it.
  bool slides = false;
  bool fuses_activation = false;  // engines apply an activation to the results
  bool keeps_channels = false;    // no channel of the output becomes another axis
  bool mixes_axes = false;        // several axes together decide what is read along one
  bool always_reads = false;      // each output element reads some element of each operand
  bool reads_boxes = false;       // a box of the output reads whole boxes, whatever the attributes
  bool may_overwrite = false;     // reads the element, or the channel, that it overwrites, only
};

// In the order of OperatorKind.
inline constexpr std::array<OperatorTraits, 20> kOperatorTraits = {{
    {.name = "conv",
     .multiplies = true,
     .convolves = true,
     .slides = true,
     .fuses_activation = true,
     .keeps_channels = true},
    {.name = "depthwise",
     .multiplies = true,
     .convolves = true,
     .slides = true,
     .fuses_activation = true,
     .keeps_channels = true,
     .may_overwrite = true},
    {.name = "transposed_conv",
     .multiplies = true,
     .convolves = true,
     .fuses_activation = true,
     .keeps_channels = true},
    {.name = "pool", .slides = true, .fuses_activation = true, .keeps_channels = true},
    {.name = "global_pool", .fuses_activation = true, .always_reads = true, .reads_boxes = true},
    {.name = "reduce", .fuses_activation = true, .always_reads = true, .reads_boxes = true},
    {.name = "elementwise",
     .fuses_activation = true,
     .keeps_channels = true,
     .always_reads = true,
     .reads_boxes = true,
     .may_overwrite = true},
    {.name = "concat", .moves_data = true, .reads_boxes = true},
    {.name = "slice", .moves_data = true},
    {.name = "pad", .moves_data = true},
    {.name = "gather", .moves_data = true},
    {.name = "matmul",
     .multiplies = true,
     .fuses_activation = true,
     .always_reads = true,
     .reads_boxes = true},
    {.name = "softmax", .keeps_channels = true, .always_reads = true, .reads_boxes = true},
    {.name = "layer_norm",
     .fuses_activation = true,
     .keeps_channels = true,
     .always_reads = true,
     .reads_boxes = true},
    {.name = "reshape", .moves_data = true, .mixes_axes = true},
    {.name = "resize"},
    {.name = "transpose", .moves_data = true, .reads_boxes = true},
    {.name = "depth_to_space", .moves_data = true, .mixes_axes = true},
    {.name = "space_to_depth", .moves_data = true, .mixes_axes = true},
    {.name = "opaque"},
}};
static_assert(kOperatorTraits.size() == static_cast<size_t>(OperatorKind::kOpaque) + 1);

constexpr const OperatorTraits& TraitsOf(OperatorKind kind) {
  return kOperatorTraits[static_cast<size_t>(kind)];
}

}  // namespace tessera::base
