// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/text.h"
#include "tessera/graph/import/common/passes.h"
#include "tessera/graph/import/common/source_model.h"
#include "tessera/graph/ops/shape_inference.h"
#include "tessera/graph/regions.h"

namespace tessera::graph::import::common {

namespace {

bool Has(const std::vector<Declaration>& declarations, const std::string& name) {
  return std::any_of(declarations.begin(), declarations.end(),
                     [&name](const Declaration& each) { return each.name == name; });
}

base::Unexpected Unknown(const std::string& file, const std::string& what, const std::string& name,
                         const std::vector<Declaration>& declarations) {
  std::vector<std::string_view> names;
  names.reserve(declarations.size());
  for (const Declaration& each : declarations) names.emplace_back(each.name);
  base::Diagnostic fault;
  fault.file = file;
  fault.message = "--state: there is no network " + what + " '" + name + "'";
  fault.expected = "one of " + base::Join(names);
  fault.hint = base::DidYouMean(name, names);
  return base::Unexpected(std::move(fault));
}

// "past_key_values.0.key" becomes "present.0.key" or "present_key_values.0.key"; "past_0" becomes
// "present_0".
std::string OutputOf(const std::string& input, const Model& model) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kNames = {
      {{"past_key_values", "present"}, {"past", "present"}}};
  for (const auto& [past, present] : kNames) {
    const size_t place = input.find(past);
    if (place == std::string::npos) continue;
    std::string output = input;
    output.replace(place, past.size(), present);
    if (Has(model.outputs, output)) return output;
  }
  return "";
}

// Links the state with its next value, if an operator makes the output and it is not the next value
// of another state.
void LinkNext(const std::string& input, const std::string& output, Draft& draft) {
  if (draft.IsConstant(output)) return;
  Tensor& next = draft.TensorAt(draft.TensorOf(output));
  if (next.network_output && next.next_of < 0) next.next_of = draft.TensorOf(input);
}

}  // namespace

base::Expected<void> MarkStates(const Model& model,
                                const std::vector<std::pair<std::string, std::string>>& pairs,
                                const std::string& file, Draft& draft) {
  for (const auto& [input, output] : pairs) {
    if (!Has(model.inputs, input)) return Unknown(file, "input", input, model.inputs);
    if (!Has(model.outputs, output)) return Unknown(file, "output", output, model.outputs);
  }
  for (const Declaration& input : model.inputs) {
    const auto stated = std::find_if(pairs.begin(), pairs.end(),
                                     [&](const auto& pair) { return pair.first == input.name; });
    const std::string output = stated != pairs.end() ? stated->second : OutputOf(input.name, model);
    if (output.empty()) continue;
    Tensor& tensor = draft.TensorAt(draft.TensorOf(input.name));
    tensor.state = true;
    tensor.network_input = false;
    draft.report.Add(Report::Event::kState, input.name, "aliased with '" + output + "'");
    LinkNext(input.name, output, draft);
  }
  return {};
}

// An output of the file is a name of a value, and one value may have several names. In the graph an
// output is a tensor, which has one name. So the value itself leaves the network under one name:
// its own, or else the first of its names. Each further name is a copy:
//
//     relu -> a,  y1 = Identity(a),  y2 = Identity(a)    becomes    relu -> y1,
//                                                                   identity (y1) -> y2
//
// A network input or a constant that is an output under its own name needs no operator: it stays in
// place. Under another name an input is copied, and a constant becomes a constant of that name.
namespace {

class OutputMarker {
 public:
  OutputMarker(const Model& model, Draft& draft) : model_(model), draft_(draft) {
    for (const Node& node : model.nodes) {
      for (const std::string& output : node.outputs) makers_.emplace(output, &node);
    }
  }

  void Run() {
    std::vector<const Declaration*> renamed;
    for (const Declaration& output : model_.outputs) {
      const bool leaves =
          !draft_.IsConstant(output.name) && IsNamed(output) && !IsOutput(TensorOf(output));
      leaves ? MarkUnderItsName(output) : renamed.push_back(&output);
    }
    for (const Declaration* output : renamed) MarkUnderAnotherName(*output);
  }

 private:
  int TensorOf(const Declaration& output) const { return draft_.TensorOf(output.name); }
  bool IsOutput(int tensor) const { return draft_.TensorAt(tensor).network_output; }
  bool IsNamed(const Declaration& output) const {
    return draft_.TensorAt(TensorOf(output)).id == output.name;
  }

  void Mark(int tensor, const Declaration& output) {
    draft_.TensorAt(tensor).network_output = true;
    if (!output.doc.empty())
      draft_.TensorAt(tensor).annotations.emplace("x-doc_string", output.doc);
  }

  void MarkUnderItsName(const Declaration& output) {
    Mark(TensorOf(output), output);
    if (draft_.TensorAt(TensorOf(output)).network_input)
      draft_.report.Add(Report::Event::kAssumed, output.name,
                        "this output is a network input; it stays where it lies");
  }

  void MarkUnderAnotherName(const Declaration& output) {
    if (draft_.IsConstant(output.name)) return MarkConstant(output);
    const int tensor = TensorOf(output);
    const bool may_be_renamed = !IsOutput(tensor) && !draft_.TensorAt(tensor).network_input &&
                                draft_.FreeTensorName(output.name) == output.name;
    if (may_be_renamed) {
      draft_.Rename(tensor, output.name);
      return Mark(tensor, output);
    }
    const auto maker = makers_.find(output.name);
    draft_.report.Begin(maker == makers_.end() ? nullptr : maker->second);
    Operator copy;
    copy.id = maker == makers_.end() ? output.name : Report::NameOf(*maker->second);
    copy.kind = base::OperatorKind::kElementwise;
    copy.function = "identity";
    copy.inputs = {tensor};
    const Tensor of = draft_.TensorAt(tensor);
    const int made = draft_.AddOperator(std::move(copy), output.name, of.shape, of.type);
    if (draft_.TensorAt(made).id == output.name) draft_.BindFeature(output.name, made);
    Mark(made, output);
    draft_.report.Add(Report::Event::kAssumed, output.name,
                      "this output is a copy of '" + of.id + "'");
  }

  void MarkConstant(const Declaration& output) {
    if (!ops::IsCountable(draft_.ShapeOf(output.name))) {
      draft_.report.Add(Report::Event::kAssumed, output.name,
                        "this output has no elements; it is left out");
      return;
    }
    int tensor = draft_.WeightOf(output.name);
    if (IsOutput(tensor) || draft_.TensorAt(tensor).id != output.name) {
      const Tensor of = draft_.TensorAt(tensor);
      tensor = draft_.AddFeature(output.name, of.shape, of.type);
      draft_.TensorAt(tensor).constant = true;
    }
    Mark(tensor, output);
    draft_.report.Add(Report::Event::kAssumed, draft_.TensorAt(tensor).id,
                      "this output is a constant; it lies where constants do");
  }

  const Model& model_;
  Draft& draft_;
  std::unordered_map<std::string, const Node*> makers_;
};

}  // namespace

void MarkOutputs(const Model& model, Draft& draft) { OutputMarker(model, draft).Run(); }

namespace {

// Tensors by their position in the finished graph.
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
    return FileFault(file, "nothing is computed: no operator leads to an output",
                     "at least one operator");
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
    if (graph.tensors[i].constant && graph.tensors[i].network_output)
      order.Take(static_cast<int>(i));
  }
  for (const Operator& op : graph.operators) {
    for (const int output : op.outputs) order.Take(output);
  }
  order.Apply();
  return graph;
}

}  // namespace tessera::graph::import::common
