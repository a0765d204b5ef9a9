// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/common/draft.h"

#include <cctype>
#include <utility>

namespace tessera::graph::import::common {

tl::unexpected<Obstacle> Barrier(std::string reason) {
  return tl::unexpected(
      Obstacle{.reason = std::move(reason), .fault = false, .expected = "", .hint = ""});
}

tl::unexpected<Obstacle> Fault(std::string message, std::string expected, std::string hint) {
  return tl::unexpected(Obstacle{.reason = std::move(message),
                                 .fault = true,
                                 .expected = std::move(expected),
                                 .hint = std::move(hint)});
}

Outcome AsOutcome(const MadeTensor& made) {
  if (made) return {};
  return tl::unexpected(made.error());
}

std::optional<int> AxisFrom(int64_t axis, size_t rank) {
  const auto axes = static_cast<int64_t>(rank);
  if (axis < -axes || axis >= axes) return std::nullopt;
  return static_cast<int>(axis < 0 ? axis + axes : axis);
}

std::string SnakeCase(std::string_view name) {
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool begins_word =
        std::isupper(c) != 0 && i > 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if (begins_word) text += '_';
    text += static_cast<char>(std::tolower(c));
  }
  return text;
}

std::string Draft::FreeTensorName(const std::string& wanted) const {
  std::string name = wanted;
  for (int number = 2; tensor_names_.count(name) > 0; ++number)
    name = wanted + "." + std::to_string(number);
  return name;
}

void Draft::Rename(int tensor, const std::string& name) {
  tensor_names_.erase(TensorAt(tensor).id);
  tensor_names_.insert(name);
  TensorAt(tensor).id = name;
}

int Draft::AddFeature(const std::string& name, Shape shape, base::DataType type) {
  const int tensor = static_cast<int>(graph.tensors.size());
  Tensor& added = graph.tensors.emplace_back();
  added.id = FreeTensorName(name);
  added.shape = std::move(shape);
  added.type = type;
  tensor_names_.insert(added.id);
  return tensor;
}

void Draft::BindConstant(const std::string& name, Constant constant) {
  values_[name] = Value{-1, name};
  constants_[name] = std::move(constant);
}

void Draft::BindFeature(const std::string& name, int tensor) { values_[name] = Value{tensor, ""}; }

void Draft::BindAlias(const std::string& name, const std::string& of) {
  const Value value = values_.at(of);
  values_[name] = value;
}

const Shape& Draft::ShapeOf(const std::string& name) const {
  const Value& value = values_.at(name);
  return value.tensor < 0 ? constants_.at(value.constant).shape : TensorAt(value.tensor).shape;
}

base::DataType Draft::TypeOf(const std::string& name) const {
  const Value& value = values_.at(name);
  return value.tensor < 0 ? constants_.at(value.constant).type : TensorAt(value.tensor).type;
}

const Constant* Draft::ConstantOf(const std::string& name) const {
  const Value& value = values_.at(name);
  return value.tensor < 0 ? &constants_.at(value.constant) : nullptr;
}

int Draft::WeightOf(const std::string& name, const Shape& shape) {
  const std::string& constant = values_.at(name).constant;
  const auto known = weights_.find({constant, shape});
  if (known != weights_.end()) return known->second;
  const int tensor = AddFeature(constant, shape, constants_.at(constant).type);
  TensorAt(tensor).constant = true;
  weights_.emplace(std::pair(constant, shape), tensor);
  return tensor;
}

int Draft::AddOperator(Operator op, const std::string& output, Shape shape, base::DataType type) {
  const int tensor = AddFeature(output, std::move(shape), type);
  AddOperator(std::move(op), {tensor});
  return tensor;
}

void Draft::AddOperator(Operator op, std::vector<int> outputs) {
  const std::string wanted = op.id;
  for (int number = 2; !operator_names_.insert(op.id).second; ++number)
    op.id = wanted + "." + std::to_string(number);
  op.outputs = std::move(outputs);
  report.Made(op.id);
  graph.operators.push_back(std::move(op));
}

void Draft::Rewind(const Mark& mark, const Node& node) {
  for (size_t i = mark.operators; i < graph.operators.size(); ++i)
    operator_names_.erase(graph.operators[i].id);
  graph.operators.resize(mark.operators);
  for (size_t i = mark.tensors; i < graph.tensors.size(); ++i)
    tensor_names_.erase(graph.tensors[i].id);
  graph.tensors.resize(mark.tensors);
  std::erase_if(weights_, [&](const auto& weight) {
    return weight.second >= static_cast<int>(mark.tensors);
  });
  for (const std::string& output : node.outputs) values_.erase(output);
  report.Rewind(mark.report);
}

