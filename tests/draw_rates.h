// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>

#include "tessera/base/random.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::hw_profiles {

// Rates that are no binary fractions: multiples of them are rounded, up or down. Of each port, and
// of each kind of operator, some of the rates change.
inline void DrawDecimalRates(base::Random& random, Profile& profile) {
  constexpr std::array kRates = {0.1, 0.3, 0.7, 1.1, 2.3, 8.7};
  constexpr std::array kBytesPerCycle = {0.1, 1.1, 3.3, 8.7, 23.2, 580.5};
  const auto one_of = [&random](const std::array<double, 6>& values) {
    return values.at(static_cast<size_t>(random.Uniform(0, 5)));
  };
  for (Memory& memory : profile.memories) {
    if (random.Chance(0.6)) memory.port.read_bytes_per_cycle = one_of(kBytesPerCycle);
    if (random.Chance(0.6)) memory.port.write_bytes_per_cycle = one_of(kBytesPerCycle);
    if (random.Chance(0.3)) memory.read_pj_per_byte = one_of(kRates);
    if (random.Chance(0.3)) memory.leakage_mw = one_of(kRates);
  }
  for (Engine& engine : profile.engines) {
    if (random.Chance(0.3)) engine.mac_pj = one_of(kRates);
    if (engine.host) {
      engine.host->cycles_per_output = one_of(kRates);
      engine.host->cycles_per_mac = one_of(kRates);
    }
    for (Throughput& throughput : engine.throughputs) {
      if (random.Chance(0.6)) throughput.cycles_per_output = one_of(kRates);
      if (random.Chance(0.6)) throughput.cycles_per_step = one_of(kRates);
    }
  }
}

}  // namespace tessera::hw_profiles
