// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/boxing/boxer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <queue>
#include <span>
#include <utility>

namespace tessera::search::engines::boxing {

namespace {

// One application of Corollary 15 to the jobs of one rounded height.
struct RowShape {
  Bytes row_height;
  Bytes box_height;
  int64_t rows;  // in a box
  double error;
};

class Boxer {
 public:
  Boxer(const BoxingOptions& options, base::Random& random, Effort& effort, Boxing& boxing)
      : options_(options), random_(random), effort_(effort), jobs_(boxing.jobs) {}

  // Theorem 16.
  bool BoxByLevels(const BoxingSchedule& schedule) {
    std::vector<int> loose(jobs_.size());
    for (size_t i = 0; i < loose.size(); ++i) loose[i] = static_cast<int>(i);
    for (const BoxingLevel& level : schedule.small) {
      const auto is_large = [&](int job) { return At(job).height > level.most_height; };
      const auto small = std::stable_partition(loose.begin(), loose.end(), is_large);
      const std::vector<int> boxed(small, loose.end());
      loose.erase(small, loose.end());
      const auto first_box = static_cast<int>(jobs_.size());
      if (!BoxByHeight(boxed, level)) return false;
      for (int box = first_box; box < static_cast<int>(jobs_.size()); ++box) loose.push_back(box);
    }
    return BoxByHeight(loose, schedule.last);
  }

 private:
  // The jobs of a call of Theorem 2, and the critical points that divide them.
  struct Division {
    std::vector<int> jobs;
    std::vector<int> points;
  };

  const Job& At(int job) const { return jobs_[static_cast<size_t>(job)]; }

  // Corollary 15.
  bool BoxByHeight(const std::vector<int>& jobs, const BoxingLevel& level) {
    std::map<Bytes, std::vector<int>> classes;
    for (const int job : jobs) classes[RoundUpToClass(At(job).height, level)].push_back(job);
    for (auto& [height, members] : classes) {
      const int64_t rows = std::max<int64_t>(1, level.box_height / height);
      const RowShape shape = {height, std::max(level.box_height, height), rows, level.error};
      if (!Divide(std::move(members), shape)) return false;
    }
    return true;
  }

  // floor((1 + error)^i) for the least i such that this is at least the height; a height that fits
  // into a box is not rounded beyond it.
  static Bytes RoundUpToClass(Bytes height, const BoxingLevel& level) {
    const double base = std::log1p(level.error);
    double power = std::ceil(std::log(static_cast<double>(height)) / base - 1e-9);
    auto rounded = static_cast<Bytes>(std::exp(power * base));
    while (rounded < height) rounded = static_cast<Bytes>(std::exp(++power * base));
    return height <= level.box_height ? std::min(rounded, level.box_height) : rounded;
  }

  // Theorem 2. The stack replaces the recursion.
  bool Divide(std::vector<int> all, const RowShape& shape) {
    std::vector<Division> open;
    const int first = DrawPoint(all);
    open.push_back({std::move(all), {first}});
    while (!open.empty()) {
      Division division = std::move(open.back());
      open.pop_back();
      if (!effort_.Spend(static_cast<int64_t>(division.jobs.size()))) return false;
      if (!MeetsAny(division)) {
        if (!options_.critical_points) {
          BoxRows(division.jobs, shape);
          continue;
        }
        division.points = {DrawPoint(division.jobs)};
      }
      BoxDivision(division, shape, open);
    }
    return true;
  }

  // Draws a section in which one of the jobs lives.
  int DrawPoint(const std::vector<int>& jobs) {
    const auto drawn =
        static_cast<size_t>(random_.Uniform(0, static_cast<int64_t>(jobs.size()) - 1));
    const Job& job = At(jobs[drawn]);
    return static_cast<int>(random_.Uniform(job.first, job.last - 1));
  }

  // Returns the points that the job contains, as a range of indices.
  std::pair<int, int> PointsIn(const Job& job, const std::vector<int>& points) const {
    const auto begin = std::lower_bound(points.begin(), points.end(), job.first);
    const auto end = std::lower_bound(begin, points.end(), job.last);
    return {static_cast<int>(begin - points.begin()), static_cast<int>(end - points.begin())};
  }

  bool MeetsAny(const Division& division) const {
    return std::any_of(division.jobs.begin(), division.jobs.end(), [&](int job) {
      const auto [begin, end] = PointsIn(At(job), division.points);
      return begin < end;
    });
  }

  // Returns the first of the points [begin, end) that repeated halving of all points meets.
  static int Middlemost(int begin, int end, int count) {
    int low = 0, high = count - 1;
    for (;;) {
      const int middle = low + (high - low) / 2;
      if (end <= middle)
        high = middle - 1;
      else if (begin > middle)
        low = middle + 1;
      else
        return middle;
    }
  }

  void BoxDivision(const Division& division, const RowShape& shape, std::vector<Division>& open) {
    const auto count = static_cast<int>(division.points.size());
    std::map<int, std::vector<int>> at_point, between;  // by point; by the point after them
    for (const int job : division.jobs) {
      const auto [begin, end] = PointsIn(At(job), division.points);
      (begin < end ? at_point[Middlemost(begin, end, count)] : between[begin]).push_back(job);
    }
    std::vector<int> unresolved;
    for (auto& [point, jobs] : at_point) BoxStrips(std::move(jobs), shape, unresolved);
    std::vector<int> ends;
    for (const int job : unresolved) {
      ends.push_back(At(job).first);
      ends.push_back(At(job).last);
    }
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    BoxRows(unresolved, shape);
    for (auto& [after, jobs] : between) {
      const auto begin = after == 0
                             ? ends.begin()
                             : std::upper_bound(ends.begin(), ends.end(),
                                                division.points[static_cast<size_t>(after) - 1]);
      const auto end =
          after == count
              ? ends.end()
              : std::lower_bound(begin, ends.end(), division.points[static_cast<size_t>(after)]);
      open.push_back({std::move(jobs), std::vector<int>(begin, end)});
    }
  }

