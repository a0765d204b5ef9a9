// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tessera/graph/ops/definition.h"
#include "tessera/tests/graph/import/onnx/model_builder.h"
#include "texts.h"

namespace tessera::audit {
namespace {

using base::OperatorKind;
using graph::Graph;
using graph::Operator;
using graph::Shape;
using graph::Tensor;
using graph::onnx::Attributes;
using graph::onnx::Extent;
using graph::onnx::ModelBuilder;
using Ints = std::vector<int64_t>;

constexpr int64_t kVersion = 17;  // reductions with axes as attributes

class OnnxText {
 public:
  explicit OnnxText(const Graph& network) : network_(network), model_(kVersion) {}

  std::optional<std::string> Write() {
    for (const Tensor& tensor : network_.tensors) {
      const bool plain = tensor.type == network_.tensors.front().type && tensor.stored_bytes == 0;
      const bool lasts = tensor.state && !HasNext(tensor);
      if (!plain || lasts || tensor.shape.empty()) return std::nullopt;
      if (tensor.network_input || tensor.state) model_.Input(tensor.id, ExtentsOf(tensor.shape));
    }
    for (const Operator& op : network_.operators) {
      if (!Add(op)) return std::nullopt;
    }
    for (const Tensor& tensor : network_.tensors) {
      if (tensor.network_output) model_.Output(tensor.id, ExtentsOf(tensor.shape));
    }
    return model_.Bytes();
  }

 private:
  bool HasNext(const Tensor& state) const {
    return std::any_of(network_.tensors.begin(), network_.tensors.end(), [&](const Tensor& tensor) {
      return tensor.next_of >= 0 && &TensorAt(tensor.next_of) == &state;
    });
  }
  static std::vector<Extent> ExtentsOf(const Shape& shape) { return {shape.begin(), shape.end()}; }
  const Tensor& TensorAt(int tensor) const { return network_.tensors[static_cast<size_t>(tensor)]; }
  const Shape& InputOf(const Operator& op) const { return TensorAt(op.inputs.front()).shape; }
  const Shape& OutputOf(const Operator& op) const { return TensorAt(op.outputs.front()).shape; }
  const std::string& Result(const Operator& op) const { return TensorAt(op.outputs.front()).id; }
  std::string Constant(const Operator& op, const char* name) const { return op.id + "/" + name; }

  std::vector<std::string> Inputs(const Operator& op) const {
    std::vector<std::string> names;
    for (const int input : op.inputs) names.push_back(TensorAt(input).id);
    return names;
  }

  bool Put(const std::string& type, const Operator& op, std::vector<std::string> inputs,
           const Attributes& attributes = {}) {
    model_.Add(type, inputs, Result(op), attributes);
    return true;
  }

  static Attributes AttributesOf(const graph::Window& window) {
    return {{"kernel_shape", Ints(window.kernel.begin(), window.kernel.end())},
            {"strides", Ints(window.stride.begin(), window.stride.end())},
            {"dilations", Ints(window.dilation.begin(), window.dilation.end())},
            {"pads",
             Ints{window.pad_low[0], window.pad_low[1], window.pad_high[0], window.pad_high[1]}}};
  }

  // Filters that no other operator has.
  std::optional<std::string> Filters(const Operator& op, const Shape& shape) {
    if (op.weights.size() != 1 || !used_.emplace(op.weights.front(), true).second)
      return std::nullopt;
    return model_.Weight(TensorAt(op.weights.front()).id, shape);
  }

