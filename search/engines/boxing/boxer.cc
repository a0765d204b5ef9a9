// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/boxing/boxer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <span>
#include <utility>

// Theorem 16 boxes small jobs round by round until the ratio r of the greatest to the least height
// is so small that one application to all jobs completes the boxing:
//
//     while (log2 r)^2 >= 1 / epsilon:
//       mu = epsilon / (log2 r)^2,  H = ceil(mu^5 h_max / (log2 r)^2)
//       jobs of height at most mu H go into boxes of height H
//     mu* = epsilon / (log2 r)^2;   all jobs go into boxes of height h_max / mu*
//
// A round boxes something only if h_min <= mu H, and the rounded heights fit into H only if mu is
// at most the golden ratio less one. idealloc derives the range of epsilon in which both hold, and
// shows that the range is empty unless r > 2216.53; if r is less, a dummy job lifts it to that
// value. Epsilon is calibrated: of 100 values in the range, the one with the least r* is used.
namespace tessera::search::engines::boxing {
namespace {

constexpr double kMostError = 0.6180339887498949;  // (sqrt(5) - 1) / 2
constexpr double kLeastRatio = 2216.53;
constexpr int kCalibrations = 100;
constexpr double kMostBytes = 1e18;

double SquaredLog(double ratio) {
  const double log = std::log2(ratio);
  return log * log;
}

double Ratio(Bytes most, Bytes least) {
  return static_cast<double>(most) / static_cast<double>(least);
}

Bytes RoundedUp(double value) {
  return static_cast<Bytes>(std::ceil(std::clamp(value, 1.0, kMostBytes)));
}

// Adds the rounds of small jobs for this epsilon.
void AddRounds(std::span<const Bytes> heights, Bytes most, double epsilon,
               const BoxingOptions& options, BoxingSchedule& schedule) {
  Bytes least = std::min(heights.front(), most);
  size_t left = 0;  // heights before it are boxed
  for (;;) {
    const double log = SquaredLog(Ratio(most, least));
    if (log < 1 / epsilon) break;
    double error = epsilon / log;
    if (options.latent_invariants) error = std::min(error, kMostError);
    const Bytes height = RoundedUp(std::pow(error, 5) * static_cast<double>(most) / log);
    const auto boxed = static_cast<Bytes>(error * static_cast<double>(height));
    size_t end = left;
    while (end < heights.size() && heights[end] <= boxed) ++end;
    const Bytes rest = end < heights.size() ? heights[end] : most;
    const Bytes next = std::min(height, rest);
    if (boxed < least || next <= least) break;  // nothing would change
    schedule.small.push_back({error, height, boxed});
    left = end;
    least = next;
  }
  schedule.last_ratio = Ratio(most, least);
}

BoxingSchedule ScheduleFor(std::span<const Bytes> heights, Bytes most, double epsilon,
                           const BoxingOptions& options) {
  BoxingSchedule schedule;
  AddRounds(heights, most, epsilon, options, schedule);
  const double log = SquaredLog(schedule.last_ratio);
  double error = epsilon;
  if (options.latent_invariants) error = log > 0 ? std::min(epsilon / log, kMostError) : kMostError;
  error = std::max(error, 1e-3);
  schedule.last = {error, std::max(most, RoundedUp(static_cast<double>(most) / error)),
                   std::numeric_limits<Bytes>::max()};
  return schedule;
}

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

BoxingSchedule MakeSchedule(std::span<const Bytes> heights, Bytes load,
                            const BoxingOptions& options) {
  const Bytes least = heights.front();
  Bytes most = heights.back();
  Bytes dummy = 0;
  if (options.dummy_job && Ratio(most, least) <= kLeastRatio)
    most = dummy = RoundedUp(kLeastRatio * static_cast<double>(least));
  const double log = SquaredLog(Ratio(most, least));
  BoxingSchedule best;
  if (!options.latent_invariants) {
    const double epsilon = std::pow(Ratio(most, std::max(load, most)), 1.0 / 7);
    best = ScheduleFor(heights, most, epsilon, options);
  } else {
    const double high = kMostError * log;
    const double low = std::min(high, std::pow(std::pow(log, 7) / Ratio(most, least), 1.0 / 6));
    double epsilon = std::max(low, 1e-9);
    best = ScheduleFor(heights, most, epsilon, options);
    for (int i = 1; i < kCalibrations && options.calibration; ++i) {
      epsilon += (high - epsilon) / kCalibrations;
      BoxingSchedule tried = ScheduleFor(heights, most, epsilon, options);
      if (tried.last_ratio < best.last_ratio) best = std::move(tried);
    }
  }
  best.dummy = dummy;
  return best;
}

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
