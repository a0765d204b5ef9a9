// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/metrics.h"
#include "tessera/plan/verify/checks.h"

namespace tessera::plan::verify {
namespace {

// Doubles whose relative difference is at most this count as equal: kTolerance for sums, kRounding
// for values that are computed again.
constexpr double kTolerance = 1e-6;
constexpr double kRounding = 1e-12;

bool Close(double a, double b) {
  return std::abs(a - b) <= kTolerance * std::max({1.0, std::abs(a), std::abs(b)});
}

// The sizes of all tensors outside the tile memory while each subgraph runs.
std::vector<int64_t> OffChipBytes(const Plan& plan) {
  std::vector<int64_t> bytes(plan.subgraphs.size());
  for (const HomeStay& stay : FindHomeStays(plan)) {
    if (stay.memory == plan.profile.tile_memory) continue;
    for (problem::Step i = stay.subgraphs.lower; i < stay.subgraphs.upper; ++i) {
      int64_t& here = bytes[static_cast<size_t>(i)];
      here = base::CheckedAdd(here, stay.size).value_or(base::kMaxTotal);
    }
  }
  return bytes;
}

// For each subgraph, the highest byte, plus one, of all buffers that live at any of its steps,
// including guards. The steps of a subgraph begin where those of the previous one end.
std::vector<int64_t> HighestBytes(const Plan& plan, const std::vector<problem::Lifespan>& steps) {
  std::vector<int64_t> highest(steps.size(), 0);
  const std::vector<problem::Guard> guards = problem::GuardsOf(plan.problem);
  for (size_t i = 0; i < plan.problem.buffers.size(); ++i) {
    const int64_t guard = guards.empty() ? 0 : guards[i].after;
    const int64_t end = plan.allocation.offsets[i] + plan.problem.buffers[i].size + guard;
    for (const problem::Lifespan& life : plan.problem.buffers[i].lifespans) {
      auto there = std::partition_point(steps.begin(), steps.end(), [&](const auto& subgraph) {
        return subgraph.upper <= life.lower;
      });
      for (; there != steps.end() && there->lower < life.upper; ++there) {
        int64_t& here = highest[static_cast<size_t>(there - steps.begin())];
        here = std::max(here, end);
      }
    }
  }
  return highest;
}

class MetricsCheck {
 public:
  MetricsCheck(const Plan& plan, const Derivation& derivation, Findings& findings)
      : plan_(plan),
        derivation_(derivation),
        findings_(findings),
        off_chip_(OffChipBytes(plan)),
        peaks_(HighestBytes(plan, derivation.trace.subgraph_steps)) {}

  void Run() {
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) CheckSubgraph(i);
    CheckTotals();
    for (const hw_profiles::ProfileTotal& total : hw_profiles::kProfileTotals)
      CheckProfileTotal(std::string(total.key));
    CheckBounds();
    CheckScore();
    CheckStatus();
  }

 private:
  void Expect(const std::string& where, std::string_view what, int64_t found, int64_t expected) {
    if (found == expected) return;
    findings_.Note(ViolationKind::kMetric, fmt::format("{} states {} {} where {} are counted",
                                                       where, found, what, expected));
  }

  void ExpectClose(const std::string& where, std::string_view what, double found, double expected) {
    if (Close(found, expected)) return;
    findings_.Note(ViolationKind::kMetric, fmt::format("{} states {} of {} where its parts give {}",
                                                       where, what, found, expected));
  }

  // For values that follow from network, profile and partition.
  void ExpectComputed(const std::string& where, const std::string& what, double found,
                      double expected) {
    if (std::abs(found - expected) <= kRounding * std::max(std::abs(found), std::abs(expected)))
      return;
    findings_.Note(ViolationKind::kMetric, fmt::format("{} states {} of {} where {} is computed",
                                                       where, what, found, expected));
  }

