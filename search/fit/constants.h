// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tessera/hw_profiles/profile.h"

namespace tessera::search::fit {

// A number of a profile that measurements may correct.
struct Constant {
  std::string name;  // as a path in the file: "memories.dram.port.read_latency_cycles"
  double value = 0;
  // Rates are searched for as factors, others are cycles, whole numbers.
  bool is_rate = false;
  // Its allowed values: a profile may state it, and rates are between a sixteenth and sixteen times
  // the stated one.
  hw_profiles::FieldRange range = {};
  std::function<void(hw_profiles::Profile&, double)> set;
};

// The start-up of each engine, the latencies and the bytes per cycle of each memory. The start-up
// of an engine is that of its quickest kind; the others keep their distance from it. Bytes per
// cycle are those of reads; writes keep their ratio to them.
std::vector<Constant> ConstantsOf(const hw_profiles::Profile& profile);

}  // namespace tessera::search::fit
