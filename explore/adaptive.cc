// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/adaptive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>

#include "tessera/explore/pareto.h"
#include "tessera/explore/tables.h"

// The idea: lower bounds of a pair are known before it is planned, and usually they are off by
// about the same factor as those of similar pairs. So the values of a pair are predicted: its
// bounds times the factors of the planned pairs that are nearest in the space. The pair whose
// prediction adds most hypervolume to the front comes first; its prediction then counts as found,
// so that the pairs of a round differ. (Expected improvement, as in Emmerich, "Single- and
// multi-objective evolutionary design optimization", 2005, with bounds instead of a fitted model.)
//
//     latency ^   x  bounds            o found        * prediction = bounds * factors
//             |   o----.
//             |   |    |  *--. gain: the area that * dominates and the found do not
//             |   |    '--|--o----
//             |   | x     '  |
//             '--------------------> area
//
// Volumes are those of logarithms within the box of all bounds, counted by points of a Halton
// sequence, so that any number of objectives is possible. The gain of the bounds themselves has a
// small weight that grows with the distance of the planned pairs, so that unknown regions are
// explored. Near pairs without a plan make a plan less likely. A pair with a bound that is not
// finite, as for "-latency", has no prediction: such pairs come last, by their priority.
//
// Nothing here is random, and a choice depends only on the rounds before it. Pairs that bounds
// settle cost nothing and do not count.
namespace tessera::explore {
namespace {

constexpr size_t kSamples = 2048;
constexpr size_t kNearest = 4;
constexpr double kWeightOfBounds = 0.01;
constexpr double kLeastDistance = 0.05;
constexpr double kLeastValue = 1e-30;
constexpr double kMargin = 0.1;  // of the box beyond its greatest values

// For predictions only: values without a logarithm count as almost 0.
double LogOf(double value) { return std::log(std::max(value, kLeastValue)); }

Values LogsOf(const Values& values) {
  Values logs;
  for (const double value : values) logs.push_back(LogOf(value));
  return logs;
}

bool HasFiniteBounds(const Pair& pair) {
  return !pair.least.empty() && std::all_of(pair.least.begin(), pair.least.end(),
                                            [](double value) { return std::isfinite(value); });
}

bool MayHavePlan(const Pair& pair) {
  return pair.settled != Settled::kRefused && !pair.is_infeasible && HasFiniteBounds(pair);
}

// The corners of the box: of all bounds and all found values, in logarithms. Empty if there are
// neither.
struct Box {
  Values low;
  Values high;
};

Box BoxOf(const Exploration& exploration, size_t network) {
  Box box;
  const auto take = [&](const Values& values) {
    if (box.low.empty()) box = {values, values};
    for (size_t i = 0; i < values.size(); ++i) {
      box.low[i] = std::min(box.low[i], values[i]);
      box.high[i] = std::max(box.high[i], values[i]);
    }
  };
  for (size_t point = 0; point < exploration.points.size(); ++point) {
    const Pair& pair = exploration.PairAt(network, point);
    if (MayHavePlan(pair)) take(LogsOf(pair.least));
    for (const Values& values : pair.values) {
      if (!values.empty()) take(LogsOf(values));
    }
  }
  for (size_t i = 0; i < box.low.size(); ++i)
    box.high[i] += kMargin * std::max(1.0, box.high[i] - box.low[i]);
  return box;
}

// Returns the radical inverse of `index` in a base: an element of a Halton sequence.
double Halton(size_t index, size_t base) {
  double value = 0;
  double digit = 1.0 / static_cast<double>(base);
  for (; index > 0; index /= base, digit /= static_cast<double>(base))
    value += digit * static_cast<double>(index % base);
  return value;
}

std::vector<Values> SamplesIn(const Box& box) {
  static constexpr std::array<size_t, 8> kPrimes = {2, 3, 5, 7, 11, 13, 17, 19};
  std::vector<Values> samples;
  for (size_t i = 1; i <= kSamples && !box.low.empty(); ++i) {
    Values& sample = samples.emplace_back();
    for (size_t axis = 0; axis < box.low.size(); ++axis)
      sample.push_back(box.low[axis] + (box.high[axis] - box.low[axis]) *
                                           Halton(i, kPrimes[axis % kPrimes.size()]));
  }
  return samples;
}

bool Covers(const Values& point, const Values& sample) {
  return std::equal(point.begin(), point.end(), sample.begin(),
                    [](double a, double b) { return a <= b; });
}

// The expected gains of one network from its open pairs.
class Expectation {
 public:
  Expectation(const Spec& spec, const Exploration& exploration, size_t network)
      : spec_(spec), exploration_(exploration), network_(network) {
    const Box box = BoxOf(exploration, network);
    open_samples_ = SamplesIn(box);
    for (size_t point = 0; point < exploration.points.size(); ++point) {
      const Pair& pair = exploration.PairAt(network, point);
      for (const Values& values : pair.values) {
        if (!values.empty()) Take(LogsOf(values));
      }
      if (pair.settled == Settled::kPlanned) planned_.emplace_back(point, BestOf(pair));
    }
  }