  void CheckSubgraph(size_t i) {
    const Metrics& metrics = plan_.subgraphs[i].metrics;
    Metrics cost = derivation_.costs[i];
    cost.peak_bytes = peaks_[i];
    cost.off_chip_peak_bytes = off_chip_[i];
    const std::string where = fmt::format("subgraph {}", i);
    for (const MetricField& field : kMetricFields) {
      std::visit([&](auto member) { CheckField(where, field.noun, metrics.*member, cost.*member); },
                 field.member);
    }
    CheckParts(where, metrics);
  }

  void CheckField(const std::string& where, std::string_view noun, int64_t found,
                  int64_t expected) {
    Expect(where, noun, found, expected);
  }

  void CheckField(const std::string& where, std::string_view noun, double found, double expected) {
    ExpectComputed(where, std::string(noun), found, expected);
  }

  void CheckField(const std::string& where, std::string_view noun,
                  const std::map<std::string, int64_t>& found,
                  const std::map<std::string, int64_t>& expected) {
    for (const std::string cause : {"inputs", "outputs", "weights"}) {
      Expect(where, fmt::format("{} of {}", noun, cause), PartOf(found, cause),
             PartOf(expected, cause));
    }
  }

  void CheckField(const std::string& where, std::string_view noun,
                  const std::map<std::string, double>& found,
                  const std::map<std::string, double>& expected) {
    for (const auto& [part, energy] : expected) {
      const auto stated = found.find(part);
      if (stated != found.end()) {
        ExpectComputed(where, fmt::format("{} in '{}'", noun, part), stated->second, energy);
      } else {
        findings_.Note(ViolationKind::kMetric,
                       fmt::format("{} states no energy in '{}'", where, part));
      }
    }
    for (const auto& [part, energy] : found) {
      if (!expected.contains(part))
        findings_.Note(
            ViolationKind::kMetric,
            fmt::format("{} states {} in '{}', which is no part of it", where, noun, part));
    }
  }

  static int64_t PartOf(const std::map<std::string, int64_t>& parts, const std::string& cause) {
    const auto part = parts.find(cause);
    return part == parts.end() ? 0 : part->second;
  }

  // The highest byte, plus one, of each home, added.
  int64_t HighestBytesOfHomes() const {
    int64_t sum = 0;
    for (const Home& home : plan_.homes) {
      int64_t end = 0;
      for (size_t i = 0; i < home.problem.buffers.size(); ++i)
        end = std::max(end, home.allocation.offsets[i] + home.problem.buffers[i].size);
      sum = base::CheckedAdd(sum, end).value_or(base::kMaxTotal);
    }
    return sum;
  }

  // Checks the sums over causes and over parts of the energy.
  void CheckParts(const std::string& where, const Metrics& metrics) {
    int64_t bytes = 0;
    for (const auto& [cause, part] : metrics.off_chip_by_cause) bytes += part;
    Expect(where, "off-chip bytes", metrics.off_chip_bytes, bytes);
    double energy = 0;
    for (const auto& [name, part] : metrics.energy_by_part) energy += part;
    ExpectClose(where, "an energy", metrics.energy_pj, energy);
  }

  void CheckTotals() {
    Metrics sum;
    for (const Subgraph& subgraph : plan_.subgraphs) Accumulate(sum, subgraph.metrics);
    sum.peak_bytes = problem::PeakOf(plan_.problem, plan_.allocation);
    sum.off_chip_peak_bytes = HighestBytesOfHomes();
    for (const MetricField& field : kMetricFields) CheckTotal(field, sum);
    Expect("its lower bounds", "operators of unknown work", plan_.lower_bounds.unknown_work,
           sum.unknown_work);
    CheckParts("the plan", plan_.totals);
  }

  void CheckTotal(const MetricField& field, const Metrics& sum) {
    if (const auto* count = std::get_if<int64_t Metrics::*>(&field.member))
      Expect("the plan", field.noun, plan_.totals.**count, sum.**count);
    if (const auto* number = std::get_if<double Metrics::*>(&field.member))
      ExpectClose("the plan", field.noun, plan_.totals.**number, sum.**number);
  }

