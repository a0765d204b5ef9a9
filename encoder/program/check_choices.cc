// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tessera/encoder/program/choices.h"

namespace tessera::encoder::program {
namespace {

using hw_profiles::Engine;
using hw_profiles::Profile;

const graph::Operator& OperatorAt(const graph::Graph& graph, int op) {
  return graph.operators[static_cast<size_t>(op)];
}

// The first operator of the interval that runs on the host.
const graph::Operator* FindOnHost(const graph::Graph& graph, const Profile& profile,
                                  graph::Interval interval) {
  if (hw_profiles::HostOf(profile) == nullptr) return nullptr;
  for (int i = interval.first; i <= interval.last; ++i) {
    if (RunsOnHost(graph, profile, OperatorAt(graph, i))) return &OperatorAt(graph, i);
  }
  return nullptr;
}

base::Diagnostic Fault(std::string message, std::string expected) {
  base::Diagnostic fault;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  return fault;
}

const graph::Operator& LastOf(const graph::Graph& graph, graph::Interval interval) {
  return graph.operators[static_cast<size_t>(interval.last)];
}

bool IsInRange(const graph::Shape& shape, const graph::tiling::TileShape& tile) {
  return std::equal(tile.begin(), tile.end(), shape.begin(), shape.end(),
                    [](int64_t extent, int64_t whole) { return 1 <= extent && extent <= whole; });
}

// Returns why the constants of one of the choices cannot be prefetched, or nullopt.
std::optional<base::Diagnostic> FindNothingBefore(const graph::Graph& graph,
                                                  const hw_profiles::Profile& profile,
                                                  std::span<const SubgraphChoice> choices,
                                                  const SubgraphChoice& choice) {
  const std::string& first = graph.operators[static_cast<size_t>(choice.interval.first)].id;
  const std::ptrdiff_t before = &choice - choices.data();
  if (before == 0) {
    return Fault(
        fmt::format("the program begins with '{}', whose constants are to be prefetched", first),
        "a subgraph that runs before");
  }
  const std::vector<int>& ahead = choice.prefetch;
  if (ahead.front() < 1 || ahead.front() > before || ahead.back() < 0 ||
      !std::is_sorted(ahead.rbegin(), ahead.rend())) {
    return Fault(fmt::format("the constants of the subgraph that begins with '{}' are to be "
                             "prefetched [{}] subgraphs earlier",
                             first, fmt::join(ahead, ", ")),
                 fmt::format("numbers of which none is greater than the one before it, the first "
                             "from 1 to {}, the last 0 or more",
                             before));
  }
  const auto overlaps = [&profile](const SubgraphChoice& each) {
    return DmaOf(profile, each.policy) == hw_profiles::DmaSteps::kDoubleBuffered &&
           each.policy.second_stage == 0;
  };
  const bool all_overlap = std::all_of(ahead.begin(), ahead.end(), [&](int each) {
    return overlaps(choices[static_cast<size_t>(before - each)]);
  });
  if (all_overlap && overlaps(choice)) return std::nullopt;
  return Fault(
      fmt::format("the constants of the subgraph that begins with '{}' are to be prefetched, but "
                  "the transfers of {} are serialized",
                  first, overlaps(choice) ? "one that runs meanwhile" : "this one"),
      "dma: double_buffered for all of them");
}

}  // namespace

base::DataType WorkingType(const graph::Graph& graph, const graph::Operator& op) {
  const std::vector<int>& operands = op.inputs.empty() ? op.outputs : op.inputs;
  return operands.empty() ? base::DataType::kInt8
                          : graph.tensors[static_cast<size_t>(operands.front())].type;
}

const Engine* EngineOf(const graph::Graph& graph, const Profile& profile,
                       const graph::Operator& op) {
  return hw_profiles::EngineFor(profile, op.kind, WorkingType(graph, op), op.engine);
}

std::vector<const Engine*> EnginesFor(const graph::Graph& graph, const Profile& profile,
                                      const graph::Operator& op) {
  const base::DataType type = WorkingType(graph, op);
  const bool is_named = !op.engine.empty() && !op.engine_chosen;
  std::vector<const Engine*> engines;
  for (const Engine& engine : profile.engines) {
    if (is_named && engine.name != op.engine) continue;
    if (hw_profiles::ThroughputFor(engine, op.kind, type) != nullptr) engines.push_back(&engine);
  }
  const Engine* host = hw_profiles::HostOf(profile);
  if (engines.empty() && host != nullptr && (!is_named || host->name == op.engine))
    engines.push_back(host);
  return engines;
}

bool HasChoiceOfEngines(const graph::Graph& graph, const Profile& profile) {
  return profile.engines.size() > 1 &&
         std::any_of(
             graph.operators.begin(), graph.operators.end(),
             [&](const graph::Operator& op) { return EnginesFor(graph, profile, op).size() > 1; });
}

bool RunsOnHost(const graph::Graph& graph, const Profile& profile, const graph::Operator& op) {
  const Engine* engine = EngineOf(graph, profile, op);
  return engine != nullptr && engine->host;
}

bool RunsOnHost(const graph::Graph& graph, const Profile& profile, graph::Interval interval) {
  return interval.first == interval.last && FindOnHost(graph, profile, interval) != nullptr;
}

bool JoinsHost(const graph::Graph& graph, const Profile& profile, graph::Interval interval) {
  return interval.first < interval.last && FindOnHost(graph, profile, interval) != nullptr;
}

Policy PolicyOfHost(std::vector<int> kept) {
  return {.weights = hw_profiles::WeightPolicy::kDirect, .kept = std::move(kept)};
}

std::optional<base::Diagnostic> FindUnfitForHost(const graph::Graph& graph, const Profile& profile,
                                                 graph::Interval interval, const Policy& policy) {
  const graph::Operator* op = FindOnHost(graph, profile, interval);
  const bool alone = interval.first == interval.last;
  if (op == nullptr || (alone && policy == PolicyOfHost(policy.kept))) return std::nullopt;
  base::Diagnostic refusal;
  refusal.message = fmt::format("operator '{}' runs on '{}', the host of profile '{}'", op->id,
                                hw_profiles::HostOf(profile)->name, profile.name);
  refusal.expected = alone ? "weights: direct, without kept rows and results in place"
                           : "a subgraph of this operator alone";
  return refusal;
}

const graph::Shape& OutputShape(const graph::Graph& graph, graph::Interval interval) {
  return graph.tensors[static_cast<size_t>(LastOf(graph, interval).outputs.front())].shape;
}

std::optional<base::Diagnostic> CheckWellFormed(const graph::Graph& graph,
                                                graph::Interval interval) {
  const int operators = static_cast<int>(graph.operators.size());
  if (interval.first < 0 || interval.first > interval.last || interval.last >= operators) {
    return Fault(fmt::format("{}..{} is no interval of operators", interval.first, interval.last),
                 fmt::format("first <= last, from 0 to {}", operators - 1));
  }
  if (LastOf(graph, interval).outputs.empty()) {
    return Fault(
        fmt::format("operator '{}' ends a subgraph, but has no output", LastOf(graph, interval).id),
        "an output whose tiles can be counted");
  }
  return std::nullopt;
}

std::optional<base::Diagnostic> CheckWellFormed(const graph::Graph& graph, graph::Interval interval,
                                                const graph::tiling::TileShape& tile) {
  return CheckWellFormed(graph, interval, std::span(&tile, 1));
}

std::optional<base::Diagnostic> CheckWellFormed(const graph::Graph& graph, graph::Interval interval,
                                                std::span<const graph::tiling::TileShape> tiles) {
  const graph::Shape& shape = OutputShape(graph, interval);
  std::vector<std::optional<bool>> can_cut(shape.size());  // by axis, computed on demand
  for (const graph::tiling::TileShape& tile : tiles) {
    if (!IsInRange(shape, tile)) {
      return Fault(fmt::format("[{}] is no tile of an output [{}]", fmt::join(tile, ", "),
                               fmt::join(shape, ", ")),
                   "an extent from 1 to the output's own for each axis");
    }
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (tile[axis] == shape[axis]) continue;
      if (!can_cut[axis]) can_cut[axis] = graph::tiling::CanCut(graph, interval, axis);
      if (*can_cut[axis]) continue;
      return Fault(fmt::format("tile [{}] cuts axis {} of the output of '{}', which the operators "
                               "inside do not allow",
                               fmt::join(tile, ", "), axis, LastOf(graph, interval).id),
                   fmt::format("the whole extent, {}", shape[axis]));
    }
  }
  return std::nullopt;
}

