// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/guided/learned_backtracking.h"

#include <optional>

#include "tessera/search/engines/guided/backtracking_model.h"

namespace tessera::search::engines::guided {

namespace {

constexpr BoostedTrees kModel = {kModelNodes, kModelRoots, kModelBase};
static_assert(IsWellFormed(kModel, kFeatures));
static_assert(sizeof(kModelNodes) + sizeof(kModelRoots) <= 100'000);

constexpr float kThreshold = 4;        // of the weighted score; valid targets are taught 5 to 10
constexpr float kWeightOfRoot = 0.7F;  // that of the last target is 1

std::optional<int> PickByModel(const MajorBacktrack& backtrack) {
  const auto last = static_cast<float>(backtrack.targets.back().point + 1);
  std::optional<int> best;
  float highest = kThreshold;
  for (const Target& target : backtrack.targets) {
    const float depth = static_cast<float>(target.point + 1) / last;
    const float weight = kWeightOfRoot + (1 - kWeightOfRoot) * depth;
    const float score = weight * Score(kModel, target.features);
    if (score < highest) continue;
    highest = score;
    best = target.point;
  }
  return best;
}

}  // namespace

BoostedTrees BacktrackingModel() { return kModel; }

Backtracking LearnedBacktracking() { return PickByModel; }

}  // namespace tessera::search::engines::guided
