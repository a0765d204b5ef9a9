// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/structure.h"
#include "tessera/search/engines/lazy/packing.h"

namespace tessera::search::engines::lazy {

using problem::Buffer;
using problem::Bytes;
using problem::Memory;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;

namespace {

std::optional<std::string> FindUnsupportedMemory(const Problem& problem, int m) {
  const Memory& memory = problem.memories[static_cast<size_t>(m)];
  if (!memory.modes.empty() && !problem::FindPermissiveMode(problem, m))
    return "the modes of memory '" + memory.name + "'";
  if (problem::HasPorts(memory)) return "the ports of memory '" + memory.name + "'";
  return std::nullopt;
}

bool IsBankRelation(RelationKind kind) {
  return kind == RelationKind::kSameBank || kind == RelationKind::kDifferentBank;
}

std::optional<std::string> FindUnsupportedRelation(const Problem& problem) {
  for (const Relation& relation : problem.relations) {
    const Buffer& first = problem.buffers[static_cast<size_t>(relation.first)];
    const Buffer& second = problem.buffers[static_cast<size_t>(relation.second)];
    const bool banks = !problem.memories[static_cast<size_t>(first.memory)].banks.empty();
    if (banks && IsBankRelation(relation.kind)) {
      return "the banks that '" + first.id + "' and '" + second.id + "' must share or not";
    }
  }
  return std::nullopt;
}

std::optional<Bytes> AddAll(const std::vector<Bytes>& terms) {
  Bytes sum = 0;
  for (const Bytes term : terms) {
    const auto next = base::CheckedAdd(sum, term);
    if (!next) return std::nullopt;
    sum = *next;
  }
  return sum;
}

}  // namespace

int64_t CountPairs(const Problem& problem) {
  int64_t pairs = 0;
  for (int m = 0; m < static_cast<int>(problem.memories.size()); ++m)
    pairs += CountMeetings(problem, m);
  return pairs;
}

std::optional<Bytes> HeightThatSuffices(const Problem& problem, const problem::Ladder* ladder) {
  std::vector<Bytes> terms = {0};
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    Bytes size = ladder != nullptr && !ladder->candidates.empty() ? 0 : problem.buffers[i].size;
    if (ladder != nullptr) {
      for (const problem::CandidateSizes& candidate : ladder->candidates)
        size = std::max(size, candidate.sizes[i]);
    }
    terms.insert(terms.end(), {size, problem::AlignmentOf(problem, problem.buffers[i])});
    const Bytes hint =
        // not a constraint; only affects the height
        std::min(problem.buffers[i].hint.value_or(0), kFarthest / 4);
    terms[0] = std::max({terms[0], problem.buffers[i].offset.value_or(0), hint});
  }
  for (const Memory& memory : problem.memories) {
    for (const problem::Reserved& reserved : memory.reserved)
      terms[0] = std::max(terms[0], reserved.range.end);
  }
  for (const Relation& relation : problem.relations) terms.push_back(std::abs(relation.delta));
  const auto height = AddAll(terms);
  return height && *height <= kFarthest ? height : std::nullopt;
}

std::optional<std::string> FindTooLarge(const Problem& problem, const problem::Ladder* ladder) {
  if (problem.buffers.size() > kMostBuffers) return "more than 4096 buffers";
  if (CountPairs(problem) > kMostPairs)
    return "more than 2000000 pairs of buffers that live together";
  if (!HeightThatSuffices(problem, ladder)) return "addresses beyond 2^60 bytes";
  return std::nullopt;
}

std::optional<std::string> FindUnpacked(const Problem& problem) {
  for (int m = 0; m < static_cast<int>(problem.memories.size()); ++m) {
    if (auto reason = FindUnsupportedMemory(problem, m)) return reason;
  }
  for (const Buffer& buffer : problem.buffers) {
    if (problem::BanksNarrow(problem, buffer)) {
      return "the banks that buffer '" + buffer.id + "' may touch";
    }
  }
  if (!problem.rules.empty()) return problem::Describe(problem.rules.front());
  return FindUnsupportedRelation(problem);
}

std::optional<std::string> FindUnsupported(const Problem& problem, const problem::Ladder* ladder) {
  if (auto reason = FindTooLarge(problem, ladder)) return reason;
  return FindUnpacked(problem);
}

}  // namespace tessera::search::engines::lazy
