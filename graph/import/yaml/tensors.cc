// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string_view>
#include <vector>

#include "tessera/base/text.h"
#include "tessera/graph/import/yaml/read_sections.h"
#include "tessera/graph/ops/shape_inference.h"

namespace tessera::graph::import::yaml {

std::map<std::string, std::string> ReadAnnotations(const base::YamlNode& node) {
  std::map<std::string, std::string> annotations;
  for (auto& [key, text] : node.UserKeys()) annotations.emplace(key, text);
  return annotations;
}

base::DataType ReadType(const base::YamlNode& node, base::DataType otherwise) {
  return node ? static_cast<base::DataType>(node.OneOf(base::DataTypeNames())) : otherwise;
}

Shape ReadShape(const base::YamlNode& node) {
  constexpr size_t kMostAxes = 64;
  Shape shape = node.Integers(1, ops::kMostElements);
  if (shape.size() > kMostAxes) {
    node.Complain("a shape of " + std::to_string(shape.size()) + " axes", "at most 64 axes");
  }
  if (!ops::IsCountable(shape))
    node.Complain("shape " + ops::ToText(shape) + " is too large", "at most 2^56 elements");
  return shape;
}

Tensor ReadTensor(const base::YamlNode& entry, base::DataType default_type) {
  Tensor tensor;
  tensor.id = entry.At("id").Text();
  tensor.annotations = ReadAnnotations(entry);
  const base::YamlNode bytes = entry.Maybe("bytes");
  if (!bytes) {
    tensor.shape = ReadShape(entry.At("shape"));
    tensor.type = ReadType(entry.Maybe("dtype"), default_type);
    return tensor;
  }
  if (entry.Maybe("shape") || entry.Maybe("dtype")) {
    bytes.Complain("bytes together with shape or dtype", "bytes alone, or shape with dtype");
  }
  tensor.shape = {bytes.Integer(1, ops::kMostElements)};
  tensor.type = base::DataType::kUint8;
  return tensor;
}

namespace {

// The results of operators.
std::map<std::string, int> ResultsAmong(const std::map<std::string, int>& tensors,
                                        const Graph& graph) {
  const std::vector<Usage> usages = UsagesOf(graph);
  std::map<std::string, int> results;
  for (const auto& [name, tensor] : tensors) {
    if (usages[static_cast<size_t>(tensor)].producer >= 0) results.emplace(name, tensor);
  }
  return results;
}

void ComplainOfUnknown(const base::YamlNode& node, const std::map<std::string, int>& results) {
  std::vector<std::string_view> names;
  names.reserve(results.size());
  for (const auto& [name, tensor] : results) names.push_back(name);
  node.Complain("unknown tensor " + InQuotes(node.Text()), "the output of an operator",
                base::DidYouMean(node.Text(), names));
}

}  // namespace

void LinkStates(const NextValues& next_values, const std::map<std::string, int>& tensors,
                Graph& graph) {
  if (next_values.empty()) return;
  const std::map<std::string, int> results = ResultsAmong(tensors, graph);
  for (const auto& [state, node] : next_values) {
    const std::string name = node.Text();
    const auto found = results.find(name);
    if (found == results.end()) return ComplainOfUnknown(node, results);
    Tensor& next = graph.tensors[static_cast<size_t>(found->second)];
    const Tensor& now = graph.tensors[static_cast<size_t>(state)];
    if (next.next_of >= 0) {
      return node.Complain(InQuotes(name) + " is also the next value of " +
                               InQuotes(graph.tensors[static_cast<size_t>(next.next_of)].id),
                           "a tensor of its own for each state");
    }
    if (next.type != now.type) {
      return node.Complain("state " + InQuotes(now.id) + " is of type " +
                               std::string(NameOf(now.type)) + ", " + InQuotes(name) + " of type " +
                               std::string(NameOf(next.type)),
                           "the same type");
    }
    next.next_of = state;
  }
}

// An entry of `weights` is a constant, or an operator whose own weight is shared:
//
//     constants   table           conv_a   no weights     owns conv_a.weights
//                                 conv_b   conv_a         reads conv_a.weights
//                                 conv_c   table          reads the constant and owns no weight
//                                                         that could be shared
namespace {

using base::YamlNode;

class Weights {
 public:
  Weights(std::span<const OperatorDraft> drafts, const std::map<std::string, int>& index_of,
          Graph& graph)
      : drafts_(drafts), index_of_(index_of), graph_(graph) {}

