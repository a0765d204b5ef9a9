#include "tessera/search/orders/live_bytes.h"

#include <algorithm>

namespace tessera::search {

LiveBytes::LiveBytes(const graph::Graph& graph, const Precedence& precedence, std::span<const int64_t> bytes)
    : bytes_(bytes.begin(), bytes.end()),
      readers_(graph.tensors.size()),
      touched_(precedence.Count()),
      made_(precedence.Count()) {
  for (int node = 0; node < static_cast<int>(precedence.Count()); ++node) {
    std::vector<int>& touched = touched_[static_cast<size_t>(node)];
    const graph::Interval operators = precedence.OperatorsOf(node);
    for (int i = operators.first; i <= operators.last; ++i) {
      const graph::Operator& op = graph.operators[static_cast<size_t>(i)];
      touched.insert(touched.end(), op.inputs.begin(), op.inputs.end());
      touched.insert(touched.end(), op.outputs.begin(), op.outputs.end());
      for (const int tensor : op.outputs)
        made_[static_cast<size_t>(node)] += bytes_[static_cast<size_t>(tensor)];
    }
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    std::erase_if(touched, [&graph](int tensor) {
      const graph::Tensor& facts = graph.tensors[static_cast<size_t>(tensor)];
      return facts.network_output || facts.state || facts.constant;
    });
    for (const int tensor : touched) readers_[static_cast<size_t>(tensor)].push_back(node);
  }
  for (size_t tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    if (graph.tensors[tensor].network_input || graph.tensors[tensor].state) at_start_ += bytes_[tensor];
  }
}

int64_t LiveBytes::PeakOf(std::span<const int> order) const {
  std::vector<bool> done(made_.size());
  int64_t live = at_start_;
  int64_t peak = live;
  for (const int node : order) {
    live += MadeBy(node);
    peak = std::max(peak, live);
    live -= FreedBy(node, [&done](int other) { return done[static_cast<size_t>(other)]; });
    done[static_cast<size_t>(node)] = true;
  }
  return peak;
}

}  // namespace tessera::search
