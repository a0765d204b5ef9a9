// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/base/text.h"
#include "tessera/base/vocabulary.h"
#include "tessera/base/yaml_reader.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/graph/import/yaml/read_sections.h"
#include "tessera/graph/ops/shape_inference.h"

// A network is read in four passes: declared tensors; the names of all operators, so that they may
// be in any order; each operator in topological order, with shape inference; finally constants and
// network outputs, because they refer to earlier names.
namespace tessera::graph::import::yaml {
namespace {

using base::YamlNode;

constexpr int64_t kMostStoredBytes = int64_t{1} << 56;

std::string Describe(const ops::Arity& arity) {
  if (arity.least == arity.most) return "exactly " + std::to_string(arity.least);
  if (arity.most > 2) return "at least " + std::to_string(arity.least);
  return std::to_string(arity.least) + " or " + std::to_string(arity.most);
}

class NetworkReader {
 public:
  explicit NetworkReader(base::YamlReader& reader) : reader_(reader), root_(reader.Root()) {}

  Graph Read() {
    ReadHead();
    ReadInputs();
    ReadConstants();
    ReadNames();
    SortDrafts();
    for (OperatorDraft& draft : drafts_) ReadOperator(draft);
    if (!reader_.Failed()) AddImplicitWeights();
    if (!reader_.Failed()) AddOperators();
    if (!reader_.Failed()) ConnectWeights(drafts_, index_of_, graph_);
    if (!reader_.Failed()) LinkStates(next_values_, index_of_, graph_);
    if (!reader_.Failed()) MarkOutputs();
    return std::move(graph_);
  }

 private:
  void ReadHead();
  void ReadInputs();
  void ReadConstants();
  void ReadNames();
  void ReadOpaqueOutputs(OperatorDraft& draft);
  void SortDrafts();
  std::vector<int> DependenciesOf(const OperatorDraft& draft,
                                  const std::map<std::string, int>& maker) const;
  void ComplainOfCycle(const std::vector<int>& cycle) const;
  void ReadOperator(OperatorDraft& draft);
  void ReadGrownShape(OperatorDraft& draft);
  void InferOutput(OperatorDraft& draft);
  void CheckTotals(const OperatorDraft& draft);
  void AddMacs(const OperatorDraft& draft, std::optional<int64_t> macs);
  void AddImplicitWeights();
  void AddOperators();
  void MarkOutputs();

  void Claim(std::map<std::string, Shape>& names, const YamlNode& node, const std::string& id,
             Shape shape) const;
  std::string NearestTensor(const std::string& name, const OperatorDraft& of = {}) const;

