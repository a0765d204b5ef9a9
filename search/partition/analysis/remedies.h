// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/partition/partition.h"
#include "tessera/search/partition/placement/obstacles.h"

// Single changes of network, profile or options with which a plan would exist.
namespace tessera::search::partition::analysis {

enum class RemedyKind : uint8_t {
  kFloatsAs,  // floating-point tensors in another type
  kCapacity,  // more bytes in a memory
  kBanks,     // longer banks in the tile memory
  kPolicy,    // another entry of the profile's `tiling`
  kMode,      // an additional mode of the tile memory, or more accesses in one of its modes
  kHome,      // another home for a role
  kLimit,     // higher limits of the objective
  kEngine,    // an additional operator kind on an engine
};
std::string_view NameOf(RemedyKind kind);  // "floats_as"

// The evidence for a remedy. It is weaker if there is more to try.
enum class Evidence : uint8_t {
  kPlan,  // a plan with the change was found and checked
  // the obstacle is gone: operators that did not fit alone now fit, or a home holds its constants
  kObstacle,
  kBound,  // the count of bytes shows that the change is necessary; it was not tried
};
std::string_view NameOf(Evidence evidence);  // "plan"

struct Remedy {
  RemedyKind kind = RemedyKind::kCapacity;
  std::string what;     // "1189376 bytes in memory 'sram' instead of 1048576"
  std::string subject;  // the changed item: a memory, a metric, an option, a key of the profile
  std::string value;    // the new value: "1189376", "int8"
  Evidence evidence = Evidence::kBound;
};

// Tries changes that match the obstacle of `refused`, which has no plan, the most promising first.
// Returns those that help. Each is tried on the operator that causes the obstacle, then on the
// other operators that do not fit, then by a search for a plan with one operator per subgraph.
// Stops at `stop` or after a fixed amount of work. Returns nothing if the obstacle is not known.
std::vector<Remedy> FindRemedies(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                 const answer::PartitionOptions& options,
                                 const answer::PartitionResult& refused, const base::Stop& stop);

// The inputs of a search with one change.
struct Trial {
  Remedy remedy;
  graph::Graph graph;
  hw_profiles::Profile profile;
  plan::Objective objective;
};

// Answers simpler questions about changed inputs, up to a fixed amount of work. All arguments must
// outlive this object.
class Trials {
 public:
  Trials(const graph::Graph& graph, const hw_profiles::Profile& profile,
         const answer::PartitionOptions& options, const placement::Obstacle& obstacle,
         const base::Stop& stop)
      : graph_(graph), profile_(profile), options_(options), obstacle_(obstacle), stop_(stop) {}

  // Returns a copy of the inputs, to be changed by the caller.
  Trial Unchanged(RemedyKind kind, std::string what, std::string subject, std::string value) const;

  // Whether another operator may be tried.
  bool MayTry() const { return tried_ < kMostOperators && !stop_.Requested(); }
  bool IsStopped() const { return stop_.Requested(); }

  // Tries the operator with the given inputs, within the available bytes.
  placement::Alone TryUnchanged(int op);
  // Returns the lowest peak found for the problem, if any (PeakWithoutCapacity).
  std::optional<problem::Bytes> PeakOf(const problem::Problem& problem) const;

  // Whether the operator that causes the obstacle fits alone, if there is one.
  bool OperatorFits(const Trial& trial);

  // Whether all other operators fit that did not fit before.
  bool OthersFit(const Trial& trial);

  // Whether only constants and state cause the obstacle, and the homes hold them.
  bool HoldsConstants(const Trial& trial) const;

  // Returns a plan of single operators, with nothing kept on chip, that satisfies the limits of the
  // trial and the constraints, if one is found.
  std::optional<plan::Plan> FindPlan(const Trial& trial);

  // Returns the better of that plan and of one with longer subgraphs, which the search finds with a
  // small effort.
  std::optional<plan::Plan> FindGoodPlan(const Trial& trial);

  // Returns such a plan with as little of the metric as the search finds. A ratio over time falls
  // as a plan gets slower, so it is minimised among plans that are not slower than the good plan of
  // the trial.
  std::optional<plan::Plan> FindLeastPlan(Trial trial, const std::string& metric);

  // Returns a plan of subgraphs of any length, which the search finds with a small effort.
  std::optional<plan::Plan> FindLongerPlan(const Trial& trial);

 private:
  static constexpr int kMostOperators = 160;  // single operators to try
  static constexpr int kMostPlans = 7;        // searches for a plan
  static constexpr int64_t kEffort = 20'000;  // effort of one search for a good plan
  static constexpr size_t kLongest = 256;     // largest network, in operators, for such a search
  // The shortest time in which such a search is likely to end.
  static constexpr std::chrono::microseconds kLeastPerOperator{600};

  placement::AloneOptions OptionsFor(problem::Bytes room) const;
  bool Fits(const Trial& trial, int op);
  bool HasTimeToSearch() const;
  std::optional<plan::Plan> Search(const Trial& trial, answer::PartitionOptions options);

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const answer::PartitionOptions& options_;
  const placement::Obstacle& obstacle_;
  const base::Stop& stop_;
  int tried_ = 0;
  int plans_ = 0;
};

// Returns the remedy that sets the limits to these values, of which those of `raised` are rounded
// up.
Remedy LimitRemedy(const std::vector<std::string>& raised,
                   const std::map<std::string, double>& limits);

// The following functions return trials with one entry of the profile changed.

// Additional weight policies, smaller slices of weights, serialized transfers, additional axes to
// cut. One key may have several values; the smallest change comes first.
std::vector<Trial> TilingTrials(const Trials& trials, const hw_profiles::Profile& profile);

// First, one additional mode of the tile memory in which all banks are read and written. Then, in
// each existing mode, read and write access of an engine or link to a bank that the mode does not
// allow. Returns none if there are no modes.
std::vector<Trial> ModeTrials(const Trials& trials, const hw_profiles::Profile& profile);

// Each larger memory as the home of each of these roles that live in `memory`, which is an index
// into Profile::memories.
std::vector<Trial> HomeTrials(const Trials& trials, const hw_profiles::Profile& profile,
                              size_t memory, const std::vector<base::TensorRole>& roles);

}  // namespace tessera::search::partition::analysis
