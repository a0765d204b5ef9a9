// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/fit/constants.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tessera::search::fit {
namespace {

using hw_profiles::Engine;
using hw_profiles::Port;
using hw_profiles::Profile;

constexpr double kMostFactor = 16;

int64_t LeastStart(const Engine& engine) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const hw_profiles::Throughput& each : engine.throughputs)
    least = std::min(least, each.start_cycles);
  return least;
}

void AddStart(const Profile& profile, size_t index, std::vector<Constant>& constants) {
  const Engine& engine = profile.engines[index];
  if (engine.throughputs.empty()) return;
  const auto set = [index](Profile& changed, double value) {
    Engine& its = changed.engines[index];
    const int64_t by = std::llround(value) - LeastStart(its);
    for (hw_profiles::Throughput& each : its.throughputs) each.start_cycles += by;
  };
  int64_t most = 0;
  for (const hw_profiles::Throughput& each : engine.throughputs)
    most = std::max(most, each.start_cycles);
  const int64_t least = LeastStart(engine);
  constants.push_back({.name = "engines." + engine.name + ".operators.*.start_cycles",
                       .value = static_cast<double>(least),
                       .range = {0, hw_profiles::kCycles.most - static_cast<double>(most - least)},
                       .set = set});
}

void AddPort(const Profile& profile, size_t index, std::vector<Constant>& constants) {
  const Port& port = profile.memories[index].port;
  const std::string before = "memories." + profile.memories[index].name + ".port.";
  const auto add_latency = [&](const char* key, int64_t Port::*latency) {
    constants.push_back({.name = before + key,
                         .value = static_cast<double>(port.*latency),
                         .range = hw_profiles::kCycles,
                         .set = [index, latency](Profile& changed, double value) {
                           changed.memories[index].port.*latency = std::llround(value);
                         }});
  };
  add_latency("read_latency_cycles", &Port::read_latency_cycles);
  add_latency("write_latency_cycles", &Port::write_latency_cycles);
  const double ratio = port.write_bytes_per_cycle / port.read_bytes_per_cycle;
  const hw_profiles::FieldRange allowed = hw_profiles::kBandwidths;
  const double here = port.read_bytes_per_cycle;
  constants.push_back(
      {.name = before + "bytes_per_cycle",
       .value = here,
       .is_rate = true,
       .range = {std::max({here / kMostFactor, allowed.least, allowed.least / ratio}),
                 std::min({here * kMostFactor, allowed.most, allowed.most / ratio})},
       .set = [index, ratio](Profile& changed, double value) {
         changed.memories[index].port.read_bytes_per_cycle = value;
         changed.memories[index].port.write_bytes_per_cycle = std::clamp(
             value * ratio, hw_profiles::kBandwidths.least, hw_profiles::kBandwidths.most);
       }});
}

}  // namespace

std::vector<Constant> ConstantsOf(const Profile& profile) {
  std::vector<Constant> constants;
  for (size_t i = 0; i < profile.engines.size(); ++i) AddStart(profile, i, constants);
  for (size_t i = 0; i < profile.memories.size(); ++i) AddPort(profile, i, constants);
  return constants;
}

}  // namespace tessera::search::fit
