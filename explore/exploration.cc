// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/exploration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tessera/explore/objectives.h"

// Branch and bound over pairs. Each pair has lower bounds of all metrics from the start, and so, by
// interval arithmetic, of all objectives. A pair is planned unless a found point dominates its
// lower bounds: then that point dominates every plan of the pair, and the front is the same with
// and without the pair.
//
//     latency ^          o  found points
//             |   o . . . . . . . .
//             |   .     [---x        x  lower bounds of a pair: dominated, so it is not planned
//             |   .     |
//             |   . o . . . . .
//             |     .     o         y  lower bounds of another pair: it must be planned
//             | y   .
//             '--------------------------> area
//
// If a plan is optimal, its value is a lower bound for all points that are at most as good
// (search/partition/analysis/analyses.h); if a network fits nowhere, it fits on none of them.
//
// Points are planned in rounds of a fixed size, those with the least bounds first. Each decision
// depends only on the rounds before, so threads and interruptions do not change it.
namespace tessera::explore {
namespace {

// Plans in a round, at least.
constexpr size_t kRound = 8;

class Run {
 public:
  Run(const Spec& spec, const Store& store, const RunOptions& options)
      : spec_(spec), store_(store), options_(options) {}

  base::Expected<std::optional<Exploration>> Start() {
    base::Expected<std::vector<Point>> points = spec_.space.Enumerate();
    if (!points) return base::Unexpected(points.error());
    result_.points = *std::move(points);
    if (result_.points.empty()) {
      base::Diagnostic fault;
      fault.message = "no point satisfies the conditions of 'where'";
      fault.expected = "at least one point";
      return base::Unexpected(fault);
    }
    base::Expected<std::vector<double>> areas = FindAreas(spec_, result_.points);
    if (!areas) return base::Unexpected(areas.error());
    result_.areas = *std::move(areas);
    result_.network_fronts.resize(spec_.networks.size());
    objectives_.emplace(spec_, result_.points, result_.areas);
    Planner planner(spec_, result_.points, store_,
                    {.threads = options_.threads,
                     .canceller = options_.canceller,
                     .memory_limit = options_.memory_limit,
                     .planned =
                         [this] {
                           ++plans_made_;
                           ReportProgress();
                         },
                     .attempts = options_.attempts});
    if (const auto fault = planner.Load()) return base::Unexpected(*fault);
    if (const auto fault = Prepare(planner)) return base::Unexpected(*fault);
    while (!options_.canceller.IsCancelled()) {
      if (!options_.plan_all) SettleByBounds();
      const std::vector<size_t> round = ChooseRound(planner);
      if (round.empty()) return std::optional(std::move(result_));
      if (const auto fault = PlanRound(planner, round)) return base::Unexpected(*fault);
    }
    return std::optional<Exploration>();
  }

 private:
  size_t CountPoints() const { return result_.points.size(); }

  Pair& PairAt(size_t network, size_t point) {
    return result_.pairs[network * CountPoints() + point];
  }

  std::optional<base::Diagnostic> Prepare(const Planner& planner) {
    std::vector<PairOf> asked;
    for (size_t network = 0; network < spec_.networks.size(); ++network) {
      for (size_t point = 0; point < CountPoints(); ++point) {
        Pair& pair = result_.pairs.emplace_back();
        pair.of = {network, point};
        if (const std::string* fault = planner.FaultOf(point)) {
          pair.settled = Settled::kRefused;
          pair.reason = *fault;
        } else {
          asked.push_back(pair.of);
        }
      }
    }
    auto bounds = planner.FindBounds(asked);
    if (!bounds) return bounds.error();
    if (planner.IsCancelled()) return std::nullopt;
    for (size_t i = 0; i < asked.size(); ++i) {
      Pair& pair = PairAt(asked[i].network, asked[i].point);
      pair.bounds = std::move((*bounds)[i].metrics);
      if (auto fault = UpdateLeast(pair)) return fault;
      if (options_.plan_all) continue;
      CompareWithLimits(pair);
      if (!pair.IsOpen() || (*bounds)[i].none.empty()) continue;
      pair.settled = Settled::kBound;
      pair.is_infeasible = true;
      pair.reason = (*bounds)[i].none;
    }
    return std::nullopt;
  }

