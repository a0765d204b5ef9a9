// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/metrics.h"

#include <algorithm>

#include "tessera/base/arithmetic.h"

namespace tessera::plan {
namespace {

// Saturates at kMaxTotal, because a profile may state so many cycles that their sum exceeds it.
void Add(int64_t& sum, int64_t more) {
  sum = base::CheckedAdd(sum, more).value_or(base::kMaxTotal);
}
void Add(double& sum, double more) { sum += more; }

template <typename Value>
void Join(Value& total, const Value& part, Joining joining) {
  joining == Joining::kSum ? Add(total, part) : static_cast<void>(total = std::max(total, part));
}

template <typename Value>
void Join(std::map<std::string, Value>& total, const std::map<std::string, Value>& part,
          Joining joining) {
  for (const auto& [name, value] : part) Join(total[name], value, joining);
}

}  // namespace

std::vector<std::string_view> MetricNames() {
  std::vector<std::string_view> names;
  names.reserve(kMetrics.size());
  for (const Metric& metric : kMetrics) names.push_back(metric.name);
  return names;
}

const Metric* FindMetric(std::string_view name) {
  const auto* const found = std::find_if(kMetrics.begin(), kMetrics.end(),
                                         [&](const Metric& each) { return each.name == name; });
  return found == kMetrics.end() ? nullptr : found;
}

namespace {

double FieldOf(const Metrics& metrics, const Metric& metric) {
  return std::visit([&](auto member) { return static_cast<double>(metrics.*member); },
                    metric.value);
}

double RatioAt(const Metrics& metrics, const Metric& ratio, double cycles) {
  return RatioOf(ratio, FieldOf(metrics, ratio), cycles, metrics.clock_hz);
}

}  // namespace

double RatioOf(const Metric& ratio, double numerator, double cycles, double clock_hz) {
  if (cycles <= 0) return 0;
  const double value = numerator / cycles;
  return ratio.per_second == 0 ? value : value * clock_hz * ratio.per_second;
}

double NumeratorOf(const Metrics& metrics, const Metric& ratio) { return FieldOf(metrics, ratio); }

bool GrowsWithWork(const Metric& metric) {
  return metric.counts_work && metric.joining != Joining::kRatio &&
         metric.not_below_average_of == nullptr;
}

bool DependsOnTime(std::string_view metric) {
  const Metric* found = FindMetric(metric);
  return found == nullptr || found->depends_on_time;
}

double ValueOf(const Metrics& metrics, const Metric& metric) {
  return metric.joining == Joining::kRatio
             ? RatioAt(metrics, metric, static_cast<double>(metrics.latency_cycles))
             : FieldOf(metrics, metric);
}

double ExcessOf(const Metrics& metrics, const Metric& ratio, double limit) {
  const double per_cycle =
      ratio.per_second == 0 ? limit : limit / (metrics.clock_hz * ratio.per_second);
  return FieldOf(metrics, ratio) - per_cycle * static_cast<double>(metrics.latency_cycles);
}

double LowerBoundOf(const Metrics& bounds, const Metric& metric,
                    const std::map<std::string, double>& limits) {
  const auto latency = limits.find("latency");
  const double most_cycles = latency == limits.end() ? 0 : latency->second;
  if (metric.joining == Joining::kRatio) return RatioAt(bounds, metric, most_cycles);
  if (metric.not_below_average_of != nullptr && most_cycles > 0)
    return std::max(FieldOf(bounds, metric),
                    static_cast<double>(bounds.*metric.not_below_average_of) / most_cycles);
  return FieldOf(bounds, metric);
}

double ValueOf(const Metrics& metrics, std::string_view metric) {
  const Metric* found = FindMetric(metric);
  return found == nullptr ? 0 : ValueOf(metrics, *found);
}

void Accumulate(Metrics& total, const Metrics& part) {
  if (total.bound_by.empty() || total.latency_cycles == 0) {
    total.bound_by = part.bound_by;
  } else if (part.latency_cycles > 0 && total.bound_by != part.bound_by) {
    total.bound_by = "several";
  }
  total.clock_hz = part.clock_hz;
  for (const MetricField& field : kMetricFields) {
    std::visit([&](auto member) { Join(total.*member, part.*member, field.joining); },
               field.member);
  }
}

double DivisorOf(const Metrics& lower_bounds, const Metric& metric,
                 const std::map<std::string, double>& limits) {
  const double bound = LowerBoundOf(lower_bounds, metric, limits);
  if (bound > 0) return bound;
  // Within the time of the fastest plan, the lower bound is the ratio of the two lower bounds.
  const double fastest =
      LowerBoundOf(lower_bounds, metric, {{"latency", ValueOf(lower_bounds, "latency")}});
  return fastest > 0 ? fastest : 1;
}

}  // namespace tessera::plan
