#include "tessera/search/simulate/energy.h"

#include "tessera/encoder/adapt/residence.h"

namespace tessera::search {

void FillEnergy(const hw_profiles::Profile& profile, double mac_pj, std::span<const Touched> touched,
                Detail detail, plan::Metrics& metrics) {
  // A milliwatt is 1e9 picojoules a second.
  const double seconds =
      profile.clock_hz > 0 ? static_cast<double>(metrics.latency_cycles) / profile.clock_hz : 0;
  double leakage_pj = 0;
  for (const hw_profiles::Memory& memory : profile.memories) leakage_pj += memory.leakage_mw * 1e9 * seconds;
  if (detail == Detail::kParts) metrics.energy_by_part = {{"mac", mac_pj}, {"leakage", leakage_pj}};
  metrics.energy_pj = mac_pj + leakage_pj;
  for (size_t i = 0; i < profile.memories.size(); ++i) {
    const hw_profiles::Memory& memory = profile.memories[i];
    const double access_pj = static_cast<double>(touched[i].read) * memory.read_pj_per_byte +
                             static_cast<double>(touched[i].written) * memory.write_pj_per_byte;
    if (detail == Detail::kParts) metrics.energy_by_part[memory.name] += access_pj;
    metrics.energy_pj += access_pj;
  }
}

double MacEnergy(const graph::Graph& graph, const hw_profiles::Profile& profile, const graph::Operator& op,
                 int64_t macs) {
  const hw_profiles::Engine* engine =
      hw_profiles::EngineFor(profile, op.kind, encoder::WorkingType(graph, op), op.engine);
  return engine == nullptr ? 0 : engine->mac_pj * static_cast<double>(macs);
}

}  // namespace tessera::search
