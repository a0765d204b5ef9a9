// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>

#include "tessera/plan/plan.h"

// The sums over the subgraphs of a plan, and their limits.
namespace tessera::plan::verify::infeasibility {

// Values that add up over subgraphs: those of kSummedMetrics, then of kRatioMetrics the excess over
// the limit (ExcessOf), which may be negative. 0 without a limit, so that configurations do not
// differ in it.
using Sums = std::array<double, kSummedMetrics.size() + kRatioMetrics.size()>;

// The limit of each sum; 0 for an excess. A ratio has no limit if some work is unknown, because the
// latency is then a lower bound, and the ratio may be less than computed.
using SumLimits = std::array<std::optional<double>, std::tuple_size_v<Sums>>;
SumLimits LimitsOfSums(const Plan& question);

// The sums of a subgraph with these metrics.
Sums SumsOf(const Metrics& metrics, const Plan& question);

// Lower bounds of the sums of subgraphs whose metrics are at least these.
Sums LeastSums(const Metrics& least, const Plan& question);

Sums Added(Sums a, const Sums& b);

// Whether the number is that of an excess.
constexpr bool IsExcess(size_t sum) { return sum >= kSummedMetrics.size(); }

// Whether no limit is exceeded. The excesses of a part do not count, because later subgraphs may
// compensate them.
enum class SumOf : uint8_t { kPart, kWhole };
bool AreWithin(const SumLimits& limits, const Sums& sums, SumOf what);

// Whether each sum of `a` that has a limit is at most that of `b`.
bool AreAsLow(const SumLimits& limits, const Sums& a, const Sums& b);

// Whether all operators state their work.
bool IsWorkKnown(const graph::Graph& network);

}  // namespace tessera::plan::verify::infeasibility
