#pragma once

#include <cstdint>
#include <span>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"

namespace tessera::search {

// Bytes read from and written to one memory.
struct Touched {
  int64_t read = 0;
  int64_t written = 0;
};

// What of plan::Metrics is filled: all but the parts that add up to sums, or those too.
enum class Detail : uint8_t { kTotals, kParts };

// Fills energy_pj, and energy_by_part if parts are asked for, from the multiply-accumulates' energy, what was touched in each memory (parallel to
// Profile::memories), and the leakage of all memories over metrics.latency_cycles. Parts are summed in the order of the profile.
void FillEnergy(const hw_profiles::Profile& profile, double mac_pj, std::span<const Touched> touched,
                Detail detail, plan::Metrics& metrics);

// Energy of that many multiply-accumulates of one operator.
double MacEnergy(const graph::Graph& graph, const hw_profiles::Profile& profile, const graph::Operator& op,
                 int64_t macs);

}  // namespace tessera::search
