// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/engine.h"
#include "tessera/problem/result.h"
#include "tessera/search/partition/partition.h"

// The input and the answer of `tessera plan`.
namespace tessera::audit {

// The engines of the command, in its order.
const std::vector<const problem::Engine*>& UsualEngines();

// Those, and Z3.
const std::vector<const problem::Engine*>& AllEngines();

struct PlanRequest {
  graph::Graph network;
  hw_profiles::Profile profile;
  plan::Objective objective;
  search::partition::answer::Ordering ordering = search::partition::answer::Ordering::kSearch;
  search::partition::paths::Keeping keeping = search::partition::paths::Keeping::kWherePossible;
  std::optional<int> max_operators;
  bool prefetch = false;
  plan::OffChip off_chip = plan::OffChip::kWhole;
  std::vector<plan::PlanConstraint> constraints;
  std::optional<plan::Plan> previous;
  std::optional<int64_t> effort;  // not an option of the command
  int threads = 1;
  const search::tiling::CachedEngines* cached = nullptr;
  const problem::Engine* engine = nullptr;  // runs alone; nullptr: the usual engines
};

struct Answer {
  problem::Status status = problem::Status::kUnknown;
  std::optional<plan::Plan> plan;
  std::string reason;
  // A fault of the program, or of the question, as the search reports it; else empty.
  std::string fault;
  double seconds = 0;
  bool timed_out = false;

  bool IsOptimal() const { return plan && status == problem::Status::kOptimal; }
  bool IsInfeasible() const { return status == problem::Status::kInfeasible; }
};

// Whether the plan is one of another network that computes the same
// (search/partition/rewriting.h).
bool IsRewritten(const PlanRequest& question, const Answer& answer);

// Plans with the command's budgets, and with a deadline after so many seconds.
Answer Ask(const PlanRequest& question, double seconds = 10);

// "optimal, latency 7, energy 12.5, off_chip_bytes 40, peak 64, macs 3".
std::string Describe(const Answer& answer);
std::string Describe(const plan::Metrics& metrics);

// The options of the command that state this question about network.json and profile.json, with
// constraints.yaml and old.json where they are needed.
std::string CommandOf(const PlanRequest& question);

// Whether `a` is less than `b` by more than the rounding of sums. The values are not negative.
bool IsLess(double a, double b);

}  // namespace tessera::audit
