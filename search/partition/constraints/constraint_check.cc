// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/text.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/tiling/tile_driver.h"

namespace tessera::search::partition::constraints {

namespace {

template <typename Named>
base::Expected<int> FindNamed(const std::vector<Named>& all, std::string_view id,
                              std::string_view what) {
  const auto found =
      std::find_if(all.begin(), all.end(), [id](const Named& each) { return each.id == id; });
  if (found != all.end()) return static_cast<int>(found - all.begin());
  std::vector<std::string_view> names;
  names.reserve(all.size());
  for (const Named& each : all) names.push_back(each.id);
  base::Diagnostic fault;
  fault.message = fmt::format("the network has no {} '{}'", what, id);
  fault.expected = fmt::format("the id of one of its {}s", what);
  fault.hint = base::DidYouMean(id, names);
  return base::Unexpected(fault);
}

}  // namespace

base::Expected<int> LookUpOperator(const graph::Graph& graph, std::string_view id) {
  return FindNamed(graph.operators, id, "operator");
}

base::Expected<int> LookUpTensor(const graph::Graph& graph, std::string_view id) {
  return FindNamed(graph.tensors, id, "tensor");
}

namespace {

using base::Diagnostic;
using graph::Interval;

// The prefix of the buffers' ids in a program with one subgraph.
constexpr std::string_view kOwn = "s0/";

Diagnostic FaultOf(std::string message, std::string expected, std::string hint = "") {
  Diagnostic fault;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  fault.hint = std::move(hint);
  return fault;
}

// "resident, halo rolling_buffer".
std::string WordsFor(const encoder::program::Policy& policy) {
  return fmt::format("weights {}{}{}, halo {}{}", hw_profiles::NameOf(policy.weights),
                     policy.k_extent == 0 ? "" : fmt::format(" {}", policy.k_extent),
                     policy.in_place ? ", in place" : "", hw_profiles::NameOf(policy.halo),
                     policy.serialized ? ", serialized" : "");
}

class FaultSearch {
 public:
  FaultSearch(const graph::Graph& graph, const hw_profiles::Profile& profile,
              std::optional<int> max_operators)
      : graph_(graph), profile_(profile), max_operators_(max_operators) {}

  std::optional<Diagnostic> FindIn(const PlanConstraint& constraint) const {
    switch (constraint.kind) {
      case PlanConstraintKind::kTogether:
        return FindInTogether(constraint.interval);
      case PlanConstraintKind::kApart:
        return encoder::program::CheckWellFormed(graph_, constraint.interval);
      case PlanConstraintKind::kSubgraph:
        return FindInSubgraph(constraint);
      case PlanConstraintKind::kKeep:
      case PlanConstraintKind::kSpill:
        return FindInStay(constraint);
      case PlanConstraintKind::kAddress:
        return FindInAddress(constraint);
    }
    return std::nullopt;
  }

  std::optional<Diagnostic> FindBetween(const PlanConstraint& before,
                                        const PlanConstraint& constraint) const {
    if (!Contradict(before, constraint)) return std::nullopt;
    return FaultOf(Describe(graph_, constraint) + " contradicts what else is required",
                   "nothing that rules out " + Describe(graph_, before));
  }

 private:
  std::optional<Diagnostic> FindInTogether(Interval interval) const {
    const int operators = static_cast<int>(graph_.operators.size());
    if (interval.first < 0 || interval.first >= interval.last || interval.last >= operators)
      return FaultOf("these are no operators to put together", "two operators or more");
    if (auto fault = FindOnHost(interval)) return fault;
    return FindTooLong(interval);
  }

  // The host runs each operator alone.
  std::optional<Diagnostic> FindOnHost(Interval interval) const {
    if (!encoder::program::JoinsHost(graph_, profile_, interval)) return std::nullopt;
    return encoder::program::FindUnfitForHost(graph_, profile_, interval, {});
  }

  std::optional<Diagnostic> FindTooLong(Interval interval) const {
    const int length = interval.last - interval.first + 1;
    if (!max_operators_ || length <= *max_operators_) return std::nullopt;
    return FaultOf(fmt::format("a subgraph of {} operators is required", length),
                   fmt::format("at most {}, as --max-operators says", *max_operators_));
  }

  std::optional<Diagnostic> FindInSubgraph(const PlanConstraint& constraint) const {
    if (auto fault = encoder::program::CheckWellFormed(graph_, constraint.interval)) return fault;
    if (auto fault = FindOnHost(constraint.interval)) return fault;
    if (auto fault = FindTooLong(constraint.interval)) return fault;
    if (auto fault = FindInPolicy(constraint)) return fault;
    if (auto fault = FindInTile(constraint)) return fault;
    return FindUnknownBuffer(constraint);
  }

