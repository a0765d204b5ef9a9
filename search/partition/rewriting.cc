// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/rewriting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/vocabulary.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/residence.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/ops/definition.h"
#include "tessera/graph/rewrites.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/partition/least_need.h"
#include "tessera/search/partition/placement/obstacles.h"

namespace tessera::search::partition {
namespace {

struct Found {
  std::vector<int> which;  // operators or tensors, ascending
  bool is_needed = false;  // as in Rewriting
};

// Whether the profile lets an operator take its operands in slices.
bool HasSlices(const hw_profiles::Profile& profile) {
  const std::vector<hw_profiles::WeightPolicy>& policies = profile.tiling.weights;
  return std::count(policies.begin(), policies.end(), hw_profiles::WeightPolicy::kSplitK) > 0;
}

Found FindForTwoPasses(const graph::Graph& network, const hw_profiles::Profile& profile) {
  Found found;
  for (size_t number = 0; number < network.operators.size(); ++number) {
    const graph::Operator& op = network.operators[number];
    if (!graph::CanTakeTwoPasses(op) || encoder::program::RunsOnHost(network, profile, op))
      continue;
    const problem::Bytes tables = TablesOf(network, profile, number);
    Need need = NeedOf(network, profile, op);
    need.Add(tables);
    if (Fits(need, profile)) continue;
    Need sure = SurelyNeeded(network, profile, op, op.axes);
    sure.Add(tables);
    found.which.push_back(static_cast<int>(number));
    found.is_needed = found.is_needed || !Fits(sure, profile);
  }
  return found;
}

// Returns the K extent of the smallest slice of a reduction: that of the whole axis if the profile
// has no slices.
int64_t SmallestSlice(const graph::Graph& network, const hw_profiles::Profile& profile, int op,
                      int64_t whole) {
  if (!HasSlices(profile)) return whole;
  const auto cut = encoder::program::FindKCut(network, profile, {op, op}, 0);
  return cut ? cut->granularity : whole;
}

// Whether an engine other than the host runs a reduction of the operator's operand.
bool HasEngineForReduce(const graph::Graph& network, const hw_profiles::Profile& profile,
                        graph::Operator op) {
  op.axes = graph::ReducedAxes(op);
  op.kind = base::OperatorKind::kReduce;
  return encoder::program::EngineOf(network, profile, op) != nullptr &&
         !encoder::program::RunsOnHost(network, profile, op);
}

// Finds reductions over several axes of which not even the smallest slice fits.
Found FindForAxisByAxis(const graph::Graph& network, const hw_profiles::Profile& profile) {
  Found found;
  for (size_t number = 0; number < network.operators.size(); ++number) {
    const graph::Operator& op = network.operators[number];
    if (!graph::CanGoAxisByAxis(op) || encoder::program::RunsOnHost(network, profile, op) ||
        !HasEngineForReduce(network, profile, op))
      continue;
    std::vector<int> axes = graph::ReducedAxes(op);
    const int64_t whole =
        graph::ShapeOf(network, op.inputs.front())[static_cast<size_t>(axes.front())];
    const int64_t slice = SmallestSlice(network, profile, static_cast<int>(number), whole);
    axes.erase(axes.begin());
    Need sure = SurelyNeeded(network, profile, op, axes);
    sure = {base::SaturatingMul(sure.bytes, slice), base::SaturatingMul(sure.longest, slice)};
    const int64_t smallest = SmallestTile(network, profile, op);
    Need need = {base::SaturatingMul(sure.bytes, smallest),
                 base::SaturatingMul(sure.longest, smallest)};
    need.Add(encoder::program::AccumulatorBytes(network, op, std::array{smallest}));
    if (Fits(need, profile)) continue;
    found.which.push_back(static_cast<int>(number));
    found.is_needed = found.is_needed || !Fits(sure, profile);
  }
  return found;
}

graph::Operator AsGlobalPool(graph::Operator op) {
  op.kind = base::OperatorKind::kGlobalPool;
  op.window = {};
  return op;
}

// Whether the operator is a pool whose one window is the whole map, and could read slices of it as
// a global pool, because the profile has that policy.
bool IsGlobalInSlices(const graph::Graph& network, const hw_profiles::Profile& profile,
                      const graph::Operator& op) {
  if (op.kind != base::OperatorKind::kPool || !op.measured.empty()) return false;
  const graph::Shape& map = graph::ShapeOf(network, op.inputs.front());
  const std::array<int64_t, 2> none = {0, 0};
  const bool is_whole = op.window.kernel == std::array{map[2], map[3]} &&
                        op.window.pad_low == none && op.window.pad_high == none;
  const graph::Operator pool = AsGlobalPool(op);
  return is_whole && HasSlices(profile) && !encoder::program::RunsOnHost(network, profile, op) &&
         encoder::program::EngineOf(network, profile, pool) != nullptr &&
         !encoder::program::RunsOnHost(network, profile, pool);
}

Found FindForGlobalPools(const graph::Graph& network, const hw_profiles::Profile& profile) {
  Found found;
  for (size_t number = 0; number < network.operators.size(); ++number) {
    const graph::Operator& op = network.operators[number];
    if (!IsGlobalInSlices(network, profile, op)) continue;
    const Need window = SurelyNeeded(network, profile, op, std::array{2, 3});
    Need need = NeedOf(network, profile, op);
    need.Add(base::SaturatingMul(need.longest, op.window.kernel[0] * op.window.kernel[1]));
    if (Fits(need, profile)) continue;
    found.which.push_back(static_cast<int>(number));
    found.is_needed = found.is_needed || !Fits(window, profile);
  }
  return found;
}

// Finds constants that should become states. An operator does not fit if all its constants together
// with its smallest tile exceed the tile memory.
Found FindForStates(const graph::Graph& network, const hw_profiles::Profile& profile) {
  const std::vector<graph::Usage> usages = graph::UsagesOf(network);
  const bool are_direct = hw_profiles::MayReadAtHome(profile, base::TensorRole::kConstant);
  std::set<int> chosen;
  Found found;
  for (size_t number = 0; number < network.operators.size(); ++number) {
    const graph::Operator& op = network.operators[number];
    if (op.weights.empty() || op.kind != base::OperatorKind::kElementwise ||
        encoder::program::RunsOnHost(network, profile, op))
      continue;
    Need tables;
    Need need = NeedOf(network, profile, op);
    for (const int weight : op.weights) {
      const problem::Bytes bytes =
          encoder::program::ConstantBytes(network, profile, weight, {static_cast<int>(number)});
      tables.Add(bytes);
      need.Add(bytes);
    }
    if (Fits(need, profile)) continue;
    const auto can_be_state = [&](int weight) {
      return graph::CanBeState(network, usages[static_cast<size_t>(weight)], weight);
    };
    std::copy_if(op.weights.begin(), op.weights.end(), std::inserter(chosen, chosen.end()),
                 can_be_state);
    found.is_needed = found.is_needed || (!are_direct && !Fits(tables, profile));
  }
  found.which.assign(chosen.begin(), chosen.end());
  return found;
}

// Finds operators that should run on the host: opaque ones that do not fit. Their tensors are in
// the tile memory, unless an engine accesses their homes, as the host does.
Found FindForHost(const graph::Graph& network, const hw_profiles::Profile& profile) {
  Found found;
  if (hw_profiles::HostOf(profile) == nullptr) return found;
  static constexpr std::array kRoles = {
      base::TensorRole::kNetworkInput, base::TensorRole::kBoundary,
      base::TensorRole::kNetworkOutput, base::TensorRole::kConstant, base::TensorRole::kState};
  const bool are_direct = std::any_of(
      kRoles.begin(), kRoles.end(),
      [&profile](base::TensorRole role) { return hw_profiles::MayReadAtHome(profile, role); });
  for (size_t number = 0; number < network.operators.size(); ++number) {
    const graph::Operator& op = network.operators[number];
    if (op.kind != base::OperatorKind::kOpaque || !op.engine.empty() ||
        encoder::program::RunsOnHost(network, profile, op))
      continue;
    const bool is_barrier = graph::IsBarrier(op);
    if (Fits(is_barrier ? NeedOfBarrier(network, op) : NeedOfDescribed(network, profile, op),
             profile))
      continue;
    found.which.push_back(static_cast<int>(number));
    found.is_needed =
        found.is_needed ||
        (!are_direct && (is_barrier || !Fits(SurelyNeededOfDescribed(network, op), profile)));
  }
  return found;
}

graph::Graph WithGlobalPools(graph::Graph network, const std::vector<int>& operators) {
  for (const int op : operators) {
    graph::Operator& pool = network.operators[static_cast<size_t>(op)];
    pool = AsGlobalPool(std::move(pool));
  }
  return network;
}

graph::Graph OnHost(graph::Graph network, const hw_profiles::Profile& profile,
                    const std::vector<int>& operators) {
  for (const int op : operators)
    network.operators[static_cast<size_t>(op)].engine = hw_profiles::HostOf(profile)->name;
  return network;
}

// Returns the operators with measured tiles that the rewritten network does not use.
std::vector<std::string> MeasuredIn(const graph::Graph& network, const graph::Graph& rewritten) {
  std::set<std::pair<std::string_view, std::string_view>> used;  // operators and their engines
  for (const graph::Operator& op : rewritten.operators) {
    if (!op.measured.empty()) used.emplace(op.id, op.engine);
  }
  std::vector<std::string> ids;
  for (const graph::Operator& op : network.operators) {
    if (!op.measured.empty() && !used.contains({op.id, op.engine})) ids.push_back(op.id);
  }
  return ids;
}

std::string NoteOn(std::string_view what, const hw_profiles::Profile& profile,
                   const std::vector<std::string>& ids) {
  return fmt::format("{} in '{}': {}; status and bound are those of the network of this plan", what,
                     TileMemory(profile).name, fmt::join(ids, ", "));
}

// Whether the operator in parts of this K extent fits: its slices, its first part and the sum, each
// alone.
bool FitsInParts(const graph::Graph& network, const hw_profiles::Profile& profile,
                 const graph::Parts& parts, const placement::AloneOptions& options) {
  const graph::Graph rewritten =
      encoder::program::WithHomes(graph::InParts(network, std::array{parts}), profile);
  const auto first_part =
      parts.op + static_cast<int>(network.operators[static_cast<size_t>(parts.op)].inputs.size());
  const int sum =
      parts.op + static_cast<int>(rewritten.operators.size() - network.operators.size());
  const auto fits = [&](int op) {
    return !options.stop.Requested() &&
           placement::TryAlone(rewritten, profile, op, options).status ==
               problem::Status::kFeasible;
  };
  for (int op = parts.op; op <= first_part; ++op) {
    if (!fits(op)) return false;
  }
  return fits(sum);
}

// Returns the longest of parts half as long as the last, and so on, that fit; nullopt if there are
// none.
std::optional<graph::Parts> PartsThatFit(const graph::Graph& network,
                                         const hw_profiles::Profile& profile, int number,
                                         const placement::AloneOptions& options) {
  const graph::Operator& op = network.operators[static_cast<size_t>(number)];
  if (!op.measured.empty() || !graph::CanGoInParts(network, op) ||
      encoder::program::RunsOnHost(network, profile, op))
    return std::nullopt;
  const graph::Shape& operand = graph::ShapeOf(network, op.inputs.front());
  graph::Parts parts{number, operand[*graph::ops::SumAxisOf(op, 0, operand.size())]};
  while (parts.k_extent > 1 && !options.stop.Requested()) {
    parts.k_extent = base::CeilDiv(parts.k_extent, int64_t{2});
    if (FitsInParts(network, profile, parts, options)) return parts;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Rewriting> RewriteWhatDoesNotFit(const graph::Graph& network,
                                               const hw_profiles::Profile& profile) {
  const Found hosted = FindForHost(network, profile);
  const Found pools = FindForGlobalPools(network, profile);
  const graph::Graph moved = OnHost(WithGlobalPools(network, pools.which), profile, hosted.which);
  const Found ops = FindForTwoPasses(moved, profile);
  const graph::Graph in_passes = graph::InTwoPasses(moved, ops.which);
  const Found reductions = FindForAxisByAxis(in_passes, profile);
  const graph::Graph by_axis = graph::AxisByAxis(in_passes, reductions.which);
  const Found states = FindForStates(by_axis, profile);
  const std::array all = {&hosted, &pools, &ops, &reductions, &states};
  if (std::all_of(all.begin(), all.end(), [](const Found* each) { return each->which.empty(); }))
    return std::nullopt;
  const graph::Graph rewritten = graph::WithStates(by_axis, states.which);
  Rewriting rewriting{
      graph::Renumbered(rewritten, graph::TensorsByMaker(rewritten)),
      {},
      std::any_of(all.begin(), all.end(), [](const Found* each) { return each->is_needed; })};
  const auto note = [&](std::string_view what, const std::vector<std::string>& ids) {
    if (!ids.empty()) rewriting.notes.push_back(NoteOn(what, profile, ids));
  };
  const auto ids_of = [](const auto& items, const std::vector<int>& which) {
    std::vector<std::string> ids;
    ids.reserve(which.size());
    for (const int each : which) ids.push_back(items[static_cast<size_t>(each)].id);
    return ids;
  };
  note("constants as states that are written once, because they do not fit",
       ids_of(by_axis.tensors, states.which));
  note("in two passes, because one does not fit", ids_of(network.operators, ops.which));
  note("reduced axis by axis, because slices of all axes do not fit",
       ids_of(in_passes.operators, reductions.which));
  note("pools over whole maps in slices, because these do not fit",
       ids_of(network.operators, pools.which));
  note("on the host, because what one tile of them needs does not fit",
       ids_of(network.operators, hosted.which));
  if (const std::vector<std::string> measured = MeasuredIn(network, rewritten); !measured.empty())
    rewriting.notes.push_back(fmt::format(
        "measured tiles of operators in another form are not used: {}", fmt::join(measured, ", ")));
  return rewriting;
}

std::optional<NetworkInParts> RewriteInParts(const graph::Graph& network,
                                             const hw_profiles::Profile& profile,
                                             const answer::PartitionOptions& options,
                                             const placement::Obstacle& obstacle) {
  const base::Stop never;
  const placement::AloneOptions alone = {
      .engines = tiling::Engines(options.engines.begin(), options.engines.end()),
      .budget = options.budget,
      .room = obstacle.capacity,
      .stop = options.stop != nullptr ? *options.stop : never};
  NetworkInParts made{network, {}, false};
  const auto put_in_parts = [&](std::span<const int> ops) {
    std::vector<graph::Parts> all;
    for (const int op : ops) {
      const std::optional<graph::Parts> parts = PartsThatFit(made.network, profile, op, alone);
      if (!parts) continue;
      all.push_back(*parts);
      made.operators.push_back(made.network.operators[static_cast<size_t>(op)].id);
    }
    if (all.empty()) return false;
    const graph::Graph rewritten = graph::InParts(made.network, all);
    made.network = graph::Renumbered(rewritten, graph::TensorsByMaker(rewritten));
    return true;
  };
  bool goes_on = put_in_parts(obstacle.blocked);
  // The bound names further operators at once, of which a search would name the first.
  while (goes_on && !alone.stop.Requested()) {
    const cost::PeakLowerBound peak =
        cost::FindPeakLowerBound(encoder::program::WithHomes(made.network, profile), profile);
    goes_on = peak.bytes > obstacle.capacity && put_in_parts(std::array{peak.op});
  }
  made.is_stopped = alone.stop.Requested();
  if (made.operators.empty() && !made.is_stopped) return std::nullopt;
  return made;
}

std::string NoteOnParts(const hw_profiles::Profile& profile,
                        const std::vector<std::string>& operators) {
  return NoteOn("sums of products in parts, because they do not fit", profile, operators);
}

}  // namespace tessera::search::partition
