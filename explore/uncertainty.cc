// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/explore/analyses.h"
#include "tessera/explore/objectives.h"
#include "tessera/explore/tables.h"

// The idea: a figure such as the area of a cell is wrong by an unknown factor, but by the same one
// on every point. So each part has a factor f within [1 - u, 1 + u], and the area of point p is the
// sum of f(part) * a(p, part). The difference of two areas is greatest if each factor is at the end
// that increases its term, and least at the other ends:
//
//     most of area(p) - area(q) = sum over parts of d + u * |d|,  d = a(p, part) - a(q, part)
//
// A member of a front survives if no other point is at most equal in every objective for any
// factors. If an objective is an expression of the area, interval arithmetic bounds it. Both err
// only towards "may fall", so "survives" is proven. Pairs that were not planned are included with
// their lower bounds.
namespace tessera::explore {
namespace {

// A plan, or the lower bounds of a pair without one.
struct Candidate {
  PairOf of;
  std::string metric;  // empty: bounds
  std::map<std::string, NumberInterval> metrics;
  std::vector<NumberInterval> values;  // of the objectives
};

class Survival {
 public:
  Survival(const Spec& spec, const Exploration& exploration, double fraction)
      : spec_(spec),
        exploration_(exploration),
        fraction_(fraction),
        objectives_(spec, exploration.points, exploration.areas) {}

  base::Expected<Json> Run() {
    for (const Point& point : exploration_.points) {
      const Json document = point.Document();
      const auto parts = spec_.area.PartsOf(document, [&](std::string_view name) {
        return spec_.space.Lookup(point.values, document, name);
      });
      if (!parts) return base::Unexpected(parts.error());
      std::map<std::string, double>& areas = parts_.emplace_back();
      for (const PartArea& part : *parts) areas[part.part] = part.mm2;
    }
    Json json = {{"fraction", fraction_}, {"networks", Json::object()}};
    for (size_t network = 0; network < exploration_.network_fronts.size(); ++network) {
      const auto of_network = OfNetwork(network);
      if (!of_network) return base::Unexpected(of_network.error());
      json["networks"][spec_.networks[network].name] = *of_network;
    }
    return json;
  }

 private:
  base::Expected<Candidate> Make(const PairOf& pair, const std::string& metric,
                                 const Planner::Figures& metrics, bool are_exact) const {
    Candidate candidate{pair, metric, {}, {}};
    for (const auto& [name, value] : metrics)
      candidate.metrics[name] =
          are_exact ? NumberInterval::Of(Rounded(value)) : NumberInterval::From(Rounded(value));
    const double area = exploration_.areas[pair.point];
    candidate.metrics["area"] = {area * (1 - fraction_), area * (1 + fraction_)};
    for (size_t i = 0; i < spec_.objectives.size(); ++i) {
      const auto value = objectives_.Within(pair, i, candidate.metrics);
      if (!value) return base::Unexpected(value.error());
      candidate.values.push_back(*value);
    }
    return candidate;
  }

  // Returns the range of area(p) - area(q).
  NumberInterval AreaDifference(size_t p, size_t q) const {
    NumberInterval difference;
    std::map<std::string, double> parts = parts_[p];
    for (const auto& [part, area] : parts_[q]) parts[part] -= area;
    for (const auto& [part, each] : parts) {
      difference.low += each - fraction_ * std::abs(each);
      difference.high += each + fraction_ * std::abs(each);
    }
    return difference;
  }

  // Returns the range of objective `i` of p less that of q.
  NumberInterval Difference(const Candidate& p, const Candidate& q, size_t i) const {
    if (spec_.objectives[i].name == "area") return AreaDifference(p.of.point, q.of.point);
    const NumberInterval& a = p.values[i];
    const NumberInterval& b = q.values[i];
    return {a.low - b.high, a.high - b.low};
  }

  // Whether q may dominate p for some factors, and whether it does so for all.
  enum class Dominance { kNever, kMaybe, kAlways };
  Dominance DominanceOf(const Candidate& q, const Candidate& p) const {
    bool may_be_below = false;
    bool is_below = false;
    bool is_always = true;
    for (size_t i = 0; i < spec_.objectives.size(); ++i) {
      const NumberInterval difference = Difference(p, q, i);
      if (!(difference.high >= 0)) return Dominance::kNever;
      may_be_below = may_be_below || difference.high > 0;
      is_below = is_below || difference.low > 0;
      is_always = is_always && difference.low >= 0;
    }
    if (is_always && is_below) return Dominance::kAlways;
    return may_be_below ? Dominance::kMaybe : Dominance::kNever;
  }

