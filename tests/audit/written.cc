#include "written.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "draw_question.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "texts.h"
#ifdef TESSERA_ONNX
#include "tessera/graph/import/onnx/import_onnx.h"
#endif

namespace tessera::audit {
namespace {

using base::OperatorKind;
using graph::Graph;
using graph::Operator;
using graph::Tensor;

void Report(const std::string& kind, const std::string& what, const PlanRequest& question,
            const std::string& file, const std::string& text, Run& run) {
  run.Report({kind, what, question, {{file, text}}, {}});
}

void CheckYaml(const PlanRequest& question, base::Random& random, Run& run) {
  const std::string text = WriteYaml(random, question.network, /*shuffles=*/false);
  const base::Expected<Graph> read = graph::import::yaml::ReadNetwork(text, "as.yaml");
  if (!read)
    return Report("YAML is refused", base::Format(read.error()), question, "as.yaml", text, run);
  if (!(*read == question.network))
    Report("YAML gives another network", "as.yaml is not network.yaml", question, "as.yaml", text,
           run);
}

// Operators in any order: the reader sorts them, perhaps into another order than before.
void CheckShuffled(const PlanRequest& question, const Answer& before, base::Random& random,
                   Run& run) {
  const std::string text = WriteYaml(random, question.network, /*shuffles=*/true);
  const base::Expected<Graph> read = graph::import::yaml::ReadNetwork(text, "as.yaml");
  if (!read)
    return Report("shuffled YAML is refused", base::Format(read.error()), question, "as.yaml", text,
                  run);
  PlanRequest shuffled = question;
  shuffled.network = *read;
  const Answer after = run.Ask(shuffled);
  if (!after.fault.empty()) return;
  const std::string what = fmt::format("before: {}; after: {}", Describe(before), Describe(after));
  const bool contradict =
      (before.plan && after.IsInfeasible()) || (after.plan && before.IsInfeasible());
  if (contradict) return Report("shuffled YAML: infeasible", what, question, "as.yaml", text, run);
  if (!before.IsOptimal() || !after.IsOptimal()) return;
  if (IsLess(before.plan->score, after.plan->score) ||
      IsLess(after.plan->score, before.plan->score))
    Report("shuffled YAML: optimal is beaten", what, question, "as.yaml", text, run);
}

#ifdef TESSERA_ONNX

// The importer may drop or join reshapes and transposes, and all that follows from them may differ.
bool MayVanish(OperatorKind kind) {
  return base::TraitsOf(kind).moves_data && kind != OperatorKind::kPad &&
         kind != OperatorKind::kGather && kind != OperatorKind::kSlice;
}

// The difference between an imported operator and the one that was written; empty: none.
std::string FindDifference(const Graph& written, const Operator& op, const Graph& read,
                           const Operator& same) {
  // A mean over the rows and columns of a map is a global pool.
  if (op.kind == OperatorKind::kReduce && same.kind == OperatorKind::kGlobalPool) return "";
  if (op.kind != same.kind) return fmt::format("it is a {}", base::NameOf(same.kind));
  const auto shape = [](const Graph& network, int tensor) {
    return network.tensors[static_cast<size_t>(tensor)].shape;
  };
  if (shape(written, op.outputs[0]) != shape(read, same.outputs[0]))
    return "its result has another shape";
  if (!(op.window == same.window)) return "its window";
  if (op.kind != OperatorKind::kDepthwise && op.groups != same.groups) return "its groups";
  if (op.axes != same.axes) return "its axes";
  if (op.kind != OperatorKind::kResize) {
    if (op.own != same.own) return "the attributes of its kind";
  } else {
    const auto& before = op.Own<graph::ResizeAttributes>();
    const auto& after = same.Own<graph::ResizeAttributes>();
    if (before.mode != after.mode || before.coordinates != after.coordinates)
      return "how it resamples";
  }
  if (op.inputs.size() != same.inputs.size() || op.weights.size() != same.weights.size())
    return "its operands";
  if (!op.weights.empty() && shape(written, op.weights[0]) != shape(read, same.weights[0]))
    return "its filters";
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (shape(written, op.inputs[i]) != shape(read, same.inputs[i]))
      return "the shape of an operand";
  }
  return "";
}

// Every operator that computes is there, with its own attributes, and every output too.
std::string FindDifference(const Graph& written, const Graph& read) {
  for (const Tensor& tensor : written.tensors) {
    if (!tensor.network_output && !tensor.network_input && !tensor.state) continue;
    const auto found = graph::FindTensor(read, tensor.id);
    if (!found) return fmt::format("'{}' is gone", tensor.id);
    const Tensor& same = read.tensors[static_cast<size_t>(*found)];
    if (same.shape != tensor.shape || same.type != tensor.type ||
        same.network_output != tensor.network_output || same.state != tensor.state)
      return fmt::format("'{}' is another tensor", tensor.id);
  }
  for (const Operator& op : written.operators) {
    const std::string& name = written.tensors[static_cast<size_t>(op.outputs.front())].id;
    const auto maker =
        std::find_if(read.operators.begin(), read.operators.end(), [&](const Operator& other) {
          return read.tensors[static_cast<size_t>(other.outputs.front())].id == name;
        });
    if (maker == read.operators.end()) {
      if (!MayVanish(op.kind)) return fmt::format("nothing makes '{}'", name);
      continue;
    }
    if (MayVanish(op.kind)) continue;
    const std::string difference = FindDifference(written, op, read, *maker);
    if (!difference.empty()) return fmt::format("'{}': {}", name, difference);
  }
  return "";
}

void CheckOnnx(const PlanRequest& question, Run& run) {
  const std::optional<std::string> model = WriteOnnx(question.network);
  if (!model) return run.Count("not said in ONNX");
  run.Count("ONNX");
  graph::import::common::ImportOptions options;
  options.floats_as = question.network.tensors.front().type;
  for (const Tensor& tensor : question.network.tensors) {
    if (tensor.next_of >= 0)
      options.states.emplace_back(question.network.tensors[static_cast<size_t>(tensor.next_of)].id,
                                  tensor.id);
  }
  const auto import = graph::import::onnx::ImportOnnx(*model, "as.onnx", options);
  if (!import)
    return Report("ONNX is refused", base::Format(import.error()), question, "as.onnx", *model,
                  run);
  const std::string difference = FindDifference(question.network, import->graph);
  if (!difference.empty())
    Report("ONNX gives another network", difference, question, "as.onnx", *model, run);
}

#else

void CheckOnnx(const PlanRequest&, Run& run) { run.Count("not said in ONNX"); }

#endif

}  // namespace

