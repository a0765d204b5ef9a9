// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/allocate.h>
#include <tessera/certificate.h>
#include <tessera/constraint.h>
#include <tessera/network.h>
#include <tessera/plan.h>
#include <tessera/profile.h>
#include <tessera/result.h>
#include <tessera/tile.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/api/errors.h"
#include "tessera/api/parts/allocation.h"
#include "tessera/api/parts/engine_set.h"
#include "tessera/base/files.h"
#include "tessera/base/process.h"
#include "tessera/base/progress.h"
#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/search/partition/choices/equal_intervals.h"
#include "tessera/search/tiling/engine_cache.h"

// Private: the contents of the handles of the library, and what calls share.
namespace tessera {
inline namespace v0 {

// A text that is made when it is first needed, by any thread. Copies share it.
class LazyText {
 public:
  template <typename Make>
  std::shared_ptr<const std::string> Get(const Make& make) const {
    std::call_once(state_->once,
                   [&] { state_->text = std::make_shared<const std::string>(make()); });
    return state_->text;
  }

 private:
  struct State {
    std::once_flag once;
    std::shared_ptr<const std::string> text;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

struct Profile::Content {
  hw_profiles::Profile profile;
  // name and content of the profile's file, then of each file that it extends
  std::vector<std::pair<std::string, std::string>> texts;
  std::string json;
};

struct Network::Content {
  graph::Graph graph;
  std::vector<std::string> notes;
  std::string nodes;  // what became of each node of an imported file, in one line; or empty
  LazyText key;       // equal exactly for equal contents
};

// Lists are filled when the plan is made, so that reading them cannot fail.
struct Plan::Content {
  plan::Plan plan;
  double time_ms = 0;  // that the search took
  std::vector<PlanMetric> metrics;
  std::vector<PlanSubgraph> subgraphs;
  std::vector<PlanBuffer> buffers;
  std::vector<std::string> proof;
};

struct Problem::Content {
  problem::files::ProblemDocument document;
  std::vector<std::string> candidates;                               // none once one is chosen
  std::vector<std::shared_ptr<const OffsetConstraint>> constraints;  // of the caller
  LazyText key;  // equal exactly for equal contents
};

struct Allocation::Content {
  Problem problem;
  problem::files::AllocationDocument document;  // with an allocation
  problem::Bytes proven = 0;  // no placement has a lower peak; 0 if read from a file
};

struct Certificate::Content {
  std::vector<std::pair<std::string, std::string>> files;
};

struct Canceller::Content {
  base::Stop stop;
};

}  // namespace v0
}  // namespace tessera

namespace tessera::api {

// Reads the file and returns `read` of its content.
template <typename Read>
auto LoadFrom(const std::string& path, const Read& read) noexcept {
  return Guarded([&]() -> decltype(read(std::string())) {
    const base::Expected<std::string> text = base::ReadInput(path);
    if (!text) return BadInput(text.error());
    return read(*text);
  });
}

// Writes the text that `render` returns for the suffix of the path, without its dot.
template <typename Render>
Result<Done> SaveTo(const std::string& path, const Render& render) noexcept {
  return Guarded([&]() -> Result<Done> {
    const std::string suffix = base::SuffixOf(path);
    Result<std::string> text = render(suffix.empty() ? suffix : suffix.substr(1));
    if (!text) return text.Error();
    if (const auto written = base::WriteOne({path, *std::move(text)}); !written)
      return BadInput(written.error());
    return Done{};
  });
}

// Makes the state of a handle. Returns nullptr if memory runs out.
template <typename Content, typename... Arguments>
std::shared_ptr<Content> MakeUnlessExhausted(const Arguments&... arguments) noexcept {
  try {
    return std::make_shared<Content>(arguments...);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// Returns the stop of the canceller. Throws std::bad_alloc if the canceller has no state.
inline base::Stop& StopOf(const Canceller& canceller) {
  if (!canceller.HasState()) throw std::bad_alloc();
  return canceller.Get().stop;
}

// The stop of a call: it combines the caller's canceller and the limits of the call.
class CallStop {
 public:
  explicit CallStop(const CallOptions& options);
  const base::Stop& Get() const { return own_; }
  base::Stop& Get() { return own_; }

 private:
  std::optional<Canceller> canceller_;  // keeps the parent of `own_`
  base::Stop own_;
};

// Returns the threads of a call. The options must outlive them.
inline base::Threads ThreadsOf(const CallOptions& options) {
  return {options.threads, options.executor ? &options.executor : nullptr};
}

// Returns whether the memory limit cut work off.
inline bool RanOutOfMemory(const base::Stop& stop) {
  return stop.IsOutOfMemory() || stop.HasDeclined();
}

Plan AsPlan(plan::Plan plan, double time_ms);
Problem AsProblem(problem::files::ProblemDocument document,
                  std::vector<std::shared_ptr<const OffsetConstraint>> constraints = {});
Allocation AsAllocation(const Problem& problem, problem::files::AllocationDocument document,
                        problem::Bytes proven = 0);
Certificate AsCertificate(std::vector<base::Output> files);

// Returns an error if the problem has constraints of the caller, for a call that does not support
// them. `what` is the name of the call.
std::optional<Error> RefuseConstraints(const Problem::Content& problem, const std::string& what);

// Returns the index of the tile candidate with that name.
Result<size_t> FindCandidate(const Problem::Content& content, const std::string& name);

Outcome OutcomeOf(problem::Status status);

// Returns the first fault in the numbers and names of these options.
std::optional<Error> FindBadOption(const SearchOptions& options);

// Returns a function that passes progress on to the callback of the options, one at a time; empty
// if there is no callback. The options must outlive the function.
base::ProgressFunction OneAtATime(const CallOptions& options);

// The implementation of the public calls. Sessions and evaluators make these calls too, with the
// state that they keep.

inline constexpr std::int64_t kPlanBudget = 200'000;  // of each query, as in the command

// Engines with a cache of their earlier answers. The cache never changes an answer.
struct KeptEngines {
  KeptEngines(parts::EngineSet set, size_t most_bytes)
      : engines(std::move(set)), cached(engines.Pointers(), most_bytes) {}
  parts::EngineSet engines;
  search::tiling::CachedEngines cached;
};

// Returns a text that is equal exactly for equal networks. It is made once for each network.
std::shared_ptr<const std::string> NetworkKey(const Network::Content& network);

// Returns the engines that the options name.
parts::EngineSet EnginesOf(const SearchOptions& options);

// Implements MakePlan, and may throw. `kept` has the engines of the options and their cached
// answers; nullptr: it starts without any. `prices` are those of this profile, or nullptr.
Result<PlanAnswer> SearchPlan(const Network& network, const Profile& profile,
                              const PlanOptions& options, const KeptEngines* kept,
                              search::partition::choices::KeptPrices* prices = nullptr);
// Implements Allocate, and may throw.
Result<AllocateAnswer> PlaceBuffers(const Problem& problem, const AllocateOptions& options);
// As PlaceBuffers, for a problem with constraints of the caller.
Result<AllocateAnswer> PlaceConstrained(const Problem& problem, const AllocateOptions& options);
// Returns why the allocation breaks a constraint of the caller; empty if it keeps all of them.
std::string FindBroken(const Problem::Content& problem, const problem::Allocation& allocation);
std::optional<Error> FindBadArgument(const Problem& problem, const AllocateOptions& options);
problem::Buffer BufferOf(const Buffer& given);

// Returns the objective that minimises the requested peaks; nullopt if no peak is minimised, or
// only that of the first memory.
base::Expected<std::optional<search::allocate::PeakObjective>> FindObjective(
    const problem::Problem& problem, const AllocateOptions& options);
// Implement Revise: with an allocation of the problem, and with the problem alone. They may throw.
Result<RevisedAnswer> ReviseAllocation(const Allocation& before, const Revision& revision,
                                       const AllocateOptions& options);
Result<RevisedAnswer> ReviseUnplaced(const Problem& before, const Revision& revision,
                                     const AllocateOptions& options);

// Adds to `answer`, made from `found`, a certificate or the reason why there is none.
std::optional<Error> Certify(const Problem& problem, const AllocateOptions& options,
                             const parts::AllocationAnswer& found, const base::Stop& stop,
                             AllocateAnswer& answer);

// Implements FindTiles, and may throw. `kept` is as for SearchPlan.
Result<TileAnswer> SearchTiles(const Network& network, const Profile& profile,
                               const TileOptions& options, const KeptEngines* kept);

}  // namespace tessera::api
