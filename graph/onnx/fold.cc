#include "tessera/graph/onnx/fold.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "tessera/base/checked.h"
#include "tessera/graph/onnx/cut.h"
#include "tessera/graph/onnx/types.h"

// Exporters compute shapes by operators: Shape, Gather, Mul, Concat, Reshape. All such arithmetic is done here, so that
// only what depends on data remains. Operators that only rearrange are folded by one rule: a list of places in the
// operands, in the order of the result. Costs are linear in the elements, of which a constant has at most kMostValues.
namespace tessera::graph::onnx {
namespace {

using Operands = std::vector<Known>;
using Folded = std::optional<Constant>;
using Integers = std::vector<int64_t>;
using Reals = std::vector<double>;

bool HasConstant(const Operands& operands, size_t i) {
  return i < operands.size() && operands[i].constant != nullptr;
}

std::optional<Integers> IntegersAt(const Operands& operands, size_t i) {
  return HasConstant(operands, i) ? operands[i].constant->integers : std::nullopt;
}

const Shape& ShapeAt(const Operands& operands, size_t i) {
  return operands[i].constant != nullptr ? operands[i].constant->shape : *operands[i].shape;
}

Constant FromIntegers(Shape shape, base::DataType type, Integers values) {
  Constant constant;
  constant.shape = std::move(shape);
  constant.type = type;
  constant.integers = std::move(values);
  return constant;
}

Constant FromReals(Shape shape, base::DataType type, Reals values) {
  Constant constant;
  constant.shape = std::move(shape);
  constant.type = type;
  constant.reals = std::move(values);
  return constant;
}

bool IsSmall(const Shape& shape) {
  int64_t elements = 1;
  for (const int64_t extent : shape) {
    if (extent < 0 || extent > kMostValues) return false;
    elements *= extent;
    if (elements > kMostValues) return false;
  }
  return true;
}

// Row-major.
std::vector<int64_t> StridesOf(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

// Calls `visit` with every index of `shape` in row-major order.
void ForEachIndex(const Shape& shape, const std::function<void(const Shape&)>& visit) {
  Shape index(shape.size(), 0);
  const int64_t count = ElementsOf(shape);
  for (int64_t i = 0; i < count; ++i) {
    visit(index);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

// The elements at `places` of one operand, in a new shape.
Folded Rearranged(const Constant& from, Shape shape, const Integers& places) {
  Constant to;
  to.shape = std::move(shape);
  to.type = from.type;
  const auto pick = [&places](const auto& values) {
    auto picked = values;
    picked.resize(places.size());
    std::transform(places.begin(), places.end(), picked.begin(),
                   [&values](int64_t place) { return values[static_cast<size_t>(place)]; });
    return picked;
  };
  if (from.integers) to.integers = pick(*from.integers);
  if (from.reals) to.reals = pick(*from.reals);
  if (!to.integers && !to.reals) return std::nullopt;
  return to;
}

Folded Reshaped(const Constant& from, Shape shape) {
  Constant to = from;
  to.shape = std::move(shape);
  return to;
}

Folded FoldShape(const Node& node, const Operands& operands) {
  const Shape& shape = ShapeAt(operands, 0);
  const auto rank = static_cast<int64_t>(shape.size());
  const auto place = [rank](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const int64_t first = place(std::max(node.Int("start", 0), -rank));
  const int64_t end = std::max(first, place(std::max(node.Int("end", rank), -rank)));
  Integers extents(shape.begin() + first, shape.begin() + end);
  return FromIntegers({end - first}, base::DataType::kInt64, std::move(extents));
}

Folded FoldSize(const Node&, const Operands& operands) {
  return FromIntegers({}, base::DataType::kInt64, {ElementsOf(ShapeAt(operands, 0))});
}

Folded FoldConstant(const Node& node, const Operands&) {
  for (const auto& [key, value] : node.attributes) {
    if (const auto* tensor = std::get_if<Constant>(&value)) return *tensor;
    if (const auto* integer = std::get_if<int64_t>(&value))
      return FromIntegers({}, base::DataType::kInt64, {*integer});
    if (const auto* real = std::get_if<double>(&value))
      return FromReals({}, base::DataType::kFloat32, {*real});
    if (const auto* list = std::get_if<Integers>(&value))
      return FromIntegers({static_cast<int64_t>(list->size())}, base::DataType::kInt64, *list);
    if (const auto* list = std::get_if<Reals>(&value))
      return FromReals({static_cast<int64_t>(list->size())}, base::DataType::kFloat32, *list);
  }
  return std::nullopt;
}

Folded FoldConstantOfShape(const Node& node, const Operands& operands) {
  const std::optional<Integers> shape = IntegersAt(operands, 0);
  if (!shape || std::any_of(shape->begin(), shape->end(), [](int64_t extent) { return extent < 0; }))
    return std::nullopt;
  Constant value = FromReals({1}, base::DataType::kFloat32, {0});
  if (const auto found = node.attributes.find("value"); found != node.attributes.end()) {
    if (const auto* tensor = std::get_if<Constant>(&found->second)) value = *tensor;
  }
  if (!IsSmall(*shape)) {
    Constant large;
    large.shape = *shape;
    large.type = value.type;
    return large;
  }
  return Rearranged(value, *shape, Integers(static_cast<size_t>(ElementsOf(*shape)), 0));
}

Folded FoldRange(const Node&, const Operands& operands) {
  const auto start = IntegersAt(operands, 0);
  const auto limit = IntegersAt(operands, 1);
  const auto delta = IntegersAt(operands, 2);
  const auto is_one = [](const auto& values) { return values && values->size() == 1; };
  if (!is_one(start) || !is_one(limit) || !is_one(delta) || delta->front() == 0) return std::nullopt;
  Integers values;
  const int64_t step = delta->front();
  for (int64_t value = start->front(); step > 0 ? value < limit->front() : value > limit->front();
       value += step) {
    values.push_back(value);
    if (static_cast<int64_t>(values.size()) > kMostValues) return std::nullopt;
  }
  return FromIntegers({static_cast<int64_t>(values.size())}, operands[0].constant->type, std::move(values));
}

Folded FoldIdentity(const Node&, const Operands& operands) { return *operands[0].constant; }

// Axes of Squeeze and Unsqueeze: an operand, or an attribute before operator set 13.
std::optional<Integers> AxesOf(const Node& node, const Operands& operands) {
  if (node.HasInput(1)) return IntegersAt(operands, 1);
  return node.Ints("axes");
}

Folded FoldSqueeze(const Node& node, const Operands& operands) {
  const Shape& shape = ShapeAt(operands, 0);
  const std::optional<Integers> axes = AxesOf(node, operands);
  if (!axes) return std::nullopt;
  std::vector<bool> goes(shape.size(), axes->empty());
  for (const int64_t stated : *axes) {
    const std::optional<int> axis = AxisFrom(stated, shape.size());
    if (!axis) return std::nullopt;
    goes[static_cast<size_t>(*axis)] = true;
  }
  Shape rest;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!goes[axis] || shape[axis] != 1) rest.push_back(shape[axis]);
  }
  return Reshaped(*operands[0].constant, rest);
}

Folded FoldUnsqueeze(const Node& node, const Operands& operands) {
  const Shape& shape = ShapeAt(operands, 0);
  const std::optional<Integers> axes = AxesOf(node, operands);
  if (!axes) return std::nullopt;
  const size_t rank = shape.size() + axes->size();
  std::vector<bool> added(rank, false);
  for (const int64_t stated : *axes) {
    const std::optional<int> axis = AxisFrom(stated, rank);
    if (!axis || added[static_cast<size_t>(*axis)]) return std::nullopt;
    added[static_cast<size_t>(*axis)] = true;
  }
  Shape longer;
  size_t next = 0;
  for (const bool is_added : added) longer.push_back(is_added ? 1 : shape[next++]);
  return Reshaped(*operands[0].constant, longer);
}

Folded FoldReshape(const Node& node, const Operands& operands) {
  const Shape& from = ShapeAt(operands, 0);
  const auto stated = node.HasInput(1) ? IntegersAt(operands, 1) : std::optional(node.Ints("shape"));
  if (!stated) return std::nullopt;
  Shape shape = *stated;
  int64_t known = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0 && !node.Flag("allowzero") && axis < from.size()) shape[axis] = from[axis];
    if (shape[axis] < -1) return std::nullopt;
    if (shape[axis] > 0) known = base::CheckedMul(known, shape[axis]).value_or(base::kMaxTotal);
  }
  const auto open = std::find(shape.begin(), shape.end(), -1);
  if (open != shape.end()) *open = ElementsOf(from) / known;
  if (std::count(shape.begin(), shape.end(), -1) > 0 || ElementsOf(shape) != ElementsOf(from))
    return std::nullopt;
  return Reshaped(*operands[0].constant, shape);
}

Folded FoldFlatten(const Node& node, const Operands& operands) {
  const Shape& from = ShapeAt(operands, 0);
  const auto rank = static_cast<int64_t>(from.size());
  const int64_t stated = node.Int("axis", 1);
  const int64_t axis = std::clamp<int64_t>(stated < 0 ? stated + rank : stated, 0, rank);
  const int64_t rows = ElementsOf(Shape(from.begin(), from.begin() + axis));
  return Reshaped(*operands[0].constant, {rows, ElementsOf(Shape(from.begin() + axis, from.end()))});
}

Folded FoldTranspose(const Node& node, const Operands& operands) {
  const Shape& from = ShapeAt(operands, 0);
  Integers permutation = node.Ints("perm");
  if (permutation.empty()) {
    permutation.resize(from.size());
    std::iota(permutation.rbegin(), permutation.rend(), 0);
  }
  Integers sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  for (size_t axis = 0; axis < sorted.size(); ++axis) {
    if (sorted.size() != from.size() || sorted[axis] != static_cast<int64_t>(axis)) return std::nullopt;
  }
  Shape shape;
  for (const int64_t axis : permutation) shape.push_back(from[static_cast<size_t>(axis)]);
  if (!IsSmall(shape)) {
    Constant large = *operands[0].constant;
    large.shape = shape;
    return large;
  }
  const std::vector<int64_t> strides = StridesOf(from);
  Integers places;
  ForEachIndex(shape, [&](const Shape& index) {
    int64_t place = 0;
    for (size_t axis = 0; axis < index.size(); ++axis)
      place += index[axis] * strides[static_cast<size_t>(permutation[axis])];
    places.push_back(place);
  });
  return Rearranged(*operands[0].constant, shape, places);
}

Folded FoldGather(const Node& node, const Operands& operands) {
  const Shape& from = ShapeAt(operands, 0);
  const std::optional<int> stated = AxisFrom(node.Int("axis", 0), from.size());
  const std::optional<Integers> indices = IntegersAt(operands, 1);
  if (!stated || !indices) return std::nullopt;
  const auto axis = static_cast<size_t>(*stated);
  const Shape& picked = ShapeAt(operands, 1);
  Shape shape(from.begin(), from.begin() + *stated);
  shape.insert(shape.end(), picked.begin(), picked.end());
  shape.insert(shape.end(), from.begin() + *stated + 1, from.end());
  if (!IsSmall(shape)) return std::nullopt;
  const int64_t inner = StridesOf(from)[axis];
  const int64_t outer = ElementsOf(Shape(from.begin(), from.begin() + *stated));
  Integers places;
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t index : *indices) {
      const int64_t place = index < 0 ? index + from[axis] : index;
      if (place < 0 || place >= from[axis]) return std::nullopt;
      for (int64_t i = 0; i < inner; ++i) places.push_back((o * from[axis] + place) * inner + i);
    }
  }
  return Rearranged(*operands[0].constant, shape, places);
}

