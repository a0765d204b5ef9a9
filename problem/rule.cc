#include "tessera/problem/rule.h"

#include <algorithm>
#include <array>

#include "tessera/problem/problem.h"

namespace tessera::problem {
namespace {

constexpr std::array<std::string_view, kRequirementKinds> kNames = {
    "offset",         "difference", "window",       "no_crossing", "natural_alignment", "banks", "same_bank",
    "different_bank", "distance",   "xor_distance", "guard",       "common_delta"};

bool IsUnder(const Rule& rule, const Problem& problem, int buffer) {
  return rule.sizes.Holds(problem.buffers[static_cast<size_t>(buffer)].size);
}

}  // namespace

std::string_view NameOf(RequirementKind kind) { return kNames[static_cast<size_t>(kind)]; }

std::span<const std::string_view> RequirementNames() { return kNames; }

bool IsPairwise(RequirementKind kind) {
  switch (kind) {
    case RequirementKind::kDifference:
    case RequirementKind::kSameBank:
    case RequirementKind::kDifferentBank:
    case RequirementKind::kDistance:
    case RequirementKind::kXorDistance:
    case RequirementKind::kCommonDelta:
      return true;
    case RequirementKind::kOffset:
    case RequirementKind::kWindow:
    case RequirementKind::kNoCrossing:
    case RequirementKind::kNaturalAlignment:
    case RequirementKind::kBanks:
    case RequirementKind::kGuard:
      return false;
  }
  return false;
}

std::vector<int> BuffersUnder(const Rule& rule, const Problem& problem) {
  std::vector<int> buffers;
  std::copy_if(rule.buffers.begin(), rule.buffers.end(), std::back_inserter(buffers),
               [&](int buffer) { return IsUnder(rule, problem, buffer); });
  return buffers;
}

std::vector<std::pair<int, int>> PairsUnder(const Rule& rule, const Problem& problem) {
  std::vector<std::pair<int, int>> pairs;
  std::copy_if(rule.pairs.begin(), rule.pairs.end(), std::back_inserter(pairs),
               [&](const std::pair<int, int>& pair) {
                 return IsUnder(rule, problem, pair.first) && IsUnder(rule, problem, pair.second);
               });
  return pairs;
}

std::vector<Guard> GuardsOf(const Problem& problem) {
  std::vector<Guard> guards;
  for (const Rule& rule : problem.rules) {
    if (rule.requirement.kind != RequirementKind::kGuard) continue;
    guards.resize(problem.buffers.size());
    for (const int buffer : BuffersUnder(rule, problem)) {
      Guard& guard = guards[static_cast<size_t>(buffer)];
      guard.before = std::max(guard.before, rule.requirement.before);
      guard.after = std::max(guard.after, rule.requirement.after);
    }
  }
  return guards;
}

std::string Describe(const Rule& rule) {
  if (!rule.name.empty()) return "rule '" + rule.name + "'";
  return "a rule of kind " + std::string(NameOf(rule.requirement.kind));
}

}  // namespace tessera::problem
