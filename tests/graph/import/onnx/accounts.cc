// SPDX-License-Identifier: Apache-2.0

#include "accounts.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <set>

namespace tessera::graph::onnx {
namespace {

// A node of the file in plain values.
struct Step {
  std::string type;  // with its domain
  std::vector<std::string> inputs;
  std::vector<std::string> captured;  // read by the graphs inside it
  std::vector<std::string> outputs;
};

// Values of outer graphs that a graph inside a node reads.
void Capture(const ::onnx::GraphProto& graph, std::set<std::string> inner,
             std::set<std::string>& captured) {
  for (const auto& input : graph.input()) inner.insert(input.name());
  for (const auto& constant : graph.initializer()) inner.insert(constant.name());
  for (const auto& node : graph.node()) inner.insert(node.output().begin(), node.output().end());
  const auto read = [&](const std::string& name) {
    if (!name.empty() && inner.count(name) == 0) captured.insert(name);
  };
  for (const auto& node : graph.node()) {
    for (const std::string& input : node.input()) read(input);
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) Capture(attribute.g(), inner, captured);
    }
  }
  for (const auto& output : graph.output()) read(output.name());
}

// Operators that may return their first operand unchanged, where their attributes and constants
// have no effect or set only a data type.
bool MayHandOn(const std::string& type) {
  static const std::set<std::string> types = {
      "Identity",        "Dropout",   "Cast",      "CastLike", "Reshape",  "Flatten",
      "Squeeze",         "Unsqueeze", "Transpose", "Slice",    "Split",    "Pad",
      "Expand",          "Tile",      "Concat",    "Resize",   "Upsample", "QuantizeLinear",
      "DequantizeLinear"};
  return types.count(type) > 0 || type.starts_with("Reduce") ||
         type == "com.microsoft:QuantizeLinear" || type == "com.microsoft:DequantizeLinear";
}

bool MakesRandomNumbers(const std::string& type) {
  return type.starts_with("Random") || type == "Bernoulli" || type == "Multinomial";
}

class Accounts {
 public:
  Accounts(const std::string& bytes, const import::common::Import& import) : import_(import) {
    ::onnx::ModelProto model;
    if (!model.ParseFromString(bytes)) {
      Complain("the file cannot be read");
      return;
    }
    Read(model.graph());
    for (size_t i = 0; i < import.graph.tensors.size(); ++i)
      tensors_.emplace(import.graph.tensors[i].id, static_cast<int>(i));
    for (size_t i = 0; i < import.graph.operators.size(); ++i)
      operators_.emplace(import.graph.operators[i].id, static_cast<int>(i));
  }

  std::vector<std::string> Run() {
    if (complaints_.empty()) CheckNodes();
    if (!complaints_.empty()) return complaints_;
    CheckOrigins();
    for (size_t i = 0; i < steps_.size(); ++i) {
      CheckFate(i);
      if (IsLive(i) && IsThere(i)) CheckEdges(i);
    }
    CheckOutputs();
    return complaints_;
  }

 private:
  void Complain(std::string text) { complaints_.push_back(std::move(text)); }