  std::optional<base::Diagnostic> UpdateLeast(Pair& pair) const {
    base::Expected<Values> least = objectives_->AtLeast(pair.of, pair.bounds);
    if (!least) return least.error();
    pair.least = *std::move(least);
    return std::nullopt;
  }

  void CompareWithLimits(Pair& pair) const {
    for (const auto& [metric, most] : spec_.networks[pair.of.network].limits) {
      const auto bound = pair.bounds.find(metric);
      if (bound == pair.bounds.end() || Rounded(bound->second) <= Rounded(most)) continue;
      pair.settled = pair.from.contains(metric) ? Settled::kMonotone : Settled::kBound;
      pair.is_infeasible = true;
      pair.reason =
          fmt::format("{} is at least {}, above the limit {}", metric, bound->second, most);
      return;
    }
  }

  // Returns the least values of the set's point at which all plans minimise this metric.
  Values LeastOfSet(size_t point, size_t metric) const {
    Values sums(spec_.objectives.size());
    double weights = 0;
    for (size_t network = 0; network < spec_.networks.size(); ++network) {
      const Pair& pair = result_.PairAt(network, point);
      const double weight = spec_.networks[network].weight;
      const bool is_known = !pair.values.empty() && !pair.values[metric].empty();
      const Values& values = is_known ? pair.values[metric] : pair.least;
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += weight * values[i];
      weights += weight;
    }
    for (double& sum : sums) sum /= weights;
    return sums;
  }

  // Returns why the set's points there cannot be on its front; nullopt if they may be.
  std::optional<std::string> WhySetIsSettled(size_t point) const {
    if (!spec_.wants_set_front) return "the set has no front";
    for (size_t network = 0; network < spec_.networks.size(); ++network) {
      if (HasNoPlan(result_.PairAt(network, point)))
        return fmt::format("'{}' has no plan here, so the set has none",
                           spec_.networks[network].name);
    }
    for (size_t metric = 0; metric < spec_.metrics.size(); ++metric) {
      if (result_.set_front.FindDominator(LeastOfSet(point, metric)) == nullptr)
        return std::nullopt;
    }
    return "its lower bounds are dominated by points of the set";
  }

  void SettleByBounds() {
    for (size_t point = 0; point < CountPoints(); ++point) {
      const std::optional<std::string> why = WhySetIsSettled(point);
      for (size_t network = 0; network < spec_.networks.size() && why; ++network) {
        Pair& pair = PairAt(network, point);
        if (!pair.IsOpen()) continue;
        const FrontPoint* dominator = nullptr;
        if (spec_.wants_network_fronts) {
          dominator = result_.network_fronts[network].FindDominator(pair.least);
          if (dominator == nullptr) continue;
        }
        pair.settled = pair.from.empty() ? Settled::kBound : Settled::kMonotone;
        pair.reason = dominator == nullptr
                          ? *why
                          : fmt::format("its lower bounds are dominated by point {}, {} minimised",
                                        dominator->point, dominator->metric);
      }
    }
  }

  double PriorityOfPoint(size_t point) const {
    double sum = 0;
    for (size_t network = 0; network < spec_.networks.size(); ++network)
      sum += PriorityOf(result_.PairAt(network, point));
    return sum;
  }