  bool AddConv(const Operator& op) {
    Attributes attributes = AttributesOf(op.window);
    Shape shape = op.weights.empty() ? Shape{} : TensorAt(op.weights.front()).shape;
    const bool transposed = op.kind == OperatorKind::kTransposedConv;
    int64_t groups = op.groups;
    if (op.kind == OperatorKind::kDepthwise) groups = InputOf(op)[1];
    if (op.kind != OperatorKind::kDepthwise && groups == InputOf(op)[1] && groups > 1) return false;
    if (groups == 1 && op.kind == OperatorKind::kDepthwise) return false;
    if (transposed) {
      shape = {InputOf(op)[1], OutputOf(op)[1] / groups, shape[2], shape[3]};
      Ints padding;
      for (size_t axis = 0; axis < 2; ++axis) {
        const int64_t reach = (op.window.kernel[axis] - 1) * op.window.dilation[axis] + 1;
        const int64_t plain = (InputOf(op)[axis + 2] - 1) * op.window.stride[axis] + reach -
                              op.window.pad_low[axis] - op.window.pad_high[axis];
        padding.push_back(OutputOf(op)[axis + 2] - plain);
        if (padding.back() < 0 ||
            padding.back() >= std::max(op.window.stride[axis], op.window.dilation[axis]))
          return false;
      }
      attributes["output_padding"] = padding;
    }
    attributes["group"] = groups;
    const auto filters = Filters(op, shape);
    return filters &&
           Put(transposed ? "ConvTranspose" : "Conv", op, {Inputs(op)[0], *filters}, attributes);
  }

  bool AddPool(const Operator& op) {
    Attributes attributes = AttributesOf(op.window);
    for (size_t axis = 0; axis < 2; ++axis) {
      const int64_t reach = (op.window.kernel[axis] - 1) * op.window.dilation[axis] + 1;
      const int64_t room =
          InputOf(op)[axis + 2] + op.window.pad_low[axis] + op.window.pad_high[axis] - reach;
      if (room < 0 || OutputOf(op)[axis + 2] != room / op.window.stride[axis] + 1) return false;
      if (op.window.pad_low[axis] >= op.window.kernel[axis] ||
          op.window.pad_high[axis] >= op.window.kernel[axis])
        return false;
    }
    if (op.function != "max") {
      if (op.window.dilation != std::array<int64_t, 2>{1, 1}) return false;
      attributes.erase("dilations");
    }
    const char* type = op.function == "max"       ? "MaxPool"
                       : op.function == "average" ? "AveragePool"
                                                  : "LpPool";
    return Put(type, op, Inputs(op), attributes);
  }

  bool AddSlice(const Operator& op) {
    const auto& [starts, steps] = op.Own<graph::SliceAttributes>();
    Ints ends;
    Ints axes;
    for (size_t axis = 0; axis < starts.size(); ++axis) {
      const int64_t end = starts[axis] + OutputOf(op)[axis] * steps[axis];
      ends.push_back(steps[axis] < 0 && end < 0 ? -(int64_t{1} << 40) : end);
      axes.push_back(static_cast<int64_t>(axis));
    }
    if (OutputOf(op) == InputOf(op)) return false;
    return Put(
        "Slice", op,
        {Inputs(op)[0], model_.Integers(Constant(op, "starts"), starts),
         model_.Integers(Constant(op, "ends"), ends), model_.Integers(Constant(op, "axes"), axes),
         model_.Integers(Constant(op, "steps"), steps)});
  }

  bool AddPad(const Operator& op) {
    const auto& pad = op.Own<graph::PadAttributes>();
    if (pad.mode == graph::PadMode::kWrap || OutputOf(op) == InputOf(op)) return false;
    Ints pads = pad.low;
    pads.insert(pads.end(), pad.high.begin(), pad.high.end());
    const std::string mode(graph::ops::NamesOf(pad.mode)[static_cast<size_t>(pad.mode)]);
    return Put("Pad", op, {Inputs(op)[0], model_.Integers(Constant(op, "pads"), pads)},
               {{"mode", mode}});
  }

  bool AddReduce(const Operator& op) {
    const bool keeps = OutputOf(op).size() == InputOf(op).size();
    return Put("ReduceMean", op, Inputs(op),
               {{"axes", Ints(op.axes.begin(), op.axes.end())}, {"keepdims", int64_t{keeps}}});
  }

