#pragma once

#include <memory>
#include <optional>
#include <span>

#include "tessera/base/diagnostic.h"
#include "tessera/search/partition/ordered_network.h"
#include "tessera/search/partition/options_and_result.h"
#include "tessera/search/partition/path_search.h"
#include "tessera/search/partition/refusal.h"
#include "tessera/search/tiling/cached_engines.h"

// The best partition of a network whose operators run in one order.
//
// Subgraphs are chosen as if each were alone, with exactly that reserved which passes over it; this is exact but for long-lived
// buffers, which must keep one address throughout. So the best selection is laid out as one joint Problem. If that has no
// answer, the selection is forbidden and the next best is tried; if the joint peak is worse than what the subgraphs promised and
// the objective looks at the peak, the next best is tried too, until none can beat what is there.
namespace tessera::search {

// Work that may be spent on what was passed over once the best selection is known, in terms of the effort of the search.
inline constexpr int64_t kCompletion = 30;

struct FixedOrderResult {
  PartitionResult result;             // PartitionOptions::order and what it means for status and notes apart
  std::unique_ptr<PathSearch> paths;  // what was found out; refers to the network
  bool whatever_the_order = false;    // no other order changes the result
  std::optional<plan::Baseline> alone = std::nullopt;  // where nothing was taken over and no stop came before it was known
};

// Whether there is a plan already: then a stop ends the search of an order at once.
enum class Known : uint8_t { kNothing, kPlan };

// Why a plan must not be handed out: what the independent validator refuses in it, demands that it does not keep among that. A fault of
// the program.
std::optional<base::Diagnostic> FindFault(const plan::Plan& plan);

// How far a search of a network looks.
Reach ReachFor(const graph::Graph& graph, const Scale& scale, const PartitionOptions& options);

// `options` are those of the search, but that the objective's scale and the demands are in the network. `floors` hold for every order.
// `before`: searches over other orders that are taken over. An error is a fault of the program.
base::Expected<FixedOrderResult> SearchFixedOrder(const OrderedNetwork& network,
                                                  const PartitionOptions& options, const Floors& floors,
                                                  std::span<PathSearch* const> before, Known known);

}  // namespace tessera::search