  base::YamlReader& reader_;
  YamlNode root_;
  Graph graph_;
  base::DataType default_type_ = base::DataType::kInt8;
  // every feature tensor by name, with its shape once inferred
  std::map<std::string, Shape> features_;
  std::map<std::string, Shape> constants_;
  std::map<std::string, int> index_of_;  // of tensors that have an index in the graph
  std::vector<OperatorDraft> drafts_;
  NextValues next_values_;
  int64_t total_macs_ = 0;
};

// Tensors of all kinds share one name space.
void NetworkReader::Claim(std::map<std::string, Shape>& names, const YamlNode& node,
                          const std::string& id, Shape shape) const {
  if (features_.count(id) + constants_.count(id) > 0) {
    node.Complain("duplicate tensor id " + InQuotes(id), "a name of its own");
  }
  names.emplace(id, std::move(shape));
}

// Returns a hint at the tensor with the nearest name that the operator does not make itself.
std::string NetworkReader::NearestTensor(const std::string& name, const OperatorDraft& of) const {
  std::vector<std::string_view> names;
  for (const auto& [id, shape] : features_) {
    const auto is_it = [&made = id](const Tensor& tensor) { return tensor.id == made; };
    if (std::none_of(of.made.begin(), of.made.end(), is_it)) names.push_back(id);
  }
  return base::DidYouMean(name, names);
}

void NetworkReader::ReadHead() {
  root_.OnlyKeys({"schema", "name", "dtype", "inputs", "constants", "operators", "outputs"});
  root_.At("schema").Integer(1, 1);
  graph_.name = root_.At("name").Text();
  default_type_ = ReadType(root_.Maybe("dtype"), base::DataType::kInt8);
  graph_.annotations = ReadAnnotations(root_);
}

void NetworkReader::ReadInputs() {
  const YamlNode inputs = root_.Maybe("inputs");
  if (!inputs) return;
  for (const YamlNode& entry : inputs.Items()) {
    entry.OnlyKeys({"id", "shape", "dtype", "state", "next"});
    Tensor tensor = ReadTensor(entry, default_type_);
    if (const YamlNode state = entry.Maybe("state")) tensor.state = state.Boolean();
    tensor.network_input = !tensor.state;
    if (const YamlNode next = entry.Maybe("next")) {
      if (!tensor.state)
        next.Complain("input " + InQuotes(tensor.id) + " is no state", "state: true with it");
      next_values_.emplace_back(static_cast<int>(graph_.tensors.size()), next);
    }
    Claim(features_, entry.Maybe("id"), tensor.id, tensor.shape);
    graph_.tensors.push_back(std::move(tensor));
  }
}

void NetworkReader::ReadConstants() {
  const YamlNode constants = root_.Maybe("constants");
  if (!constants) return;
  for (const YamlNode& entry : constants.Items()) {
    entry.OnlyKeys({"id", "shape", "dtype", "stored_bytes", "stored_by_ratio"});
    Tensor tensor = ReadTensor(entry, default_type_);
    tensor.constant = true;
    if (const YamlNode stored = entry.Maybe("stored_bytes"))
      tensor.stored_bytes = stored.Integer(1, kMostStoredBytes);
    if (const YamlNode by_ratio = entry.Maybe("stored_by_ratio")) {
      tensor.stored_by_ratio = by_ratio.Boolean();
      if (tensor.stored_by_ratio && tensor.stored_bytes == 0)
        by_ratio.Complain("'stored_by_ratio' without 'stored_bytes'", "both keys, or neither");
    }
    Claim(constants_, entry.Maybe("id"), tensor.id, tensor.shape);
    graph_.tensors.push_back(std::move(tensor));
  }
}

void NetworkReader::ReadNames() {
  const YamlNode operators = root_.At("operators");
  std::set<std::string> ids;
  for (const YamlNode& entry : operators.Items()) {
    if (reader_.Failed()) return;
    OperatorDraft& draft = drafts_.emplace_back();
    draft.entry = entry;
    draft.op.id = entry.At("id").Text();
    draft.op.kind =
        static_cast<base::OperatorKind>(entry.At("kind").OneOf(base::OperatorKindNames()));
    draft.op.annotations = ReadAnnotations(entry);
    if (!ids.insert(draft.op.id).second) {
      entry.At("id").Complain("duplicate operator id " + InQuotes(draft.op.id),
                              "a name of its own");
    }
    const bool opaque = draft.op.kind == base::OperatorKind::kOpaque;
    const YamlNode inputs = opaque ? entry.Maybe("inputs") : entry.At("inputs");
    if (inputs || !opaque) {
      for (const YamlNode& input : inputs.Items()) draft.operands.push_back(input.Text());
    }
    if (opaque) {
      ReadOpaqueOutputs(draft);
      continue;
    }
    const YamlNode output = entry.Maybe("output");
    Tensor tensor;
    tensor.id = output ? output.Text() : draft.op.id;
    tensor.type = ReadType(entry.Maybe("dtype"), default_type_);
    Claim(features_, output ? output : entry.At("id"), tensor.id, {});
    draft.made.push_back(std::move(tensor));
  }
  if (drafts_.empty()) operators.Complain("no operators", "at least one");
}

void NetworkReader::ReadOpaqueOutputs(OperatorDraft& draft) {
  const YamlNode outputs = draft.entry.At("outputs");
  for (const YamlNode& entry : outputs.Items()) {
    entry.OnlyKeys({"id", "shape", "bytes", "dtype"});
    Tensor tensor = ReadTensor(entry, default_type_);
    Claim(features_, entry.Maybe("id"), tensor.id, tensor.shape);
    draft.made.push_back(std::move(tensor));
  }
  if (draft.made.empty()) outputs.Complain("an opaque operator without outputs", "at least one");
}

// The drafts that make the operands. Complains about operands without a maker.
std::vector<int> NetworkReader::DependenciesOf(const OperatorDraft& draft,
                                               const std::map<std::string, int>& maker) const {
  std::vector<int> makers;
  const YamlNode inputs = draft.entry.Maybe("inputs");
  const std::vector<YamlNode> items = inputs ? inputs.Items() : std::vector<YamlNode>{};
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string& name = draft.operands[i];
    if (const auto made = maker.find(name); made != maker.end()) {
      makers.push_back(made->second);
    } else if (constants_.count(name) > 0) {
      items[i].Complain("constant " + InQuotes(name) + " as an input",
                        "a network input or the output of an operator",
                        "name constants under 'weights'");
    } else if (features_.count(name) == 0) {
      items[i].Complain("unknown input " + InQuotes(name),
                        "a network input or the output of an operator", NearestTensor(name, draft));
    }
  }
  return makers;
}

void NetworkReader::SortDrafts() {
  if (reader_.Failed()) return;
  std::map<std::string, int> maker;
  for (size_t i = 0; i < drafts_.size(); ++i) {
    for (const Tensor& tensor : drafts_[i].made) maker.emplace(tensor.id, static_cast<int>(i));
  }
  std::vector<std::vector<int>> dependencies;
  for (const OperatorDraft& draft : drafts_) dependencies.push_back(DependenciesOf(draft, maker));
  if (reader_.Failed()) return;
  const TopologicalOrder sorted = SortTopologically(dependencies);
  if (!sorted.cycle.empty()) return ComplainOfCycle(sorted.cycle);
  std::vector<OperatorDraft> in_order;
  for (const int i : sorted.order) in_order.push_back(std::move(drafts_[static_cast<size_t>(i)]));
  drafts_ = std::move(in_order);
}

void NetworkReader::ComplainOfCycle(const std::vector<int>& cycle) const {
  std::string path;
  for (const int i : cycle) path += drafts_[static_cast<size_t>(i)].op.id + " -> ";
  const OperatorDraft& first = drafts_[static_cast<size_t>(cycle.front())];
  first.entry.At("inputs").Complain(
      "operators depend on each other in a cycle: " + path + first.op.id,
      "inputs that are made before");
}

void NetworkReader::ReadOperator(OperatorDraft& draft) {
  if (reader_.Failed()) return;
  ReadAttributes(draft.entry, draft.operands.size(), draft.op, draft.wanted);
  const ops::Arity arity = ops::DefinitionOf(draft.op.kind).arity;
  if (draft.operands.size() < arity.least || draft.operands.size() > arity.most) {
    draft.entry.At("inputs").Complain(
        std::to_string(draft.operands.size()) + " inputs for operator " + InQuotes(draft.op.id),
        Describe(arity));
  }
  for (const std::string& operand : draft.operands)
    draft.operand_shapes.push_back(features_.at(operand));
  if (reader_.Failed()) return;
  if (draft.op.kind == base::OperatorKind::kOpaque) {
    CheckAccesses(draft.entry, draft.op, draft.operand_shapes, draft.made);
    AddMacs(draft, draft.op.macs);
  } else {
    InferOutput(draft);
  }
  if (!reader_.Failed()) ReadMeasured(draft.entry, draft.made.front().shape, draft.op);
}

// An elementwise operator may have extents that only its constants have, if its shape is stated.
void NetworkReader::ReadGrownShape(OperatorDraft& draft) {
  const YamlNode stated = draft.entry.Maybe("shape");
  const YamlNode weights = draft.entry.Maybe("weights");
  if (draft.op.kind != base::OperatorKind::kElementwise || !stated || !weights) return;
  draft.wanted.shape = ReadShape(stated);
  const auto add = [&](const YamlNode& name) {
    const auto constant = constants_.find(name.Text());
    if (constant != constants_.end()) draft.wanted.tables.push_back(constant->second);
  };
  if (weights.IsList()) {
    for (const YamlNode& name : weights.Items()) add(name);
  } else {
    add(weights);
  }
}

void NetworkReader::InferOutput(OperatorDraft& draft) {
  ReadGrownShape(draft);
  const tl::expected<Shape, ops::ShapeFault> shape =
      ops::InferShape(draft.op, draft.wanted, draft.operand_shapes);
  if (!shape) {
    const ops::ShapeFault& fault = shape.error();
    const YamlNode place =
        fault.attribute.empty() ? YamlNode() : draft.entry.Maybe(fault.attribute);
    (place ? place : draft.entry.At("id")).Complain(fault.message, fault.expected, fault.hint);
    return;
  }
  if (const YamlNode stated = draft.entry.Maybe("shape"); stated && ReadShape(stated) != *shape) {
    stated.Complain(
        "operator " + InQuotes(draft.op.id) + " has an output of shape " + ops::ToText(*shape),
        ops::ToText(*shape));
  }
  draft.made.front().shape = features_[draft.made.front().id] = *shape;
  CheckIndices(draft.entry, draft.op, draft.operand_shapes, draft.made.front().type);
  draft.own_weight = ops::WeightShapeOf(draft.op, draft.operand_shapes, *shape);
  draft.weight_type = ReadType(draft.entry.Maybe("weights_dtype"), default_type_);
  CheckTotals(draft);
}

// Elements are bounded by 2^56 here; the work per element is not.
void NetworkReader::CheckTotals(const OperatorDraft& draft) {
  const auto products = ops::DefinitionOf(draft.op.kind).products;
  if (products == nullptr) return;
  const YamlNode id = draft.entry.At("id");
  if (draft.own_weight && !ops::IsCountable(*draft.own_weight)) {
    id.Complain("weights of shape " + ops::ToText(*draft.own_weight) + " are too large",
                "at most 2^56 elements");
    return;
  }
  const int64_t depth = products(draft.op, draft.operand_shapes[0]).numerator;
  const std::optional<int64_t> macs = base::CheckedMul(ElementsOf(draft.made.front().shape), depth);
  if (macs) return AddMacs(draft, macs);
  id.Complain("multiply-accumulates of the network pass 2^62", "at most 2^62");
}

void NetworkReader::AddMacs(const OperatorDraft& draft, std::optional<int64_t> macs) {
  const std::optional<int64_t> total = base::CheckedAdd(total_macs_, macs.value_or(0));
  if (!total)
    draft.entry.At("id").Complain("multiply-accumulates of the network pass 2^62", "at most 2^62");
  total_macs_ = total.value_or(0);
}

// Adds a weight for each operator that names none.
void NetworkReader::AddImplicitWeights() {
  for (const OperatorDraft& draft : drafts_) {
    if (!draft.own_weight || draft.entry.Maybe("weights")) continue;
    Tensor weight;
    weight.id = draft.op.id + ".weights";
    weight.shape = *draft.own_weight;
    weight.type = draft.weight_type;
    weight.constant = true;
    Claim(constants_, draft.entry.At("id"), weight.id, weight.shape);
    graph_.tensors.push_back(std::move(weight));
  }
}

void NetworkReader::AddOperators() {
  for (OperatorDraft& draft : drafts_) {
    for (Tensor& tensor : draft.made) graph_.tensors.push_back(std::move(tensor));
  }
  for (size_t i = 0; i < graph_.tensors.size(); ++i)
    index_of_.emplace(graph_.tensors[i].id, static_cast<int>(i));
  size_t next = graph_.tensors.size();
  for (const OperatorDraft& draft : drafts_) next -= draft.made.size();
  for (OperatorDraft& draft : drafts_) {
    for (const std::string& operand : draft.operands)
      draft.op.inputs.push_back(index_of_.at(operand));
    for (size_t i = 0; i < draft.made.size(); ++i)
      draft.op.outputs.push_back(static_cast<int>(next++));
    graph_.operators.push_back(std::move(draft.op));
  }
}

// Unread tensors and next values of states are outputs. If outputs are listed, a tensor that is
// neither listed nor read is an error.
void NetworkReader::MarkOutputs() {
  const std::vector<Usage> usages = UsagesOf(graph_);
  const YamlNode outputs = root_.Maybe("outputs");
  for (const YamlNode& node : outputs ? outputs.Items() : std::vector<YamlNode>{}) {
    const std::string name = node.Text();
    const auto found = index_of_.find(name);
    if (found == index_of_.end())
      return node.Complain("unknown output " + InQuotes(name), "the name of a tensor",
                           NearestTensor(name));
    Tensor& tensor = graph_.tensors[static_cast<size_t>(found->second)];
    if (tensor.network_output)
      return node.Complain("duplicate output " + InQuotes(name), "each output once");
    tensor.network_output = true;
  }
  for (size_t i = 0; i < graph_.tensors.size(); ++i) {
    Tensor& tensor = graph_.tensors[i];
    if (tensor.next_of >= 0) tensor.network_output = true;
    if (usages[i].producer < 0 || !usages[i].consumers.empty() || tensor.network_output) continue;
    if (outputs) {
      const OperatorDraft& maker = drafts_[static_cast<size_t>(usages[i].producer)];
      return maker.entry.At("id").Complain(
          "no operator reads tensor " + InQuotes(tensor.id) + ", and it is no network output",
          "a reader, or an entry in 'outputs'");
    }
    tensor.network_output = true;
  }
}

}  // namespace

base::Expected<Graph> ReadNetwork(std::string_view text, const std::string& file_name) {
  const base::Expected<base::YamlFile> file = base::YamlFile::Parse(std::string(text), file_name);
  if (!file) return base::Unexpected(file.error());
  base::YamlReader reader(*file);
  Graph graph = NetworkReader(reader).Read();
  if (reader.Failed()) return base::Unexpected(reader.TakeFault());
  return graph;
}

}  // namespace tessera::graph::import::yaml