  // Returns open pairs, whole points at a time. The first point of a round is as good as possible
  // while the plans of such points are optimal: their values are bounds for many others.
  std::vector<size_t> ChooseRound(const Planner& planner) {
    if (options_.chooser != nullptr) return AskChooser();
    std::vector<std::pair<double, size_t>> order;
    for (size_t point = 0; point < CountPoints(); ++point) {
      if (HasOpenPair(point)) order.emplace_back(PriorityOfPoint(point), point);
    }
    std::sort(order.begin(), order.end());
    std::vector<size_t> round;
    if (climbs_ && !options_.plan_all && !order.empty()) {
      top_ = Climb(planner, order.front().second);
      AddOpenPairs(*top_, round);
    }
    for (const auto& [priority, point] : order) {
      if (round.size() * spec_.metrics.size() >= kRound) break;
      if (point != top_) AddOpenPairs(point, round);
    }
    return round;
  }

  std::vector<size_t> AskChooser() {
    top_.reset();
    constexpr double kRoundingError = 1e-9;  // 0.29 * 100 is less than 29
    const double share = options_.most_share * static_cast<double>(result_.pairs.size());
    const auto most = static_cast<size_t>(std::max(1.0, std::floor(share + kRoundingError)));
    const auto planned = static_cast<size_t>(
        std::count_if(result_.pairs.begin(), result_.pairs.end(),
                      [](const Pair& pair) { return pair.settled == Settled::kPlanned; }));
    if (planned >= most) return {};
    return options_.chooser->Choose(result_, most - planned);
  }

  bool HasOpenPair(size_t point) const {
    for (size_t network = 0; network < spec_.networks.size(); ++network) {
      if (result_.PairAt(network, point).IsOpen()) return true;
    }
    return false;
  }

  void AddOpenPairs(size_t point, std::vector<size_t>& round) const {
    for (size_t network = 0; network < spec_.networks.size(); ++network) {
      if (result_.PairAt(network, point).IsOpen()) round.push_back(network * CountPoints() + point);
    }
  }

  // Returns a point that is at least as good as this one, and that no later point improves on.
  size_t Climb(const Planner& planner, size_t point) const {
    for (size_t other = 0; other < CountPoints(); ++other) {
      if (other == point || result_.PairAt(0, other).settled == Settled::kRefused) continue;
      if (planner.IsAtLeastAsGood(0, other, point, spec_.metrics)) point = other;
    }
    return point;
  }

  std::optional<base::Diagnostic> PlanRound(const Planner& planner,
                                            const std::vector<size_t>& round) {
    std::vector<Question> questions;
    for (const size_t index : round) {
      for (const std::string& metric : spec_.metrics)
        questions.push_back({result_.pairs[index].of, metric});
    }
    auto answers = planner.Ask(questions);
    if (!answers) return answers.error();
    if (!*answers) return std::nullopt;
    for (size_t i = 0; i < round.size(); ++i) {
      Pair& pair = result_.pairs[round[i]];
      const auto begin = (*answers)->begin() + static_cast<ptrdiff_t>(i * spec_.metrics.size());
      pair.answers.assign(begin, begin + static_cast<ptrdiff_t>(spec_.metrics.size()));
      if (auto fault = TakeAnswers(pair)) return fault;
    }
    if (options_.plan_all) return std::nullopt;
    climbs_ = climbs_ && top_ && HasOptimalPlan(*top_);
    for (const size_t index : round) {
      if (auto fault = TransferFrom(planner, index)) return fault;
    }
    return std::nullopt;
  }

  bool HasOptimalPlan(size_t point) const {
    for (size_t network = 0; network < spec_.networks.size(); ++network) {
      const std::vector<Answer>& answers = result_.PairAt(network, point).answers;
      if (std::any_of(answers.begin(), answers.end(),
                      [](const Answer& answer) { return answer.outcome == "optimal"; }))
        return true;
    }
    return false;
  }

