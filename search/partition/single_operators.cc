#include <algorithm>
#include <optional>
#include <span>
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

void PathSearch::PoseSingles(const base::Stop& stop) {
  const std::vector<size_t> singles = Singles();
  Tasks tasks;
  for (const size_t index : singles) {
    IntervalChoices& single = intervals_[index];
    if (single.IsPosed()) continue;
    tasks.emplace_back([&single, &stop] {
      if (stop.Requested()) return;
      if (!single.IsOpened()) single.Open(stop);
      single.Pose(stop);
    });
  }
  work_ += RunOn(singles, tasks);
}

bool PathSearch::DecideSingles(const base::Stop& stop) {
  PoseSingles(stop);
  const std::vector<size_t> singles = Singles();
  Tasks tasks;
  for (const size_t index : singles) {
    IntervalChoices& single = intervals_[index];
    tasks.emplace_back([this, &single, &stop] {
      while (!stop.Requested()) {
        const std::optional<size_t> best = BestSingle(single);
        if (best && single.Choices()[*best].verdict == Verdict::kFits) return;
        if (best) {
          single.Decide(*best, stop);
        } else if (single.Choices().size() > kMostExtended || single.Extend(kExtension) == 0) {
          return;
        }
      }
    });
  }
  RunOn(singles, tasks);
  const bool decided = !stop.Requested();
  Report();
  return decided;
}

void PathSearch::DecideSinglesInHaste() {
  const std::vector<size_t> singles = Singles();
  Tasks tasks;
  for (const size_t index : singles) {
    IntervalChoices& single = intervals_[index];
    const std::span<const Choice> known = single.Choices();
    if (std::any_of(known.begin(), known.end(),
                    [](const Choice& choice) { return choice.verdict == Verdict::kFits; }))
      continue;
    tasks.emplace_back([&single] { single.OpenInHaste(); });
  }
  RunOn(singles, tasks);
}

std::optional<size_t> PathSearch::BestSingle(const IntervalChoices& single) const {
  std::optional<size_t> best;
  for (const size_t choice : single.Front({})) {
    const auto cost = [&](size_t i) -> const Cost& { return single.Choices()[i].cost; };
    if (!best || planning_->scale.Prefers(cost(choice), cost(*best))) best = choice;
  }
  return best;
}

}  // namespace tessera::search
