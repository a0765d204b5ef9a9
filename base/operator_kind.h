// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// The kinds of operators: one list, from which the enumeration, the table of traits and the
// registry of definitions follow. Traits that also depend on attributes and shapes are in
// graph/ops/.
//
// A new kind is one entry of TESSERA_OPERATOR_KINDS, one source in graph/ops/, and its translation
// from each format that spells it (docs/extending.md). Attributes that only this kind has are a
// struct and an alternative of KindAttributes.
namespace tessera::base {

// How the axes of an operand correspond to those of the output.
enum class AxisRelation : uint8_t {
  kAny,      // any axis of the output may decide what is read along any axis
  kSame,     // the same axes
  kAligned,  // axes aligned at the right; an extent of 1 serves every index
  kWindow,   // feature maps: the same batch and channel; rows and columns follow rows and columns
  kGroup,    // as kWindow, but the channels of a group, all of them if there is one group
  kProduct,  // the last two axes are rows and columns of a product of matrices; others are aligned
  kReduced,  // Operator::axes are read whole; the output has the others, and may lack those
  kMap,      // batch and channels are the same; the rest is read whole
  kStated,   // as Operator::accesses states
};

struct OperatorTraits {
  std::string_view name;  // in YAML and JSON
  AxisRelation axes = AxisRelation::kAny;
  // The output holds elements of the operands, or a filler, and nothing is computed.
  bool moves_data = false;
  // The output holds each element of the operand once if it has as many.
  bool rearranges = false;
  // Outputs are sums of products. Engines unroll the loops of such operators and state their speed
  // in steps. Each output channel reads a separate part of a constant factor.
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

// KIND(name of the enumerator and of the definition, traits).
// clang-format off
#define TESSERA_OPERATOR_KINDS(KIND)                                                              \
  KIND(Conv, .name = "conv", .axes = AxisRelation::kGroup, .multiplies = true,                    \
       .convolves = true, .slides = true, .fuses_activation = true, .keeps_channels = true)       \
  KIND(Depthwise, .name = "depthwise", .axes = AxisRelation::kWindow, .multiplies = true,         \
       .convolves = true, .slides = true, .fuses_activation = true, .keeps_channels = true,       \
       .may_overwrite = true)                                                                     \
  KIND(TransposedConv, .name = "transposed_conv", .axes = AxisRelation::kGroup,                   \
       .multiplies = true, .convolves = true, .fuses_activation = true, .keeps_channels = true)   \
  KIND(Pool, .name = "pool", .axes = AxisRelation::kWindow, .slides = true,                       \
       .fuses_activation = true, .keeps_channels = true)                                          \
  KIND(GlobalPool, .name = "global_pool", .axes = AxisRelation::kMap, .fuses_activation = true,   \
       .always_reads = true, .reads_boxes = true)                                                 \
  KIND(Reduce, .name = "reduce", .axes = AxisRelation::kReduced, .fuses_activation = true,        \
       .always_reads = true, .reads_boxes = true)                                                 \
  KIND(Elementwise, .name = "elementwise", .axes = AxisRelation::kAligned,                        \
       .fuses_activation = true, .keeps_channels = true, .always_reads = true,                    \
       .reads_boxes = true, .may_overwrite = true)                                                \
  KIND(Concat, .name = "concat", .moves_data = true, .reads_boxes = true)                         \
  KIND(Slice, .name = "slice", .axes = AxisRelation::kSame, .moves_data = true,                   \
       .always_reads = true)                                                                      \
  KIND(Pad, .name = "pad", .moves_data = true)                                                    \
  KIND(Gather, .name = "gather", .moves_data = true)                                              \
  KIND(Matmul, .name = "matmul", .axes = AxisRelation::kProduct, .multiplies = true,              \
       .fuses_activation = true, .always_reads = true, .reads_boxes = true)                       \
  KIND(Softmax, .name = "softmax", .axes = AxisRelation::kReduced, .keeps_channels = true,        \
       .always_reads = true, .reads_boxes = true)                                                 \
  KIND(LayerNorm, .name = "layer_norm", .axes = AxisRelation::kReduced,                           \
       .fuses_activation = true, .keeps_channels = true, .always_reads = true,                    \
       .reads_boxes = true)                                                                       \
  KIND(Reshape, .name = "reshape", .moves_data = true, .rearranges = true, .mixes_axes = true)    \
  KIND(Resize, .name = "resize", .axes = AxisRelation::kSame, .always_reads = true)               \
  KIND(Transpose, .name = "transpose", .moves_data = true, .reads_boxes = true)                   \
  KIND(DepthToSpace, .name = "depth_to_space", .moves_data = true, .rearranges = true,            \
       .mixes_axes = true)                                                                        \
  KIND(SpaceToDepth, .name = "space_to_depth", .moves_data = true, .rearranges = true,            \
       .mixes_axes = true)                                                                        \
  KIND(Cumsum, .name = "cumsum", .axes = AxisRelation::kAligned, .keeps_channels = true,          \
       .reads_boxes = true)                                                                       \
  KIND(SpaceToBatch, .name = "space_to_batch", .moves_data = true, .rearranges = true,            \
       .mixes_axes = true)                                                                        \
  KIND(TopK, .name = "top_k", .axes = AxisRelation::kReduced, .always_reads = true,               \
       .reads_boxes = true)                                                                       \
  KIND(Opaque, .name = "opaque", .axes = AxisRelation::kStated)
// clang-format on

enum class OperatorKind : uint8_t {
#define TESSERA_ENUMERATOR(code, ...) k##code,
  TESSERA_OPERATOR_KINDS(TESSERA_ENUMERATOR)
#undef TESSERA_ENUMERATOR
};

// In the order of OperatorKind.
inline constexpr auto kOperatorTraits = std::to_array<OperatorTraits>({
#define TESSERA_TRAITS(code, ...) {__VA_ARGS__},
    TESSERA_OPERATOR_KINDS(TESSERA_TRAITS)
#undef TESSERA_TRAITS
});

constexpr const OperatorTraits& TraitsOf(OperatorKind kind) {
  return kOperatorTraits[static_cast<size_t>(kind)];
}

// Attributes of one kind, or of a few that share them. Attributes that many kinds have are in
// graph::ops::Operator.

struct SliceAttributes {  // for each axis: output index x is input starts + x * steps
  std::vector<int64_t> starts;
  std::vector<int64_t> steps;  // any but 0
  friend bool operator==(const SliceAttributes&, const SliceAttributes&) = default;
};

struct GatherAttributes {
  std::vector<int64_t> indices;  // output index x is input indices[x]
  friend bool operator==(const GatherAttributes&, const GatherAttributes&) = default;
};

struct TransposeAttributes {
  std::vector<int> permutation;  // output axis i is input axis permutation[i]
  friend bool operator==(const TransposeAttributes&, const TransposeAttributes&) = default;
};

// Each list of axes is the permutation of a transpose that is part of the operator: of an operand
// before the product, or of the product. Empty: there is none.
struct MatmulAttributes {
  bool transpose_first = false;   // the first operand is read as [K, rows]
  bool transpose_second = false;  // with two feature operands: the second is read as [columns, K]
  std::array<std::vector<int>, 2> operand_axes;
  std::vector<int> result_axes;  // the last is the product's last
  friend bool operator==(const MatmulAttributes&, const MatmulAttributes&) = default;
};

// The values that a pad adds: one value, elements mirrored about the first and last, those two
// repeated, or the input repeated periodically.
enum class PadMode : uint8_t { kConstant, kReflect, kEdge, kWrap };

struct PadAttributes {
  PadMode mode = PadMode::kConstant;
  std::vector<int64_t> low;  // elements before the first, for each axis
  std::vector<int64_t> high;
  friend bool operator==(const PadAttributes&, const PadAttributes&) = default;
};

// The number of inputs from which an output is interpolated along one axis: one, two or four.
enum class ResizeMode : uint8_t { kNearest, kBilinear, kCubic };

// The position of output index x on the input's axis, for n input and m output indices and scale s
// (ONNX):
//   half_pixel            (x + 1/2) / s - 1/2
//   pytorch_half_pixel    the same, but 0 if m = 1
//   align_corners         x * (n - 1) / (m - 1), but 0 if m = 1
//   asymmetric            x / s
//   tf_half_pixel_for_nn  (x + 1/2) / s
enum class ResizeCoordinates : uint8_t {
  kHalfPixel,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixelForNn
};

// How a position between two inputs is rounded: to the nearest input, with halves rounded down or
// up, or always down or up.
enum class NearestRounding : uint8_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };

// A positive fraction, not necessarily reduced.
struct Ratio {
  int64_t numerator = 1;
  int64_t denominator = 1;
  friend bool operator==(const Ratio&, const Ratio&) = default;
};

struct ResizeAttributes {
  ResizeMode mode = ResizeMode::kNearest;
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  NearestRounding rounding = NearestRounding::kRoundPreferFloor;  // kNearest only
  // Output over input, for each axis; empty: the ratio of the extents. An axis that keeps its
  // extent at a scale of 1 keeps its indices.
  std::vector<Ratio> scales;
  friend bool operator==(const ResizeAttributes&, const ResizeAttributes&) = default;
};

// The channel of the deep tensor for phase (i, j) of a block of `block` by `block` and channel c of
// the wide tensor, which has C channels: (i * block + j) * C + c, or c * block^2 + i * block + j.
enum class DepthOrder : uint8_t { kDcr, kCrd };

struct DepthSpaceAttributes {  // kDepthToSpace, kSpaceToDepth
  int64_t block = 1;
  DepthOrder order = DepthOrder::kDcr;
  friend bool operator==(const DepthSpaceAttributes&, const DepthSpaceAttributes&) = default;
};

struct CumsumAttributes {  // along Operator::axis
  bool exclusive = false;  // a sum leaves out its own element
  bool reverse = false;    // sums begin at the last element
  friend bool operator==(const CumsumAttributes&, const CumsumAttributes&) = default;
};

struct SpaceToBatchAttributes {
  std::array<int64_t, 2> block = {1, 1};  // rows, columns
  friend bool operator==(const SpaceToBatchAttributes&, const SpaceToBatchAttributes&) = default;
};

struct TopKAttributes {  // along the one axis in Operator::axes
  int64_t k = 1;
  bool largest = true;
  bool sorted = true;
  std::string result = "values";  // or "indices"
  friend bool operator==(const TopKAttributes&, const TopKAttributes&) = default;
};

using KindAttributes =
    std::variant<std::monostate, SliceAttributes, GatherAttributes, TransposeAttributes,
                 MatmulAttributes, PadAttributes, ResizeAttributes, DepthSpaceAttributes,
                 CumsumAttributes, SpaceToBatchAttributes, TopKAttributes>;

}  // namespace tessera::base
