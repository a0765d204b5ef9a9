// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
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

using base::DepthOrder;
using base::DepthSpaceAttributes;
using base::GatherAttributes;
using base::MatmulAttributes;
using base::NearestRounding;
using base::PadAttributes;
using base::PadMode;
using base::Ratio;
using base::ResizeAttributes;
using base::ResizeCoordinates;
using base::ResizeMode;
using base::SliceAttributes;
using base::TransposeAttributes;

// The elements of one operand that a described operator reads: all of it at any time; the same
// element, aligned at the right and broadcast if the extent is 1; or a window of rows and columns,
// of the same batch, and of all channels or the same one.
enum class ReadPattern : uint8_t { kFull, kElementwise, kWindow };

struct OperandAccess {
  ReadPattern kind = ReadPattern::kFull;
  Window window;               // kWindow
  bool every_channel = false;  // kWindow
  friend bool operator==(const OperandAccess&, const OperandAccess&) = default;
};

inline constexpr int64_t kMostMeasuredCycles = int64_t{1} << 50;
inline constexpr double kMostMeasuredPicojoules = 1e18;

// The cost of one tile of an operator, as measured on the hardware or by a simulator of it.
struct MeasuredTile {
  Shape tile;                     // the part of the first output: an extent for each of its axes
  std::string engine;             // that ran it
  int64_t cycles = 0;             // of the engine, start-up included
  std::optional<double> pj = {};  // of its multiply-accumulates; unset: those of the model
  friend bool operator==(const MeasuredTile&, const MeasuredTile&) = default;
};

// Shapes by kind: convolutions and pools work on [batch, channels, rows, columns]. A global pool
// makes [batch, channels, 1, 1] or [batch, channels]. A matmul multiplies the last two axes of its
// operands, in the order of MatmulAttributes; leading axes broadcast. Elementwise operands are
// aligned at the right and broadcast if their extent is 1. Reduced axes, and the axis of a gather
// by one index alone, have extent 1 or are dropped; the ranks determine which.
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
  int axis = 0;           // kConcat, kGather: an index into the input's shape
  std::vector<int> axes;  // kReduce, kSoftmax, kLayerNorm: the reduced axes, ascending
  std::string function;  // "max", "average", "lp" (pools); "add", "mean", ... (elementwise, reduce)
  std::string activation;  // fused, in the user's spelling; empty: none
  // kOpaque, as its author states.
  std::optional<int64_t> macs;          // of the whole operator; unset: its work is unknown
  std::vector<OperandAccess> accesses;  // parallel to inputs; empty: a barrier
  int64_t scratch_bytes = 0;            // held while it runs, for a tile of any size
  std::vector<int> in_place;            // indices of the inputs that its output may overwrite
  std::string engine;                   // the only engine that runs it; empty: the first that can
  bool engine_chosen = false;  // the planner chose `engine`; any other that can run it may do so
  std::vector<MeasuredTile> measured;  // see AddMeasured; the cost model applies to other tiles
  base::KindAttributes own;            // what only this kind has (base/operator_kind.h)
  std::map<std::string, std::string> annotations;
  friend bool operator==(const Operator&, const Operator&) = default;

  // Attributes of one kind. An operator that states none of them has the defaults.
  template <typename Attributes>
  const Attributes& Own() const {
    static const Attributes kDefaults;
    const Attributes* stated = std::get_if<Attributes>(&own);
    return stated == nullptr ? kDefaults : *stated;
  }
  // Returns the attributes of one kind for writing. Attributes of other kinds are lost.
  template <typename Attributes>
  Attributes& MakeOwn() {
    return std::holds_alternative<Attributes>(own) ? std::get<Attributes>(own)
                                                   : own.emplace<Attributes>();
  }
};

// Adds a measurement, or replaces that of the same tile on the same engine. Measurements are sorted
// by tile and engine, so that FindMeasured takes logarithmic time.
void AddMeasured(Operator& op, MeasuredTile tile);

// The measurement of this tile on this engine; null: there is none.
const MeasuredTile* FindMeasured(const Operator& op, std::span<const int64_t> tile,
                                 std::string_view engine);

// Whether the inputs that an output needs are unknown: an opaque operator without a description. It
// needs all of its inputs and makes all of its outputs together.
bool IsBarrier(const Operator& op);

// Whether the operator's work is unknown: an opaque operator that does not state it. Latency,
// energy and multiply-accumulates of a plan that contains it are lower bounds.
bool HasUnknownWork(const Operator& op);

}  // namespace tessera::graph::ops