  void Read(const ::onnx::GraphProto& graph) {
    for (const auto& constant : graph.initializer()) constants_.insert(constant.name());
    for (const auto& constant : graph.sparse_initializer())
      constants_.insert(constant.values().name());
    for (const auto& input : graph.input()) {
      if (constants_.count(input.name()) == 0) inputs_.insert(input.name());
    }
    for (const auto& output : graph.output()) outputs_.push_back(output.name());
    for (const auto& node : graph.node()) {
      Step& step = steps_.emplace_back();
      const bool own = node.domain().empty() || node.domain() == "ai.onnx";
      step.type = own ? node.op_type() : node.domain() + ":" + node.op_type();
      step.inputs = {node.input().begin(), node.input().end()};
      step.outputs = {node.output().begin(), node.output().end()};
      std::set<std::string> captured;
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_g()) Capture(attribute.g(), {}, captured);
      }
      step.captured = {captured.begin(), captured.end()};
      for (const std::string& output : step.outputs) {
        if (!output.empty()) maker_[output] = steps_.size() - 1;
      }
    }
  }

  std::string NameOf(size_t node) const {
    return "node " + std::to_string(node) + " (" + steps_[node].type + ", " +
           import_.nodes[node].name + ")";
  }

  void CheckNodes() {
    if (import_.nodes.size() != steps_.size())
      return Complain(std::to_string(steps_.size()) + " nodes, of which " +
                      std::to_string(import_.nodes.size()) + " are listed");
    for (size_t i = 0; i < steps_.size(); ++i) {
      const import::common::NodeFate& fate = import_.nodes[i];
      if (fate.node != static_cast<int>(i) || fate.type != steps_[i].type)
        Complain("entry " + std::to_string(i) + " is of another node");
      for (const std::string& op : fate.operators) {
        if (operators_.count(op) == 0)
          Complain(NameOf(i) + " became '" + op + "', which is not there");
      }
      if (IsThere(i) == fate.operators.empty())
        Complain(NameOf(i) + ": fate and operators do not agree");
    }
  }

  void CheckOrigins() {
    std::set<std::string> named;
    for (const import::common::NodeFate& fate : import_.nodes)
      named.insert(fate.operators.begin(), fate.operators.end());
    for (const Operator& op : import_.graph.operators) {
      const bool hands_on =
          op.function == "identity" && TensorAt(op.outputs.front()).network_output;
      if (named.count(op.id) == 0 && !hands_on)
        Complain("operator '" + op.id + "' comes from no node");
    }
  }

  const Tensor& TensorAt(int tensor) const {
    return import_.graph.tensors[static_cast<size_t>(tensor)];
  }

  bool IsThere(size_t node) const {
    const import::common::Fate fate = import_.nodes[node].fate;
    return fate == import::common::Fate::kOperator || fate == import::common::Fate::kBarrier ||
           fate == import::common::Fate::kFused;
  }

  // Operands whose elements reach the results. The second operand of a CastLike gives only its
  // type.
  std::vector<std::string> ReadsOf(const Step& step) const {
    std::vector<std::string> reads = step.inputs;
    if (step.type == "CastLike" && reads.size() > 1) reads.resize(1);
    reads.insert(reads.end(), step.captured.begin(), step.captured.end());
    std::erase(reads, "");
    return reads;
  }

  // Whether the value changes from run to run.
  bool Changes(const std::string& value) {
    const auto known = changes_.find(value);
    if (known != changes_.end()) return known->second;
    bool changes = inputs_.count(value) > 0;
    if (const auto maker = maker_.find(value); maker != maker_.end()) {
      const Step& step = steps_[maker->second];
      const std::vector<std::string> reads = ReadsOf(step);
      const bool by_shape = step.type == "Shape" || step.type == "Size";
      changes =
          MakesRandomNumbers(step.type) ||
          (!by_shape && std::any_of(reads.begin(), reads.end(),
                                    [this](const std::string& read) { return Changes(read); }));
    }
    changes_[value] = changes;
    return changes;
  }

  // Whether an output of the network depends on the node.
  bool IsLive(size_t node) {
    if (live_.empty()) {
      live_.assign(steps_.size(), false);
      std::vector<std::string> open = outputs_;
      while (!open.empty()) {
        const auto maker = maker_.find(open.back());
        open.pop_back();
        if (maker == maker_.end() || live_[maker->second]) continue;
        live_[maker->second] = true;
        const std::vector<std::string> reads = ReadsOf(steps_[maker->second]);
        open.insert(open.end(), reads.begin(), reads.end());
      }
    }
    return live_[node];
  }

  void CheckFate(size_t node) {
    const Step& step = steps_[node];
    const import::common::NodeFate& fate = import_.nodes[node];
    const bool changes = std::any_of(step.outputs.begin(), step.outputs.end(),
                                     [this](const std::string& output) { return Changes(output); });
    if (fate.fate == import::common::Fate::kFolded && changes)
      Complain(NameOf(node) + " changes from run to run, and is a constant");
    if (fate.fate == import::common::Fate::kBarrier && fate.reason.empty())
      Complain(NameOf(node) + " has no reason");
    if (fate.fate != import::common::Fate::kRemoved) return;
    if (fate.reason.empty()) Complain(NameOf(node) + " is removed without a reason");
    if (!IsLive(node) || !changes) return;
    if (!MayHandOn(step.type)) Complain(NameOf(node) + " is removed, and an output depends on it");
    const std::vector<std::string> reads = ReadsOf(step);
    for (size_t i = 1; i < reads.size(); ++i) {
      if (Changes(reads[i]))
        Complain(NameOf(node) + " is removed, and its operand '" + reads[i] + "' with it");
    }
  }

  // Tensors of the graph that hold the value.
  std::set<int> CarriersOf(const std::string& value) {
    const auto maker = maker_.find(value);
    if (maker == maker_.end()) {
      const auto tensor = tensors_.find(value);
      return tensor == tensors_.end() ? std::set<int>{} : std::set<int>{tensor->second};
    }
    const import::common::NodeFate& fate = import_.nodes[maker->second];
    const Step& step = steps_[maker->second];
    if (fate.fate == import::common::Fate::kRemoved && !step.inputs.empty())
      return CarriersOf(step.inputs.front());
    std::set<int> made;
    for (const std::string& id : fate.operators) {
      const Operator& op = OperatorNamed(id);
      made.insert(op.outputs.begin(), op.outputs.end());
    }
    const bool copies =
        !fate.operators.empty() && OperatorNamed(fate.operators.front()).function == "identity";
    if (copies) {  // a copy: others may read its operand instead
      made.merge(CarriersOf(step.inputs.front()));
      return made;
    }
    if (fate.fate == import::common::Fate::kFused) AddReshaped(made);
    const auto named = tensors_.find(value);
    return named == tensors_.end() ? made : std::set<int>{named->second};
  }

  const Operator& OperatorNamed(const std::string& id) const {
    return import_.graph.operators[static_cast<size_t>(operators_.at(id))];
  }

  // An elementwise operator behind a reshape may run before it. The reshape's result then holds the
  // value.
  void AddReshaped(std::set<int>& tensors) const {
    for (const Operator& op : import_.graph.operators) {
      if (op.kind == base::OperatorKind::kReshape && tensors.count(op.inputs.front()) > 0)
        tensors.insert(op.outputs.front());
    }
  }

  // Whether only reshapes are between the operator and the tensor. Elementwise operators behind
  // them may run before them.
  bool IsReshaped(const Operator& maker, int tensor) const {
    for (size_t i = import_.graph.operators.size(); i-- > 0;) {
      const Operator& op = import_.graph.operators[i];
      if (op.outputs.front() != tensor) continue;
      if (&op == &maker) return true;
      if (op.kind != base::OperatorKind::kReshape) return false;
      tensor = op.inputs.front();
    }
    return false;
  }

  void CheckEdges(size_t node) {
    for (const std::string& value : ReadsOf(steps_[node])) {
      if (!Changes(value)) continue;
      const std::set<int> carriers = CarriersOf(value);
      const auto carries = [&carriers](int tensor) { return carriers.count(tensor) > 0; };
      const std::vector<std::string>& ids = import_.nodes[node].operators;
      const bool fused = import_.nodes[node].fate == import::common::Fate::kFused;
      const bool read = std::any_of(ids.begin(), ids.end(), [&](const std::string& id) {
        const Operator& op = OperatorNamed(id);
        return std::any_of(op.inputs.begin(), op.inputs.end(), carries) ||
               std::any_of(op.outputs.begin(), op.outputs.end(), carries) ||
               (fused && std::any_of(carriers.begin(), carriers.end(),
                                     [&](int tensor) { return IsReshaped(op, tensor); }));
      });
      if (!read) Complain(NameOf(node) + " reads '" + value + "', and no operator of it does");
    }
  }

  void CheckOutputs() {
    std::map<std::string, int> wanted;
    for (const std::string& output : outputs_) ++wanted[output];
    size_t found = 0;
    for (const Tensor& tensor : import_.graph.tensors) found += tensor.network_output ? 1 : 0;
    if (found != outputs_.size())
      Complain(std::to_string(outputs_.size()) + " outputs, of which " + std::to_string(found) +
               " are there");
    for (const auto& [output, times] : wanted) {
      const auto tensor = tensors_.find(output);
      if (tensor == tensors_.end() || !TensorAt(tensor->second).network_output) {
        Complain("output '" + output + "' is not there");
      } else if (Changes(output)) {
        CheckOutput(output, tensor->second);
      }
    }
  }

  // Checks that the output's tensor holds its value, or is a copy of a tensor that does.
  void CheckOutput(const std::string& output, int tensor) {
    std::set<int> carriers = CarriersOf(output);
    for (const Operator& op : import_.graph.operators) {
      if (op.function == "identity" && carriers.count(op.inputs.front()) > 0)
        carriers.insert(op.outputs.begin(), op.outputs.end());
    }
    if (carriers.count(tensor) == 0) Complain("output '" + output + "' is another value");
  }

  const import::common::Import& import_;
  std::vector<Step> steps_;
  std::set<std::string> inputs_;
  std::set<std::string> constants_;
  std::vector<std::string> outputs_;
  std::map<std::string, size_t> maker_;
  std::map<std::string, int> tensors_;
  std::map<std::string, int> operators_;
  std::map<std::string, bool> changes_;
  std::vector<bool> live_;
  std::vector<std::string> complaints_;
};

}  // namespace

std::vector<std::string> FindUnaccounted(const std::string& bytes,
                                         const import::common::Import& import) {
  return Accounts(bytes, import).Run();
}

}  // namespace tessera::graph::onnx