  double GainOf(size_t point) const {
    const Pair& pair = exploration_.PairAt(network_, point);
    if (!HasFiniteBounds(pair)) return 0;
    const std::vector<Near> near = NearestTo(point);
    const double distance = near.empty() ? 1 : near.front().distance;
    return ChanceOfPlan(near) *
           (CountCovered(Predict(pair, near)) +
            kWeightOfBounds * distance * distance * CountCovered(LogsOf(pair.least)));
  }

  // The prediction counts as found from now on.
  void TakePrediction(size_t point) {
    const Pair& pair = exploration_.PairAt(network_, point);
    if (HasFiniteBounds(pair)) Take(Predict(pair, NearestTo(point)));
    planned_.emplace_back(point, Values());
  }

 private:
  void Take(const Values& logs) {
    std::erase_if(open_samples_, [&](const Values& sample) { return Covers(logs, sample); });
  }

  double CountCovered(const Values& logs) const {
    return static_cast<double>(
        std::count_if(open_samples_.begin(), open_samples_.end(),
                      [&](const Values& sample) { return Covers(logs, sample); }));
  }

  // Returns the distance of two points: the axes whose values differ, by steps if they are ordered.
  double Distance(size_t a, size_t b) const {
    const Point& one = exploration_.points[a];
    const Point& other = exploration_.points[b];
    double distance = one.base == other.base ? 0 : 1;
    for (size_t axis = 0; axis < spec_.space.Axes().size(); ++axis) {
      const std::vector<Json>& values = spec_.space.Axes()[axis].values;
      if (values.size() < 2 || one.values[axis] == other.values[axis]) continue;
      const auto index = [&](const Json& value) {
        return static_cast<double>(std::find(values.begin(), values.end(), value) - values.begin());
      };
      const bool in_order = one.values[axis].is_number() && other.values[axis].is_number();
      distance += in_order ? std::abs(index(one.values[axis]) - index(other.values[axis])) /
                                 static_cast<double>(values.size() - 1)
                           : 1;
    }
    return distance;
  }

  struct Near {
    double distance = 0;
    size_t planned = 0;  // index into planned_
    double Weight() const { return 1 / (kLeastDistance + distance); }
  };

  std::vector<Near> NearestTo(size_t point) const {
    std::vector<Near> near;
    for (size_t i = 0; i < planned_.size(); ++i)
      near.push_back({Distance(point, planned_[i].first), i});
    const size_t count = std::min(kNearest, near.size());
    std::partial_sort(near.begin(), near.begin() + static_cast<ptrdiff_t>(count), near.end(),
                      [](const Near& a, const Near& b) {
                        return std::tie(a.distance, a.planned) < std::tie(b.distance, b.planned);
                      });
    near.resize(count);
    return near;
  }

