// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/choose/part.h"

#include <algorithm>
#include <utility>

namespace tessera::search::choose {

using problem::Problem;
using problem::Relation;

namespace {

void AddStandIns(const Problem& problem, const Items& items, const std::vector<bool>& chosen,
                 const problem::Fallbacks& fallbacks, StandIns which, Part& part) {
  for (size_t i = 0; i < items.all.size(); ++i) {
    if (chosen[i]) continue;
    for (const int index : items.all[i].buffers) {
      const problem::Buffer& buffer = problem.buffers[static_cast<size_t>(index)];
      const auto& fallback = fallbacks[static_cast<size_t>(index)];
      if (!fallback || (which == StandIns::kInPlace && fallback->memory != buffer.memory)) continue;
      part.problem.buffers.push_back(StandInFor(buffer, *fallback));
      part.buffers.push_back(index);
    }
  }
}

}  // namespace

Part PartOf(const Problem& problem, const Items& items, const std::vector<bool>& chosen,
            const problem::Fallbacks& fallbacks, StandIns which) {
  Part made;
  std::vector<int>& buffers = made.buffers;
  for (size_t i = 0; i < items.all.size(); ++i) {
    if (!chosen[i]) continue;
    buffers.insert(buffers.end(), items.all[i].buffers.begin(), items.all[i].buffers.end());
  }
  std::sort(buffers.begin(), buffers.end());
  std::vector<int> image(problem.buffers.size(), -1);
  Problem& part = made.problem;
  part.name = problem.name;
  part.memories = problem.memories;
  part.loops = problem.loops;
  for (size_t i = 0; i < buffers.size(); ++i) {
    image[static_cast<size_t>(buffers[i])] = static_cast<int>(i);
    part.buffers.push_back(problem.buffers[static_cast<size_t>(buffers[i])]);
  }
  const auto keeps = [&](int& first, int& second) {
    first = image[static_cast<size_t>(first)];
    second = image[static_cast<size_t>(second)];
    return first >= 0 && second >= 0;
  };
  for (Relation relation : problem.relations) {
    if (keeps(relation.first, relation.second)) part.relations.push_back(relation);
  }
  for (problem::Cost cost : problem.costs) {
    if (cost.kind != problem::CostKind::kReuse || keeps(cost.first, cost.second))
      part.costs.push_back(std::move(cost));
  }
  for (problem::Rule rule : problem.rules) {
    std::vector<int> kept;
    for (const int i : rule.buffers) {
      if (image[static_cast<size_t>(i)] >= 0) kept.push_back(image[static_cast<size_t>(i)]);
    }
    std::vector<std::pair<int, int>> pairs;
    for (auto [first, second] : rule.pairs) {
      if (keeps(first, second)) pairs.emplace_back(first, second);
    }
    if (kept.empty() && pairs.empty()) continue;
    rule.buffers = std::move(kept);
    rule.pairs = std::move(pairs);
    part.rules.push_back(std::move(rule));
  }
  made.chosen = buffers.size();
  if (!fallbacks.empty()) AddStandIns(problem, items, chosen, fallbacks, which, made);
  return made;
}

}  // namespace tessera::search::choose
