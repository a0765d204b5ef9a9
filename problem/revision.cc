// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/revision.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "tessera/problem/well_formed.h"

namespace tessera::problem {
namespace {

base::Diagnostic RefusalOf(std::string message, std::string expected) {
  base::Diagnostic fault;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  return fault;
}

// The change of each buffer of the problem.
class Fates {
 public:
  explicit Fates(const Problem& problem) : removed_(problem.buffers.size()) {
    for (size_t i = 0; i < problem.buffers.size(); ++i) index_.emplace(problem.buffers[i].id, i);
    sizes_.resize(problem.buffers.size());
  }

  std::optional<base::Diagnostic> Read(const Revision& revision) {
    for (const std::string& id : revision.remove) {
      const auto at = FindUntouched(id);
      if (!at) return fault_;
      removed_[*at] = true;
    }
    for (const auto& [id, size] : revision.resize) {
      const auto at = FindUntouched(id);
      if (!at) return fault_;
      sizes_[*at] = size;
    }
    return std::nullopt;
  }

  bool IsRemoved(size_t buffer) const { return removed_[buffer]; }
  const std::optional<Bytes>& SizeOf(size_t buffer) const { return sizes_[buffer]; }

 private:
  std::optional<size_t> FindUntouched(std::string_view id) {
    const auto found = index_.find(id);
    if (found == index_.end()) {
      fault_ = RefusalOf("there is no buffer '" + std::string(id) + "' to change",
                         "ids of buffers of the problem");
      return std::nullopt;
    }
    if (removed_[found->second] || sizes_[found->second]) {
      fault_ = RefusalOf("the buffer '" + std::string(id) + "' is changed twice",
                         "each buffer once in remove or resize");
      return std::nullopt;
    }
    return found->second;
  }

  std::map<std::string_view, size_t> index_;
  std::vector<bool> removed_;
  std::vector<std::optional<Bytes>> sizes_;
  base::Diagnostic fault_;
};

// Changes indices of buffers to those of the revised problem. Relations, costs and parts of rules
// that name a removed buffer are removed.
void Renumber(const std::vector<int>& now, Problem& problem) {
  const auto number = [&now](int buffer) { return now[static_cast<size_t>(buffer)]; };
  const auto is_gone = [&number](int buffer) { return number(buffer) < 0; };
  std::erase_if(problem.relations, [&](const Relation& relation) {
    return is_gone(relation.first) || is_gone(relation.second);
  });
  for (Relation& relation : problem.relations) {
    relation.first = number(relation.first);
    relation.second = number(relation.second);
  }
  std::erase_if(problem.costs, [&](const Cost& cost) {
    return cost.kind == CostKind::kReuse && (is_gone(cost.first) || is_gone(cost.second));
  });
  for (Cost& cost : problem.costs) {
    if (cost.kind != CostKind::kReuse) continue;
    cost.first = number(cost.first);
    cost.second = number(cost.second);
  }
  for (Rule& rule : problem.rules) {
    std::erase_if(rule.buffers, is_gone);
    std::erase_if(rule.pairs, [&](const std::pair<int, int>& pair) {
      return is_gone(pair.first) || is_gone(pair.second);
    });
    for (int& buffer : rule.buffers) buffer = number(buffer);
    for (auto& [first, second] : rule.pairs) first = number(first), second = number(second);
  }
  std::erase_if(problem.rules,
                [](const Rule& rule) { return rule.buffers.empty() && rule.pairs.empty(); });
}

}  // namespace

base::Expected<RevisedProblem> Revise(const Problem& problem, const Revision& revision) {
  Fates fates(problem);
  if (auto fault = fates.Read(revision)) return base::Unexpected(*std::move(fault));
  RevisedProblem revised;
  revised.problem = problem;
  revised.problem.buffers.clear();
  revised.only_demands_more =
      revision.remove.empty() && problem.relations.empty() && problem.rules.empty();
  std::vector<int> now(problem.buffers.size(), -1);
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (fates.IsRemoved(i)) continue;
    now[i] = static_cast<int>(revised.problem.buffers.size());
    Buffer& buffer = revised.problem.buffers.emplace_back(problem.buffers[i]);
    const Bytes before = buffer.size;
    buffer.size = fates.SizeOf(i).value_or(before);
    revised.only_demands_more = revised.only_demands_more && buffer.size >= before;
    revised.former.push_back(static_cast<int>(i));
    revised.same.push_back(buffer.size == before);
  }
  Renumber(now, revised.problem);
  for (const Buffer& buffer : revision.add) revised.problem.buffers.push_back(buffer);
  revised.former.resize(revised.problem.buffers.size(), -1);
  revised.same.resize(revised.problem.buffers.size(), false);
  if (auto fault = CheckWellFormed(revised.problem)) return base::Unexpected(*std::move(fault));
  return revised;
}

}  // namespace tessera::problem
