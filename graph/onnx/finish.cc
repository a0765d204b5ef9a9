#include "tessera/graph/region.h"
#include "tessera/graph/onnx/finish.h"

#include <utility>
#include <vector>

#include "tessera/base/checked.h"
#include "tessera/graph/onnx/structure.h"

namespace tessera::graph::onnx {
namespace {

// Tensors by their place in the finished graph.
class Order {
 public:
  explicit Order(Graph& graph) : graph_(graph), place_of_(graph.tensors.size(), -1) {}

  void Take(int tensor) {
    int& place = place_of_[static_cast<size_t>(tensor)];
    if (place >= 0) return;
    place = static_cast<int>(tensors_.size());
    tensors_.push_back(std::move(graph_.tensors[static_cast<size_t>(tensor)]));
  }

  void Apply() {
    for (Operator& op : graph_.operators) {
      for (std::vector<int>* list : {&op.inputs, &op.weights, &op.outputs}) {
        for (int& tensor : *list) tensor = place_of_[static_cast<size_t>(tensor)];
      }
    }
    for (Tensor& tensor : tensors_) {
      if (tensor.next_of < 0) continue;
      tensor.next_of = place_of_[static_cast<size_t>(tensor.next_of)];
      const bool same_type =
          tensor.next_of >= 0 && tensors_[static_cast<size_t>(tensor.next_of)].type == tensor.type;
      if (!same_type) tensor.next_of = -1;
    }
    graph_.tensors = std::move(tensors_);
  }

 private:
  Graph& graph_;
  std::vector<int> place_of_;
  std::vector<Tensor> tensors_;
};

}  // namespace

base::Expected<Graph> Finish(Draft draft, const std::string& file) {
  Graph graph = std::move(draft.graph);
  if (graph.operators.empty())
    return FileFault(file, "nothing is computed: no operator leads to an output", "at least one operator");
  int64_t total = 0;
  for (const Operator& op : graph.operators) {
    const std::optional<int64_t> sum = base::CheckedAdd(total, MacsOf(graph, op));
    if (!sum) return FileFault(file, "more than 2^62 multiply-accumulates", "a network of fewer");
    total = *sum;
  }
  const std::vector<Usage> usages = UsagesOf(graph);
  Order order(graph);
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensors[i];
    const bool wanted = tensor.network_output || !usages[i].consumers.empty();
    if ((tensor.network_input || tensor.state) && wanted) order.Take(static_cast<int>(i));
  }
  for (const Operator& op : graph.operators) {
    for (const int weight : op.weights) order.Take(weight);
  }
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensors[i].constant && graph.tensors[i].network_output) order.Take(static_cast<int>(i));
  }
  for (const Operator& op : graph.operators) {
    for (const int output : op.outputs) order.Take(output);
  }
  order.Apply();
  return graph;
}

}  // namespace tessera::graph::onnx
