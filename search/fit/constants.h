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
  // A rate changes by factors; other constants are whole numbers of cycles.
  bool is_rate = false;
  // The allowed values: those that a profile may state; for a rate, also at least a sixteenth and
  // at most sixteen times the stated one.
  hw_profiles::FieldRange range = {};
  std::function<void(hw_profiles::Profile&, double)> set;
};

// Returns the start-up of each engine, and the latencies and the bytes per cycle of each memory.
// The start-up of an engine is that of the operator kind with the least; the others keep their
// distance from it. Bytes per cycle are those of reads; writes keep their ratio to them.
std::vector<Constant> ConstantsOf(const hw_profiles::Profile& profile);

}  // namespace tessera::search::fit
