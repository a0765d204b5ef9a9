#include "tessera/search/partition/demand_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tessera/base/suggest.h"

namespace tessera::search {
namespace {

template <typename Named>
base::Expected<int> FindNamed(const std::vector<Named>& all, std::string_view id, std::string_view what) {
  const auto found = std::find_if(all.begin(), all.end(), [id](const Named& each) { return each.id == id; });
  if (found != all.end()) return static_cast<int>(found - all.begin());
  std::vector<std::string_view> names;
  names.reserve(all.size());
  for (const Named& each : all) names.push_back(each.id);
  base::Diagnostic fault;
  fault.message = fmt::format("the network has no {} '{}'", what, id);
  fault.expected = fmt::format("the id of one of its {}s", what);
  fault.hint = base::DidYouMean(id, names);
  return base::Unexpected(fault);
}

}  // namespace

base::Expected<int> LookUpOperator(const graph::Graph& graph, std::string_view id) {
  return FindNamed(graph.operators, id, "operator");
}

base::Expected<int> LookUpTensor(const graph::Graph& graph, std::string_view id) {
  return FindNamed(graph.tensors, id, "tensor");
}

}  // namespace tessera::search