Folded FoldSlice(const Node& node, const Operands& operands) {
  const Shape& from = ShapeAt(operands, 0);
  const auto cut = ReadCut(node, from, [&operands](size_t i) { return IntegersAt(operands, i); });
  if (!cut || !IsSmall(cut->shape)) return std::nullopt;
  const std::vector<int64_t> strides = StridesOf(from);
  Integers places;
  ForEachIndex(cut->shape, [&](const Shape& index) {
    int64_t place = 0;
    for (size_t axis = 0; axis < index.size(); ++axis)
      place += (cut->starts[axis] + index[axis] * cut->steps[axis]) * strides[axis];
    places.push_back(place);
  });
  return Rearranged(*operands[0].constant, cut->shape, places);
}

// The places of an operand that broadcasting to `shape` reads.
Integers PlacesOfBroadcast(const Shape& from, const Shape& shape) {
  const std::vector<int64_t> strides = StridesOf(from);
  const size_t missing = shape.size() - from.size();
  Integers places;
  ForEachIndex(shape, [&](const Shape& index) {
    int64_t place = 0;
    for (size_t axis = 0; axis < from.size(); ++axis)
      place += from[axis] == 1 ? 0 : index[axis + missing] * strides[axis];
    places.push_back(place);
  });
  return places;
}

