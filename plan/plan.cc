#include "tessera/plan/plan.h"

#include <algorithm>

namespace tessera::plan {

std::vector<std::string_view> MetricNames() {
  return {"latency", "energy", "off_chip_bytes", "peak", "macs"};
}

double ValueOf(const Metrics& metrics, std::string_view metric) {
  if (metric == "latency") return static_cast<double>(metrics.latency_cycles);
  if (metric == "energy") return metrics.energy_pj;
  if (metric == "off_chip_bytes") return static_cast<double>(metrics.off_chip_bytes);
  if (metric == "peak") return static_cast<double>(metrics.peak_bytes);
  if (metric == "macs") return static_cast<double>(metrics.macs);
  return 0;
}

void Accumulate(Metrics& total, const Metrics& part) {
  if (total.bound_by.empty() || total.latency_cycles == 0) {
    total.bound_by = part.bound_by;
  } else if (part.latency_cycles > 0 && total.bound_by != part.bound_by) {
    total.bound_by = "several";
  }
  total.latency_cycles += part.latency_cycles;
  total.energy_pj += part.energy_pj;
  for (const auto& [name, energy] : part.energy_by_part) total.energy_by_part[name] += energy;
  total.off_chip_bytes += part.off_chip_bytes;
  for (const auto& [cause, bytes] : part.off_chip_by_cause) total.off_chip_by_cause[cause] += bytes;
  total.macs += part.macs;
  total.recomputed_macs += part.recomputed_macs;
  total.peak_bytes = std::max(total.peak_bytes, part.peak_bytes);
  total.peak_bytes_per_cycle = std::max(total.peak_bytes_per_cycle, part.peak_bytes_per_cycle);
}

}  // namespace tessera::plan
