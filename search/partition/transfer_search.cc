// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/transfer_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/search/partition/answer/plan_assembly.h"

// A search for a partition fills the tile memory: the largest tiles take the fewest cycles, if only
// by little. Constants that are to arrive ahead then find no room. So the search is repeated with
// less memory, which is kept for these constants:
//
//     limit of the peak        search          prefetch (in all of the memory)
//     all of the memory        799 976 cycles  731 333        MobileNetV2 on edge_npu_1mib
//     70 % of it               801 707         685 971
//     50 % of it               809 001         693 480
//
// The plan with the best score is the answer. As soon as less memory gives no better plan, no less
// is tried. Bounds, scope and baseline are those of the first search, which is the one for the
// objective that was asked for. Cost: a search for each limit.
namespace tessera::search::partition {
namespace {

constexpr std::array<double, 2> kShares = {0.7, 0.5};  // of the memory

// Next to the note that constants are prefetched, if they are.
void StateGain(double without, plan::Plan& plan) {
  const auto about = std::find_if(
      plan.notes.begin(), plan.notes.end(),
      [](const std::string& note) { return note.find("constants prefetched") != note.npos; });
  if (about == plan.notes.end()) return;
  plan.notes.insert(std::next(about),
                    fmt::format("without prefetched constants the score is {}", without));
}

}  // namespace

base::Expected<answer::PartitionResult> SearchForTransfers(const graph::Graph& graph,
                                                           const hw_profiles::Profile& profile,
                                                           const answer::PartitionOptions& options,
                                                           const SearchFunction& search) {
  const base::Expected<RelatedSearch> asked = RelatedSearch::Make(graph, profile, options, search);
  if (!asked) return base::Unexpected(asked.error());
  base::Expected<answer::PartitionResult> best = asked->Run(options);
  if (!best || !best->plan) return best;
  const auto& limits = options.objective.limits;
  const auto capacity = static_cast<double>(
      profile.memories[static_cast<size_t>(profile.tile_memory)].capacity_bytes);
  const auto limit = limits.find("peak");
  const double room = limit == limits.end() ? capacity : std::min(capacity, limit->second);
  const std::optional<double> without = best->without_prefetch;
  for (const double share : kShares) {
    if (asked->IsStopped()) break;
    answer::PartitionOptions smaller = options;
    smaller.objective.limits["peak"] = share * room;
    smaller.prefetch_limits = limits;
    base::Expected<answer::PartitionResult> other = asked->Run(smaller);
    if (!other) return other;
    if (!other->plan || asked->IsStopped() || !asked->KeepsLimits(*other->plan) ||
        other->plan->score >= best->plan->score)
      break;
    if (auto fault = asked->Claim("", *other)) return base::Unexpected(*std::move(fault));
    plan::Plan& plan = *other->plan;
    plan.bound = best->plan->bound;
    plan.scope = best->plan->scope;
    plan.proven = best->plan->proven;
    plan.baseline = best->plan->baseline;
    other->alone = best->alone;
    other->alone_for = best->alone_for;
    plan.run = best->plan->run;
    for (plan::Subgraph& subgraph : plan.subgraphs) {
      subgraph.largest_proven = answer::IsWholeOutput(plan.network, subgraph);
      subgraph.rejected_alternatives.clear();
    }
    plan.status = "feasible";
    other->status = problem::Status::kFeasible;
    best = std::move(other);
  }
  if (without) StateGain(*without, *best->plan);
  return best;
}

}  // namespace tessera::search::partition