Folded FoldExpand(const Node&, const Operands& operands) {
  const std::optional<Integers> wanted = IntegersAt(operands, 1);
  if (!wanted) return std::nullopt;
  const std::optional<Shape> shape = Broadcast(ShapeAt(operands, 0), *wanted);
  if (!shape || !IsCountable(*shape)) return std::nullopt;
  if (!IsSmall(*shape)) {
    Constant large;
    large.shape = *shape;
    large.type = operands[0].constant->type;
    return large;
  }
  return Rearranged(*operands[0].constant, *shape, PlacesOfBroadcast(ShapeAt(operands, 0), *shape));
}

// A list of which some parts have no values, as in files without weights.
Folded Outline(const Operands& operands) {
  Constant joined;
  joined.type = base::DataType::kInt64;
  joined.outline.emplace();
  for (const Known& operand : operands) {
    const Constant& part = *operand.constant;
    if (part.shape.size() != 1 || !IsSmall(part.shape) || IsFloating(part.type)) return std::nullopt;
    const Integers missing(static_cast<size_t>(part.shape[0]), -1);
    const Integers values = part.integers ? *part.integers : part.outline.value_or(missing);
    joined.outline->insert(joined.outline->end(), values.begin(), values.end());
  }
  joined.shape = {static_cast<int64_t>(joined.outline->size())};
  return joined;
}

