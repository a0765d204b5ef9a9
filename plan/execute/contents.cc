// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/execute/contents.h"

#include <fmt/core.h>

#include <algorithm>

#include "tessera/plan/index_box.h"

namespace tessera::plan::execute {

Contents::Contents(const graph::Graph& network, int64_t table_bytes_per_channel)
    : network_(network),
      tensors_(static_cast<int>(network.tensors.size())),
      operators_(static_cast<int>(network.operators.size())),
      table_bytes_per_channel_(table_bytes_per_channel) {
  for (const graph::Tensor& tensor : network.tensors) {
    if (base::BitsOf(tensor.type) < 8) cells_per_byte_ = 2;
  }
  tables_.assign(network.tensors.size(), {0});
  for (const graph::Operator& op : network.operators) {
    if (op.weights.empty()) continue;
    int64_t& bytes = tables_[static_cast<size_t>(op.weights.front())][0];
    bytes = std::max(bytes, TableBytes(op));
  }
}

int64_t Contents::TableBytes(const graph::Operator& op) const {
  if (op.weights.empty()) return 0;
  const graph::Shape& shape = network_.tensors[static_cast<size_t>(op.weights.front())].shape;
  const bool columns = op.kind == base::OperatorKind::kMatmul;
  return (shape.empty() ? 1 : columns ? shape.back() : shape.front()) * table_bytes_per_channel_;
}

int64_t Contents::CellsPerElement(int content) const {
  if (content >= PartialSumsOf(0) && content < Spoiled()) {
    const graph::Operator& op = network_.operators[static_cast<size_t>(content - PartialSumsOf(0))];
    const int typical = op.inputs.empty() ? op.outputs.front() : op.inputs.front();
    const base::DataType type = network_.tensors[static_cast<size_t>(typical)].type;
    return base::BitsOf(base::AccumulatorOf(type)) * cells_per_byte_ / 8;
  }
  if (content >= tensors_) return cells_per_byte_;
  return base::BitsOf(network_.tensors[static_cast<size_t>(content)].type) * cells_per_byte_ / 8;
}

const graph::Shape& Contents::ShapeOf(int content) const {
  if (content >= PartialSumsOf(0) && content < Spoiled()) {
    const graph::Operator& op = network_.operators[static_cast<size_t>(content - PartialSumsOf(0))];
    return network_.tensors[static_cast<size_t>(op.outputs.front())].shape;
  }
  return content < tensors_ ? network_.tensors[static_cast<size_t>(content)].shape
                            : tables_[static_cast<size_t>(content - tensors_)];
}

std::string Contents::NameOf(int content) const {
  const auto tensor = [&](int index) { return network_.tensors[static_cast<size_t>(index)].id; };
  if (content < 0) return "nothing";
  if (content < tensors_) return fmt::format("'{}'", tensor(content));
  if (content < 2 * tensors_) return fmt::format("the table of '{}'", tensor(content - tensors_));
  if (content < 3 * tensors_) return fmt::format("a pad of '{}'", tensor(content - 2 * tensors_));
  if (content < PartialSumsOf(0)) {
    return fmt::format("scratch of '{}'",
                       network_.operators[static_cast<size_t>(content - 3 * tensors_)].id);
  }
  if (content < Spoiled()) {
    return fmt::format("incomplete sums of '{}'",
                       network_.operators[static_cast<size_t>(content - PartialSumsOf(0))].id);
  }
  return content == Lost() ? "what is lost" : "what a gap may hold";
}

std::vector<int64_t> Contents::CoordinatesOf(Tag tag) const {
  const int content = ContentOf(tag);
  if (content < 0 || content >= 2 * tensors_) return {};
  return plan::CoordinatesOf(NumberOf(tag) / CellsPerElement(content), ShapeOf(content));
}

bool Contents::IsSameElement(Tag a, Tag b) const {
  if (ShapeOf(ContentOf(a)) == ShapeOf(ContentOf(b))) return NumberOf(a) == NumberOf(b);
  const int64_t cells = CellsPerElement(ContentOf(a));
  return NumberOf(a) % cells == NumberOf(b) % cells && CoordinatesOf(a) == CoordinatesOf(b);
}

std::string Contents::Describe(Tag tag) const {
  const int content = ContentOf(tag);
  const std::string name = NameOf(content);
  if (content >= PartialSumsOf(0) && content < Spoiled()) {
    const int64_t number = NumberOf(tag) / CellsPerElement(content);
    const int64_t elements = graph::ElementsOf(ShapeOf(content));
    return fmt::format("{} {} over slices 0 to {}", name,
                       TextOf(plan::CoordinatesOf(number % elements, ShapeOf(content))),
                       number / elements);
  }
  return content >= 0 && content < 2 * tensors_ ? name + " " + TextOf(CoordinatesOf(tag)) : name;
}

std::string TextOf(const std::vector<int64_t>& coordinates) {
  std::string text;
  for (const int64_t index : coordinates)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", index);
  return "[" + text + "]";
}

}  // namespace tessera::plan::execute