  std::optional<Diagnostic> FindInTile(const PlanConstraint& constraint) const {
    if (!constraint.config.tile) return std::nullopt;
    const graph::tiling::TileShape& tile = *constraint.config.tile;
    if (auto fault = encoder::program::CheckWellFormed(graph_, constraint.interval, tile))
      return fault;
    const graph::Shape& output = encoder::program::OutputShape(graph_, constraint.interval);
    if (tile != output && encoder::program::RunsOnHost(graph_, profile_, constraint.interval))
      return FaultOf(
          fmt::format("tiles of {} are required of an operator on the host", fmt::join(tile, "x")),
          "the whole output");
    graph::tiling::ShapeGrid whole;
    for (const int64_t extent : output) whole.extents.push_back({extent});
    if (graph::tiling::MakesTooManyTiles(whole, tile))
      return FaultOf(fmt::format("tiles of {} are too many", fmt::join(tile, "x")),
                     fmt::format("at most {} tiles", graph::tiling::kMostTiles));
    if (auto fault = FindInExtents(output, tile)) return fault;
    const bool caches =
        constraint.config.halo && *constraint.config.halo != hw_profiles::HaloStorage::kRecompute;
    if (caches && !encoder::program::MayKeepRows(profile_, output, tile))
      return FaultOf(fmt::format("tiles of {} keep no rows for the next", fmt::join(tile, "x")),
                     "tiles cut along the rows, perhaps the batch and, where padding is implicit, "
                     "the columns, or "
                     "halo: recompute");
    return std::nullopt;
  }

  // Checks that the tile is cut only along the profile's axes, into multiples of their
  // granularities.
  std::optional<Diagnostic> FindInExtents(const graph::Shape& output,
                                          const graph::tiling::TileShape& tile) const {
    for (size_t axis = 0; axis < output.size(); ++axis) {
      if (tile[axis] == output[axis]) continue;
      const std::vector<hw_profiles::AxisGranularity>& axes = profile_.tiling.axes;
      const auto cut =
          std::find_if(axes.begin(), axes.end(), [&](const hw_profiles::AxisGranularity& each) {
            return graph::tiling::AxisOf(output, each.axis) == axis;
          });
      if (cut == axes.end())
        return FaultOf(
            fmt::format("tiles of {} cut axis {}, along which the profile cuts no tiles",
                        fmt::join(tile, "x"), axis),
            fmt::format("the whole extent, {}, or that axis in the profile's tiling.axes",
                        output[axis]));
      if (tile[axis] % cut->granularity != 0)
        return FaultOf(
            fmt::format("tiles of {} have {} {}", fmt::join(tile, "x"), tile[axis],
                        base::NameOf(cut->axis)),
            fmt::format("a multiple of {}, the profile's granularity, or the whole extent, {}",
                        cut->granularity, output[axis]));
    }
    return std::nullopt;
  }

  std::optional<Diagnostic> FindInPolicy(const PlanConstraint& constraint) const {
    const auto allows = [&](const encoder::program::Policy& policy) {
      return Allows(constraint.config, policy);
    };
    const std::vector<encoder::program::Policy> policies =
        encoder::program::PoliciesOf(graph_, profile_, constraint.interval);
    const std::vector<encoder::program::Policy> allowed =
        encoder::program::AllowedPolicies(graph_, profile_, constraint.interval);
    if (std::any_of(policies.begin(), policies.end(), allows) ||
        std::any_of(allowed.begin(), allowed.end(), allows))
      return std::nullopt;
    std::vector<std::string> words;
    words.reserve(policies.size());
    for (const encoder::program::Policy& policy : policies) words.push_back(WordsFor(policy));
    return FaultOf("the profile has no such policy for these operators",
                   fmt::format("some of: {}", fmt::join(words, "; ")));
  }