// Constants of one axis, as shapes are.
Folded FoldConcat(const Node&, const Operands& operands) {
  Constant joined = *operands[0].constant;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Constant& next = *operands[i].constant;
    if (next.shape.size() != 1) return std::nullopt;
    if (i == 0) continue;
    if (joined.integers && next.integers) {
      joined.integers->insert(joined.integers->end(), next.integers->begin(), next.integers->end());
    } else if (joined.reals && next.reals) {
      joined.reals->insert(joined.reals->end(), next.reals->begin(), next.reals->end());
    } else {
      return Outline(operands);
    }
    joined.shape[0] += next.shape[0];
  }
  if (!IsSmall(joined.shape)) return std::nullopt;
  return joined;
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

using IntegerFunction = std::optional<int64_t> (*)(int64_t, int64_t);
using RealFunction = double (*)(double, double);

struct Binary {
  IntegerFunction integers = nullptr;
  RealFunction reals = nullptr;
  bool compares = false;
};

std::optional<int64_t> Divide(int64_t a, int64_t b) { return b == 0 ? std::nullopt : std::optional(a / b); }
// With the sign of the divisor, as ONNX's integers have it.
std::optional<int64_t> Remainder(int64_t a, int64_t b) {
  return b == 0 ? std::nullopt : std::optional((a % b + b) % b);
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
      {"Sub", {[](I a, I b) { return base::CheckedAdd(a, -b); }, [](R a, R b) { return a - b; }}},
      {"Mul", {base::CheckedMul, [](R a, R b) { return a * b; }}},
      {"Div", {Divide, [](R a, R b) { return a / b; }}},
      {"Mod", {Remainder, [](R a, R b) { return std::fmod(a, b); }}},
      {"Pow", {Power, [](R a, R b) { return std::pow(a, b); }}},
      {"Min",
       {[](I a, I b) { return std::optional(std::min(a, b)); }, [](R a, R b) { return std::min(a, b); }}},
      {"Max",
       {[](I a, I b) { return std::optional(std::max(a, b)); }, [](R a, R b) { return std::max(a, b); }}},
      {"Equal",
       {[](I a, I b) { return std::optional<I>(a == b); }, [](R a, R b) { return R(a == b); }, true}},
      {"Less", {[](I a, I b) { return std::optional<I>(a < b); }, [](R a, R b) { return R(a < b); }, true}},
      {"Greater",
       {[](I a, I b) { return std::optional<I>(a > b); }, [](R a, R b) { return R(a > b); }, true}},
      {"LessOrEqual",
       {[](I a, I b) { return std::optional<I>(a <= b); }, [](R a, R b) { return R(a <= b); }, true}},
      {"GreaterOrEqual",
       {[](I a, I b) { return std::optional<I>(a >= b); }, [](R a, R b) { return R(a >= b); }, true}},
      {"And", {[](I a, I b) { return std::optional<I>(a != 0 && b != 0); }, nullptr, true}},
      {"Or", {[](I a, I b) { return std::optional<I>(a != 0 || b != 0); }, nullptr, true}}};
  const auto found = table.find(type);
  return found == table.end() ? nullptr : &found->second;
}

