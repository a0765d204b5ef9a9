#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/vocabulary.h"

// An operator with the attributes of its kind. Extents are elements.
namespace tessera::graph::ops {

// Feature maps are [batch, channels, rows, columns]; sequences [batch, rows, channels]; matrices
// [rows, channels]; vectors [channels]. Other ranks have no named axes and are never cut.
using Shape = std::vector<int64_t>;

// The product of the extents; 1 for a scalar. The caller bounds it by base::kMaxTotal.
int64_t ElementsOf(const Shape& shape);

// The window of a convolution or pooling along rows [0] and columns [1]. Output index o of a
// convolution or pooling reads input o * stride - pad_low + t * dilation for every t < kernel, if
// that lies in the input. In a transposed convolution input index i adds to output i * stride -
// pad_low + t * dilation.
struct Window {
  std::array<int64_t, 2> kernel = {1, 1};
  std::array<int64_t, 2> stride = {1, 1};
  std::array<int64_t, 2> dilation = {1, 1};
  std::array<int64_t, 2> pad_low = {0, 0};   // above, left
  std::array<int64_t, 2> pad_high = {0, 0};  // below, right
  friend bool operator==(const Window&, const Window&) = default;
};

// A positive fraction, not necessarily reduced.
struct Ratio {
  int64_t numerator = 1;
  int64_t denominator = 1;
  friend bool operator==(const Ratio&, const Ratio&) = default;
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

// The nearest input of a position between two inputs: halves round down or up, or every position
// does.
enum class NearestRounding : uint8_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };

struct Resize {
  ResizeMode mode = ResizeMode::kNearest;
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  NearestRounding rounding = NearestRounding::kRoundPreferFloor;  // kNearest only
  // Output over input, for each axis; empty: the ratio of the extents. An axis that keeps its
  // extent at a scale of 1 keeps its indices.
  std::vector<Ratio> scales;
  friend bool operator==(const Resize&, const Resize&) = default;
};

// The content of a pad: one value, elements mirrored about the first and last, those two repeated,
// or the input repeated periodically.
enum class PadMode : uint8_t { kConstant, kReflect, kEdge, kWrap };

struct Padding {
  PadMode mode = PadMode::kConstant;
  std::vector<int64_t> low;  // elements before the first, for each axis
  std::vector<int64_t> high;
  friend bool operator==(const Padding&, const Padding&) = default;
};

// The channel of the deep tensor for phase (i, j) of a block of `block` by `block` and channel c of
// the wide tensor, which has C channels: (i * block + j) * C + c, or c * block^2 + i * block + j.
enum class DepthOrder : uint8_t { kDcr, kCrd };

// The elements of one operand that a described operator reads: all of it at any time; the same
// element, aligned at the right and broadcast if the extent is 1; or a window of rows and columns,
// of the same batch, and of all channels or the same one.
enum class AccessKind : uint8_t { kFull, kElementwise, kWindow };

struct OperandAccess {
  AccessKind kind = AccessKind::kFull;
  Window window;               // kWindow
  bool every_channel = false;  // kWindow
  friend bool operator==(const OperandAccess&, const OperandAccess&) = default;
};

// Shapes by kind: convolutions and pools work on [batch, channels, rows, columns]. A global pool
// gives [batch, channels, 1, 1] or [batch, channels]. A matmul multiplies the last two axes;
// leading axes broadcast. Elementwise operands are aligned at the right and broadcast if their
// extent is 1. Reduced axes, and the axis of a gather by one index alone, have extent 1 or are
// dropped; the ranks determine which.
struct Operator {
  std::string id;  // unique among operators
  base::OperatorKind kind = base::OperatorKind::kOpaque;
  std::vector<int> inputs;  // feature tensors, in order
  // Constants. The first of a conv, transposed conv or depthwise is [output channels, input
  // channels / groups, kernel rows, kernel columns], of a matmul with one input [K, columns].
  // Further ones, and those of other kinds, broadcast to the output or are tables.
  std::vector<int> weights;
  std::vector<int> outputs;  // one, except for barriers
  Window window;             // kConv, kDepthwise, kTransposedConv, kPool
  // kConv, kTransposedConv; for kDepthwise always the input channels, and not used here
  int64_t groups = 1;
  int axis = 0;                   // kConcat, kGather: an index into the input's shape
  std::vector<int> axes;          // kReduce, kSoftmax, kLayerNorm: the reduced axes, ascending
  std::vector<int> permutation;   // kTranspose: output axis i is input axis permutation[i]
  bool transpose_first = false;   // kMatmul: the first operand is [K, rows]
  bool transpose_second = false;  // kMatmul with two feature operands: the second is [columns, K]
  std::vector<int64_t> starts;  // kSlice, for each axis: output index x is input starts + x * steps
  std::vector<int64_t> steps;   // kSlice: any but 0
  std::vector<int64_t> indices;  // kGather: output index x is input indices[x]
  Padding padding;               // kPad
  Resize resize;                 // kResize
  int64_t block = 1;             // kDepthToSpace, kSpaceToDepth
  DepthOrder depth_order = DepthOrder::kDcr;
  std::string function;  // "max", "average", "lp" (pools); "add", "mean", ... (elementwise, reduce)
  std::string activation;  // fused, in the user's spelling; empty: none
  // kOpaque, as its author states.
  std::optional<int64_t> macs;          // of the whole operator; unset: its work is unknown
  std::vector<OperandAccess> accesses;  // parallel to inputs; empty: a barrier
  int64_t scratch_bytes = 0;            // held while it runs, for a tile of any size
  std::string engine;                   // the only engine that runs it; empty: the first that can
  std::vector<int> in_place;            // indices of the inputs that its output may overwrite
  std::map<std::string, std::string> annotations;
  friend bool operator==(const Operator&, const Operator&) = default;
};

// Whether the inputs that an output needs are unknown: an opaque operator without a description. It
// needs all of its inputs and makes all of its outputs together.
bool IsBarrier(const Operator& op);

// Whether the operator's work is unknown: an opaque operator that does not state it. Latency,
// energy and multiply-accumulates of a plan that contains it are lower bounds.
bool HasUnknownWork(const Operator& op);

}  // namespace tessera::graph::ops
