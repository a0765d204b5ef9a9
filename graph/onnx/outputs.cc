#include "tessera/graph/onnx/outputs.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "tessera/graph/shape_inference.h"

// An output of the file is a name of a value, and one value may have several. In the graph an output is a tensor, which has one name.
// So a value leaves the network by itself under the first of its names, its own before others; each further name is a copy:
//
//     relu -> a,  y1 = Identity(a),  y2 = Identity(a)     becomes     relu -> y1,  identity (y1) -> y2
//
// A network input or a constant that is an output under its own name needs no operator: it stays where it lies. Under another name
// an input is copied, and a constant is a constant of that name.
namespace tessera::graph::onnx {
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
      const bool leaves = !draft_.IsConstant(output.name) && IsNamed(output) && !IsOutput(TensorOf(output));
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
    if (!output.doc.empty()) draft_.TensorAt(tensor).annotations.emplace("x-doc_string", output.doc);
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
    draft_.report.Add(Report::Event::kAssumed, output.name, "this output is a copy of '" + of.id + "'");
  }

  void MarkConstant(const Declaration& output) {
    if (!IsCountable(draft_.ShapeOf(output.name))) {
      draft_.report.Add(Report::Event::kAssumed, output.name, "this output has no elements; it is left out");
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

}  // namespace tessera::graph::onnx
