#include "tessera/graph/yaml_weights.h"

#include <optional>
#include <string_view>
#include <vector>

#include "tessera/base/suggest.h"
#include "tessera/graph/shape_inference.h"
#include "tessera/graph/yaml_tensor.h"

// An entry of `weights` is a constant, or an operator that lends the weight that it owns:
//
//     constants   table                conv_a   no weights     owns conv_a.weights
//                                      conv_b   conv_a         reads conv_a.weights
//                                      conv_c   table          reads the constant, and owns nothing that could be lent
namespace tessera::graph {
namespace {

using base::YamlNode;

class Weights {
 public:
  Weights(std::span<const OperatorDraft> drafts, const std::map<std::string, int>& index_of, Graph& graph)
      : drafts_(drafts), index_of_(index_of), graph_(graph) {}

  // False where something is wrong.
  bool Connect(size_t index) {
    const OperatorDraft& draft = drafts_[index];
    Operator& op = graph_.operators[index];
    const YamlNode weights = draft.entry.Maybe("weights");
    if (!weights) {
      if (draft.own_weight) op.weights = {index_of_.at(op.id + ".weights")};
      return true;
    }
    const std::vector<YamlNode> nodes = weights.IsList() ? weights.Items() : std::vector<YamlNode>{weights};
    for (const YamlNode& node : nodes) {
      const std::optional<int> weight = Resolve(node, node.Text(), index);
      if (!weight) return false;
      op.weights.push_back(*weight);
    }
    return !draft.own_weight || Fits(*draft.own_weight, op, weights, nodes);
  }

 private:
  bool IsConstant(int tensor) const { return graph_.tensors[static_cast<size_t>(tensor)].constant; }

  // The tensor that an entry means.
  std::optional<int> Resolve(const YamlNode& node, const std::string& name, size_t index) const {
    const auto tensor = index_of_.find(name);
    if (tensor != index_of_.end() && IsConstant(tensor->second)) return tensor->second;
    const std::optional<int> other = FindOperator(graph_, name);
    if (!other || *other == static_cast<int>(index)) {
      node.Complain("unknown weights " + InQuotes(name), "a constant or another operator", Nearest(name));
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

  std::string Nearest(const std::string& name) const {
    std::vector<std::string_view> names;
    for (const auto& [id, tensor] : index_of_) {
      if (IsConstant(tensor)) names.push_back(id);
    }
    for (const Operator& op : graph_.operators) names.push_back(op.id);
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
    nodes.front().Complain("weights of shape " + ToText(found) + " do not fit operator " + InQuotes(op.id),
                           "weights of shape " + ToText(wanted));
    return false;
  }

  std::span<const OperatorDraft> drafts_;
  const std::map<std::string, int>& index_of_;
  Graph& graph_;
};

}  // namespace

void ConnectWeights(std::span<const OperatorDraft> drafts, const std::map<std::string, int>& index_of,
                    Graph& graph) {
  Weights weights(drafts, index_of, graph);
  for (size_t i = 0; i < drafts.size(); ++i) {
    if (!weights.Connect(i)) return;
  }
}

}  // namespace tessera::graph
