// SPDX-License-Identifier: Apache-2.0

#include "written.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "draw_question.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/tests/graph/dependency_oracle.h"
#include "texts.h"
#ifdef TESSERA_ONNX
#include "tessera/graph/import/onnx/node_import.h"
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

// The operators that compute, and how many elements their filters have. Import may replace those
// that only move data; what these have moved is in the dependencies.
using Work = std::map<std::pair<OperatorKind, int64_t>, int>;
Work WorkOf(const Graph& network) {
  Work work;
  for (const Operator& op : network.operators) {
    if (base::TraitsOf(op.kind).moves_data) continue;
    // A mean over the rows and columns of a map is a global pool.
    const OperatorKind kind =
        op.kind == OperatorKind::kGlobalPool ? OperatorKind::kReduce : op.kind;
    int64_t filters = 0;
    if (!op.weights.empty())
      filters = graph::ElementsOf(network.tensors[static_cast<size_t>(op.weights.front())].shape);
    ++work[{kind, filters}];
  }
  return work;
}

// The same tensors enter and leave, each element depends on the same ones, by the same work.
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
  const graph::ElementDependencies expected = graph::ElementDependenciesOf(written);
  const graph::ElementDependencies found = graph::ElementDependenciesOf(read);
  for (const auto& [id, elements] : expected) {
    const auto same = found.find(id);
    if (same == found.end() || same->second != elements)
      return fmt::format("elements of '{}' depend on others", id);
  }
  const Work before = WorkOf(written);
  const Work after = WorkOf(read);
  for (const auto& [kind, count] : before) {
    const auto same = after.find(kind);
    if (same == after.end() || same->second != count)
      return fmt::format("there were {} of kind {} with {} filter elements", count,
                         base::NameOf(kind.first), kind.second);
  }
  return after.size() == before.size() ? "" : "there are other operators";
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
