// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tessera/graph/ops/operator.h"
#include "tessera/graph/ops/reading.h"
#include "tessera/graph/ops/shape_inference.h"

// The definition of an operator kind: each kind states it once, in graph/ops/<kind>.cc, and
// registry.cc lists the definitions. Traits that follow from the kind alone are in
// base/operator_kind.h.
namespace tessera::graph::ops {

struct AxisMap;

// The number of feature operands.
struct Arity {
  size_t least = 1;
  size_t most = 1;
};
inline constexpr size_t kAnyNumber = std::numeric_limits<size_t>::max();

// The shapes of all operands of an operator, which must outlive this object. One thread uses it.
class OperandShapes {
 public:
  explicit OperandShapes(std::vector<const Shape*> shapes) : shapes_(std::move(shapes)) {}

  const Shape& operator[](size_t operand) const { return *shapes_[operand]; }

  // The sum of the extents along `axis` of the operands before this one. The first call for an axis
  // takes time linear in the operands, and further ones constant time.
  int64_t ExtentBefore(size_t operand, size_t axis) const {
    if (before_.empty() || axis != axis_) {
      axis_ = axis;
      before_.assign(1, 0);
      for (const Shape* shape : shapes_) before_.push_back(before_.back() + (*shape)[axis]);
    }
    return before_[operand];
  }

 private:
  std::vector<const Shape*> shapes_;
  mutable size_t axis_ = 0;
  mutable std::vector<int64_t> before_;  // along axis_, for each operand
};

// One operand of an operator, with the shapes of all operands and of the (first) output.
struct OperandView {
  const Operator& op;
  size_t operand;
  const OperandShapes& inputs;
  const Shape& output;
  const Shape& Input() const { return inputs[operand]; }
};

// The axes of a constant from which each output channel reads a separate part.
struct FilterAxes {
  size_t channels = 0;        // of the constant: index i serves index i along `output`
  size_t output = 0;          // of the result
  std::optional<size_t> sum;  // of the constant: products are added up along it
};

// Whether tiles that cover a box of the output may leave holes in an operand: elements of the least
// box of all their reads that no tile reads.
enum class Holes : uint8_t {
  kNone,
  kIfLarger,  // each output element is a different element of the operand, so there are holes if
              // and only if the least box has more elements than the box of the output
  kInParts,   // they may, unless one tile covers the whole output
  kMaybe,
};

// A key of a network file, and the attribute that it states.
enum class Presence : uint8_t {
  kRequired,
  kOptional,  // always written
  kSparse,    // optional, and written only if it differs from the default
};
enum class Single : uint8_t { kRefused, kOne, kRowsAndColumns };  // a number instead of a list
struct Field {
  struct Pads {  // a list, or "valid" or "same"
    Window* window;
    bool* same;
  };
  struct OutputShape {  // the key `shape`, which other kinds may state too
    std::optional<Shape>* shape;
  };
  struct WeightsType {};  // a key that the reader of tensors reads

  using Place = std::variant<int64_t*, int*, std::optional<int64_t>*, std::array<int64_t, 2>*,
                             std::vector<int64_t>*, std::vector<int>*, std::vector<Ratio>*,
                             std::vector<OperandAccess>*, bool*, std::string*, ResizeMode*,
                             ResizeCoordinates*, NearestRounding*, PadMode*, DepthOrder*, Pads,
                             OutputShape, WeightsType>;

