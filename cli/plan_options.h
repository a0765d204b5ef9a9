// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/partition/constraints/plan_constraints.h"

namespace CLI {
class App;
}

namespace tessera::cli {

// Returns the objective that the options state. The arguments are the texts that the user typed;
// each may be empty. At most one of `minimize` and `score` is given; without both the objective is
// latency.
//   minimize   a metric: "latency"
//   score      weights: "latency=0.4,energy=0.6"
//   limits     upper limits: "energy=2e9,peak=300000"
base::Expected<plan::Objective> ParseObjective(const std::string& minimize,
                                               const std::string& score, const std::string& limits);

// Returns a paragraph of help: the metrics with their units, and which of them need a limit.
std::string HelpOnMetrics();

// The options that state constraints of a plan.
class ConstraintOptions {
 public:
  // Adds --constraints, --together, --apart, --keep and --spill.
  void Declare(CLI::App& app);

  // The file of constraints; empty if none is given.
  const std::string& File() const { return file_; }

  // Returns the constraints of the file, then those of the other options. Together they must be
  // valid (search/partition/constraints/plan_constraints.h).
  base::Expected<std::vector<plan::PlanConstraint>> Load(const graph::Graph& network,
                                                         const hw_profiles::Profile& profile,
                                                         std::optional<int> max_operators) const;

 private:
  std::string file_;
  std::vector<std::string> together_;
  std::vector<std::string> apart_;
  std::vector<std::string> kept_;
  std::vector<std::string> spilled_;
};

}  // namespace tessera::cli
