// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/explore/analyses.h"
#include "tessera/explore/objectives.h"
#include "tessera/explore/store.h"
#include "tessera/explore/tables.h"

namespace tessera::explore {
namespace {

struct Step {
  size_t network = 0;
  FrontPoint entry;
  size_t axis = 0;
  size_t neighbour = 0;
};

class Neighbourhood {
 public:
  Neighbourhood(const Spec& spec, const Exploration& exploration)
      : spec_(spec), exploration_(exploration) {
    for (size_t i = 0; i < exploration.points.size(); ++i)
      by_values_.emplace(KeyOf(exploration.points[i]), i);
  }

  std::vector<Step> StepsOf(size_t network, const FrontPoint& entry) const {
    std::vector<Step> steps;
    const Point& point = exploration_.points[entry.point];
    for (size_t axis = 0; axis < spec_.space.Axes().size(); ++axis) {
      const std::vector<Json>& values = spec_.space.Axes()[axis].values;
      const auto at = std::find(values.begin(), values.end(), point.values[axis]);
      if (at == values.end()) continue;
      for (const ptrdiff_t by : {-1, 1}) {
        const ptrdiff_t index = at - values.begin() + by;
        if (index < 0 || index >= static_cast<ptrdiff_t>(values.size())) continue;
        Point moved = point;
        moved.values[axis] = values[static_cast<size_t>(index)];
        const auto found = by_values_.find(KeyOf(moved));
        if (found != by_values_.end()) steps.push_back({network, entry, axis, found->second});
      }
    }
    return steps;
  }

 private:
  // Returns the base and the values of all free axes; the others are computed from them.
  std::string KeyOf(const Point& point) const {
    Json key = {point.base};
    for (size_t axis = 0; axis < spec_.space.Axes().size(); ++axis) {
      if (!spec_.space.Axes()[axis].expression) key.push_back(point.values[axis]);
    }
    return key.dump();
  }

  const Spec& spec_;
  const Exploration& exploration_;
  std::map<std::string, size_t> by_values_;
};

// Returns the values of the objectives of each answer.
base::Expected<std::vector<Values>> ValuesOf(const Objectives& objectives, const PairOf& pair,
                                             const std::vector<Answer>& answers) {
  std::vector<Values> all;
  for (const Answer& answer : answers) {
    if (!answer.HasPlan()) continue;
    base::Expected<Values> values = objectives.Of(pair, answer.values);
    if (!values) return base::Unexpected(values.error());
    all.push_back(*std::move(values));
  }
  return all;
}

// Returns the state of the neighbour: "plan", or why there is no plan to compare with.
std::string_view OutcomeOf(const Pair& pair, const std::vector<Answer>& answers) {
  const auto has = [&](std::string_view outcome) {
    return std::any_of(answers.begin(), answers.end(),
                       [outcome](const Answer& answer) { return answer.outcome == outcome; });
  };
  const bool has_plan = std::any_of(answers.begin(), answers.end(),
                                    [](const Answer& answer) { return answer.HasPlan(); });
  return has_plan                                  ? "plan"
         : pair.settled == Settled::kRefused       ? "refused"
         : pair.is_infeasible || has("infeasible") ? "infeasible"
         : has(kFailed)                            ? kFailed
                                                   : "unknown";
}

Json StepJson(const Spec& spec, const Exploration& exploration, const Step& step,
              std::string_view outcome, const std::vector<Values>& there) {
  const Axis& axis = spec.space.Axes()[step.axis];
  Json json = {{"network", spec.networks[step.network].name},
               {"point", step.entry.point},
               {"minimized", step.entry.metric},
               {"axis", axis.name},
               {"from", exploration.points[step.entry.point].values[step.axis]},
               {"to", exploration.points[step.neighbour].values[step.axis]},
               {"neighbour", step.neighbour},
               {"outcome", outcome},
               {"change", Json::array()}};
  for (size_t i = 0; i < spec.objectives.size(); ++i) {
    double best = std::numeric_limits<double>::infinity();
    for (const Values& values : there) best = std::min(best, values[i]);
    json["change"].push_back(std::isfinite(best) ? AsJson(best - step.entry.values[i]) : Json());
  }
  return json;
}

// Returns the word that replaces a change.
std::string WordOf(const std::string& outcome) {
  if (outcome == "plan") return "not finite";
  if (outcome == "infeasible") return "no plan, proven";
  return outcome == "refused" ? "no profile" : outcome;
}

}  // namespace

base::Expected<std::optional<Json>> FindMarginals(const Spec& spec, const Store& store,
                                                  const Exploration& exploration,
                                                  const RunOptions& options) {
  const Neighbourhood neighbourhood(spec, exploration);
  std::vector<Step> steps;
  for (size_t network = 0; network < exploration.network_fronts.size(); ++network) {
    for (const FrontPoint& entry : exploration.network_fronts[network].Sorted()) {
      for (Step& step : neighbourhood.StepsOf(network, entry)) steps.push_back(std::move(step));
    }
  }
  Planner planner(spec, exploration.points, store,
                  {options.threads, options.canceller, options.memory_limit, {}});
  if (auto fault = planner.Load()) return base::Unexpected(*fault);
  std::vector<Question> questions;
  std::set<std::pair<size_t, size_t>> asked;
  for (const Step& step : steps) {
    const Pair& pair = exploration.PairAt(step.network, step.neighbour);
    if (pair.settled == Settled::kRefused || pair.is_infeasible || !pair.answers.empty() ||
        !asked.emplace(step.network, step.neighbour).second)
      continue;
    for (const std::string& metric : spec.metrics) questions.push_back({pair.of, metric});
  }
  const auto found = planner.Ask(questions);
  if (!found) return base::Unexpected(found.error());
  if (!*found) return std::optional<Json>();
  std::map<std::pair<size_t, size_t>, std::vector<Answer>> answers;
  for (size_t i = 0; i < questions.size(); ++i)
    answers[{questions[i].pair.network, questions[i].pair.point}].push_back((**found)[i]);
  const Objectives objectives(spec, exploration.points, exploration.areas);
  Json list = Json::array();
  for (const Step& step : steps) {
    const Pair& pair = exploration.PairAt(step.network, step.neighbour);
    const auto& of_pair =
        pair.answers.empty() ? answers[{step.network, step.neighbour}] : pair.answers;
    const auto there = ValuesOf(objectives, pair.of, of_pair);
    if (!there) return base::Unexpected(there.error());
    list.push_back(StepJson(spec, exploration, step, OutcomeOf(pair, of_pair), *there));
  }
  return std::optional(std::move(list));
}

std::string DescribeMarginals(const Json& document) {
  std::vector<std::vector<std::string>> rows = {{"network", "point", "axis", "from", "to"}};
  for (const Json& objective : document.at("objectives"))
    rows.front().push_back("change of " + objective.get<std::string>());
  std::set<std::string> seen;  // points whose plans minimise several metrics have one step
  for (const Json& step : document.at("marginal")) {
    std::vector<std::string> row = {step.at("network"), Short(step.at("point")), step.at("axis"),
                                    Short(step.at("from")), Short(step.at("to"))};
    for (const Json& change : step.at("change"))
      row.push_back(change.is_null() ? WordOf(step.at("outcome")) : Short(change));
    if (seen.insert(fmt::format("{}", fmt::join(row, ","))).second) rows.push_back(std::move(row));
  }
  return "\nwhat a step of one axis changes along the fronts\n" + AlignedTable(rows);
}

}  // namespace tessera::explore