  std::string_view key;
  Place place;
  Presence presence = Presence::kOptional;
  int64_t least = 0;  // of each number
  int64_t most = kMostElements;
  std::span<const std::string_view> names = {};  // of a text; empty: any text
  Single single = Single::kRefused;
  bool* is_list = nullptr;       // if set: whether the value is a list
  std::string_view unless = {};  // a required key may be missing if the entry has this one
};

// The required key `axis`: one axis of the first operand, or several. Shape inference checks the
// range (CheckAxis), which the reader does not know.
inline Field AxisField(Field::Place place, Single single = Single::kRefused) {
  return {.key = "axis",
          .place = place,
          .presence = Presence::kRequired,
          .least = std::numeric_limits<int>::min(),
          .most = std::numeric_limits<int>::max(),
          .single = single};
}

// The keys of a window {kernel, stride, pads, dilation, every_channel} that a described operator
// reads.
std::vector<Field> FieldsOf(OperandAccess& access, bool& same_pads);

// The names of an enumeration in network files.
std::span<const std::string_view> NamesOf(ResizeMode);         // "nearest", ...
std::span<const std::string_view> NamesOf(ResizeCoordinates);  // "half_pixel", ...
std::span<const std::string_view> NamesOf(NearestRounding);    // "round_prefer_floor", ...
std::span<const std::string_view> NamesOf(PadMode);            // "constant", ...
std::span<const std::string_view> NamesOf(DepthOrder);         // "dcr", "crd"

struct OperatorDefinition {
  Arity arity = {};
  bool reads_feature_map = false;  // [batch, channels, rows, columns]

  // The keys of an operator with that number of operands, in the order in which they are written.
  // They refer to the arguments.
  std::vector<Field> (*fields)(Operator&, Wanted&, size_t operands) = nullptr;
  // Restores the properties that the shapes imply and Operator does not store. Null: there are
  // none.
  void (*restate)(const Operator&, const Shape& input, const Shape& output, Wanted&) = nullptr;

  // The shape of the output (see InferShape).
  Inferred (*infer_shape)(Operator&, const Wanted&, const std::vector<Shape>& inputs) = nullptr;
  // The shape of the first weight that the operator needs. Null: it has no weight of its own.
  std::optional<Shape> (*weight_shape)(const Operator&, const std::vector<Shape>& inputs,
                                       const Shape& output) = nullptr;

  // One map for each axis of the operand, in closed form.
  std::vector<AxisMap> (*axis_maps)(const OperandView&) = nullptr;

  // The indices that are read, one by one, as a reference for the closed form.
  Reading reading = {};

  // Whether each element of the output is an element of an operand. Null: the kind's trait
  // moves_data determines it.
  bool (*selects)(const Operator&) = nullptr;
  // The greatest index that an output of indices may hold; nullopt: the output has no indices.
  // Null: none.
  std::optional<int64_t> (*greatest_index)(const Operator&, const Shape& input) = nullptr;
  // The holes of tiles. Null: the window and the traits of the kind determine them.
  Holes (*holes)(const Operator&, const Shape& input, const Shape& output) = nullptr;

  // The number of products that are added up to one output element, on average. Null: none.
  Ratio (*products)(const Operator&, const Shape& input) = nullptr;
  // The axis of a feature operand of that rank over which the results of slices can be added up, or
  // combined in another way: of a sum of products, or the first that is reduced over. Null: none.
  std::optional<size_t> (*sum_axis)(const Operator&, size_t operand, size_t rank) = nullptr;
  // The axes of the first constant, if its rank and that of the output fit. Null: none.
  std::optional<FilterAxes> (*filter_axes)(const Operator&, size_t rank,
                                           size_t output_rank) = nullptr;
};

const OperatorDefinition& DefinitionOf(base::OperatorKind kind);

// These functions, HolesOf and FilterAxesOf evaluate the definition of the operator's kind.
std::optional<size_t> SumAxisOf(const Operator& op, size_t operand, size_t rank);
bool SelectsElements(const Operator& op);
std::optional<int64_t> GreatestIndexOf(const Operator& op, const Shape& input);

// Whether the type is an integer type that can represent the index.
bool HoldsIndex(base::DataType type, int64_t index);

Holes HolesOf(const Operator& op, const Shape& input, const Shape& output);
std::optional<FilterAxes> FilterAxesOf(const Operator& op, size_t rank, size_t output_rank);

}  // namespace tessera::graph::ops
