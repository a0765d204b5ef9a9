// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tessera/search/partition/choices/interval_choices.h"

// Choices are formulated in the order of their scores, until one may fit.
//
// To formulate a choice takes longer than to price it: its program is built, and bounds of its
// Problem are found. If scores add up, a best path only uses choices of the least score among those
// that fit, and most choices fit. So the choices of an interval become candidates in groups of
// equal score. The next group follows when bounds or engines exclude all choices of those before;
// as this goes on, groups grow, so that few follow each other:
//
//     score    10      12   12     15        19       the choice of score 10 is formulated; it does
//             |  |    |  | |  |   |  |      |  |      not fit, so both of score 12 are; the others
//            first      next         pending          stay pending as long as one of these may fit
//
// Pending choices have prices. Shapes that wait (waiting_choices.cc) have lower bounds, and get a
// price when one of them may have the least score. The search around the best shapes
// (IntervalChoices::Refine) rates a pending shape by its price, and formulates it before it counts
// as the best. So it finds the same shapes, and the choices that no other one dominates are the
// same, as if all were formulated at once. If a selection is forbidden, because its choices fit
// only one by one, these no longer exclude others, and the next group follows (LookBeyond).
namespace tessera::search::partition::choices {
namespace {

constexpr size_t kMostTogether = 1 << 16;

}  // namespace

// Whether only choices of the least score matter, of those that fit.
bool IntervalChoices::OnlyLeastMatters() const {
  return context_->scale.AddsUp() && context_->previous == nullptr && config_ == nullptr &&
         pins_.empty();
}

double IntervalChoices::LeastPending() const {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [config, cost] : expanded_->pending) least = std::min(least, cost.score);
  return least;
}

// Returns the greatest of so many least scores of pending choices.
double IntervalChoices::PendingScore(size_t count) const {
  std::vector<double> scores;
  for (const auto& [config, cost] : expanded_->pending) scores.push_back(cost.score);
  const auto last =
      scores.begin() + static_cast<std::ptrdiff_t>(std::min(count, scores.size())) - 1;
  std::nth_element(scores.begin(), last, scores.end());
  return *last;
}

// Returns the least score of the shape's pending choices; nullopt if there are none.
std::optional<double> IntervalChoices::LeastPending(const graph::tiling::TileShape& shape) const {
  std::optional<double> least;
  for (auto at = expanded_->pending.lower_bound(TileConfig(shape, {}));
       at != expanded_->pending.end() && at->first.tile == shape; ++at)
    least = std::min(least.value_or(at->second.score), at->second.score);
  return least;
}

void IntervalChoices::AddPending(const std::map<TileConfig, TilePrice>& found) {
  for (const auto& [config, price] : found) expanded_->pending.emplace(config, price.cost);
}

// After a stop.
void IntervalChoices::DropPending() {
  expanded_->lost_shapes = expanded_->lost_shapes || !expanded_->pending.empty();
  expanded_->pending.clear();
  DropWaiting();
}

// Formulates choices until all that are left out cost more than one that may fit. Returns false if
// the encoder refuses all.
bool IntervalChoices::FormulateNext(const base::Stop& stop) {
  while (!stop.Requested()) {
    double least = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < expanded_->choices.size(); ++i) {
      const Choice& choice = expanded_->choices[i];
      const bool may_fit =
          choice.verdict == ChoiceStatus::kOpen || choice.verdict == ChoiceStatus::kFits;
      if (may_fit && !expanded_->beyond.contains(i)) least = std::min(least, choice.cost.score);
    }
    const auto next = std::min_element(
        expanded_->waiting.begin(), expanded_->waiting.end(),
        [](const auto& a, const auto& b) { return a.second.least_score < b.second.least_score; });
    const double pending = LeastPending();
    if (next != expanded_->waiting.end() &&
        !cost::IsLess(std::min(least, pending), next->second.least_score)) {
      PriceWaiting(graph::tiling::TileShape(next->first), stop);
    } else if (expanded_->pending.empty() || cost::IsLess(least, pending)) {
      expanded_->together = std::max<size_t>(1, expanded_->together / 2);
      return expanded_->tiles.has_value();
    } else {
      FormulateUpTo(std::min(least, PendingScore(expanded_->together)), stop);
      expanded_->together =
          std::min(kMostTogether, expanded_->together + 1 + expanded_->together / 8);
    }
  }
  DropPending();
  return expanded_->tiles.has_value();
}

// Formulates the pending choices with at most this score.
bool IntervalChoices::FormulateUpTo(double score, const base::Stop& stop) {
  return FormulatePending(
      [score](const TileConfig&, const cost::Cost& cost) {
        return !cost::IsLess(score, cost.score);
      },
      stop);
}

// Formulates these pending choices, and makes configurations pending that are no longer held back.
// Returns false if the encoder refuses them.
bool IntervalChoices::FormulatePending(
    const std::function<bool(const TileConfig&, const cost::Cost&)>& is_next,
    const base::Stop& stop) {
  expanded_->costs.clear();
  std::set<graph::tiling::TileShape> shapes;
  for (auto at = expanded_->pending.begin(); at != expanded_->pending.end();) {
    const auto next = std::next(at);
    if (is_next(at->first, at->second)) {
      shapes.insert(at->first.tile);
      expanded_->costs.insert(expanded_->pending.extract(at));
    }
    at = next;
  }
  if (shapes.empty()) return true;
  std::vector<graph::tiling::TileShape> tiles;
  std::copy_if(expanded_->tried.begin(), expanded_->tried.end(), std::back_inserter(tiles),
               [&shapes](const auto& shape) { return shapes.contains(shape); });
  const bool is_refused = !AddPriced(tiles, stop);
  expanded_->costs.clear();
  Release(stop);
  // The encoder may accept others.
  if (!expanded_->pending.empty() || !expanded_->waiting.empty()) expanded_->refusal.reset();
  return !is_refused;
}

// Formulates the choices that a report needs: those of more elements than these, and the `most`
// best ones other than the chosen one.
void IntervalChoices::FormulateForReport(int64_t elements, const TileConfig& chosen, size_t most) {
  if (!expanded_->in_turn) return;
  const base::Stop& stop = context_->stop;
  PriceAll(stop);
  FormulatePending(
      [elements](const TileConfig& config, const cost::Cost&) {
        return graph::ElementsOf(config.tile) > elements;
      },
      stop);
  while (!expanded_->pending.empty() && !stop.Requested()) {
    const double next = LeastPending();
    std::set<TileConfig> better;
    for (const Choice& choice : expanded_->choices) {
      if (choice.verdict != ChoiceStatus::kImpossible && choice.priced &&
          choice.cost.score < next && !(choice.config == chosen))
        better.insert(choice.config);
    }
    if (better.size() >= most) break;
    FormulateUpTo(next, stop);
  }
  DropConfigs();
}

}  // namespace tessera::search::partition::choices