  // Estimates the chance from how many of the nearest pairs have a plan; those of this round are
  // not known yet.
  double ChanceOfPlan(const std::vector<Near>& near) const {
    constexpr double kPrior = 0.3;
    double with = kPrior;
    double all = kPrior;
    for (const Near& each : near) {
      const bool is_known =
          exploration_.PairAt(network_, planned_[each.planned].first).settled == Settled::kPlanned;
      with += is_known && planned_[each.planned].second.empty() ? 0 : each.Weight();
      all += each.Weight();
    }
    return with / all;
  }

  // Returns the logarithms of the bounds, raised by the mean excess of the nearest planned pairs.
  Values Predict(const Pair& pair, const std::vector<Near>& near) const {
    Values logs = LogsOf(pair.least);
    Values sums(logs.size());
    double weights = 0;
    for (const Near& each : near) {
      const auto& [point, best] = planned_[each.planned];
      const Pair& planned = exploration_.PairAt(network_, point);
      if (best.empty() || !HasFiniteBounds(planned)) continue;
      const Values bounds = LogsOf(planned.least);
      for (size_t axis = 0; axis < logs.size(); ++axis)
        sums[axis] += each.Weight() * std::max(0.0, LogOf(best[axis]) - bounds[axis]);
      weights += each.Weight();
    }
    for (size_t axis = 0; axis < logs.size() && weights > 0; ++axis)
      logs[axis] += sums[axis] / weights;
    return logs;
  }

  const Spec& spec_;
  const Exploration& exploration_;
  size_t network_;
  std::vector<Values> open_samples_;                // that nothing found dominates
  std::vector<std::pair<size_t, Values>> planned_;  // points, with the best values of their plans
};

size_t OpenPairsOf(const Exploration& exploration) {
  return static_cast<size_t>(std::count_if(exploration.pairs.begin(), exploration.pairs.end(),
                                           [](const Pair& pair) { return pair.IsOpen(); }));
}

// Returns whether it is open what the pair adds to the front of its network. If networks have no
// fronts, a pair may be settled by points of the set, which does not concern its network.
bool MayAdd(const Spec& spec, const Pair& pair) {
  if (pair.IsOpen() || IsUndecided(pair)) return true;
  return !spec.wants_network_fronts && !pair.is_infeasible &&
         (pair.settled == Settled::kBound || pair.settled == Settled::kMonotone);
}

// Returns why these figures of the objectives have no logarithms; empty if they have.
std::string WhyNoLogs(const Spec& spec, const Values& values, std::string_view what) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && values[i] > 0) continue;
    return fmt::format("{} of '{}' is {}", what, spec.objectives[i].name,
                       std::isfinite(values[i]) ? "not above 0" : "not finite");
  }
  return "";
}

Json GapOf(const Spec& spec, const Exploration& exploration, size_t network) {
  std::vector<Values> found;
  std::vector<Values> possible;
  std::string reason;
  int64_t planned = 0;
  int64_t open = 0;
  const auto take = [&](const Values& values, std::string_view what, std::vector<Values>& list) {
    if (reason.empty()) reason = WhyNoLogs(spec, values, what);
    list.push_back(LogsOf(values));
  };
  for (size_t point = 0; point < exploration.points.size(); ++point) {
    const Pair& pair = exploration.PairAt(network, point);
    planned += pair.settled == Settled::kPlanned ? 1 : 0;
    open += pair.IsOpen() ? 1 : 0;
    for (const Values& values : pair.values) {
      if (!values.empty()) take(values, "a value", found);
    }
    if (MayAdd(spec, pair)) take(pair.least, "a lower bound of a pair without an answer", possible);
  }
  Json json = {{"planned", planned}, {"open", open}, {"hypervolume_at_least", 1}};
  if (possible.empty()) return json;
  if (!reason.empty()) {
    json["hypervolume_at_least"] = nullptr;
    json["reason"] = reason;
    return json;
  }
  const Box box = BoxOf(exploration, network);
  possible.insert(possible.end(), found.begin(), found.end());
  json["hypervolume_at_least"] =
      std::min(1.0, Hypervolume(found, box.high) / Hypervolume(possible, box.high));
  return json;
}

