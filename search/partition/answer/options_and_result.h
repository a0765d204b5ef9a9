// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/process.h"
#include "tessera/base/progress.h"
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

namespace tessera::search::partition::choices {
class KeptPrices;
}

// Options and results of searches for partitions.
namespace tessera::search::partition::answer {

// About a second on one thread.
inline constexpr int64_t kUsualEffort = 200'000;

// Whether the operators run in the order of the network, or in the best order that is found.
enum class Ordering : uint8_t { kGiven, kSearch };

struct PartitionOptions {
  plan::Objective objective;  // without weights: latency
  // In one subgraph. If not set: as many as the effort allows, initially all operators of a network
  // of up to 64.
  std::optional<int> max_operators;
  Ordering ordering = Ordering::kSearch;
  paths::Keeping keeping = paths::Keeping::kWherePossible;  // of boundary tensors on chip, in
                                                            // addition to the required ones
  // Constants of one subgraph are loaded while earlier ones run, if that is better (prefetch.cc).
  bool prefetch = false;
  plan::OffChip off_chip = plan::OffChip::kWhole;  // how tensors at home share addresses
  // Constraints on plans of the given graph; CheckWellFormed must accept them.
  std::vector<plan::PlanConstraint> constraints;
  // A previous plan, perhaps of another network, or nullptr. Among plans of equal score the search
  // selects the one that differs least from it, and a note reports what was kept.
  const plan::Plan* previous = nullptr;
  int64_t effort = kUsualEffort;  // SearchLimits::effort if max_operators is not set
  // The engines in the order of use; they must outlive the search.
  std::span<const problem::Engine* const> engines;
  std::vector<std::string> switched_off;  // rules of the engines, recorded in the plan
  // The limit on tile shapes times operators in total. When it is reached, the best plan so far is
  // the result. Single operators are always considered.
  std::optional<int64_t> most_work;
  // The same engines with their cache of earlier searches; nullptr: this search starts with an
  // empty cache. Affects the time, never the plan.
  const tiling::CachedEngines* cached = nullptr;
  // Prices of earlier searches on this profile; nullptr: this search starts without any. Affects
  // the time, never the plan.
  choices::KeptPrices* prices = nullptr;
  uint64_t seed = 0;           // of the engines; recorded in the plan
  base::Threads threads = {};  // affects the time, never the plan
  base::Budget budget;         // for each query to an engine
  const base::Stop* stop = nullptr;
  // Receives one line about the progress of the search; may be empty.
  base::ProgressFunction progress;
  std::string version;  // of the program, recorded in the plan
  // Whether the independent judge (plan/verify) must confirm kInfeasible. Searches that need only
  // plans switch this off.
  bool judges_refusals = true;
};

// kOptimal: no plan has a better score, by a proof that covers every order of the operators,
// partition into subgraphs, tile extent, policy and set of kept boundary tensors. kFeasible: a
// plan; Plan::scope and Plan::proven state what is proven. kInfeasible: it is proven that no plan
// fits, or satisfies the limits. kUnknown: a limit came first: time, work, operators in a subgraph,
// kMostKept, tile shapes or orders. kUnsupported: the profile cannot run the network. All of this
// refers to plans that satisfy the constraints. `plan` is set if there is one; else `reason`.
struct PartitionResult {
  problem::Status status = problem::Status::kUnknown;
  std::optional<plan::Plan> plan;
  std::string reason;
  // If there is no plan and the obstacle is known.
  std::optional<placement::Obstacle> obstacle = std::nullopt;
  // The constraints that are the cause, if any; for kInfeasible, a sufficient subset.
  std::vector<std::string> constraints = {};
  bool of_file_order = false;  // kUnknown: the reason is proven for the order of the file only
  // kInfeasible: the proof that the independent judge accepted.
  std::optional<plan::verify::infeasibility::Refutation> refutation = std::nullopt;
  // The layer-by-layer plan of the plan's network, if it was known before a stop, and the objective
  // for which it is the best.
  std::optional<plan::Baseline> alone = std::nullopt;
  plan::Objective alone_for = {};
};

// Lower bounds of every plan, for any subgraphs and tiles.
struct LowerBounds {
  plan::Metrics costs;
  int tightest = 0;  // the operator that determines costs.peak_bytes
};

struct EvaluateOptions {
  tiling::Engines engines;                // in the order of use; they must outlive the evaluation
  std::vector<std::string> switched_off;  // rules of the engines, recorded in the plan
  base::Budget budget;                    // for each query to an engine
  const base::Stop* stop = nullptr;
  base::Threads threads = {};  // affects the time, never the plan
  std::string version;         // of the program, recorded in the plan
  bool may_move = false;       // true: given addresses are dropped if they do not fit
};

}  // namespace tessera::search::partition::answer