  // The sum of the values of that key in one section.
  template <typename Section, size_t count>
  static double SumOf(const std::vector<Section>& sections,
                      const std::array<hw_profiles::Field<Section>, count>& fields,
                      std::string_view key) {
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&](const auto& each) { return each.key == key; });
    double sum = 0;
    for (size_t i = 0; i < sections.size() && field != fields.end(); ++i) {
      hw_profiles::VisitValue(*field, sections[i],
                              [&](const auto& value) { sum += hw_profiles::NumberOf(value); });
    }
    return sum;
  }

  void CheckProfileTotal(const std::string& key) {
    const hw_profiles::Profile& profile = plan_.profile;
    const double sum = SumOf(profile.links, hw_profiles::kLinkFields, key) +
                       SumOf(profile.engines, hw_profiles::kEngineFields, key) +
                       SumOf(profile.memories, hw_profiles::kMemoryFields, key);
    const auto stated = plan_.profile_totals.find(key);
    ExpectComputed("the plan", fmt::format("a total {}", key),
                   stated == plan_.profile_totals.end() ? 0 : stated->second, sum);
  }

  // Bounds that follow from a limit on the latency hold for plans that satisfy it.
  void CheckBounds() {
    const auto most = plan_.objective.limits.find("latency");
    const bool keeps_latency =
        most != plan_.objective.limits.end() && ValueOf(plan_.totals, "latency") <= most->second;
    const std::map<std::string, double> none;
    for (const Metric& metric : kMetrics) {
      const double value = ValueOf(plan_.totals, metric);
      const double bound =
          LowerBoundOf(plan_.lower_bounds, metric, keeps_latency ? plan_.objective.limits : none);
      if (value >= bound || Close(value, bound)) continue;
      findings_.Note(ViolationKind::kMetric,
                     fmt::format("the plan's {} is {}, below its own lower bound of {}",
                                 metric.name, value, bound));
    }
    for (const auto& [metric, limit] : plan_.objective.limits) {
      const double value = ValueOf(plan_.totals, metric);
      if (value <= limit || Close(value, limit)) continue;
      findings_.Note(
          ViolationKind::kMetric,
          fmt::format("the plan's {} is {}, beyond the limit of {}", metric, value, limit));
    }
  }

  // Values of latency, energy and MACs that are only lower bounds do not order plans.
  void CheckStatus() {
    if (plan_.status != "optimal" || IsKnownValue(plan_.network, plan_.objective)) return;
    findings_.Note(
        ViolationKind::kMetric,
        fmt::format("the plan is called optimal in what {} operators of unknown work are part of",
                    plan_.totals.unknown_work));
  }

  // The score for one metric is its value. For several it is the weighted mean of each metric
  // divided by its divisor.
  void CheckScore() {
    const auto& weights = plan_.objective.weights;
    if (weights.empty()) return;
    if (weights.size() == 1) {
      ExpectClose("the plan", "a score", plan_.score,
                  ValueOf(plan_.totals, weights.begin()->first));
      return;
    }
    double sum = 0;
    double total_weight = 0;
    for (const auto& [metric, weight] : weights) {
      sum += weight * ValueOf(plan_.totals, metric) /
             DivisorOf(plan_.lower_bounds, *FindMetric(metric), plan_.objective.limits);
      total_weight += weight;
    }
    if (total_weight > 0) ExpectClose("the plan", "a score", plan_.score, sum / total_weight);
  }

  const Plan& plan_;
  const Derivation& derivation_;
  Findings& findings_;
  const std::vector<int64_t> off_chip_;  // by subgraph, as the next one
  const std::vector<int64_t> peaks_;
};

}  // namespace

void CheckMetrics(const Plan& plan, const Derivation& derivation, Findings& findings) {
  MetricsCheck(plan, derivation, findings).Run();
}

}  // namespace tessera::plan::verify
