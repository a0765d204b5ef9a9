// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <type_traits>

#include "tessera/graph/ops/windows.h"

// The rows and columns of each phase of a block become a separate feature map:
//
//     a b c d                                a c     b d
//     e f g h     block [1, 2], batch 1      e g     f h      batch 2
//
// Phase (i, j) of image n of N is image (i * block columns + j) * N + n. Rows and columns that the
// block does not divide are padded before, by a `pad`.
namespace tessera::graph::ops {
namespace {

std::vector<Field> FieldsOfSpaceToBatch(Operator& op, Wanted& /*wanted*/, size_t /*operands*/) {
  auto& block = op.MakeOwn<base::SpaceToBatchAttributes>().block;
  return {{"block", &block, Presence::kRequired, 1, kMostWindow}};
}

Inferred InferSpaceToBatch(Operator& op, const Wanted& /*wanted*/,
                           const std::vector<Shape>& inputs) {
  const auto& block = op.Own<base::SpaceToBatchAttributes>().block;
  Shape output = inputs.front();
  for (size_t axis = 0; axis < 2; ++axis) {
    int64_t& extent = output[axis + 2];
    if (extent % block[axis] != 0) {
      return Fault("block",
                   "blocks of " + std::to_string(block[axis]) + " do not divide " +
                       std::to_string(extent) + " " + std::string(kSpatialNames[axis]),
                   "a divisor", "pad the map before");
    }
    extent /= block[axis];
    output[0] *= block[axis];
  }
  return output;
}

std::vector<AxisMap> MapsOfSpaceToBatch(const OperandView& view) {
  const auto& [rows, columns] = view.op.Own<base::SpaceToBatchAttributes>().block;
  const int64_t images = view.Input()[0];
  const AxisMap::Digit row_phase{columns * images, rows};
  const AxisMap::Digit column_phase{images, columns};
  return {{AxisMap::Digit{1, images}, 0, 1},
          SameAxis(1),
          {AxisMap::Unfolded{row_phase}, 0, 2, 2},
          {AxisMap::Unfolded{column_phase}, 0, 2, 3}};
}

// By definition: the element of the input that is an element of the output.
std::vector<int64_t> BehindPhase(const OperandView& view, const std::vector<int64_t>& at) {
  const auto& block = view.op.Own<base::SpaceToBatchAttributes>().block;
  const int64_t images = view.Input()[0];
  const int64_t phase = at[0] / images;
  return {at[0] % images, at[1], at[2] * block[0] + phase / block[1],
          at[3] * block[1] + phase % block[1]};
}

constexpr Reading kReadingOfSpaceToBatch =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      if constexpr (std::remove_reference_t<decltype(need)>::kIsHull) {
        need.Same(1, output[1]);
        for (const size_t axis : {0, 2, 3}) {  // rows and columns ascend: both ends are enough
          need.Each(axis, output[0], [&](int64_t image, auto& add) {
            add(BehindPhase(view, {image, 0, output[2].begin, output[3].begin})[axis]);
            add(BehindPhase(view, {image, 0, output[2].end - 1, output[3].end - 1})[axis]);
          });
        }
      } else {
        if (output == WholeBox(view.output)) return ReadEverything(view.Input(), need);
        need.SetNumbers(NumbersBehind(
            output, view.output, view.Input(),
            [&view](const std::vector<int64_t>& at) { return BehindPhase(view, at); }));
      }
    });

}  // namespace

extern const OperatorDefinition kSpaceToBatch = {
    .reads_feature_map = true,
    .fields = FieldsOfSpaceToBatch,
    .infer_shape = InferSpaceToBatch,
    .axis_maps = MapsOfSpaceToBatch,
    .reading = kReadingOfSpaceToBatch,
};

}  // namespace tessera::graph::ops
