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

// The calls that sessions and evaluators make too, with what it keeps between them. Private.
namespace tessera::api {

inline constexpr std::int64_t kPlanBudget = 200'000;  // of each query, as in the command

// Engines with the answers that they gave before; an answer is the same with and without these.
struct KeptEngines {
  KeptEngines(parts::EngineSet set, size_t most_bytes)
      : engines(std::move(set)), cached(engines.Pointers(), most_bytes) {}
  parts::EngineSet engines;
  search::tiling::CachedEngines cached;
};

// A text that is equal exactly for equal networks. Made once for each network.
std::shared_ptr<const std::string> NetworkKey(const Network::Content& network);

// The engines that the options name.
parts::EngineSet EnginesOf(const SearchOptions& options);

// The calls of the public functions, which may throw. `kept` has the engines of the options, or is
// nullptr: then nothing is known. `prices` are those of this profile, or nullptr.
Result<PlanAnswer> SearchPlan(const Network& network, const Profile& profile,
                              const PlanOptions& options, const KeptEngines* kept,
                              search::partition::choices::KeptPrices* prices = nullptr);
Result<AllocateAnswer> PlaceBuffers(const Problem& problem, const AllocateOptions& options);
// The same with constraints of the caller, and how an allocation breaks one; empty: it keeps all.
Result<AllocateAnswer> PlaceConstrained(const Problem& problem, const AllocateOptions& options);
std::string FindBroken(const Problem::Content& problem, const problem::Allocation& allocation);
std::optional<Error> FindBadArgument(const Problem& problem, const AllocateOptions& options);
problem::Buffer BufferOf(const Buffer& given);

// Whose peaks are minimised: nullopt if that is no memory or the first one.
base::Expected<std::optional<search::allocate::PeakObjective>> FindObjective(
    const problem::Problem& problem, const AllocateOptions& options);
Result<RevisedAnswer> ReviseAllocation(const Allocation& before, const Revision& revision,
                                       const AllocateOptions& options);
Result<RevisedAnswer> ReviseUnplaced(const Problem& before, const Revision& revision,
                                     const AllocateOptions& options);

// Adds to `answer`, made from `found`, a certificate or the reason why there is none.
std::optional<Error> Certify(const Problem& problem, const AllocateOptions& options,
                             const parts::AllocationAnswer& found, const base::Stop& stop,
                             AllocateAnswer& answer);

Result<TileAnswer> SearchTiles(const Network& network, const Profile& profile,
                               const TileOptions& options, const KeptEngines* kept);

}  // namespace tessera::api
