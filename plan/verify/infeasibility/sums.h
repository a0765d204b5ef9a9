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

// The limit of each of them; 0 for an excess. A ratio has none if some work is unknown: the latency
// is then a lower bound, and the ratio may be less than it seems.
using SumLimits = std::array<std::optional<double>, std::tuple_size_v<Sums>>;
SumLimits LimitsOfSums(const Plan& question);

// Those of a subgraph with these metrics.
Sums SumsOf(const Metrics& metrics, const Plan& question);

// Lower bounds of those of subgraphs whose metrics are at least these.
Sums LeastSums(const Metrics& least, const Plan& question);

Sums Added(Sums a, const Sums& b);

// Whether the number is that of an excess.
constexpr bool IsExcess(size_t sum) { return sum >= kSummedMetrics.size(); }

// Whether no limit is exceeded. What follows may make up for the excess of a part.
enum class SumOf : uint8_t { kPart, kWhole };
bool AreWithin(const SumLimits& limits, const Sums& sums, SumOf what);

// Whether `a` is at most as high as `b` where there is a limit.
bool AreAsLow(const SumLimits& limits, const Sums& a, const Sums& b);

// Whether all operators state their work.
bool IsWorkKnown(const graph::Graph& network);

}  // namespace tessera::plan::verify::infeasibility