  // Checks the names of buffers with required addresses against those of the subgraph with the
  // tiles that a search begins with, for any kept tensors.
  std::optional<Diagnostic> FindUnknownBuffer(const PlanConstraint& constraint) const {
    if (constraint.config.addresses.empty()) return std::nullopt;
    tiling::TileOptions options;
    if (constraint.config.tile) options.shapes = {*constraint.config.tile};
    options.policies = encoder::program::AllowedPolicies(graph_, profile_, constraint.interval);
    options.made = encoder::program::TilesMade::kAll;
    std::erase_if(*options.policies, [&constraint](const encoder::program::Policy& policy) {
      return !Allows(constraint.config, policy);
    });
    const auto tiles = tiling::IntervalTiles::Build(graph_, profile_, constraint.interval, options);
    if (!tiles) return std::nullopt;  // the search reports why the subgraph is impossible
    std::set<std::string> names;
    for (size_t i = 0; i < tiles->Candidates().size(); ++i) {
      for (const problem::Buffer& buffer : tiles->CandidatesOf(i).program.problem.buffers) {
        if (buffer.id.starts_with(kOwn)) names.insert(buffer.id.substr(kOwn.size()));
      }
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    for (const auto& [id, offset] : constraint.config.addresses) {
      if (!names.contains(id))
        return FaultOf(fmt::format("the subgraph has no buffer '{}'", id),
                       "one of " + base::Join(views), base::DidYouMean(id, views));
    }
    return std::nullopt;
  }

  std::optional<Diagnostic> FindInAddress(const PlanConstraint& constraint) const {
    const auto tensor = static_cast<size_t>(constraint.tensor);
    if (constraint.tensor < 0 || tensor >= graph_.tensors.size())
      return FaultOf("there is no such tensor", "a tensor of the network");
    const graph::Usage usage = graph::UsagesOf(graph_)[tensor];
    const int op = usage.producer >= 0       ? usage.producer
                   : usage.consumers.empty() ? 0
                                             : usage.consumers.front();
    const base::TensorRole role = graph::RoleIn(graph_, usage, constraint.tensor, {op, op});
    const std::string& tile_memory = MemoryName(profile_.tile_memory);
    const std::string& home =
        MemoryName(encoder::program::HomeOf(graph_, profile_, constraint.tensor, role));
    const bool may_be_kept =
        role == base::TensorRole::kBoundary && constraint.memory == tile_memory;
    if (constraint.memory == home || may_be_kept) return std::nullopt;
    return FaultOf(fmt::format("tensor '{}' never lies whole in memory '{}'",
                               graph_.tensors[tensor].id, constraint.memory),
                   role == base::TensorRole::kBoundary
                       ? fmt::format("its home '{}', or '{}'", home, tile_memory)
                       : fmt::format("its home '{}'", home));
  }

  const std::string& MemoryName(int memory) const {
    return profile_.memories[static_cast<size_t>(memory)].name;
  }

  std::optional<Diagnostic> FindInStay(const PlanConstraint& constraint) const {
    const auto tensor = static_cast<size_t>(constraint.tensor);
    if (constraint.tensor < 0 || tensor >= graph_.tensors.size())
      return FaultOf("there is no such tensor", "a tensor of the network");
    const std::string& id = graph_.tensors[tensor].id;
    const graph::Usage usage = graph::UsagesOf(graph_)[tensor];
    const bool passes_on =
        usage.producer >= 0 && !usage.consumers.empty() &&
        graph::RoleIn(graph_, usage, constraint.tensor, {usage.producer, usage.producer}) ==
            base::TensorRole::kBoundary;
    if (!passes_on)
      return FaultOf(
          fmt::format("tensor '{}' has its home whatever the subgraphs", id),
          "the result of an operator that others read and that is no output of the network");
    const bool lives_on_chip =
        hw_profiles::LayoutOf(profile_, base::TensorRole::kBoundary).home == profile_.tile_memory;
    if (lives_on_chip && constraint.kind == PlanConstraintKind::kSpill)
      return FaultOf(fmt::format("tensor '{}' cannot leave the tile memory", id),
                     "a profile whose tile memory is not the home of boundary tensors");
    return std::nullopt;
  }

  static bool Contradict(const PlanConstraint& a, const PlanConstraint& b) {
    if (a.kind > b.kind) return Contradict(b, a);
    if (b.kind == PlanConstraintKind::kAddress)
      return a.kind == b.kind && a.tensor == b.tensor && a.memory == b.memory &&
             a.offset != b.offset;
    if (b.kind == PlanConstraintKind::kSpill)
      return a.kind == PlanConstraintKind::kKeep && a.tensor == b.tensor;
    if (b.kind == PlanConstraintKind::kKeep) return false;
    const Interval first = a.interval;
    const Interval second = b.interval;
    if (b.kind == PlanConstraintKind::kApart)
      return a.kind == PlanConstraintKind::kTogether && first.first < second.first &&
             second.first <= first.last;
    if (b.kind == PlanConstraintKind::kTogether) return false;
    if (a.kind == PlanConstraintKind::kApart)
      return second.first < first.first && first.first <= second.last;
    const bool overlap = first.first <= second.last && second.first <= first.last;
    if (a.kind == PlanConstraintKind::kSubgraph)
      return overlap;  // also if one subgraph is stated twice
    return overlap && (first.first < second.first || second.last < first.last);
  }

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  std::optional<int> max_operators_;
};

}  // namespace

std::optional<ConstraintFault> CheckWellFormed(const graph::Graph& network,
                                               const hw_profiles::Profile& profile,
                                               std::span<const PlanConstraint> constraints,
                                               std::optional<int> max_operators) {
  const graph::Graph graph = encoder::program::WithHomes(network, profile);
  const FaultSearch search(graph, profile, max_operators);
  for (size_t i = 0; i < constraints.size(); ++i) {
    if (auto fault = search.FindIn(constraints[i])) return ConstraintFault{i, *std::move(fault)};
    for (size_t before = 0; before < i; ++before) {
      if (auto fault = search.FindBetween(constraints[before], constraints[i]))
        return ConstraintFault{i, *std::move(fault)};
    }
  }
  return std::nullopt;
}

}  // namespace tessera::search::partition::constraints
