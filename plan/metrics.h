// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// The costs of a plan, and the metrics by which plans are compared.
//
//     Metrics         the record of a subgraph, of a plan, or of lower bounds
//     kMetricFields   its fields: how files, checks and sums treat each
//     kMetrics        the metrics that an objective may name: functions of these fields
//
// A new field is a row of kMetricFields and its value in the two derivations of costs
// (search/cost/simulator.cc, plan/verify/subgraph_costs.cc), and in their lower bounds. A new
// metric is a row of kMetrics. Files, reports, objectives, limits, fronts and checks iterate over
// the tables.
namespace tessera::plan {

// The cost of a part of the program.
struct Metrics {
  double clock_hz = 0;  // of the profile: the cycles of a second; not a cost
  int64_t latency_cycles = 0;
  // the part of them in which engines wait for transfers: prologue, epilogue, waits between steps
  int64_t exposed_cycles = 0;
  double energy_pj = 0;
  // "mac", "leakage", and the name of each memory; the sum is energy_pj
  std::map<std::string, double> energy_by_part;
  int64_t off_chip_bytes = 0;
  // "inputs", "outputs", "weights"; the sum is off_chip_bytes
  std::map<std::string, int64_t> off_chip_by_cause;
  int64_t macs = 0;  // including recomputed ones
  int64_t recomputed_macs = 0;
  // operators with unknown work; if there are any, cycles, energy and multiply-accumulates are
  // lower bounds
  int64_t unknown_work = 0;
  int64_t peak_bytes = 0;           // in the tile memory
  double peak_bytes_per_cycle = 0;  // off-chip bytes in the busiest step
  // Bytes that tensors, constants and state occupy outside the tile memory. Of a subgraph: their
  // sizes while it runs. Of a plan: the highest byte of each memory, plus one, all memories added.
  int64_t off_chip_peak_bytes = 0;
  // "compute", or the link that takes longest; "exposed transfers" if prologue, epilogue and waits
  // for slices take more than half of the cycles; "several" if parts differ
  std::string bound_by;
};

// How the value of a whole follows from the values of its parts. A ratio follows from the sums of
// its numerator and of its denominator instead.
enum class Joining : uint8_t { kSum, kMaximum, kRatio };

struct MetricField {
  std::string_view key;   // in JSON
  std::string_view noun;  // in findings: "states 3 cycles", "states an energy of 3"
  std::variant<int64_t Metrics::*, double Metrics::*, std::map<std::string, double> Metrics::*,
               std::map<std::string, int64_t> Metrics::*>
      member;
  Joining joining = Joining::kSum;
};

// All fields except clock_hz and bound_by, in the order of JSON.
inline constexpr std::array<MetricField, 12> kMetricFields = {{
    {"latency_cycles", "cycles", &Metrics::latency_cycles},
    {"exposed_cycles", "exposed cycles", &Metrics::exposed_cycles},
    {"energy_pj", "an energy", &Metrics::energy_pj},
    {"energy_by_part", "an energy", &Metrics::energy_by_part},
    {"off_chip_bytes", "off-chip bytes", &Metrics::off_chip_bytes},
    {"off_chip_by_cause", "off-chip bytes", &Metrics::off_chip_by_cause},
    {"macs", "MACs", &Metrics::macs},
    {"recomputed_macs", "recomputed MACs", &Metrics::recomputed_macs},
    {"unknown_work", "operators of unknown work", &Metrics::unknown_work},
    {"peak_bytes", "bytes of peak", &Metrics::peak_bytes, Joining::kMaximum},
    {"peak_bytes_per_cycle", "a peak bandwidth", &Metrics::peak_bytes_per_cycle, Joining::kMaximum},
    {"off_chip_peak_bytes", "bytes of off-chip peak", &Metrics::off_chip_peak_bytes,
     Joining::kMaximum},
}};

// A metric that an objective may name. Its value is a field or, for a ratio, a field divided by
// latency_cycles, either in cycles or in seconds.
struct Metric {
  std::string_view name = {};  // in options and files
  std::string_view title = {};
  std::string_view unit = {};
  std::string_view shown_unit = {};  // in tables of text, for values divided by `shown_per`
  double shown_per = 1;
  std::variant<int64_t Metrics::*, double Metrics::*> value;
  Joining joining = Joining::kSum;
  double per_second = 0;  // of a ratio over seconds: the factor for its unit; otherwise 0
  // of a maximum over steps: the sum whose average rate is a lower bound of it
  int64_t Metrics::*not_below_average_of = nullptr;
  bool counts_work = false;  // a lower bound if the work of an operator is unknown
  // changes with the times at which engines and transfers run, even if they do the same
  bool depends_on_time = false;
  bool is_of_front = false;  // `--pareto` compares plans in it
};

inline constexpr std::array<Metric, 9> kMetrics = {{
    {.name = "latency",
     .title = "latency",
     .unit = "cycles",
     .shown_unit = "cycles",
     .value = &Metrics::latency_cycles,
     .counts_work = true,
     .depends_on_time = true,
     .is_of_front = true},
    {.name = "energy",
     .title = "energy",
     .unit = "pJ",
     .shown_unit = "nJ",
     .shown_per = 1000,
     .value = &Metrics::energy_pj,
     .counts_work = true,
     .depends_on_time = true,
     .is_of_front = true},
    {.name = "off_chip_bytes",
     .title = "off-chip",
     .unit = "bytes",
     .shown_unit = "bytes",
     .value = &Metrics::off_chip_bytes,
     .is_of_front = true},
    {.name = "peak",
     .title = "peak",
     .unit = "bytes",
     .shown_unit = "bytes",
     .value = &Metrics::peak_bytes,
     .joining = Joining::kMaximum,
     .is_of_front = true},
    {.name = "macs",
     .title = "MACs",
     .unit = "in all",
     .value = &Metrics::macs,
     .counts_work = true},
    {.name = "power",
     .title = "power",
     .unit = "mW",
     .shown_unit = "mW",
     .value = &Metrics::energy_pj,
     .joining = Joining::kRatio,
     .per_second = 1e-9,
     .counts_work = true,
     .depends_on_time = true},
    {.name = "bandwidth_average",
     .title = "off-chip bandwidth",
     .unit = "bytes per cycle",
     .shown_unit = "bytes per cycle",
     .value = &Metrics::off_chip_bytes,
     .joining = Joining::kRatio,
     .counts_work = true,
     .depends_on_time = true},
    {.name = "bandwidth_peak",
     .title = "peak off-chip bandwidth",
     .unit = "bytes per cycle",
     .shown_unit = "bytes per cycle",
     .value = &Metrics::peak_bytes_per_cycle,
     .joining = Joining::kMaximum,
     .not_below_average_of = &Metrics::off_chip_bytes,
     .counts_work = true,
     .depends_on_time = true},
    {.name = "off_chip_peak",
     .title = "off-chip peak",
     .unit = "bytes",
     .shown_unit = "bytes",
     .value = &Metrics::off_chip_peak_bytes,
     .joining = Joining::kMaximum},
}};

constexpr size_t CountMetrics(Joining joining) {
  size_t count = 0;
  for (const Metric& metric : kMetrics) count += metric.joining == joining ? 1 : 0;
  return count;
}

template <Joining joining>
constexpr std::array<const Metric*, CountMetrics(joining)> SelectMetrics() {
  std::array<const Metric*, CountMetrics(joining)> selected = {};
  size_t count = 0;
  for (const Metric& metric : kMetrics) {
    if (metric.joining == joining) selected[count++] = &metric;
  }
  return selected;
}

// The metrics by joining.
inline constexpr auto kSummedMetrics = SelectMetrics<Joining::kSum>();
inline constexpr auto kMaximumMetrics = SelectMetrics<Joining::kMaximum>();
inline constexpr auto kRatioMetrics = SelectMetrics<Joining::kRatio>();

std::vector<std::string_view> MetricNames();

// Returns nullptr if no metric has that name.
const Metric* FindMetric(std::string_view name);

// Whether unknown work can only increase the metric. Unknown work adds cycles and energy, so rates
// may fall.
bool GrowsWithWork(const Metric& metric);

// Whether the metric changes with the times at which engines and transfers run. True for a name
// that no metric has.
bool DependsOnTime(std::string_view metric);

double ValueOf(const Metrics& metrics, const Metric& metric);
double ValueOf(const Metrics& metrics, std::string_view metric);  // 0 if there is no such metric

// The value of a ratio. It is 0 for a part that takes no time, because such a part moves nothing
// and needs no energy.
double RatioOf(const Metric& ratio, double numerator, double cycles, double clock_hz);
double NumeratorOf(const Metrics& metrics, const Metric& ratio);

// The amount by which the numerator of a ratio exceeds the maximum that a limit of the ratio allows
// in the time of the part. It adds up over subgraphs. A plan satisfies the limit if its total
// excess is not above 0.
double ExcessOf(const Metrics& metrics, const Metric& ratio, double limit);

// A lower bound of the metric in every plan that satisfies the limits (by metric name). `bounds`
// are lower bounds of the fields. A ratio is at least the bound of its numerator over the limit of
// the latency, and 0 without such a limit. A maximum over steps is at least the average.
double LowerBoundOf(const Metrics& bounds, const Metric& metric,
                    const std::map<std::string, double>& limits);

// Joins the fields of `part` to those of `total`. A total with zero latency gets the part's
// bound_by. Sums end at base::kMaxTotal.
void Accumulate(Metrics& total, const Metrics& part);

// The score of an objective with several weights: the mean of its metrics, each divided by a value
// that makes it comparable with the others.

// The divisor of the metric in the mean: its lower bound in plans within the limits. If the bound
// is 0:
//
//     ratio, or maximum over steps    the numerator's lower bound over that of the latency: the
//                                     ratio of a plan that meets both, though a slower plan may
//                                     have a lower one
//     others, and if this is 0 too    1: the metric counts in its own unit
//
// So a plan that meets all its lower bounds scores 1, and the units of metrics do not matter.
double DivisorOf(const Metrics& lower_bounds, const Metric& metric,
                 const std::map<std::string, double>& limits);

}  // namespace tessera::plan