  // States the extents of the result, from which the reader takes the scales. Other scales cannot
  // be stated.
  bool AddResize(const Operator& op) {
    static constexpr std::array kModes = {"nearest", "linear", "cubic"};
    const graph::ResizeAttributes& resize = op.Own<graph::ResizeAttributes>();
    if (resize.coordinates == graph::ResizeCoordinates::kTfHalfPixelForNn) return false;
    for (size_t axis = 0; axis < resize.scales.size(); ++axis) {
      const graph::Ratio& scale = resize.scales[axis];
      if (scale.numerator * InputOf(op)[axis] != scale.denominator * OutputOf(op)[axis])
        return false;
    }
    const bool keeps = OutputOf(op) == InputOf(op);
    if (keeps || (resize.mode == graph::ResizeMode::kCubic && OutputOf(op).size() != 4))
      return false;
    const auto coordinates =
        graph::ops::NamesOf(resize.coordinates)[static_cast<size_t>(resize.coordinates)];
    Attributes attributes = {{"mode", std::string(kModes.at(static_cast<size_t>(resize.mode)))},
                             {"coordinate_transformation_mode", std::string(coordinates)}};
    if (resize.mode == graph::ResizeMode::kNearest)
      attributes["nearest_mode"] =
          std::string(graph::ops::NamesOf(resize.rounding)[static_cast<size_t>(resize.rounding)]);
    return Put("Resize", op,
               {Inputs(op)[0], "", "", model_.Integers(Constant(op, "sizes"), OutputOf(op))},
               attributes);
  }

  std::string Turned(std::string tensor, const std::vector<int>& axes, const std::string& result) {
    if (axes.empty()) return tensor;
    model_.Add("Transpose", {std::move(tensor)}, result,
               {{"perm", Ints(axes.begin(), axes.end())}});
    return result;
  }

  // Operands and product in another order of axes are those of transposes, which import absorbs.
  bool AddMatmul(const Operator& op) {
    const auto& own = op.Own<graph::MatmulAttributes>();
    std::vector<std::string> factors = Inputs(op);
    for (size_t operand = 0; operand < factors.size(); ++operand) {
      const std::string name = Constant(op, operand == 0 ? "first" : "second");
      factors[operand] = Turned(factors[operand], own.operand_axes[operand], name);
      if (!(operand == 0 ? own.transpose_first : own.transpose_second)) continue;
      std::vector<int> swapped(TensorAt(op.inputs[operand]).shape.size());
      std::iota(swapped.begin(), swapped.end(), 0);
      std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
      factors[operand] = Turned(factors[operand], swapped, name + "/swapped");
    }
    if (factors.size() == 1) {
      const auto filters =
          Filters(op, op.weights.empty() ? Shape{} : TensorAt(op.weights.front()).shape);
      if (!filters) return false;
      factors.push_back(*filters);
    }
    if (own.result_axes.empty()) return Put("MatMul", op, factors);
    model_.Add("MatMul", factors, Constant(op, "product"), {});
    return Put("Transpose", op, {Constant(op, "product")},
               {{"perm", Ints(own.result_axes.begin(), own.result_axes.end())}});
  }

  bool AddGather(const Operator& op) {
    const bool drops = OutputOf(op).size() < InputOf(op).size();
    const std::vector<int64_t>& picked = op.Own<graph::GatherAttributes>().indices;
    const std::string indices = drops ? model_.Scalar(Constant(op, "indices"), picked.front())
                                      : model_.Integers(Constant(op, "indices"), picked);
    return Put("Gather", op, {Inputs(op)[0], indices}, {{"axis", int64_t{op.axis}}});
  }

  bool AddTranspose(const Operator& op) {
    const std::vector<int>& order = op.Own<graph::TransposeAttributes>().permutation;
    return !std::is_sorted(order.begin(), order.end()) &&
           Put("Transpose", op, Inputs(op), {{"perm", Ints(order.begin(), order.end())}});
  }

  bool AddDepthSpace(const Operator& op) {
    const auto& [block, order] = op.Own<graph::DepthSpaceAttributes>();
    const bool is_dcr = order == graph::DepthOrder::kDcr;
    if (op.kind == OperatorKind::kDepthToSpace) {
      return Put("DepthToSpace", op, Inputs(op),
                 {{"blocksize", block}, {"mode", std::string(is_dcr ? "DCR" : "CRD")}});
    }
    return is_dcr && Put("SpaceToDepth", op, Inputs(op), {{"blocksize", block}});
  }

  bool AddCumsum(const Operator& op) {
    const auto& [exclusive, reverse] = op.Own<base::CumsumAttributes>();
    return Put("CumSum", op, {Inputs(op)[0], model_.Scalar(Constant(op, "axis"), op.axis)},
               {{"exclusive", int64_t{exclusive}}, {"reverse", int64_t{reverse}}});
  }

