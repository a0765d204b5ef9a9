#include <algorithm>
#include <optional>
#include <vector>

#include "tessera/search/partition/path_search.h"

// What a path search finds out about operators alone, nothing kept: the baseline is made of them, they are what a search cut short falls
// back on, and an operator that does not fit alone is the plainest reason why no plan exists. So they are decided before anything else is
// looked at, each until its best choice fits, none is left, or more tile shapes were added than PathSearch allows.
namespace tessera::search {

std::vector<size_t> PathSearch::Singles() const {
  std::vector<size_t> singles;
  singles.reserve(static_cast<size_t>(operators_));
  for (int op = 0; op < operators_; ++op) singles.push_back(crossings_[PlaceOf(op, 1)]);
  return singles;
}

void PathSearch::PoseSingles() {
  const std::vector<size_t> singles = Singles();
  Tasks tasks;
  for (const size_t index : singles) {
    IntervalChoices& single = intervals_[index];
    if (single.IsPosed()) continue;
    tasks.emplace_back([this, &single] {
      if (planning_->stop.Requested()) return;
      if (!single.IsOpened()) single.Open();
      single.Pose();
    });
  }
  RunOn(singles, tasks);
}

void PathSearch::DecideSingles() {
  PoseSingles();
  const std::vector<size_t> singles = Singles();
  Tasks tasks;
  for (const size_t index : singles) {
    IntervalChoices& single = intervals_[index];
    tasks.emplace_back([this, &single] {
      while (!planning_->stop.Requested()) {
        const std::optional<size_t> best = BestSingle(single);
        if (best && single.Choices()[*best].verdict == Verdict::kFits) return;
        if (best) {
          single.Decide(*best);
        } else if (single.Choices().size() > kMostExtended || single.Extend(kExtension) == 0) {
          return;
        }
      }
    });
  }
  RunOn(singles, tasks);
  Report();
}

std::optional<size_t> PathSearch::BestSingle(const IntervalChoices& single) const {
  std::optional<size_t> best;
  for (const size_t choice : single.Front({})) {
    const auto score = [&](size_t i) { return planning_->scale.ScoreOf(single.Choices()[i].cost); };
    if (!best || score(choice) < score(*best)) best = choice;
  }
  return best;
}

}  // namespace tessera::search
