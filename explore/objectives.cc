// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/objectives.h"

#include <tessera/call.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

namespace tessera::explore {
namespace {

std::map<std::string, NumberInterval> IntervalsOf(const Planner::Figures& metrics, bool are_exact) {
  std::map<std::string, NumberInterval> intervals;
  for (const auto& [name, value] : metrics)
    intervals[name] =
        are_exact ? NumberInterval::Of(Rounded(value)) : NumberInterval::From(Rounded(value));
  return intervals;
}

}  // namespace

double Rounded(double value) {
  if (value == 0 || !std::isfinite(value) || std::floor(value) == value) return value;
  const double scale = std::pow(10.0, 8 - std::floor(std::log10(std::abs(value))));
  const double rounded = std::round(value * scale) / scale;
  return std::isfinite(rounded) ? rounded : value;
}

base::Expected<std::vector<double>> FindAreas(const Spec& spec, const std::vector<Point>& points) {
  std::vector<double> areas;
  if (!spec.needs_area) return areas;
  for (const Point& point : points) {
    const Json document = point.Document();
    const base::Expected<double> area = spec.area.Of(document, [&](std::string_view name) {
      return spec.space.Lookup(point.values, document, name);
    });
    if (!area) return base::Unexpected(area.error());
    areas.push_back(*area);
  }
  return areas;
}

Objectives::Objectives(const Spec& spec, const std::vector<Point>& points,
                       const std::vector<double>& areas)
    : spec_(spec), constants_(points.size()) {
  std::set<std::string> names;
  for (const Objective& objective : spec.objectives)
    names.insert(objective.expression.NamesUsed().begin(), objective.expression.NamesUsed().end());
  for (size_t i = 0; i < points.size(); ++i) {
    const Json document = points[i].Document();
    for (const std::string& name : names) {
      const auto number = spec.space.Lookup(points[i].values, document, name);
      if (number) constants_[i][name] = *number;
    }
    if (!areas.empty()) constants_[i]["area"] = areas[i];
  }
}

base::Expected<NumberInterval> Objectives::Within(
    const PairOf& pair, size_t index, const std::map<std::string, NumberInterval>& metrics) const {
  const std::map<std::string, double>& columns = spec_.networks[pair.network].columns;
  const std::map<std::string, double>& constants = constants_[pair.point];
  return spec_.objectives[index].expression.Evaluate(
      [&](std::string_view name) -> std::optional<NumberInterval> {
        const std::string key(name);
        if (const auto metric = metrics.find(key); metric != metrics.end()) return metric->second;
        if (const auto column = columns.find(key); column != columns.end())
          return NumberInterval::Of(column->second);
        const auto constant = constants.find(key);
        if (constant == constants.end()) return std::nullopt;
        return NumberInterval::Of(constant->second);
      });
}

base::Expected<Values> Objectives::AtLeast(const PairOf& pair,
                                           const Planner::Figures& metrics) const {
  return LowEnds(pair, IntervalsOf(metrics, false));
}

base::Expected<Values> Objectives::Of(const PairOf& pair, const Planner::Figures& metrics) const {
  return LowEnds(pair, IntervalsOf(metrics, true));
}

base::Expected<Values> Objectives::LowEnds(
    const PairOf& pair, const std::map<std::string, NumberInterval>& metrics) const {
  Values low;
  for (size_t i = 0; i < spec_.objectives.size(); ++i) {
    const base::Expected<NumberInterval> value = Within(pair, i, metrics);
    if (!value) return base::Unexpected(value.error());
    low.push_back(value->low);
  }
  return low;
}

std::string_view NameOf(Settled settled) {
  static constexpr std::array<std::string_view, 5> kNames = {"open", "planned", "bound", "monotone",
                                                             "refused"};
  return kNames[static_cast<size_t>(settled)];
}

double PriorityOf(const Pair& pair) {
  constexpr double kLeastValue = 1e-30;
  double sum = 0;
  for (const double value : pair.least) sum += std::log(std::fmax(value, kLeastValue));
  return sum;
}

Values BestOf(const Pair& pair) {
  Values best;
  for (const Values& values : pair.values) {
    if (values.empty()) continue;
    if (best.empty()) best = values;
    for (size_t i = 0; i < values.size(); ++i) best[i] = std::min(best[i], values[i]);
  }
  return best;
}

bool HasNoPlan(const Pair& pair) {
  return pair.is_infeasible || pair.settled == Settled::kRefused ||
         std::any_of(pair.answers.begin(), pair.answers.end(),
                     [](const Answer& answer) { return answer.outcome == "infeasible"; });
}

bool IsUndecided(const Pair& pair) {
  if (pair.settled != Settled::kPlanned) return false;
  return std::none_of(pair.answers.begin(), pair.answers.end(), [](const Answer& answer) {
    return answer.HasPlan() || answer.outcome == NameOf(Outcome::kInfeasible);
  });
}

}  // namespace tessera::explore
