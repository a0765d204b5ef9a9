#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/partition/alone.h"
#include "tessera/search/partition/remedies.h"

namespace tessera::search {

// The inputs of a search with one thing changed.
struct Trial {
  Remedy remedy;
  graph::Graph graph;
  hw_profiles::Profile profile;
  plan::Objective objective;
};

// Puts easier questions about changed inputs, as many as a fixed amount of work allows. All that it is made of outlives it.
class Trials {
 public:
  Trials(const graph::Graph& graph, const hw_profiles::Profile& profile, const PartitionOptions& options,
         const Obstacle& obstacle, const base::Stop& stop)
      : graph_(graph), profile_(profile), options_(options), obstacle_(obstacle), stop_(stop) {}

  // The inputs as they are, to be changed.
  Trial Unchanged(RemedyKind kind, std::string what, std::string subject, std::string value) const;

  // Whether an operator may still be tried; whether the stop came.
  bool MayTry() const { return tried_ < kMostOperators && !stop_.Requested(); }
  bool IsStopped() const { return stop_.Requested(); }

  // The operator with nothing changed, within the room that there is; and the least peak of the problem.
  Alone TryUnchanged(int op);
  std::optional<problem::Bytes> PeakOf(const problem::Problem& problem) const;

  // Whether the operator in the way fits alone, if it is one.
  bool OperatorFits(const Trial& trial);

  // Whether all others fit that did not.
  bool OthersFit(const Trial& trial);

  // Whether the homes hold constants and state, where these alone are in the way.
  bool HoldsConstants(const Trial& trial) const;

  // A plan of single operators, nothing kept on chip, that keeps the trial's limits and the demands.
  std::optional<plan::Plan> FindPlan(const Trial& trial);

  // The better of that and one of longer subgraphs, which the search finds with a small effort.
  std::optional<plan::Plan> FindGoodPlan(const Trial& trial);

 private:
  static constexpr int kMostOperators = 160;  // tries of single operators
  static constexpr int kMostPlans = 5;        // searches for a plan
  static constexpr int64_t kEffort = 20'000;  // of one for a good plan
  static constexpr size_t kLongest = 256;     // operators of a network that such a search is for

  AloneOptions OptionsFor(problem::Bytes room) const;
  bool Fits(const Trial& trial, int op);
  std::optional<plan::Plan> Search(const Trial& trial, PartitionOptions options);

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const PartitionOptions& options_;
  const Obstacle& obstacle_;
  const base::Stop& stop_;
  int tried_ = 0;
  int plans_ = 0;
};

}  // namespace tessera::search
