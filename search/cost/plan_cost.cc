// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/plan_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/memory_lower_bound.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/cost/objective.h"

namespace tessera::search::cost {

encoder::program::Policy PolicyOf(const plan::Subgraph& subgraph, const std::vector<int>& kept) {
  return {.weights = subgraph.weights,
          .in_place = subgraph.in_place,
          .halo = subgraph.halo,
          .kept = kept,
          .k_extent = subgraph.k_extent,
          .serialized = subgraph.serialized,
          .second_stage = subgraph.second_stage};
}

encoder::program::SubgraphChoice ChoiceOf(const plan::Subgraph& subgraph,
                                          const std::vector<int>& kept) {
  return {subgraph.interval, subgraph.tile, PolicyOf(subgraph, kept), subgraph.prefetch};
}

std::vector<encoder::program::SubgraphChoice> ChoicesOf(std::span<const plan::Subgraph> subgraphs,
                                                        const std::vector<int>& kept) {
  std::vector<encoder::program::SubgraphChoice> choices;
  choices.reserve(subgraphs.size());
  for (const plan::Subgraph& subgraph : subgraphs) choices.push_back(ChoiceOf(subgraph, kept));
  return choices;
}

std::vector<problem::Bytes> OffChipPeaksOf(const graph::Graph& graph,
                                           const hw_profiles::Profile& profile,
                                           std::span<const plan::Subgraph> subgraphs,
                                           const std::vector<int>& kept) {
  return encoder::program::BytesAtHomes(graph, profile).DuringEach(ChoicesOf(subgraphs, kept));
}

namespace {

using plan::Metrics;
using plan::verify::Violation;

// Compilers may round sums of doubles differently. Differences of these sizes are accepted.
constexpr double kRelativeRounding = 1e-12;
constexpr double kMostRounding = 0.25;

class Differences {
 public:
  void Compare(std::string_view noun, int64_t stated, int64_t expected) {
    if (stated != expected) Note(fmt::format("{} {}", stated, noun), fmt::format("{}", expected));
  }

  void Compare(std::string_view noun, double stated, double expected) {
    if (!IsSamePrice(stated, expected))
      Note(fmt::format("{} of {}", noun, stated), fmt::format("{}", expected));
  }

  // Compares every part that either of the two maps contains. A part of 0 counts as a part.
  template <typename Value>
  void Compare(std::string_view noun, const std::map<std::string, Value>& stated,
               const std::map<std::string, Value>& expected) {
    std::map<std::string, std::pair<std::optional<Value>, std::optional<Value>>> parts;
    for (const auto& [name, value] : stated) parts[name].first = value;
    for (const auto& [name, value] : expected) parts[name].second = value;
    const auto text = [](const std::optional<Value>& value) {
      return value ? fmt::format("{}", *value) : std::string("none");
    };
    for (const auto& [name, values] : parts) {
      const auto& [said, found] = values;
      if (!said || !found || !IsSamePrice(static_cast<double>(*said), static_cast<double>(*found)))
        Note(fmt::format("{} for '{}' of {}", noun, name, text(said)), text(found));
    }
  }

  void Note(const std::string& stated, const std::string& expected) {
    differences_.push_back(fmt::format("states {} where a simulation gives {}", stated, expected));
  }

  std::vector<std::string> Take() { return std::move(differences_); }

 private:
  std::vector<std::string> differences_;
};

class PriceCheck {
 public:
  explicit PriceCheck(const plan::Plan& plan) : plan_(plan) {}

  std::vector<Violation> Run() {
    const Simulator simulator(plan_.network, plan_.profile);
    const std::vector<problem::Bytes> off_chip =
        OffChipPeaksOf(plan_.network, plan_.profile, plan_.subgraphs, plan_.kept);
    Metrics totals;
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) {
      Metrics price =
          PriceOf(plan_.network, plan_.profile, simulator, plan_.subgraphs, i, plan_.kept);
      plan::Accumulate(totals, price);
      price.peak_bytes = plan_.subgraphs[i].metrics.peak_bytes;  // of the placement
      price.off_chip_peak_bytes = off_chip[i];
      Compare(fmt::format("subgraph {}", i), plan_.subgraphs[i].metrics, price);
    }
    totals.peak_bytes = plan_.totals.peak_bytes;
    totals.off_chip_peak_bytes = plan_.totals.off_chip_peak_bytes;
    Compare("the plan", plan_.totals, totals);
    const Metrics bounds = FindLowerBounds(plan_.network, plan_.profile);
    Compare("the lower bound", plan_.lower_bounds, bounds);
    CheckScore(totals, bounds);
    return std::move(violations_);
  }

 private:
  void Compare(const std::string& where, const Metrics& stated, const Metrics& expected) {
    for (const std::string& difference : FindDifferences(stated, expected))
      Note(fmt::format("{} {}", where, difference));
  }

  void CheckScore(const Metrics& totals, const Metrics& bounds) {
    const base::Expected<Scale> scale = Scale::Make(plan_.objective, bounds);
    if (!scale) return Note(scale.error().message);
    const double score = scale->ScoreOf(totals);
    if (!IsSamePrice(plan_.score, score))
      Note(fmt::format("the plan states a score of {} where its objective gives {}", plan_.score,
                       score));
    const double bound = scale->ScoreOfBounds(bounds);
    if (!IsSamePrice(plan_.bound, bound))
      Note(fmt::format("the plan states a bound of {} where its lower bounds give {}", plan_.bound,
                       bound));
  }

  void Note(std::string message) {
    violations_.push_back({plan::verify::ViolationKind::kMetric, std::move(message)});
  }

  const plan::Plan& plan_;
  std::vector<Violation> violations_;
};

}  // namespace

bool IsSamePrice(double a, double b) {
  const double difference = std::abs(a - b);
  return difference <= kMostRounding &&
         difference <= kRelativeRounding * std::max(std::abs(a), std::abs(b));
}

std::vector<std::string> FindDifferences(const Metrics& stated, const Metrics& expected) {
  Differences differences;
  for (const plan::MetricField& field : plan::kMetricFields) {
    std::visit(
        [&](auto member) { differences.Compare(field.noun, stated.*member, expected.*member); },
        field.member);
  }
  if (stated.bound_by != expected.bound_by)
    differences.Note(fmt::format("that it is bound by {}", stated.bound_by), expected.bound_by);
  return differences.Take();
}

Metrics PriceOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                const Simulator& simulator, std::span<const plan::Subgraph> subgraphs,
                size_t number, const std::vector<int>& kept) {
  const plan::Subgraph& subgraph = subgraphs[number];
  return simulator.Run(
      encoder::program::CutTiles(graph, subgraph.interval, subgraph.tile, subgraph.halo),
      PolicyOf(subgraph, kept), Detail::kParts, PrefetchesOf(graph, profile, subgraphs, number));
}

std::vector<Violation> FindMispriced(const plan::Plan& plan) { return PriceCheck(plan).Run(); }

}  // namespace tessera::search::cost
