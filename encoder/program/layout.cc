// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/program/layout.h"

#include <algorithm>
#include <optional>

#include "tessera/base/arithmetic.h"

namespace tessera::encoder::program {
namespace {

using base::kMaxTotal;
using problem::Bytes;

int64_t Multiply(int64_t a, int64_t b) { return base::CheckedMul(a, b).value_or(kMaxTotal); }
int64_t Add(int64_t a, int64_t b) { return base::CheckedAdd(a, b).value_or(kMaxTotal); }

int64_t RoundUp(int64_t a, int64_t step) { return Multiply(base::CeilDiv(a, step), step); }

int64_t PackedBytes(base::DataType type, int64_t elements) {
  constexpr int64_t kMostElements = int64_t{1} << 56;
  return elements > kMostElements ? kMaxTotal : base::BytesOf(type, elements);
}

const graph::Tensor& TensorAt(const graph::Graph& graph, int tensor) {
  return graph.tensors[static_cast<size_t>(tensor)];
}

// The output channels of a constant, along which it is sliced and has tables.
int64_t OutputChannels(const graph::Shape& shape, const graph::Operator& user) {
  if (shape.empty()) return 1;
  return user.kind == base::OperatorKind::kMatmul ? shape.back() : shape.front();
}

bool IsFirstConstant(const graph::Operator& op, int tensor) {
  return !op.weights.empty() && op.weights.front() == tensor;
}

// Whether the operator does not use the constant, or needs one channel of it for one output
// channel.
bool AllowsSlices(const graph::Graph& graph, int tensor, const graph::Operator& op) {
  const auto uses = std::count(op.weights.begin(), op.weights.end(), tensor);
  if (uses == 0) return true;
  const bool convolves = base::TraitsOf(op.kind).convolves;
  const bool multiplies = op.kind == base::OperatorKind::kMatmul && op.inputs.size() == 1;
  if (uses > 1 || !IsFirstConstant(op, tensor) || (!convolves && !multiplies)) return false;
  const graph::Shape& output = TensorAt(graph, op.outputs.front()).shape;
  const size_t axis = convolves ? 1 : output.size() - 1;
  return axis < output.size() && OutputChannels(TensorAt(graph, tensor).shape, op) == output[axis];
}

int64_t ValueOf(hw_profiles::ScratchFactor factor, const graph::Operator& op,
                const NamedExtents& input, const NamedExtents& output) {
  switch (factor) {
    case hw_profiles::ScratchFactor::kKernelRows:
      return op.window.kernel[0];
    case hw_profiles::ScratchFactor::kKernelColumns:
      return op.window.kernel[1];
    case hw_profiles::ScratchFactor::kInChannels:
      return input.channels;
    case hw_profiles::ScratchFactor::kOutChannels:
      return output.channels;
    case hw_profiles::ScratchFactor::kOutColumns:
      return output.columns;
    case hw_profiles::ScratchFactor::kOutRows:
      return output.rows;
    case hw_profiles::ScratchFactor::kOutBatch:
      return output.batch;
  }
  return 1;
}

}  // namespace

NamedExtents NameExtents(const graph::Shape& shape, graph::tiling::ExtentsView extents) {
  NamedExtents named;
  const auto take = [&](base::Axis axis, int64_t& extent) {
    if (const std::optional<size_t> index = graph::tiling::AxisOf(shape, axis))
      extent = extents[*index];
  };
  take(base::Axis::kChannels, named.channels);
  take(base::Axis::kRows, named.rows);
  take(base::Axis::kColumns, named.columns);
  for (const size_t axis : graph::tiling::OuterAxes(shape))
    named.batch = Multiply(named.batch, extents[axis]);
  return named;
}

Pads PadsFor(const graph::Graph& graph, const hw_profiles::Profile& profile,
             const std::vector<int>& readers) {
  if (profile.tiling.implicit_padding) return {};
  graph::Window most;  // readers may pad different sides
  for (const int reader : readers) {
    const graph::Operator& op = graph.operators[static_cast<size_t>(reader)];
    if (!base::TraitsOf(op.kind).slides) continue;
    for (size_t axis = 0; axis < 2; ++axis) {
      most.pad_low[axis] = std::max(most.pad_low[axis], op.window.pad_low[axis]);
      most.pad_high[axis] = std::max(most.pad_high[axis], op.window.pad_high[axis]);
    }
  }
  return {most.pad_low[0] + most.pad_high[0], most.pad_low[1] + most.pad_high[1], most.pad_low[0]};
}

Bytes FeatureBytes(const hw_profiles::RoleLayout& layout, base::DataType type,
                   const NamedExtents& extents, Pads pads) {
  const int64_t channels = RoundUp(extents.channels, layout.channel_block);
  const int64_t columns = Add(extents.columns, pads.columns);
  const int64_t row =
      RoundUp(PackedBytes(type, Multiply(columns, channels)), layout.row_pitch_bytes);
  const int64_t rows = Add(extents.rows, pads.rows);
  return std::max<Bytes>(1, Multiply(Multiply(extents.batch, rows), row));
}

Bytes ConstantBytes(const graph::Graph& graph, const hw_profiles::Profile& profile, int tensor,
                    const std::vector<int>& users) {
  const graph::Tensor& constant = TensorAt(graph, tensor);
  const Bytes packed =
      std::max<Bytes>(1, PackedBytes(constant.type, graph::ElementsOf(constant.shape)));
  const Bytes bytes = constant.stored_bytes > 0 ? constant.stored_bytes : packed;
  int64_t channels = 0;
  for (const int user : users) {
    const graph::Operator& op = graph.operators[static_cast<size_t>(user)];
    if (IsFirstConstant(op, tensor))
      channels = std::max(channels, OutputChannels(constant.shape, op));
  }
  return Add(bytes, Multiply(profile.table_bytes_per_channel, channels));
}

bool IsSliceable(const graph::Graph& graph, int tensor, graph::Interval interval) {
  const auto first = graph.operators.begin() + interval.first;
  const auto end = graph.operators.begin() + interval.last + 1;
  return std::all_of(first, end,
                     [&](const graph::Operator& op) { return AllowsSlices(graph, tensor, op); });
}

namespace {

// Whether the policy split-k can reduce the bytes of the constant that are held at one time.
bool TakesKSlices(const hw_profiles::Profile& profile, const graph::Operator& op,
                  const graph::Tensor& constant) {
  const std::vector<hw_profiles::WeightPolicy>& weights = profile.tiling.weights;
  const bool offered = std::find(weights.begin(), weights.end(),
                                 hw_profiles::WeightPolicy::kSplitK) != weights.end();
  return offered && constant.stored_bytes == 0 &&
         (op.kind == base::OperatorKind::kMatmul ||
          (op.kind == base::OperatorKind::kConv && op.groups == 1));
}

}  // namespace

Bytes LongestBuffer(const hw_profiles::Memory& memory) {
  if (memory.span != problem::Span::kSingle) return memory.capacity_bytes;
  Bytes longest = 0;
  for (const problem::Bank& bank : memory.banks)
    longest = std::max(longest, bank.range.end - bank.range.begin);
  return longest;
}

Slicing SlicesOf(const graph::Graph& graph, const hw_profiles::Profile& profile, int tensor,
                 const graph::Operator& user) {
  const graph::Tensor& constant = TensorAt(graph, tensor);
  const int64_t channels = std::max<int64_t>(1, OutputChannels(constant.shape, user));
  const int64_t elements = graph::ElementsOf(constant.shape) / channels;
  const int64_t table = IsFirstConstant(user, tensor) ? profile.table_bytes_per_channel : 0;
  const auto bytes_of = [&](int64_t held) {
    // Channels with another storage format are assumed to share their bytes evenly.
    const Bytes content = constant.stored_bytes > 0
                              ? base::CeilDiv(Multiply(constant.stored_bytes, held), channels)
                              : PackedBytes(constant.type, Multiply(elements, held));
    return std::max<Bytes>(1, Add(content, Multiply(table, held)));
  };
  int64_t held = std::min(channels, profile.tiling.weight_granularity_channels);
  if (!TakesKSlices(profile, user, constant)) {
    const Bytes longest = LongestBuffer(profile.memories[static_cast<size_t>(profile.tile_memory)]);
    const Bytes most = longest - base::CeilDiv(longest, Bytes{4});
    for (int halved = 0; halved < 2 && bytes_of(held) > most; ++halved)
      held = base::CeilDiv(held, int64_t{2});
  }
  return {base::CeilDiv(channels, held), bytes_of(held), held};
}

int64_t FirstExtentOfSlice(const graph::Tensor& constant, const graph::Operator& user,
                           const Slicing& slicing, int64_t slice) {
  if (constant.shape.empty()) return 1;
  const bool is_last_axis = user.kind == base::OperatorKind::kMatmul && constant.shape.size() > 1;
  if (is_last_axis) return constant.shape.front();
  return std::min(slicing.channels, constant.shape.front() - slice * slicing.channels);
}

bool HasScratch(const hw_profiles::Profile& profile, const graph::Operator& op) {
  return op.scratch_bytes > 0 || std::any_of(profile.scratch.begin(), profile.scratch.end(),
                                             [&op](const hw_profiles::Scratch& scratch) {
                                               return scratch.kind == op.kind && scratch.bytes > 0;
                                             });
}

Bytes ScratchBytes(const hw_profiles::Profile& profile, const graph::Operator& op,
                   const NamedExtents& input, const NamedExtents& output) {
  Bytes total = op.scratch_bytes;
  for (const hw_profiles::Scratch& scratch : profile.scratch) {
    if (scratch.kind != op.kind) continue;
    Bytes bytes = scratch.bytes;
    for (const hw_profiles::ScratchFactor factor : scratch.factors) {
      bytes = Multiply(bytes, ValueOf(factor, op, input, output));
    }
    total = Add(total, bytes);
  }
  return total;
}

}  // namespace tessera::encoder::program
