#pragma once

#include <cstdint>
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

// Single changes of network, profile or options under which there would be a plan.
namespace tessera::search::partition::analysis {

enum class RemedyKind : uint8_t {
  kFloatsAs,  // floating-point tensors in another type
  kCapacity,  // more bytes in a memory
  kBanks,     // longer banks in the tile memory
  kPolicy,    // another entry of the profile's `tiling`
  kMode,      // a further mode of the tile memory, or more that one of its modes allows
  kHome,      // another home for a role
  kLimit,     // higher limits of the objective
  kEngine,    // an operator kind more on an engine
};
std::string_view NameOf(RemedyKind kind);  // "floats_as"

// What is known of it. The more there is to try, the less is.
enum class Evidence : uint8_t {
  kPlan,  // a plan was found with it, and checked
  kObstacle,  // what is in the way no longer is: operators that do not fit alone fit, a home holds its constants
  kBound,  // it is needed as far as bytes go; not tried
};
std::string_view NameOf(Evidence evidence);  // "plan"

struct Remedy {
  RemedyKind kind = RemedyKind::kCapacity;
  std::string what;     // "1189376 bytes in memory 'sram' instead of 1048576"
  std::string subject;  // what is changed: a memory, a metric, an option, a key of the profile
  std::string value;    // what it becomes: "1189376", "int8"
  Evidence evidence = Evidence::kBound;
};

// Tries changes that suit the obstacle of `refused`, which has no plan, the most promising first,
// and returns those that help. Each is tried on the operator in the way, then on the others that do
// not fit, then by a search for a plan that runs operator by operator, as long as neither `stop`
// nor a fixed amount of work comes first. Nothing where the obstacle is not known.
std::vector<Remedy> FindRemedies(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                 const answer::PartitionOptions& options,
                                 const answer::PartitionResult& refused, const base::Stop& stop);

// The inputs of a search with one thing changed.
struct Trial {
  Remedy remedy;
  graph::Graph graph;
  hw_profiles::Profile profile;
  plan::Objective objective;
};

// Puts easier questions about changed inputs, as many as a fixed amount of work allows. All that it
// is made of outlives it.
class Trials {
 public:
  Trials(const graph::Graph& graph, const hw_profiles::Profile& profile,
         const answer::PartitionOptions& options, const placement::Obstacle& obstacle,
         const base::Stop& stop)
      : graph_(graph), profile_(profile), options_(options), obstacle_(obstacle), stop_(stop) {}

  // The inputs as they are, to be changed.
  Trial Unchanged(RemedyKind kind, std::string what, std::string subject, std::string value) const;

  // Whether an operator may still be tried; whether the stop came.
  bool MayTry() const { return tried_ < kMostOperators && !stop_.Requested(); }
  bool IsStopped() const { return stop_.Requested(); }

  // The operator with nothing changed, within the room that there is; and the least peak of the
  // problem.
  placement::Alone TryUnchanged(int op);
  std::optional<problem::Bytes> PeakOf(const problem::Problem& problem) const;

  // Whether the operator in the way fits alone, if it is one.
  bool OperatorFits(const Trial& trial);

  // Whether all others fit that did not.
  bool OthersFit(const Trial& trial);

  // Whether the homes hold constants and state, where these alone are in the way.
  bool HoldsConstants(const Trial& trial) const;

  // A plan of single operators, nothing kept on chip, that keeps the trial's limits and the
  // constraints.
  std::optional<plan::Plan> FindPlan(const Trial& trial);

  // The better of that and one of longer subgraphs, which the search finds with a small effort.
  std::optional<plan::Plan> FindGoodPlan(const Trial& trial);

 private:
  static constexpr int kMostOperators = 160;  // tries of single operators
  static constexpr int kMostPlans = 5;        // searches for a plan
  static constexpr int64_t kEffort = 20'000;  // of one for a good plan
  static constexpr size_t kLongest = 256;     // operators of a network that such a search is for

  placement::AloneOptions OptionsFor(problem::Bytes room) const;
  bool Fits(const Trial& trial, int op);
  std::optional<plan::Plan> Search(const Trial& trial, answer::PartitionOptions options);

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const answer::PartitionOptions& options_;
  const placement::Obstacle& obstacle_;
  const base::Stop& stop_;
  int tried_ = 0;
  int plans_ = 0;
};

// Profiles with one entry changed.

// Further ways to hold weights, smaller slices of them, transfers in steps of their own, further
// axes to cut. One key may have several values, the smallest change first.
std::vector<Trial> TilingTrials(const Trials& trials, const hw_profiles::Profile& profile);

// The tile memory with one mode more, in which all banks are read and written; then, with the modes
// that it has, each engine and link in one bank that a mode does not let it read and write. None
// without modes.
std::vector<Trial> ModeTrials(const Trials& trials, const hw_profiles::Profile& profile);

}  // namespace tessera::search::partition::analysis