  std::optional<base::Diagnostic> TakeAnswers(Pair& pair) {
    pair.settled = Settled::kPlanned;
    for (const Answer& answer : pair.answers) {
      Values values;
      if (answer.HasPlan()) {
        base::Expected<Values> exact = objectives_->Of(pair.of, answer.values);
        if (!exact) return exact.error();
        values = *std::move(exact);
        if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); })) {
          values.clear();
          pair.reason = "an objective has no finite value here";
        }
      }
      const bool is_new = !values.empty() && std::find(pair.values.begin(), pair.values.end(),
                                                       values) == pair.values.end();
      if (is_new)
        result_.network_fronts[pair.of.network].Add({pair.of.point, answer.metric, values});
      pair.values.push_back(std::move(values));
    }
    if (spec_.wants_set_front) AddToSet(pair.of.point);
    return std::nullopt;
  }

  void AddToSet(size_t point) {
    std::vector<Values> added;
    for (size_t metric = 0; metric < spec_.metrics.size(); ++metric) {
      bool is_complete = true;
      for (size_t network = 0; network < spec_.networks.size(); ++network) {
        const Pair& pair = result_.PairAt(network, point);
        is_complete = is_complete && !pair.values.empty() && !pair.values[metric].empty();
      }
      if (!is_complete) continue;
      const Values values = LeastOfSet(point, metric);
      if (std::find(added.begin(), added.end(), values) != added.end()) continue;
      added.push_back(values);
      result_.set_front.Add({point, spec_.metrics[metric], values});
    }
  }

  // Transfers the proofs about a planned pair to the points that are at most as good.
  std::optional<base::Diagnostic> TransferFrom(const Planner& planner, size_t index) {
    const Pair& source = result_.pairs[index];
    const size_t network = source.of.network;
    const bool is_infeasible = source.answers.front().outcome == "infeasible";
    for (size_t point = 0; point < CountPoints(); ++point) {
      Pair& pair = PairAt(network, point);
      if (!pair.IsOpen()) continue;
      if (is_infeasible) {
        if (!planner.IsAtLeastAsGood(network, source.of.point, point, {})) continue;
        pair.settled = Settled::kMonotone;
        pair.is_infeasible = true;
        pair.reason = fmt::format("point {} is at least as good and has no plan", source.of.point);
        continue;
      }
      bool is_raised = false;
      for (const Answer& answer : source.answers)
        is_raised = Raise(planner, source, answer, pair) || is_raised;
      if (!is_raised) continue;
      if (auto fault = UpdateLeast(pair)) return fault;
      CompareWithLimits(pair);
    }
    return std::nullopt;
  }

  // Returns whether the value of an optimal plan is a higher bound than the known one.
  bool Raise(const Planner& planner, const Pair& source, const Answer& answer, Pair& pair) const {
    if (answer.outcome != "optimal") return false;
    const double value = answer.values.at(answer.metric);
    double& bound = pair.bounds.at(answer.metric);
    if (Rounded(value) <= Rounded(bound) ||
        !planner.IsAtLeastAsGood(pair.of.network, source.of.point, pair.of.point, {answer.metric}))
      return false;
    bound = value;
    pair.from[answer.metric] = source.of.point;
    return true;
  }

  // Called from threads that plan, one at a time, while this one waits.
  void ReportProgress() const {
    if (!options_.progress) return;
    const auto is_settled = [](const Pair& pair) { return !pair.IsOpen(); };
    size_t front = result_.set_front.Size();
    for (const Front& each : result_.network_fronts) front += each.Size();
    const auto settled = std::count_if(result_.pairs.begin(), result_.pairs.end(), is_settled);
    const std::string line =
        fmt::format("{} plans made, {} of {} pairs settled, {} points on the fronts", plans_made_,
                    settled, result_.pairs.size(), front);
    options_.progress({.line = line,
                       .phase = "pairs",
                       .done = settled,
                       .total = static_cast<int64_t>(result_.pairs.size())});
  }

  const Spec& spec_;
  const Store& store_;
  const RunOptions& options_;
  Exploration result_;
  std::optional<Objectives> objectives_;
  bool climbs_ = true;
  std::optional<size_t> top_;  // the point that the last climb found
  int64_t plans_made_ = 0;
};

}  // namespace

base::Expected<std::optional<Exploration>> Explore(const Spec& spec, const Store& store,
                                                   const RunOptions& options) {
  return Run(spec, store, options).Start();
}

}  // namespace tessera::explore
