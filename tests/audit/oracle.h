// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "planner.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"

// The best plan of a small question, found by exhaustive search: all engines of the operators that
// several may run, all orders of the operators, all partitions of each, all sets of boundary
// tensors kept on chip, all tile extents that the profile's axes permit (every multiple of the
// step, not the even cuts alone), all policies, all second stages, all K extents of slices. A
// placement of the joint Problem and of every home decides.
//
//     order  a b c d    subgraphs  [a b] [c d]     choices of [c d], x kept     joint placement
//            a c b d               [a] [b] [c d]   tile 1..E, weights, halo
//            ..                    ..              sorted by least cost
//
// The oracle is a plain recursion, subgraph by subgraph. It drops a partial plan that can no longer
// become better than the best plan so far. Each state (the operators done, the boundary tensors
// kept) has a least cost to the end, over all orders, that no placement can undercut. A peak is at
// least that of each subgraph alone. Choices, costs and least peaks of a subgraph are remembered
// across orders.
//
// Costs come from search::cost::Simulator and Problems from encoder::program::BuildProgram. Other
// tests compare both with other derivations. The oracle uses nothing else of the search: no grid of
// shapes, no list of policies, no ladders, no bounds of intervals, no dominance.
//
// Cost: a simulation and a Problem for each choice of each interval and set, then placements.
// Questions with too many of them are declined.
namespace tessera::audit {

struct OracleLimits {
  int64_t orders = 30;
  int64_t choices = 6000;  // simulated, over all orders
  int64_t steps = 60'000;  // of the recursion
  double seconds = 6;
};

struct OracleAnswer {
  enum class EngineAnswer : uint8_t { kBest, kNone, kDeclined };
  EngineAnswer verdict = EngineAnswer::kDeclined;
  std::string why;  // kDeclined: which limit
  // kBest: score, latency, energy, off-chip bytes, peak: the least in this order. The last four are
  // least only where `ties` says so.
  std::array<double, 5> least = {};
  bool ties = false;
  plan::files::Draft draft;  // kBest: that plan
  plan::Metrics totals;
  int64_t choices = 0;
};

// `weights`: the factor of one unit of a metric in the score, by name, as in plan::Plan::score.
// Limits are those of the question. The oracle ignores the search's limits (keeping, max_operators,
// ordering): it answers for all plans.
OracleAnswer FindBest(const PlanRequest& question, const std::map<std::string, double>& weights,
                      const OracleLimits& limits = {});

// The factor of one unit of each metric where the bounds are these.
std::map<std::string, double> WeightsOf(const plan::Objective& objective,
                                        const plan::Metrics& lower_bounds);

}  // namespace tessera::audit
