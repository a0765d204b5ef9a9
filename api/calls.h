// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/allocate.h>
#include <tessera/plan.h>
#include <tessera/tile.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tessera/api/parts/allocation.h"
#include "tessera/api/parts/engine_set.h"
#include "tessera/search/partition/choices/kept_prices.h"
#include "tessera/search/tiling/engine_cache.h"

// Private: the implementation of the public calls. Sessions and evaluators make these calls too,
// with the state that they keep.
namespace tessera::api {

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
