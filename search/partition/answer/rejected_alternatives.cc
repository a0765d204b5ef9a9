// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tessera/search/partition/answer/plan_assembly.h"

namespace tessera::search::partition::answer {
namespace {

using plan::RejectedAlternative;
using plan::RejectionCause;

bool IsRefused(const choices::Choice& choice) {
  return choice.verdict == choices::ChoiceStatus::kImpossible ||
         choice.verdict == choices::ChoiceStatus::kGivenUp;
}

class RejectedAlternatives {
 public:
  RejectedAlternatives(const choices::SearchContext& context,
                       const choices::IntervalChoices& interval, const cost::Cost& taken)
      : scale_(context.scale), interval_(interval), taken_(scale_.ScoreOf(taken)) {}

  // Returns alternatives to the tile and the policy of `chosen`. The cost of those that do not fit
  // is not always known; larger tiles are reported even without a cost.
  std::vector<RejectedAlternative> RejectedFor(const choices::Choice& chosen) const {
    std::vector<Ranked> better;
    std::vector<Ranked> larger;
    std::vector<Ranked> worse;
    const int64_t size = graph::ElementsOf(chosen.config.tile);
    for (const choices::Choice& choice : interval_.Choices()) {
      if (choice.config == chosen.config) continue;
      const double score = scale_.ScoreOf(choice.cost);
      if (CauseOf(choice.verdict, choice.priced ? score : 0) == RejectionCause::kScore) {
        worse.push_back({score, &choice});
      } else if (!choice.priced) {
        const int64_t elements = graph::ElementsOf(choice.config.tile);
        if (elements > size) larger.push_back({static_cast<double>(elements), &choice});
      } else if (score < taken_) {
        better.push_back({score, &choice});
      }
    }
    std::vector<RejectedAlternative> rejections;
    AppendFirst(std::move(better), kMostRejected, rejections);
    AppendFirst(std::move(larger), kMostRejected, rejections);
    AppendFirst(std::move(worse), rejections.size() + kMostRejected, rejections);
    return rejections;
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
  struct Ranked {
    double rank = 0;  // the score, or the size of the tile
    const choices::Choice* choice = nullptr;
  };

  // Appends the choices of least rank until there are `most` rejections. Of equal ranks, the first
  // configuration comes first.
  void AppendFirst(std::vector<Ranked> ranked, size_t most,
                   std::vector<RejectedAlternative>& rejections) const {
    const auto is_after = [](const Ranked& a, const Ranked& b) {
      return a.rank != b.rank ? a.rank > b.rank : b.choice->config < a.choice->config;
    };
    std::make_heap(ranked.begin(), ranked.end(), is_after);
    while (!ranked.empty() && rejections.size() < most) {
      std::pop_heap(ranked.begin(), ranked.end(), is_after);
      if (IsFirstOfConfig(*ranked.back().choice))
        rejections.push_back(Reject(*ranked.back().choice));
      ranked.pop_back();
    }
  }

  // Of choices that differ only in results in place, the first that may fit is reported, or the
  // first if none may.
  bool IsFirstOfConfig(const choices::Choice& choice) const {
    const std::span<const choices::Choice> all = interval_.Choices();
    return std::none_of(all.begin(), all.end(), [&choice](const choices::Choice& other) {
      if (&other == &choice || !(other.config == choice.config)) return false;
      return IsRefused(other) == IsRefused(choice) ? &other < &choice : IsRefused(choice);
    });
  }

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

  RejectionCause CauseOf(choices::ChoiceStatus verdict, double score) const {
    if (verdict == choices::ChoiceStatus::kImpossible) return RejectionCause::kRoom;
    return verdict == choices::ChoiceStatus::kGivenUp || score < taken_ ? RejectionCause::kUndecided
                                                                        : RejectionCause::kScore;
  }

  RejectedAlternative WithCause(RejectedAlternative rejection,
                                choices::ChoiceStatus verdict) const {
    rejection.cause = CauseOf(verdict, rejection.score.value_or(0));
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
  if (context.scale.WeighsRatios() || context.stop.IsInterrupted()) return {};
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