Folded Combine(const Binary& function, const Constant& a, const Constant& b) {
  const std::optional<Shape> shape = Broadcast(a.shape, b.shape);
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
      const auto value = function.integers(at(*a.integers, places_a, i), at(*b.integers, places_b, i));
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

// Also of more than two operands, as Min and Max have them.
Folded FoldBinary(const Binary& function, const Operands& operands) {
  Folded result = *operands[0].constant;
  for (size_t i = 1; i < operands.size() && result; ++i)
    result = Combine(function, *result, *operands[i].constant);
  return result;
}

Folded FoldUnary(std::string_view type, const Constant& from) {
  static const std::unordered_map<std::string_view, std::pair<int64_t (*)(int64_t), double (*)(double)>>
      table = {{"Neg", {[](int64_t a) { return -a; }, [](double a) { return -a; }}},
               {"Abs", {[](int64_t a) { return std::abs(a); }, [](double a) { return std::abs(a); }}},
               {"Not", {[](int64_t a) { return static_cast<int64_t>(a == 0); }, nullptr}},
               {"Floor", {nullptr, [](double a) { return std::floor(a); }}},
               {"Ceil", {nullptr, [](double a) { return std::ceil(a); }}},
               {"Round", {nullptr, [](double a) { return std::nearbyint(a); }}},
               {"Sqrt", {nullptr, [](double a) { return std::sqrt(a); }}},
               {"Reciprocal", {nullptr, [](double a) { return 1 / a; }}}};
  const auto found = table.find(type);
  if (found == table.end()) return std::nullopt;
  Constant to = from;
  if (to.integers && found->second.first != nullptr) {
    std::transform(to.integers->begin(), to.integers->end(), to.integers->begin(), found->second.first);
  } else if (to.reals && found->second.second != nullptr) {
    std::transform(to.reals->begin(), to.reals->end(), to.reals->begin(), found->second.second);
  } else {
    return std::nullopt;
  }
  return to;
}

Folded FoldWhere(const Node&, const Operands& operands) {
  const std::optional<Integers> choice = IntegersAt(operands, 0);
  const std::optional<Integers> yes = IntegersAt(operands, 1);
  const std::optional<Integers> no = IntegersAt(operands, 2);
  if (!choice || !yes || !no) return std::nullopt;
  std::optional<Shape> shape = Broadcast(ShapeAt(operands, 1), ShapeAt(operands, 2));
  if (shape) shape = Broadcast(*shape, ShapeAt(operands, 0));
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

// Over all elements of a list, as for the number of elements of a shape.
Folded FoldReduce(const Node& node, const Operands& operands) {
  const std::optional<Integers> values = IntegersAt(operands, 0);
  if (!values || ShapeAt(operands, 0).size() != 1) return std::nullopt;
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

std::optional<std::vector<Constant>> FoldSplit(const Node& node, const Operands& operands) {
  const std::optional<Integers> values = IntegersAt(operands, 0);
  if (!values || ShapeAt(operands, 0).size() != 1) return std::nullopt;
  Integers sizes = node.Ints("split");
  if (node.HasInput(1)) sizes = IntegersAt(operands, 1).value_or(Integers{});
  const auto parts = static_cast<int64_t>(node.outputs.size());
  const auto extent = static_cast<int64_t>(values->size());
  if (sizes.empty()) sizes.assign(node.outputs.size(), base::CeilDiv(extent, parts));
  std::vector<Constant> outputs;
  int64_t first = 0;
  for (const int64_t size : sizes) {
    const int64_t end = std::min(first + size, extent);
    if (size < 0 || end < first) return std::nullopt;
    outputs.push_back(FromIntegers({end - first}, operands[0].constant->type,
                                   Integers(values->begin() + first, values->begin() + end)));
    first = end;
  }
  if (outputs.size() != node.outputs.size()) return std::nullopt;
  return outputs;
}

using Rule = Folded (*)(const Node&, const Operands&);

Rule FindRule(std::string_view type) {
  static const std::unordered_map<std::string_view, Rule> table = {
      {"Constant", FoldConstant},   {"ConstantOfShape", FoldConstantOfShape},
      {"Range", FoldRange},         {"Identity", FoldIdentity},
      {"Dropout", FoldIdentity},    {"Squeeze", FoldSqueeze},
      {"Unsqueeze", FoldUnsqueeze}, {"Reshape", FoldReshape},
      {"Flatten", FoldFlatten},     {"Transpose", FoldTranspose},
      {"Gather", FoldGather},       {"Slice", FoldSlice},
      {"Expand", FoldExpand},       {"Concat", FoldConcat},
      {"Cast", FoldCast},           {"Where", FoldWhere},
      {"ReduceProd", FoldReduce},   {"ReduceSum", FoldReduce},
      {"ReduceMax", FoldReduce},    {"ReduceMin", FoldReduce}};
  const auto found = table.find(type);
  return found == table.end() ? nullptr : found->second;
}

Folded FoldOne(const Node& node, const Operands& operands) {
  if (node.type == "Shape" && !operands.empty()) return FoldShape(node, operands);
  if (node.type == "Size" && !operands.empty()) return FoldSize(node, operands);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.HasInput(i) && !HasConstant(operands, i)) return std::nullopt;
  }
  if (const Rule rule = FindRule(node.type)) {
    const bool makes = node.type == "Constant";
    return makes || HasConstant(operands, 0) ? rule(node, operands) : std::nullopt;
  }
  if (operands.empty() || !HasConstant(operands, 0)) return std::nullopt;
  if (const Binary* function = FindBinary(node.type)) return FoldBinary(*function, operands);
  return operands.size() == 1 ? FoldUnary(node.type, *operands[0].constant) : std::nullopt;
}

}  // namespace

std::optional<std::vector<Constant>> Fold(const Node& node, const std::vector<Known>& operands) {
  if (!node.domain.empty()) return std::nullopt;
  if (node.type == "Split") {
    if (!HasConstant(operands, 0)) return std::nullopt;
    return FoldSplit(node, operands);
  }
  Folded output = FoldOne(node, operands);
  if (!output) return std::nullopt;
  return std::vector<Constant>{*std::move(output)};
}

}  // namespace tessera::graph::onnx
