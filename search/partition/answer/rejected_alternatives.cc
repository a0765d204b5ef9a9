// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <optional>

#include "tessera/search/partition/answer/plan_assembly.h"

namespace tessera::search::partition::answer {
namespace {

using plan::RejectedAlternative;
using plan::RejectionCause;

bool IsRefused(const choices::Choice& choice) {
  return choice.verdict == choices::ChoiceStatus::kImpossible ||
         choice.verdict == choices::ChoiceStatus::kGivenUp;
}

// Returns one choice for each configuration. Of choices that differ only in results in place, one
// that may fit is preferred.
std::map<choices::TileConfig, const choices::Choice*> ByTileConfig(
    const choices::IntervalChoices& interval) {
  std::map<choices::TileConfig, const choices::Choice*> configs;
  for (const choices::Choice& choice : interval.Choices()) {
    const choices::Choice*& known = configs.try_emplace(choice.config, &choice).first->second;
    if (IsRefused(*known) && !IsRefused(choice)) known = &choice;
  }
  return configs;
}

class RejectedAlternatives {
 public:
  RejectedAlternatives(const choices::SearchContext& context,
                       const choices::IntervalChoices& interval, const cost::Cost& taken)
      : scale_(context.scale), interval_(interval), taken_(scale_.ScoreOf(taken)) {}

  // Returns alternatives to the tile and the policy of `chosen`. The cost of those that do not fit
  // is not always known; larger tiles are reported even without a cost.
  std::vector<RejectedAlternative> RejectedFor(const choices::Choice& chosen) const {
    std::vector<RejectedAlternative> better;
    std::vector<RejectedAlternative> larger;
    std::vector<RejectedAlternative> worse;
    const int64_t size = graph::ElementsOf(chosen.config.tile);
    for (const auto& [config, choice] : ByTileConfig(interval_)) {
      if (!(config < chosen.config) && !(chosen.config < config)) continue;
      const RejectedAlternative rejection = Reject(*choice);
      if (rejection.cause == RejectionCause::kScore) {
        worse.push_back(rejection);
      } else if (!rejection.score) {
        if (graph::ElementsOf(config.tile) > size) larger.push_back(rejection);
      } else if (rejection.score.value_or(0) < taken_) {
        better.push_back(rejection);
      }
    }
    const auto by_score = [](const RejectedAlternative& a, const RejectedAlternative& b) {
      return a.score < b.score;
    };
    std::stable_sort(better.begin(), better.end(), by_score);
    std::stable_sort(worse.begin(), worse.end(), by_score);
    std::stable_sort(larger.begin(), larger.end(),
                     [](const RejectedAlternative& a, const RejectedAlternative& b) {
                       return graph::ElementsOf(a.tile) < graph::ElementsOf(b.tile);
                     });
    better.insert(better.end(), larger.begin(), larger.end());
    better.resize(std::min(better.size(), kMostRejected));
    worse.resize(std::min(worse.size(), kMostRejected));
    better.insert(better.end(), worse.begin(), worse.end());
    return better;
  }

  // Returns the interval as an alternative, with the cost of its best choice or its bound.
  RejectedAlternative Whole() const {
    const RejectedAlternative bounded = Rejected(interval_.Bound());
    if (!interval_.IsExpanded()) return WithCause(bounded, choices::ChoiceStatus::kOpen);
    const choices::Choice* best = nullptr;
    for (const choices::Choice& choice : interval_.Choices()) {
      if (best == nullptr || IsBetter(choice, *best)) best = &choice;
    }
    if (best != nullptr) return Reject(*best);
    // kImpossible needs a proof for all tile shapes; a refusal of the encoder is not about the fit.
    const bool proven = interval_.IsComplete() && !interval_.Refusal();
    return WithCause(bounded,
                     proven ? choices::ChoiceStatus::kImpossible : choices::ChoiceStatus::kGivenUp);
  }

 private:
  bool IsBetter(const choices::Choice& a, const choices::Choice& b) const {
    if (IsRefused(a) != IsRefused(b)) return IsRefused(b);
    return scale_.ScoreOf(a.cost) < scale_.ScoreOf(b.cost);
  }

  RejectedAlternative Rejected(const cost::Cost& cost) const {
    RejectedAlternative rejection;
    rejection.interval = interval_.Interval();
    rejection.score = scale_.ScoreOf(cost);
    rejection.taken = taken_;
    return rejection;
  }

  RejectedAlternative Reject(const choices::Choice& choice) const {
    RejectedAlternative rejection = Rejected(choice.cost);
    if (!choice.priced) rejection.score.reset();
    rejection.tile = choice.config.tile;
    rejection.weights = choice.config.weights;
    rejection.halo = choice.config.halo;
    rejection.k_extent = choice.config.k_extent;
    rejection.serialized = choice.config.serialized;
    if (choice.verdict == choices::ChoiceStatus::kImpossible)
      rejection.needs_bytes = choice.peak_bytes;
    return WithCause(rejection, choice.verdict);
  }

  static RejectedAlternative WithCause(RejectedAlternative rejection,
                                       choices::ChoiceStatus verdict) {
    if (verdict == choices::ChoiceStatus::kImpossible) {
      rejection.cause = RejectionCause::kRoom;
    } else if (verdict == choices::ChoiceStatus::kGivenUp ||
               rejection.score.value_or(0) < rejection.taken) {
      rejection.cause = RejectionCause::kUndecided;
    } else {
      rejection.cause = RejectionCause::kScore;
    }
    return rejection;
  }

  const cost::Scale& scale_;
  const choices::IntervalChoices& interval_;
  double taken_;
};

// Returns the interval of two neighbours together, with the same boundary tensors kept around it;
// nullptr if it was not considered.
const choices::IntervalChoices* FindJoined(const paths::IntervalLattice& lattice,
                                           const paths::LatticeInterval& a,
                                           const paths::LatticeInterval& b) {
  const int first = a.choices.Interval().first;
  const int length = b.choices.Interval().last - first + 1;
  if (length > lattice.Longest()) return nullptr;
  for (const paths::LatticeInterval& crossing : lattice.Crossings(first, length)) {
    if (crossing.begin == a.begin && crossing.end == b.end && crossing.is_allowed)
      return &crossing.choices;
  }
  return nullptr;
}

}  // namespace

std::vector<RejectedAlternative> RejectedAlternativesOf(const choices::SearchContext& context,
                                                        const paths::PathSearch& paths,
                                                        const paths::Selection& selection,
                                                        size_t s) {
  // The ratio of a part implies nothing about the ratio of the whole.
  if (context.scale.WeighsRatios()) return {};
  const paths::Selected& subgraph = selection.subgraphs[s];
  const choices::Choice& chosen = subgraph.Chosen();
  std::vector<RejectedAlternative> rejections =
      RejectedAlternatives(context, subgraph.Choices(), chosen.cost).RejectedFor(chosen);
  if (s + 1 == selection.subgraphs.size()) return rejections;
  const paths::Selected& next = selection.subgraphs[s + 1];
  const cost::Cost apart = cost::Join(chosen.cost, next.Chosen().cost);
  if (const choices::IntervalChoices* joined =
          FindJoined(paths.Lattice(), *subgraph.interval, *next.interval))
    rejections.push_back(RejectedAlternatives(context, *joined, apart).Whole());
  return rejections;
}

}  // namespace tessera::search::partition::answer