PlanRequest DrawPlain(base::Random& random) {
  PlanRequest question = DrawPlanRequest(random, 6);
  if (random.Chance(0.3)) return question;
  Graph& network = question.network;
  std::set<int> taken;  // filters are not shared
  for (Tensor& tensor : network.tensors) {
    tensor.type = base::DataType::kInt8;
    tensor.stored_bytes = 0;
  }
  for (Operator& op : network.operators) {
    const bool has_filters = base::TraitsOf(op.kind).multiplies && !op.weights.empty();
    op.weights.resize(has_filters ? 1 : 0);
    if (has_filters && !taken.insert(op.weights[0]).second) {
      Tensor own = network.tensors[static_cast<size_t>(op.weights[0])];
      own.id += "_of_" + op.id;
      op.weights[0] = static_cast<int>(network.tensors.size());
      network.tensors.push_back(std::move(own));
    }
  }
  // Constants without a user are no part of the network, and the reader has its own order.
  const std::vector<graph::Usage> usages = graph::UsagesOf(network);
  std::vector<int> numbers;
  Graph used = network;
  used.tensors.clear();
  for (size_t i = 0; i < network.tensors.size(); ++i) {
    numbers.push_back(static_cast<int>(used.tensors.size()));
    if (usages[i].producer >= 0 || !usages[i].consumers.empty())
      used.tensors.push_back(network.tensors[i]);
  }
  for (Operator& op : used.operators) {
    for (std::vector<int>* list : {&op.inputs, &op.weights, &op.outputs}) {
      for (int& tensor : *list) tensor = numbers[static_cast<size_t>(tensor)];
    }
  }
  for (Tensor& tensor : used.tensors) {
    if (tensor.next_of >= 0) tensor.next_of = numbers[static_cast<size_t>(tensor.next_of)];
  }
  network =
      graph::import::yaml::ReadNetwork(graph::import::yaml::WriteNetworkJson(used), "drawn.json")
          .value();
  return question;
}

void CheckWritten(const PlanRequest& question, uint64_t seed, Run& run) {
  base::Random random(seed);
  CheckYaml(question, random, run);
  CheckOnnx(question, run);
  const Answer before = run.Ask(question);
  if (before.fault.empty()) CheckShuffled(question, before, random, run);
}

}  // namespace tessera::audit
