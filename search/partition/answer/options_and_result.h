#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/infeasibility/refutation.h"
#include "tessera/problem/engine.h"
#include "tessera/problem/result.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/paths/lattice.h"
#include "tessera/search/partition/placement/obstacles.h"
#include "tessera/search/tiling/candidate_search.h"
#include "tessera/search/tiling/engine_cache.h"

// What searches for partitions are asked, and what they answer.
namespace tessera::search::partition::answer {

// About a second on one thread.
inline constexpr int64_t kUsualEffort = 200'000;

// Whether the operators run in the order in which the network has them, or in the best that is
// found.
enum class Ordering : uint8_t { kGiven, kSearch };

struct PartitionOptions {
  plan::Objective objective;  // without weights: latency
  // In one subgraph. Without: as many as the effort allows, all of a network of up to 64 operators
  // to begin with.
  std::optional<int> max_operators;
  Ordering ordering = Ordering::kSearch;
  paths::Keeping keeping = paths::Keeping::
      kWherePossible;  // of boundary tensors on chip, but for those that are required
  bool prefetch =
      false;  // constants of one subgraph while the one before runs, where that is better (prefetch.h)
  std::vector<plan::PlanConstraint>
      constraints;  // about the graph as it is handed in; without fault (constraint_faults.h)
  // An older plan, perhaps of another network: of plans of equal score the one that differs least
  // from it is found, and a note says what was kept; or nullptr.
  const plan::Plan* previous = nullptr;
  int64_t effort = kUsualEffort;  // Reach::effort where max_operators is left open
  std::span<const problem::Engine* const>
      engines;  // in the order in which they are asked; they outlive the search
  std::vector<std::string> switched_off;  // rules of the engines, recorded in the plan
  // Tile shapes times operators looked at in all, after which the best plan so far counts; single
  // operators are always looked at.
  std::optional<int64_t> most_work;
  // The same engines with what they remember of other searches; nullptr: this search starts afresh.
  // Changes the time taken, never the plan.
  const tiling::CachedEngines* cached = nullptr;
  uint64_t seed = 0;    // of the engines; recorded in the plan
  int threads = 1;      // changes the time taken, never the plan
  base::Budget budget;  // for each question put to an engine
  const base::Stop* stop = nullptr;
  std::function<void(std::string_view)>
      progress;         // told in one line how far the search is; may be empty
  std::string version;  // of the program, recorded in the plan
  // Whether kInfeasible has to be confirmed by the independent judge (plan/refutation). Searches
  // that look for plans alone do without.
  bool judges_refusals = true;
};

// kOptimal: no plan scores better, by proof, and the proof covers every order of the operators, cut
// into subgraphs, tile extent, policy and set of kept boundary tensors; kFeasible: a plan, of which
// Plan::scope and Plan::proven say what is proven; kInfeasible: proven that no plan fits, or keeps
// the limits; kUnknown: a limit came first, one of time, of work, of operators in a subgraph, of
// kMostKept, of tile shapes or of orders; kUnsupported: the profile cannot run the network. All of
// it among the plans that keep the constraints. `plan` where there is one, else the reason.
struct PartitionResult {
  problem::Status status = problem::Status::kUnknown;
  std::optional<plan::Plan> plan;
  std::string reason;
  std::optional<placement::Obstacle> obstacle =
      std::nullopt;  // where there is no plan and it is known what is in the way
  std::vector<std::string> constraints = {};  // where these are: if kInfeasible, some that suffice
  bool of_file_order =
      false;  // kUnknown: the reason is proven in the order of the file, and not in others
  std::optional<plan::verify::infeasibility::Refutation> refutation =
      std::nullopt;  // kInfeasible: as the independent judge accepted it
  std::optional<plan::Baseline> alone =
      std::nullopt;  // of the plan's network, where no stop came before it was known
};

struct EvaluateOptions {
  tiling::Engines engines;  // in the order in which they are asked; they outlive the evaluation
  std::vector<std::string> switched_off;  // rules of the engines, recorded in the plan
  base::Budget budget;                    // for each question put to an engine
  const base::Stop* stop = nullptr;
  int threads = 1;        // change the time taken, never the plan
  std::string version;    // of the program, recorded in the plan
  bool may_move = false;  // addresses are tried first, and given up where they do not fit
};

}  // namespace tessera::search::partition::answer