  // Returns false on a fault.
  bool Connect(size_t index) {
    const OperatorDraft& draft = drafts_[index];
    Operator& op = graph_.operators[index];
    const YamlNode weights = draft.entry.Maybe("weights");
    if (!weights) {
      if (draft.own_weight) op.weights = {index_of_.at(op.id + ".weights")};
      return true;
    }
    const std::vector<YamlNode> nodes =
        weights.IsList() ? weights.Items() : std::vector<YamlNode>{weights};
    for (const YamlNode& node : nodes) {
      const std::optional<int> weight = Resolve(node, node.Text(), index);
      if (!weight) return false;
      op.weights.push_back(*weight);
    }
    return !draft.own_weight || Fits(*draft.own_weight, op, weights, nodes);
  }

 private:
  bool IsConstant(int tensor) const { return graph_.tensors[static_cast<size_t>(tensor)].constant; }

  // The tensor to which an entry refers.
  std::optional<int> Resolve(const YamlNode& node, const std::string& name, size_t index) const {
    const auto tensor = index_of_.find(name);
    if (tensor != index_of_.end() && IsConstant(tensor->second)) return tensor->second;
    const std::optional<int> other = FindOperator(graph_, name);
    if (!other || *other == static_cast<int>(index)) {
      node.Complain("unknown weights " + InQuotes(name), "a constant or another operator",
                    Nearest(name, index));
      return std::nullopt;
    }
    const OperatorDraft& lender = drafts_[static_cast<size_t>(*other)];
    if (lender.entry.Maybe("weights") || !lender.own_weight) {
      node.Complain("operator " + InQuotes(name) + " has no weights of its own",
                    "a constant, or an operator that owns its weights");
      return std::nullopt;
    }
    return index_of_.at(name + ".weights");
  }

  // An operator does not name its own weights.
  std::string Nearest(const std::string& name, size_t own) const {
    std::vector<std::string_view> names;
    for (const auto& [id, tensor] : index_of_) {
      if (IsConstant(tensor)) names.push_back(id);
    }
    for (size_t i = 0; i < graph_.operators.size(); ++i) {
      if (i != own) names.push_back(graph_.operators[i].id);
    }
    return base::DidYouMean(name, names);
  }

  bool Fits(const Shape& wanted, const Operator& op, const YamlNode& weights,
            const std::vector<YamlNode>& nodes) const {
    if (op.weights.empty()) {
      weights.Complain("no weights", "at least one");
      return false;
    }
    const Shape& found = graph_.tensors[static_cast<size_t>(op.weights.front())].shape;
    if (found == wanted) return true;
    nodes.front().Complain(
        "weights of shape " + ops::ToText(found) + " do not fit operator " + InQuotes(op.id),
        "weights of shape " + ops::ToText(wanted));
    return false;
  }

  std::span<const OperatorDraft> drafts_;
  const std::map<std::string, int>& index_of_;
  Graph& graph_;
};

}  // namespace

void ConnectWeights(std::span<const OperatorDraft> drafts,
                    const std::map<std::string, int>& index_of, Graph& graph) {
  Weights weights(drafts, index_of, graph);
  for (size_t i = 0; i < drafts.size(); ++i) {
    if (!weights.Connect(i)) return;
  }
}

}  // namespace tessera::graph::import::yaml