// Rounds down, because the number is a claim.
std::string PercentText(double share) {
  return fmt::format("{:.2f} %", std::floor(share * 10'000) / 100);
}

}  // namespace

// Networks take turns. If the set has a front, whole points are chosen, by the sum of their gains.
std::vector<size_t> ExpectedGain::Choose(const Exploration& so_far, size_t most) {
  constexpr size_t kInRound = 6;
  const size_t networks = spec_.networks.size();
  const size_t points = so_far.points.size();
  std::vector<Expectation> expectations;
  for (size_t network = 0; network < networks; ++network)
    expectations.emplace_back(spec_, so_far, network);
  std::vector<size_t> chosen;
  const auto is_open = [&](size_t network, size_t point) {
    const size_t index = network * points + point;
    return so_far.pairs[index].IsOpen() &&
           std::find(chosen.begin(), chosen.end(), index) == chosen.end();
  };
  size_t turn = so_far.pairs.size() - OpenPairsOf(so_far);
  size_t idle = 0;
  while (chosen.size() < std::min(most, kInRound) && idle < networks) {
    const size_t first = spec_.wants_set_front ? 0 : turn % networks;
    const size_t last = spec_.wants_set_front ? networks : first + 1;
    ++turn;
    std::optional<size_t> best;
    std::pair<double, double> most_promising;  // the gain, then the priority
    for (size_t point = 0; point < points; ++point) {
      std::pair<double, double> promise;
      bool has_open_pair = false;
      for (size_t network = first; network < last; ++network) {
        if (!is_open(network, point)) continue;
        has_open_pair = true;
        promise.first += expectations[network].GainOf(point);
        promise.second -= PriorityOf(so_far.PairAt(network, point));
      }
      if (!has_open_pair || (best && promise <= most_promising)) continue;
      most_promising = promise;
      best = point;
    }
    idle = best ? 0 : idle + 1;
    for (size_t network = first; network < last && best && chosen.size() < most; ++network) {
      if (!is_open(network, *best)) continue;
      expectations[network].TakePrediction(*best);
      chosen.push_back(network * points + *best);
    }
  }
  return chosen;
}

base::Expected<std::optional<Exploration>> ExploreAdaptively(const Spec& spec, const Store& store,
                                                             double share,
                                                             const RunOptions& options) {
  ExpectedGain chooser(spec);
  RunOptions run = options;
  run.chooser = &chooser;
  run.most_share = share;
  return Explore(spec, store, run);
}

Json GapJson(const Spec& spec, const Exploration& exploration, double share) {
  Json json = {{"share", share}, {"networks", Json::object()}};
  for (size_t network = 0; network < spec.networks.size(); ++network)
    json["networks"][spec.networks[network].name] = GapOf(spec, exploration, network);
  return json;
}

std::string DescribeGap(const Json& document) {
  const Json& adaptive = document.at("adaptive");
  std::vector<std::vector<std::string>> rows = {
      {"network", "planned", "not looked at", "hypervolume, at least"}};
  std::string reasons;
  for (const auto& [network, gap] : adaptive.at("networks").items()) {
    const Json& least = gap.at("hypervolume_at_least");
    rows.push_back({network, Short(gap.at("planned")), Short(gap.at("open")),
                    least.is_null() ? "unknown" : PercentText(least)});
    if (least.is_null())
      reasons += fmt::format("no gap can be stated for {}: {}\n", network,
                             gap.at("reason").get<std::string>());
  }
  return "\nhow much of the best possible front was found\n" + AlignedTable(rows) + reasons;
}

}  // namespace tessera::explore
