// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "tessera/encoder/formulation/refinements.h"
#include "tessera/problem/structure.h"

// Consider two buffers with the same sizes, lives, accesses, alignment, span, banks and memory,
// neither of which is fixed or named by a relation, a rule or a cost. They occur in all constraints
// in the same way. So if the offsets of the two are exchanged in a solution, the result is a
// solution. The buffers live together, so they are disjoint, and exchanges bring each group into
// any order from the bottom up. Hints are not constraints and may differ; they determine the order
// of a group.
//
// The rule is compatible with normal positions, which are equal for interchangeable buffers.
namespace tessera::encoder::formulation {
namespace {

using problem::Access;
using problem::Buffer;
using problem::Bytes;
using problem::Problem;

std::vector<bool> FindNamed(const Problem& problem) {
  std::vector<bool> named(problem.buffers.size(), false);
  const auto name = [&named](int buffer) { named[static_cast<size_t>(buffer)] = true; };
  for (const problem::Relation& relation : problem.relations)
    name(relation.first), name(relation.second);
  for (const problem::Rule& rule : problem.rules) {
    for (const int buffer : rule.buffers) name(buffer);
    for (const auto& [first, second] : rule.pairs) name(first), name(second);
  }
  return named;
}

// The properties that must be equal for two buffers to be interchangeable.
struct InterchangeKey {
  int memory;
  std::vector<Bytes> sizes;  // by candidate
  std::vector<std::pair<problem::Step, problem::Step>> lives;
  Bytes alignment;
  problem::Span span;
  std::vector<int> banks;
  std::vector<std::tuple<problem::Step, std::string, problem::AccessKind>> accesses;  // ascending
  int index;

  auto Key() const { return std::tie(memory, sizes, lives, alignment, span, banks, accesses); }
};

InterchangeKey InterchangeKeyOf(const Problem& problem, const problem::Ladder* ladder,
                                size_t index) {
  const Buffer& buffer = problem.buffers[index];
  InterchangeKey interchange_key{buffer.memory,
                                 problem::SizesOf(problem, ladder, index),
                                 {},
                                 AlignmentOf(problem, buffer),
                                 buffer.span,
                                 buffer.allowed_banks,
                                 {},
                                 static_cast<int>(index)};
  for (const problem::Lifespan& life : buffer.lifespans)
    interchange_key.lives.emplace_back(life.lower, life.upper);
  for (const Access& access : buffer.accesses) {
    interchange_key.accesses.emplace_back(access.step, access.engine, access.kind);
  }
  std::sort(interchange_key.accesses.begin(), interchange_key.accesses.end());
  return interchange_key;
}

}  // namespace

std::vector<std::vector<int>> FindInterchangeable(const Problem& problem,
                                                  const problem::Ladder* ladder) {
  std::vector<std::vector<int>> groups;
  if (!problem.costs.empty()) return groups;
  const std::vector<bool> named = FindNamed(problem);
  std::vector<InterchangeKey> all;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (!named[i] && !problem.buffers[i].offset)
      all.push_back(InterchangeKeyOf(problem, ladder, i));
  }
  std::stable_sort(all.begin(), all.end(), [](const InterchangeKey& a, const InterchangeKey& b) {
    return a.Key() < b.Key();
  });
  for (size_t k = 1; k < all.size(); ++k) {
    if (all[k - 1].Key() != all[k].Key()) continue;
    const bool goes_on = !groups.empty() && groups.back().back() == all[k - 1].index;
    if (!goes_on) groups.push_back({all[k - 1].index});
    groups.back().push_back(all[k].index);
  }
  // Buffers with lower hints come first.
  const auto hint = [&](int i) {
    return problem.buffers[static_cast<size_t>(i)].hint.value_or(std::numeric_limits<Bytes>::max());
  };
  for (std::vector<int>& group : groups) {
    std::stable_sort(group.begin(), group.end(), [&](int a, int b) { return hint(a) < hint(b); });
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

}  // namespace tessera::encoder::formulation