std::optional<std::vector<int64_t>> Translation::Integers(size_t i) const {
  if (!IsConstant(i)) return std::nullopt;
  return draft_.ConstantOf(node_.inputs[i])->integers;
}

std::optional<std::vector<double>> Translation::Reals(size_t i) const {
  if (!IsConstant(i)) return std::nullopt;
  return draft_.ConstantOf(node_.inputs[i])->reals;
}

std::optional<std::vector<int64_t>> Translation::Outline(size_t i) const {
  if (!IsConstant(i)) return std::nullopt;
  return draft_.ConstantOf(node_.inputs[i])->outline;
}

MadeTensor Translation::Append(Part part, std::string id, const std::string& output) {
  std::vector<Shape> shapes;
  for (const int input : part.inputs) shapes.push_back(ShapeOfTensor(input));
  const tl::expected<Shape, ops::ShapeFault> shape = ops::InferShape(part.op, part.wanted, shapes);
  if (!shape) return Fault(shape.error().message, shape.error().expected, shape.error().hint);
  part.op.id = std::move(id);
  part.op.annotations = node_.annotations;
  const base::DataType type = part.type.value_or(draft_.TensorAt(part.inputs.front()).type);
  part.op.inputs = std::move(part.inputs);
  return draft_.AddOperator(std::move(part.op), output, *shape, type);
}

MadeTensor Translation::Emit(Part part, std::string_view op_suffix,
                             std::string_view tensor_suffix) {
  MadeTensor made = Append(std::move(part), NameOfNode() + std::string(op_suffix),
                           node_.outputs.front() + std::string(tensor_suffix));
  if (made && tensor_suffix.empty()) BindOutput(0, *made);
  return made;
}

MadeTensor Translation::EmitOutput(Part part, size_t i) {
  MadeTensor made =
      Append(std::move(part), NameOfNode() + "/" + std::to_string(i), node_.outputs[i]);
  if (made) BindOutput(i, *made);
  return made;
}

MadeTensor Translation::Reshape(int tensor, const Shape& shape, std::string_view suffix) {
  if (ShapeOfTensor(tensor) == shape) return tensor;
  Part part;
  part.op.kind = base::OperatorKind::kReshape;
  part.wanted.shape = shape;
  part.inputs = {tensor};
  return Emit(std::move(part), suffix, suffix);
}

MadeTensor Translation::Broadcast(int tensor, const Shape& shape, std::string_view suffix) {
  Shape aligned = ShapeOfTensor(tensor);
  aligned.insert(aligned.begin(), shape.size() - aligned.size(), 1);
  size_t steps = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) steps += aligned[axis] == shape[axis] ? 0 : 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (aligned[axis] != shape[axis] && shape[axis] > kMostRepeats) {
      return Barrier("it repeats an axis " + std::to_string(shape[axis]) + " times, and at most " +
                     std::to_string(kMostRepeats) + " are listed");
    }
  }
  MadeTensor made =
      Reshape(tensor, aligned, steps == 0 ? std::string(suffix) : std::string(suffix) + "/rank");
  for (size_t axis = 0; made && axis < shape.size(); ++axis) {
    if (aligned[axis] == shape[axis]) continue;
    Part part;
    part.op.kind = base::OperatorKind::kGather;
    part.op.axis = static_cast<int>(axis);
    part.op.own = GatherAttributes{std::vector<int64_t>(static_cast<size_t>(shape[axis]), 0)};
    part.inputs = {*made};
    --steps;
    const std::string step =
        std::string(suffix) + (steps == 0 ? "" : "/axis" + std::to_string(axis));
    made = Emit(std::move(part), step, step);
  }
  return made;
}

MadeTensor Translation::EmitGather(int indices, Shape shape, base::DataType type) {
  Operator op;
  op.id = NameOfNode();
  op.kind = base::OperatorKind::kOpaque;
  op.inputs = {indices};
  op.macs = 0;
  op.accesses = {
      OperandAccess{.kind = ReadPattern::kElementwise, .window = {}, .every_channel = false}};
  op.annotations = node_.annotations;
  op.annotations.emplace("x-op_type", node_.type);
  const int made = draft_.AddOperator(std::move(op), node_.outputs.front(), std::move(shape), type);
  BindOutput(0, made);
  return made;
}

std::optional<Shape> Translation::DeclaredShape(size_t i) const {
  const auto found = draft_.declared.find(node_.outputs[i]);
  return found == draft_.declared.end() ? std::nullopt : found->second.shape;
}

void Translation::BindOutput(size_t i, int tensor) { draft_.BindFeature(node_.outputs[i], tensor); }

void Translation::Drop(const std::string& operand, std::string why) {
  draft_.BindAlias(node_.outputs.front(), operand);
  draft_.report.Add(Report::Event::kDropped, node_, std::move(why));
}

}  // namespace tessera::graph::import::common