std::optional<base::Diagnostic> CheckWellFormed(const graph::Graph& graph,
                                                const hw_profiles::Profile& profile,
                                                std::span<const SubgraphChoice> choices) {
  if (choices.empty()) return Fault("a program of no subgraphs", "at least one");
  int next = choices.front().interval.first;
  for (const SubgraphChoice& choice : choices) {
    if (std::optional<base::Diagnostic> fault = CheckWellFormed(graph, choice.interval))
      return fault;
    if (choice.interval.first != next) {
      return Fault(fmt::format("a subgraph begins with operator {}", choice.interval.first),
                   fmt::format("operator {}, where the one before ends", next));
    }
    if (std::optional<base::Diagnostic> fault =
            CheckWellFormed(graph, choice.interval, choice.tile))
      return fault;
    if (RunsOnHost(graph, profile, choice.interval) &&
        choice.tile != OutputShape(graph, choice.interval)) {
      return Fault(fmt::format("tile [{}] cuts the output of '{}', which runs on the host",
                               fmt::join(choice.tile, ", "), LastOf(graph, choice.interval).id),
                   "the whole output");
    }
    const bool caches = choice.policy.halo != hw_profiles::HaloStorage::kRecompute;
    if (caches && !MayKeepRows(profile, OutputShape(graph, choice.interval), choice.tile)) {
      return Fault(fmt::format("tile [{}] of the output of '{}' keeps no rows for the next",
                               fmt::join(choice.tile, ", "), LastOf(graph, choice.interval).id),
                   "a tile cut along the rows, perhaps the batch and, where padding is implicit, "
                   "the columns, or halo: recompute");
    }
    const bool split_k = choice.policy.weights == hw_profiles::WeightPolicy::kSplitK;
    if (choice.policy.k_extent != 0 && !split_k) {
      return Fault(fmt::format("the subgraph that ends with '{}' states the K extent of slices, "
                               "and is not cut along K",
                               LastOf(graph, choice.interval).id),
                   "weights: split_k, or no k_extent");
    }
    if (caches && split_k) {
      return Fault(fmt::format("operator '{}' is cut along K and keeps rows",
                               LastOf(graph, choice.interval).id),
                   "halo: recompute");
    }
    if (!choice.prefetch.empty()) {
      if (std::optional<base::Diagnostic> fault =
              FindNothingBefore(graph, profile, choices, choice))
        return fault;
    }
    next = choice.interval.last + 1;
  }
  return FindUnkeepable(graph, choices, KeptBy(choices));
}