  bool AddTopK(const Operator& op) {
    const auto& own = op.Own<base::TopKAttributes>();
    if (own.result != "values") return false;
    model_.AddMany("TopK", {Inputs(op)[0], model_.Integers(Constant(op, "k"), {own.k})},
                   {Result(op), Result(op) + "/indices"},
                   {{"axis", int64_t{op.axes.front()}},
                    {"largest", int64_t{own.largest}},
                    {"sorted", int64_t{own.sorted}}});
    return true;
  }

  // ONNX has no such type: phases of rows and columns become axes, come first, and become images.
  bool AddSpaceToBatch(const Operator& op) {
    const auto& [rows, columns] = op.Own<base::SpaceToBatchAttributes>().block;
    const Shape& map = InputOf(op);
    if (op.outputs.empty() || OutputOf(op) == map) return false;
    const std::string split = Constant(op, "split");
    const std::string turn = Constant(op, "turn");
    model_.Add(
        "Reshape",
        {Inputs(op)[0], model_.Integers(Constant(op, "parts"), {map[0], map[1], map[2] / rows, rows,
                                                                map[3] / columns, columns})},
        split);
    model_.Add("Transpose", {split}, turn, {{"perm", std::vector<int64_t>{3, 5, 0, 1, 2, 4}}});
    return Put("Reshape", op, {turn, model_.Integers(Constant(op, "shape"), OutputOf(op))});
  }

  bool Add(const Operator& op) {
    if (op.inputs.empty() || !op.activation.empty()) return false;
    if (op.weights.size() > 1) return false;
    switch (op.kind) {
      case OperatorKind::kConv:
      case OperatorKind::kDepthwise:
      case OperatorKind::kTransposedConv:
        return AddConv(op);
      case OperatorKind::kPool:
        return AddPool(op);
      case OperatorKind::kGlobalPool:
        return OutputOf(op).size() == 4 && op.function != "lp" &&
               Put(op.function == "max" ? "GlobalMaxPool" : "GlobalAveragePool", op, Inputs(op));
      case OperatorKind::kReduce:
        return AddReduce(op);
      case OperatorKind::kElementwise:
        return op.inputs.size() == 2 && op.weights.empty() && op.inputs[0] != op.inputs[1] &&
               Put("Add", op, Inputs(op));
      case OperatorKind::kConcat:
        return Put("Concat", op, Inputs(op), {{"axis", int64_t{op.axis}}});
      case OperatorKind::kSlice:
        return AddSlice(op);
      case OperatorKind::kPad:
        return AddPad(op);
      case OperatorKind::kGather:
        return AddGather(op);
      case OperatorKind::kMatmul:
        return AddMatmul(op);
      case OperatorKind::kSoftmax:
        return op.axes.size() == 1 &&
               Put("Softmax", op, Inputs(op), {{"axis", int64_t{op.axes.front()}}});
      case OperatorKind::kReshape:
        return OutputOf(op) != InputOf(op) &&
               Put("Reshape", op,
                   {Inputs(op)[0], model_.Integers(Constant(op, "shape"), OutputOf(op))});
      case OperatorKind::kTranspose:
        return AddTranspose(op);
      case OperatorKind::kDepthToSpace:
      case OperatorKind::kSpaceToDepth:
        return AddDepthSpace(op);
      case OperatorKind::kResize:
        return AddResize(op);
      case OperatorKind::kCumsum:
        return AddCumsum(op);
      case OperatorKind::kTopK:
        return AddTopK(op);
      case OperatorKind::kSpaceToBatch:
        return AddSpaceToBatch(op);
      case OperatorKind::kLayerNorm:  // has a scale in ONNX, which drawn networks do not have
      case OperatorKind::kOpaque:
        return false;
    }
    return false;
  }

  const Graph& network_;
  ModelBuilder model_;
  std::map<int, bool> used_;
};

}  // namespace

std::optional<std::string> WriteOnnx(const Graph& network) { return OnnxText(network).Write(); }

}  // namespace tessera::audit