  // Lemma 1, for jobs that all contain one point.
  void BoxStrips(std::vector<int> jobs, const RowShape& shape, std::vector<int>& unresolved) {
    random_.Shuffle(std::span<int>(jobs));
    std::vector<int> by_first = jobs, by_last = std::move(jobs);
    std::stable_sort(by_first.begin(), by_first.end(),
                     [&](int a, int b) { return At(a).first < At(b).first; });
    std::stable_sort(by_last.begin(), by_last.end(),
                     [&](int a, int b) { return At(a).last > At(b).last; });
    const auto outermost = StripLength(shape, std::pow(shape.error, -2));
    const auto length = StripLength(shape, 1 / shape.error);
    taken_.resize(jobs_.size(), false);
    size_t next_first = 0, next_last = 0;
    const auto take = [&](const std::vector<int>& order, size_t& next, size_t most) {
      std::vector<int> strip;
      for (; next < order.size() && strip.size() < most; ++next) {
        if (taken_[static_cast<size_t>(order[next])]) continue;
        taken_[static_cast<size_t>(order[next])] = true;
        strip.push_back(order[next]);
      }
      return strip;
    };
    for (const int job : take(by_first, next_first, outermost)) unresolved.push_back(job);
    for (const int job : take(by_last, next_last, outermost)) unresolved.push_back(job);
    while (next_first < by_first.size() || next_last < by_last.size()) {
      std::vector<int> vertical = take(by_first, next_first, length);
      std::stable_sort(vertical.begin(), vertical.end(),
                       [&](int a, int b) { return At(a).last > At(b).last; });
      BoxGroups(vertical, shape);
      std::vector<int> horizontal = take(by_last, next_last, length);
      std::stable_sort(horizontal.begin(), horizontal.end(),
                       [&](int a, int b) { return At(a).first < At(b).first; });
      BoxGroups(horizontal, shape);
    }
  }

  static size_t StripLength(const RowShape& shape, double factor) {
    static constexpr double kMostJobs = 1e9;
    return static_cast<size_t>(
        std::min(kMostJobs, static_cast<double>(shape.rows) * std::ceil(factor)));
  }

  // Boxes the jobs in rows, one row for each colour.
  void BoxGroups(const std::vector<int>& jobs, const RowShape& shape) {
    std::vector<int> rows(jobs.size());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int>(i);
    AddBoxes(jobs, rows, shape);
  }

  void BoxRows(std::vector<int>& jobs, const RowShape& shape) {
    random_.Shuffle(std::span<int>(jobs));
    const std::vector<int> rows = ColourRows(jobs_, jobs);
    AddBoxes(jobs, rows, shape);
  }

  // Adds boxes for jobs in rows; each box takes `shape.rows` rows.
  void AddBoxes(const std::vector<int>& jobs, const std::vector<int>& rows, const RowShape& shape) {
    const auto base = static_cast<int>(jobs_.size());
    for (size_t i = 0; i < jobs.size(); ++i) {
      const int64_t box = base + rows[i] / shape.rows;
      const Job job = At(jobs[i]);
      while (static_cast<int64_t>(jobs_.size()) <= box)
        jobs_.push_back({job.first, job.last, shape.box_height, -1, 0});
      Job& outer = jobs_[static_cast<size_t>(box)];
      outer.first = std::min(outer.first, job.first);
      outer.last = std::max(outer.last, job.last);
      jobs_[static_cast<size_t>(jobs[i])].parent = static_cast<int>(box);
      jobs_[static_cast<size_t>(jobs[i])].at = rows[i] % shape.rows * shape.row_height;
    }
  }

  const BoxingOptions& options_;
  base::Random& random_;
  Effort& effort_;
  std::vector<Job>& jobs_;
  std::vector<bool> taken_;  // by job, in BoxStrips
};

}  // namespace

std::vector<int> ColourRows(const std::vector<Job>& all, std::vector<int>& jobs) {
  const auto at = [&](int job) -> const Job& { return all[static_cast<size_t>(job)]; };
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](int a, int b) { return at(a).first < at(b).first; });
  using Use = std::pair<int, int>;  // the end of a job, and its row
  std::priority_queue<Use, std::vector<Use>, std::greater<>> in_use;
  std::priority_queue<int, std::vector<int>, std::greater<>> free;
  std::vector<int> rows;
  rows.reserve(jobs.size());
  for (const int job : jobs) {
    for (; !in_use.empty() && in_use.top().first <= at(job).first; in_use.pop())
      free.push(in_use.top().second);
    auto row = static_cast<int>(in_use.size());
    if (!free.empty()) {
      row = free.top();
      free.pop();
    }
    in_use.emplace(at(job).last, row);
    rows.push_back(row);
  }
  return rows;
}

bool BoxAll(const Instance& instance, const BoxingSchedule& schedule, const BoxingOptions& options,
            base::Random& random, Effort& effort, Boxing& boxing) {
  boxing = {};
  for (size_t i = 0; i < instance.size.size(); ++i)
    boxing.jobs.push_back({instance.first[i], instance.last[i], instance.size[i], -1, 0});
  if (schedule.dummy > 0) {
    boxing.dummy = static_cast<int>(boxing.jobs.size());
    boxing.jobs.push_back({0, instance.Sections(), schedule.dummy, -1, 0});
  }
  return Boxer(options, random, effort, boxing).BoxByLevels(schedule);
}

}  // namespace tessera::search::engines::boxing