std::vector<int> KeptBy(std::span<const SubgraphChoice> choices) {
  std::set<int> kept;
  for (const SubgraphChoice& choice : choices)
    kept.insert(choice.policy.kept.begin(), choice.policy.kept.end());
  return {kept.begin(), kept.end()};
}

std::optional<base::Diagnostic> FindUnkeepable(const graph::Graph& graph,
                                               std::span<const SubgraphChoice> choices,
                                               std::span<const int> kept) {
  if (kept.empty()) return std::nullopt;
  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  for (const int tensor : kept) {
    if (tensor < 0 || static_cast<size_t>(tensor) >= graph.tensors.size())
      return Fault(fmt::format("there is no tensor {} to keep on chip", tensor),
                   "a boundary tensor");
    const graph::Usage& usage = usages[static_cast<size_t>(tensor)];
    const bool is_boundary =
        std::all_of(choices.begin(), choices.end(), [&](const SubgraphChoice& choice) {
          return graph::RoleIn(graph, usage, tensor, choice.interval) ==
                 base::TensorRole::kBoundary;
        });
    if (is_boundary) continue;
    return Fault(fmt::format("tensor '{}' cannot be kept on chip between subgraphs",
                             graph.tensors[static_cast<size_t>(tensor)].id),
                 "a boundary tensor: made in one subgraph, read in a later one, neither input nor "
                 "output of the network");
  }
  return std::nullopt;
}

}  // namespace tessera::encoder::program
