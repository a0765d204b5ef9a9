// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "tessera/graph/import/common/fold/fold.h"
#include "tessera/graph/import/common/node_attributes.h"
#include "tessera/graph/ops/shape_inference.h"

// Elementwise arithmetic with broadcasting. An integer result that overflows has no value.
namespace tessera::graph::import::common::fold {
namespace {

using IntegerFunction = std::optional<int64_t> (*)(int64_t, int64_t);
using RealFunction = double (*)(double, double);

struct Binary {
  IntegerFunction integers = nullptr;
  RealFunction reals = nullptr;
  bool compares = false;
};

// The least integer has no opposite, so dividing it by -1 traps. This checks a product instead.
std::optional<int64_t> Divide(int64_t a, int64_t b) {
  if (b == -1) return base::CheckedMul(a, b);
  return b == 0 ? std::nullopt : std::optional(a / b);
}

// The remainder with the sign of the divisor, as ONNX defines it for integers.
std::optional<int64_t> Remainder(int64_t a, int64_t b) {
  if (b == 0) return std::nullopt;
  const int64_t rest = b == -1 ? 0 : a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

std::optional<int64_t> Subtract(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return std::nullopt;
  return difference;
}

std::optional<int64_t> Power(int64_t a, int64_t b) {
  const double power = std::pow(static_cast<double>(a), static_cast<double>(b));
  if (b < 0 || std::abs(power) > 1e15) return std::nullopt;
  return static_cast<int64_t>(std::llround(power));
}

const Binary* FindBinary(std::string_view type) {
  using I = int64_t;
  using R = double;
  static const std::unordered_map<std::string_view, Binary> table = {
      {"Add", {base::CheckedAdd, [](R a, R b) { return a + b; }}},
      {"Sub", {Subtract, [](R a, R b) { return a - b; }}},
      {"Mul", {base::CheckedMul, [](R a, R b) { return a * b; }}},
      {"Div", {Divide, [](R a, R b) { return a / b; }}},
      {"Mod", {Remainder, [](R a, R b) { return std::fmod(a, b); }}},
      {"Pow", {Power, [](R a, R b) { return std::pow(a, b); }}},
      {"Min",
       {[](I a, I b) { return std::optional(std::min(a, b)); },
        [](R a, R b) { return std::min(a, b); }}},
      {"Max",
       {[](I a, I b) { return std::optional(std::max(a, b)); },
        [](R a, R b) { return std::max(a, b); }}},
      {"Equal",
       {[](I a, I b) { return std::optional<I>(a == b); }, [](R a, R b) { return R(a == b); },
        true}},
      {"Less",
       {[](I a, I b) { return std::optional<I>(a < b); }, [](R a, R b) { return R(a < b); }, true}},
      {"Greater",
       {[](I a, I b) { return std::optional<I>(a > b); }, [](R a, R b) { return R(a > b); }, true}},
      {"LessOrEqual",
       {[](I a, I b) { return std::optional<I>(a <= b); }, [](R a, R b) { return R(a <= b); },
        true}},
      {"GreaterOrEqual",
       {[](I a, I b) { return std::optional<I>(a >= b); }, [](R a, R b) { return R(a >= b); },
        true}},
      {"And", {[](I a, I b) { return std::optional<I>(a != 0 && b != 0); }, nullptr, true}},
      {"Or", {[](I a, I b) { return std::optional<I>(a != 0 || b != 0); }, nullptr, true}}};
  const auto found = table.find(type);
  return found == table.end() ? nullptr : &found->second;
}

Folded Combine(const Binary& function, const Constant& a, const Constant& b) {
  const std::optional<Shape> shape = ops::Broadcast(a.shape, b.shape);
  if (!shape || !IsSmall(*shape)) return std::nullopt;
  const Integers places_a = PlacesOfBroadcast(a.shape, *shape);
  const Integers places_b = PlacesOfBroadcast(b.shape, *shape);
  const base::DataType type = function.compares ? base::DataType::kBool : a.type;
  const auto at = [](const auto& values, const Integers& places, size_t i) {
    return values[static_cast<size_t>(places[i])];
  };
  if (a.integers && b.integers) {
    Integers values;
    for (size_t i = 0; i < places_a.size(); ++i) {
      const auto value =
          function.integers(at(*a.integers, places_a, i), at(*b.integers, places_b, i));
      if (!value) return std::nullopt;
      values.push_back(*value);
    }
    return FromIntegers(*shape, type, std::move(values));
  }
  if (!a.reals || !b.reals || function.reals == nullptr) return std::nullopt;
  Reals values;
  for (size_t i = 0; i < places_a.size(); ++i)
    values.push_back(function.reals(at(*a.reals, places_a, i), at(*b.reals, places_b, i)));
  if (function.compares) return FromIntegers(*shape, type, Integers(values.begin(), values.end()));
  return FromReals(*shape, type, std::move(values));
}

// The operator of one operand: for integers, for reals, or for both.
struct Unary {
  std::optional<int64_t> (*integers)(int64_t) = nullptr;
  double (*reals)(double) = nullptr;
};

const Unary* FindUnary(std::string_view type) {
  static const std::unordered_map<std::string_view, Unary> table = {
      {"Neg", {[](int64_t a) { return Subtract(0, a); }, [](double a) { return -a; }}},
      {"Abs",
       {[](int64_t a) { return a < 0 ? Subtract(0, a) : a; },
        [](double a) { return std::abs(a); }}},
      {"Not", {[](int64_t a) { return std::optional<int64_t>(a == 0); }, nullptr}},
      {"Floor", {nullptr, [](double a) { return std::floor(a); }}},
      {"Ceil", {nullptr, [](double a) { return std::ceil(a); }}},
      {"Round", {nullptr, [](double a) { return std::nearbyint(a); }}},
      {"Sqrt", {nullptr, [](double a) { return std::sqrt(a); }}},
      {"Reciprocal", {nullptr, [](double a) { return 1 / a; }}}};
  const auto found = table.find(type);
  return found == table.end() ? nullptr : &found->second;
}

Folded Apply(const Unary& function, const Constant& from) {
  Constant to = from;
  if (to.integers && function.integers != nullptr) {
    for (int64_t& value : *to.integers) {
      const std::optional<int64_t> next = function.integers(value);
      if (!next) return std::nullopt;
      value = *next;
    }
    return to;
  }
  if (!to.reals || function.reals == nullptr) return std::nullopt;
  for (double& value : *to.reals) value = function.reals(value);
  return to;
}

}  // namespace

Folded FoldArithmetic(const Node& node, const Operands& operands) {
  if (const Unary* function = FindUnary(node.type))
    return operands.size() == 1 ? Apply(*function, *operands[0].constant) : std::nullopt;
  const Binary* function = FindBinary(node.type);
  // Mod of integers takes the sign of the dividend if it is C's fmod.
  if (function == nullptr || node.Flag("fmod")) return std::nullopt;
  Folded result = *operands[0].constant;
  for (size_t i = 1; i < operands.size() && result; ++i)
    result = Combine(*function, *result, *operands[i].constant);
  return result;
}

Folded FoldCast(const Node& node, const Operands& operands) {
  const Constant& from = *operands[0].constant;
  const std::optional<base::DataType> type = TypeFromOnnx(node.Int("to", 0));
  if (!type) return std::nullopt;
  Constant to;
  to.shape = from.shape;
  to.type = *type;
  if (IsFloating(*type)) {
    to.reals = from.reals;
    if (from.integers) to.reals = Reals(from.integers->begin(), from.integers->end());
    return to;
  }
  to.integers = from.integers;
  if (from.reals) {
    Integers values;
    for (const double value : *from.reals) {
      if (!(std::abs(value) < static_cast<double>(base::kMaxTotal))) return std::nullopt;
      values.push_back(*type == base::DataType::kBool ? static_cast<int64_t>(value != 0)
                                                      : static_cast<int64_t>(value));
    }
    to.integers = std::move(values);
  } else if (to.integers && *type == base::DataType::kBool) {
    for (int64_t& value : *to.integers) value = value != 0 ? 1 : 0;
  }
  return to;
}

Folded FoldWhere(const Node&, const Operands& operands) {
  const std::optional<Integers> choice = IntegersAt(operands, 0);
  const std::optional<Integers> yes = IntegersAt(operands, 1);
  const std::optional<Integers> no = IntegersAt(operands, 2);
  if (!choice || !yes || !no) return std::nullopt;
  std::optional<Shape> shape = ops::Broadcast(ShapeAt(operands, 1), ShapeAt(operands, 2));
  if (shape) shape = ops::Broadcast(*shape, ShapeAt(operands, 0));
  if (!shape || !IsSmall(*shape)) return std::nullopt;
  std::vector<Integers> places;
  for (size_t i = 0; i < 3; ++i) places.push_back(PlacesOfBroadcast(ShapeAt(operands, i), *shape));
  Integers values;
  for (size_t i = 0; i < places[0].size(); ++i) {
    const bool chosen = (*choice)[static_cast<size_t>(places[0][i])] != 0;
    values.push_back(chosen ? (*yes)[static_cast<size_t>(places[1][i])]
                            : (*no)[static_cast<size_t>(places[2][i])]);
  }
  return FromIntegers(*shape, operands[1].constant->type, std::move(values));
}

Folded FoldReduce(const Node& node, const Operands& operands) {
  const std::optional<Integers> values = IntegersAt(operands, 0);
  if (!values || values->empty() || ShapeAt(operands, 0).size() != 1) return std::nullopt;
  const Binary* function = FindBinary(node.type == "ReduceProd"  ? "Mul"
                                      : node.type == "ReduceSum" ? "Add"
                                                                 : node.type.substr(6));
  std::optional<int64_t> total = node.type == "ReduceProd"  ? 1
                                 : node.type == "ReduceSum" ? 0
                                                            : values->front();
  for (const int64_t value : *values) {
    if (total) total = function->integers(*total, value);
  }
  if (!total) return std::nullopt;
  const bool keeps = node.Int("keepdims", 1) != 0;
  return FromIntegers(keeps ? Shape{1} : Shape{}, operands[0].constant->type, {*total});
}

}  // namespace tessera::graph::import::common::fold