  base::Expected<std::vector<Candidate>> CandidatesOf(size_t network) const {
    std::vector<Candidate> candidates;
    for (size_t point = 0; point < exploration_.points.size(); ++point) {
      const Pair& pair = exploration_.PairAt(network, point);
      if (pair.settled == Settled::kRefused || pair.is_infeasible) continue;
      for (size_t i = 0; i < pair.answers.size(); ++i) {
        if (pair.values[i].empty()) continue;
        auto made = Make(pair.of, pair.answers[i].metric, pair.answers[i].values, true);
        if (!made) return base::Unexpected(made.error());
        candidates.push_back(*std::move(made));
      }
      if (!pair.answers.empty()) continue;
      auto made = Make(pair.of, "", pair.bounds, false);
      if (!made) return base::Unexpected(made.error());
      candidates.push_back(*std::move(made));
    }
    return candidates;
  }

  base::Expected<Json> OfNetwork(size_t network) const {
    const auto candidates = CandidatesOf(network);
    if (!candidates) return base::Unexpected(candidates.error());
    Json json = {{"members", Json::array()}, {"may_join", Json::array()}};
    std::vector<FrontPoint> front = exploration_.network_fronts[network].Sorted();
    const auto is_member = [&](const Candidate& candidate) {
      return std::any_of(front.begin(), front.end(), [&](const FrontPoint& member) {
        return member.point == candidate.of.point && member.metric == candidate.metric;
      });
    };
    for (const Candidate& candidate : *candidates) {
      if (is_member(candidate)) {
        json["members"].push_back(MemberJson(candidate, *candidates));
      } else if (MayJoin(candidate, *candidates)) {
        Json item = {{"point", candidate.of.point}};
        item["minimized"] = candidate.metric.empty() ? Json() : Json(candidate.metric);
        json["may_join"].push_back(std::move(item));
      }
    }
    return json;
  }

  Json MemberJson(const Candidate& member, const std::vector<Candidate>& candidates) const {
    Json json = {{"point", member.of.point}, {"minimized", member.metric}, {"verdict", "survives"}};
    for (const Candidate& other : candidates) {
      if (&other == &member || DominanceOf(other, member) == Dominance::kNever) continue;
      // A plan that may be better counts more than bounds of a pair that was not planned.
      const bool is_plan = !other.metric.empty();
      if (json.contains("to") && (!is_plan || json.at("verdict") == "may fall")) continue;
      json["verdict"] = is_plan ? "may fall" : "open";
      json["to"] = other.of.point;
    }
    return json;
  }

  // Returns whether no found point dominates it, whatever the factors are.
  bool MayJoin(const Candidate& candidate, const std::vector<Candidate>& candidates) const {
    return std::none_of(candidates.begin(), candidates.end(), [&](const Candidate& other) {
      return &other != &candidate && !other.metric.empty() &&
             (DominanceOf(other, candidate) == Dominance::kAlways || AreEqual(other, candidate));
    });
  }

  // Plans of one point with equal values count once.
  static bool AreEqual(const Candidate& a, const Candidate& b) {
    return a.of.point == b.of.point && !b.metric.empty() &&
           std::equal(a.values.begin(), a.values.end(), b.values.begin(),
                      [](const NumberInterval& one, const NumberInterval& other) {
                        return one.low == other.low && one.high == other.high;
                      });
  }

  const Spec& spec_;
  const Exploration& exploration_;
  double fraction_;
  Objectives objectives_;
  std::vector<std::map<std::string, double>> parts_;  // areas of parts, by point
};

}  // namespace

base::Expected<Json> FindSurvivors(const Spec& spec, const Exploration& exploration,
                                   double fraction) {
  return Survival(spec, exploration, fraction).Run();
}

std::string DescribeSurvivors(const Json& document) {
  const Json& uncertainty = document.at("uncertainty");
  std::string text = fmt::format("\nif the area of each part is wrong by up to {:g} %\n",
                                 uncertainty.at("fraction").get<double>() * 100);
  std::vector<std::vector<std::string>> rows = {{"network", "point", "minimized", "verdict"}};
  for (const auto& [network, of_network] : uncertainty.at("networks").items()) {
    for (const Json& member : of_network.at("members")) {
      std::string verdict = member.at("verdict");
      if (member.contains("to"))
        verdict += (verdict == "open" ? ": what is known of point " : " to point ") +
                   member.at("to").dump() + (verdict == "open" ? " does not decide" : "");
      rows.push_back({network, Short(member.at("point")), member.at("minimized"), verdict});
    }
    for (const Json& point : of_network.at("may_join"))
      rows.push_back(
          {network, Short(point.at("point")),
           point.at("minimized").is_null() ? "-" : point.at("minimized").get<std::string>(),
           point.at("minimized").is_null() ? "may join, not planned" : "may join"});
  }
  return text + AlignedTable(rows);
}

}  // namespace tessera::explore
