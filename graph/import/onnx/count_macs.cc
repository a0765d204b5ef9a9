// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/import/onnx/node_import.h"
#include "tessera/graph/ops/shape_inference.h"

// Opaque operators state their work. It is counted as for the known kinds (graph.h): products that
// are accumulated, including taps in the padding, and 0 for elementwise operators.
//
//     convolution, any number of axes   elements of the output * channels of a group * taps
//     its transpose                     the same, divided by the strides, rounded up
//     product of matrices               elements of the output * K
//     Einsum of two operands            one for each combination of its indices
//     LSTM, GRU, RNN                    steps * batch * elements of all weight matrices
//     moves of elements only            none
//
// The work of an Einsum of more operands depends on the order of multiplication, and that of a
// recurrent operator with sequence lengths depends on their values. Their work is unknown, and so
// is that of all other operators.
namespace tessera::graph::import::onnx {
namespace {

// The work, nullopt if it is unknown, or an obstacle if operands do not fit together.
using Macs = tl::expected<std::optional<int64_t>, common::Obstacle>;

// Products saturate one above the allowed maximum.
constexpr int64_t kTooMany = base::kMaxTotal + 1;

int64_t Times(int64_t a, int64_t b) {
  if (a >= kTooMany || b >= kTooMany) return a == 0 || b == 0 ? 0 : kTooMany;
  return base::CheckedMul(a, b).value_or(kTooMany);
}

int64_t ProductOf(const Shape& shape, size_t first = 0) {
  int64_t product = 1;
  for (size_t axis = first; axis < shape.size(); ++axis) product = Times(product, shape[axis]);
  return product;
}

bool IsAmong(std::string_view type, std::initializer_list<std::string_view> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

bool OnlyMovesElements(const common::Node& node) {
  return node.domain.empty() &&
         IsAmong(node.type, {"Concat", "DepthToSpace", "Expand", "Flatten", "Gather",
                             "GatherElements", "GatherND", "Identity", "Pad", "Reshape", "Slice",
                             "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"});
}

class Counter {
 public:
  Counter(const common::Draft& draft, const common::Node& node, const Shape& output)
      : draft_(draft), node_(node), output_(output) {}

  Macs Run() const {
    const std::string& type = node_.type;
    if (!node_.domain.empty() && node_.domain != "com.microsoft") return std::nullopt;
    if (IsAmong(type, {"Conv", "ConvInteger", "FusedConv"})) return OfConvolution(1);
    if (type == "QLinearConv") return OfConvolution(3);
    if (type == "ConvTranspose") return OfTransposedConvolution();
    if (IsAmong(type, {"MatMul", "MatMulInteger", "Gemm", "FusedMatMul"})) return OfProduct(1);
    if (type == "QLinearMatMul") return OfProduct(3);
    if (type == "Einsum") return OfEinsum();
    if (IsAmong(type, {"LSTM", "GRU", "RNN"})) return OfRecurrence();
    if (OnlyMovesElements(node_)) return 0;
    return std::nullopt;
  }

 private:
  // Null if the operand is left out.
  const Shape* ShapeOf(size_t i) const {
    return node_.HasInput(i) ? &draft_.ShapeOf(node_.inputs[i]) : nullptr;
  }

  Macs OfConvolution(size_t weight) const {
    const Shape* kernel = ShapeOf(weight);
    if (kernel == nullptr || kernel->size() < 2) return std::nullopt;
    const int64_t groups = node_.Int("group", 1);
    if (groups < 1 || (*kernel)[0] % groups != 0) {
      return common::Fault("its weights of shape " + ops::ToText(*kernel) + " are in " +
                               std::to_string(groups) + " groups",
                           "groups of equally many of the channels that they make");
    }
    const size_t bias = node_.type == "QLinearConv" ? 8 : 2;
    const bool has_bias = node_.type != "ConvInteger";  // which has zero points there
    if (auto fits = ExpectChannels(*kernel, Times((*kernel)[1], groups), (*kernel)[0],
                                   has_bias ? ShapeOf(bias) : nullptr);
        !fits)
      return tl::unexpected(fits.error());
    return Times(ProductOf(output_), ProductOf(*kernel, 1));
  }

  // Checks the channels of the input, the output and the bias; nullptr: there is no bias.
  common::Outcome ExpectChannels(const Shape& kernel, int64_t read, int64_t made,
                                 const Shape* bias) const {
    const auto fault = [&](const std::string& what, const Shape& shape, int64_t expected) {
      return common::Fault("its " + what + " has shape " + ops::ToText(shape) +
                               ", and its weights have shape " + ops::ToText(kernel),
                           std::to_string(expected) + " channels");
    };
    const Shape* input = ShapeOf(0);
    if (input != nullptr && input->size() == kernel.size() && (*input)[1] != read)
      return fault("input", *input, read);
    if (output_.size() == kernel.size() && output_[1] != made)
      return fault("output", output_, made);
    if (bias != nullptr && *bias != Shape{made}) return fault("bias", *bias, made);
    return {};
  }

  Macs OfTransposedConvolution() const {
    const Shape* input = ShapeOf(0);
    const Shape* kernel = ShapeOf(1);
    const int64_t groups = node_.Int("group", 1);
    if (input == nullptr || kernel == nullptr || kernel->size() < 3 ||
        input->size() != kernel->size() || groups < 1)
      return std::nullopt;
    if (auto fits = ExpectChannels(*kernel, (*kernel)[0], Times((*kernel)[1], groups), ShapeOf(2));
        !fits)
      return tl::unexpected(fits.error());
    const int64_t spread = std::max<int64_t>(1, ProductOf(node_.Ints("strides")));
    const int64_t all =
        Times(Times(ProductOf(output_), (*input)[1] / groups), ProductOf(*kernel, 2));
    return all >= kTooMany ? all : base::CeilDiv(all, spread);
  }

  Macs OfProduct(size_t second) const {
    const Shape* a = ShapeOf(0);
    const bool turned = node_.Flag("transA");
    if (a == nullptr || ShapeOf(second) == nullptr || a->empty() || node_.Flag("transBatchA"))
      return std::nullopt;
    const int64_t depth = turned && a->size() > 1 ? (*a)[a->size() - 2] : a->back();
    return Times(ProductOf(output_), depth);
  }

  Macs OfEinsum() const;

  Macs OfRecurrence() const {
    const Shape* x = ShapeOf(0);
    const Shape* w = ShapeOf(1);
    const Shape* r = ShapeOf(2);
    if (x == nullptr || w == nullptr || r == nullptr || x->size() != 3) return std::nullopt;
    if (auto fits = ExpectWeights(x->back()); !fits) return tl::unexpected(fits.error());
    int64_t steps = Times((*x)[0], (*x)[1]);  // of all sequences
    if (node_.HasInput(4)) {
      const common::Constant* lengths = draft_.ConstantOf(node_.inputs[4]);
      if (lengths == nullptr || !lengths->integers) return std::nullopt;
      steps = 0;
      for (const int64_t length : *lengths->integers)
        steps += std::clamp<int64_t>(length, 0, kMostSteps);
    }
    const int64_t each = ProductOf(*w) >= kTooMany || ProductOf(*r) >= kTooMany
                             ? kTooMany
                             : base::CheckedAdd(ProductOf(*w), ProductOf(*r)).value_or(kTooMany);
    return Times(steps, each);
  }

  // The weights of a recurrent operator that reads this many features.
  common::Outcome ExpectWeights(int64_t features) const {
    const Shape& r = *ShapeOf(2);
    const int64_t hidden = node_.Int("hidden_size", r.empty() ? 0 : r.back());
    const int64_t gates = node_.type == "LSTM" ? 4 : node_.type == "GRU" ? 3 : 1;
    const int64_t rows = Times(gates, hidden);
    const int64_t directions = node_.Text("direction", "forward") == "bidirectional" ? 2 : 1;
    const std::array<Shape, 3> expected = {Shape{directions, rows, features},
                                           {directions, rows, hidden},
                                           {directions, Times(2, rows)}};
    for (size_t i = 0; i < expected.size(); ++i) {
      const Shape* shape = ShapeOf(i + 1);
      if (shape == nullptr || *shape == expected[i]) continue;
      return common::Fault(
          "operand " + std::to_string(i + 2) + " has shape " + ops::ToText(*shape),
          ops::ToText(expected[i]) + ", for " + std::to_string(hidden) + " hidden values");
    }
    return {};
  }

  static constexpr int64_t kMostSteps = int64_t{1} << 32;

  const common::Draft& draft_;
  const common::Node& node_;
  const Shape& output_;
};

// The indices of one operand: letters, and "..." for axes without one.
struct Term {
  std::string before;
  std::string behind;
  bool open = false;
};

std::optional<std::vector<Term>> ReadTerms(std::string_view text) {
  std::vector<Term> terms(1);
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    Term& term = terms.back();
    if (c == ',') {
      terms.emplace_back();
    } else if (text.substr(i, 3) == "..." && !term.open) {
      term.open = true;
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      (term.open ? term.behind : term.before) += c;
    } else if (c != ' ') {
      return std::nullopt;
    }
  }
  return terms;
}

// The indices of the output, by name in alphabetical order if the equation does not state them.
// Returns nullopt if the equation states more than one output.
std::optional<Term> ResultOf(const std::string& equation, const std::vector<Term>& operands) {
  if (const size_t arrow = equation.find("->"); arrow != std::string::npos) {
    const auto stated = ReadTerms(std::string_view(equation).substr(arrow + 2));
    return stated && stated->size() == 1 ? std::optional(stated->front()) : std::nullopt;
  }
  std::map<char, int> uses;
  Term result;
  for (const Term& operand : operands) {
    result.open = result.open || operand.open;
    for (const char index : operand.before + operand.behind) ++uses[index];
  }
  for (const auto& [index, count] : uses) {
    if (count == 1) result.behind += index;
  }
  return result;
}

// One multiplication for each combination of all indices, both those that are summed over and those
// that remain.
Macs Counter::OfEinsum() const {
  const std::string equation = node_.Text("equation");
  const std::optional<std::vector<Term>> terms =
      ReadTerms(std::string_view(equation).substr(0, equation.find("->")));
  if (!terms || terms->size() != node_.inputs.size()) return std::nullopt;
  const auto fault = [&](const std::string& message, const std::string& expected) {
    return common::Fault("the equation is '" + equation + "', and " + message, expected);
  };
  std::map<char, int64_t> extents;
  Shape open;
  for (size_t i = 0; i < terms->size(); ++i) {
    const Term& term = (*terms)[i];
    const Shape* shape = ShapeOf(i);
    const size_t named = term.before.size() + term.behind.size();
    if (shape == nullptr) return std::nullopt;
    if (shape->size() < named || (!term.open && shape->size() != named)) {
      return fault("operand " + std::to_string(i + 1) + " has shape " + ops::ToText(*shape),
                   "an index for each axis");
    }
    std::optional<char> differs;
    const auto note = [&](char index, int64_t extent) {
      int64_t& known = extents.emplace(index, extent).first->second;
      if (known != extent && known != 1 && extent != 1) differs = index;
      known = std::max(known, extent);
    };
    for (size_t axis = 0; axis < term.before.size(); ++axis)
      note(term.before[axis], (*shape)[axis]);
    const size_t tail = shape->size() - term.behind.size();
    for (size_t axis = 0; axis < term.behind.size(); ++axis)
      note(term.behind[axis], (*shape)[tail + axis]);
    if (differs) {
      return fault("operand " + std::to_string(i + 1) + " has shape " + ops::ToText(*shape),
                   std::to_string(extents.at(*differs)) + " for index '" + *differs + "'");
    }
    const Shape middle(shape->begin() + static_cast<std::ptrdiff_t>(term.before.size()),
                       shape->begin() + static_cast<std::ptrdiff_t>(tail));
    const std::optional<Shape> together = ops::Broadcast(open, middle);
    if (!together) return std::nullopt;
    open = *together;
  }
  const std::optional<Term> result = ResultOf(equation, *terms);
  if (!result) return std::nullopt;
  Shape made;
  for (const char index : result->before + result->behind) {
    if (!extents.contains(index))
      return fault(std::string("no operand has index '") + index + "'", "an index of an operand");
  }
  for (const char index : result->before) made.push_back(extents.at(index));
  if (result->open) made.insert(made.end(), open.begin(), open.end());
  for (const char index : result->behind) made.push_back(extents.at(index));
  if (made != output_) {
    return fault("its output has shape " + ops::ToText(output_),
                 ops::ToText(made) + ", the extents of the indices of the output");
  }
  if (terms->size() == 1) return 0;  // only sums and moves
  if (terms->size() > 2) return std::nullopt;
  int64_t macs = ProductOf(open);
  for (const auto& [index, extent] : extents) macs = Times(macs, extent);
  return macs;
}

}  // namespace

tl::expected<std::optional<int64_t>, common::Obstacle> CountMacs(
    const common::Draft& draft, const common::Node& node,
    const std::vector<common::ValueType>& outputs) {
  // For a convolution or product only the first output has a shape; an LSTM may leave it out.
  const Shape output = outputs.empty() ? Shape{} : outputs.front().shape.value_or(Shape{});
  Macs macs = Counter(draft, node, output).Run();
  if (macs && *macs && **macs >= kTooMany)
    return common::Fault("more than 2^62 multiply-accumulates", "fewer");
  return macs;
}

}  // namespace tessera::graph::import::onnx
