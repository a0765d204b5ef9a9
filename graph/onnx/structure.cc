#include "tessera/graph/onnx/structure.h"

#include <algorithm>
#include <unordered_map>

#include "tessera/base/suggest.h"
#include "tessera/graph/topological_order.h"

namespace tessera::graph::onnx {
namespace {

constexpr int kGiven = -1;  // a network input or a constant

// By value, the index of the node that makes it, or kGiven.
using Makers = std::unordered_map<std::string, int>;

base::Expected<Makers> FindMakers(const Model& model, const std::string& file) {
  Makers makers;
  for (const Declaration& input : model.inputs) {
    if (!makers.emplace(input.name, kGiven).second)
      return FileFault(file, "network input '" + input.name + "' is declared twice", "a name of its own");
  }
  for (const auto& [name, constant] : model.constants) makers.emplace(name, kGiven);
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    for (const std::string& output : model.nodes[i].outputs) {
      if (output.empty()) continue;
      const auto [other, added] = makers.emplace(output, static_cast<int>(i));
      if (added) continue;
      const std::string first = other->second == kGiven
                                    ? "a network input or constant"
                                    : Describe(model.nodes[static_cast<size_t>(other->second)]);
      std::string message = "value '" + output + "' is also made by ";
      message += first;
      return base::Unexpected(FaultAt(file, model.nodes[i], message, "each value made once"));
    }
  }
  return makers;
}

std::string NearestValue(const std::string& name, const Makers& makers) {
  std::vector<std::string_view> names;
  for (const auto& [value, maker] : makers) names.push_back(value);
  std::sort(names.begin(), names.end());
  return base::DidYouMean(name, names);
}

std::string NamesAlong(const Model& model, const std::vector<int>& cycle) {
  std::string path;
  for (const int node : cycle) path += Describe(model.nodes[static_cast<size_t>(node)]) + " -> ";
  return path + Describe(model.nodes[static_cast<size_t>(cycle.front())]);
}

}  // namespace

std::string Describe(const Node& node) {
  const std::string name = !node.name.empty()      ? node.name
                           : !node.outputs.empty() ? node.outputs.front()
                                                   : "#" + std::to_string(node.index);
  return "operator '" + name + "' (" + node.type + ")";
}

base::Unexpected FileFault(const std::string& file, std::string message, std::string expected,
                           std::string hint) {
  base::Diagnostic fault;
  fault.file = file;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  fault.hint = std::move(hint);
  return base::Unexpected(std::move(fault));
}

base::Diagnostic FaultAt(const std::string& file, const Node& node, std::string message, std::string expected,
                         std::string hint) {
  base::Diagnostic fault;
  fault.file = file;
  fault.message = Describe(node) + ": " + std::move(message);
  fault.expected = std::move(expected);
  fault.hint = std::move(hint);
  return fault;
}

base::Expected<void> OrderNodes(Model& model, const std::string& file) {
  const base::Expected<Makers> makers = FindMakers(model, file);
  if (!makers) return base::Unexpected(makers.error());
  std::vector<std::vector<int>> dependencies(model.nodes.size());
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    const Node& node = model.nodes[i];
    std::vector<std::string> reads = node.inputs;
    reads.insert(reads.end(), node.captured.begin(), node.captured.end());
    for (const std::string& value : reads) {
      if (value.empty()) continue;
      const auto maker = makers->find(value);
      if (maker == makers->end()) {
        return base::Unexpected(FaultAt(file, node, "nobody makes its input '" + value + "'",
                                        "a network input, a constant or the output of an operator",
                                        NearestValue(value, *makers)));
      }
      if (maker->second != kGiven) dependencies[i].push_back(maker->second);
    }
  }
  for (const Declaration& output : model.outputs) {
    if (makers->count(output.name) == 0) {
      return FileFault(file, "nobody makes network output '" + output.name + "'", "the output of an operator",
                       NearestValue(output.name, *makers));
    }
  }
  const TopologicalOrder sorted = SortTopologically(dependencies);
  if (!sorted.cycle.empty()) {
    return FileFault(file, "operators depend on each other in a cycle: " + NamesAlong(model, sorted.cycle),
                     "inputs that are made before");
  }
  std::vector<Node> in_order;
  in_order.reserve(model.nodes.size());
  for (const int i : sorted.order) in_order.push_back(std::move(model.nodes[static_cast<size_t>(i)]));
  model.nodes = std::move(in_order);
  return {};
}

}  // namespace tessera::graph::onnx
