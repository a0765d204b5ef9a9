#include "tessera/graph/yaml_states.h"

#include <string_view>

#include "tessera/base/suggest.h"
#include "tessera/graph/yaml_tensor.h"

namespace tessera::graph {
namespace {

// The results of operators.
std::map<std::string, int> ResultsAmong(const std::map<std::string, int>& tensors, const Graph& graph) {
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

void LinkStates(const NextValues& next_values, const std::map<std::string, int>& tensors, Graph& graph) {
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
      return node.Complain("state " + InQuotes(now.id) + " is of type " + std::string(NameOf(now.type)) +
                               ", " + InQuotes(name) + " of type " + std::string(NameOf(next.type)),
                           "the same type");
    }
    next.next_of = state;
  }
}

}  // namespace tessera::graph
