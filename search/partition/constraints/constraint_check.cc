#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/text.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/tiling/tile_driver.h"

namespace tessera::search::partition::constraints {

namespace {

template <typename Named>
base::Expected<int> FindNamed(const std::vector<Named>& all, std::string_view id, std::string_view what) {
  const auto found = std::find_if(all.begin(), all.end(), [id](const Named& each) { return each.id == id; });
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

// How the buffers of the only subgraph of a program begin.
constexpr std::string_view kOwn = "s0/";

Diagnostic FaultOf(std::string message, std::string expected, std::string hint = "") {
  Diagnostic fault;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  fault.hint = std::move(hint);
  return fault;
}

// "resident, halo ring".
std::string WordsFor(const encoder::program::Policy& policy) {
  return fmt::format("weights {}{}{}, halo {}", hw_profiles::NameOf(policy.weights),
                     policy.depth == 0 ? "" : fmt::format(" {}", policy.depth),
                     policy.in_place ? ", in place" : "", hw_profiles::NameOf(policy.halo));
}

class FaultSearch {
 public:
  FaultSearch(const graph::Graph& graph, const hw_profiles::Profile& profile,
              std::optional<int> max_operators)
      : graph_(graph), profile_(profile), max_operators_(max_operators) {}

  std::optional<Diagnostic> FindIn(const Demand& demand) const {
    switch (demand.kind) {
      case DemandKind::kTogether:
        return FindInTogether(demand.interval);
      case DemandKind::kApart:
        return encoder::program::FindFault(graph_, demand.interval);
      case DemandKind::kSubgraph:
        return FindInSubgraph(demand);
      case DemandKind::kKeep:
      case DemandKind::kSpill:
        return FindInStay(demand);
      case DemandKind::kAddress:
        return FindInAddress(demand);
    }
    return std::nullopt;
  }

  std::optional<Diagnostic> FindBetween(const Demand& before, const Demand& demand) const {
    if (!Contradict(before, demand)) return std::nullopt;
    return FaultOf(Describe(graph_, demand) + " contradicts what else is demanded",
                   "nothing that rules out " + Describe(graph_, before));
  }

 private:
  std::optional<Diagnostic> FindInTogether(Interval interval) const {
    const int operators = static_cast<int>(graph_.operators.size());
    if (interval.first < 0 || interval.first >= interval.last || interval.last >= operators)
      return FaultOf("these are no operators to put together", "two operators or more");
    return FindTooLong(interval);
  }

  std::optional<Diagnostic> FindTooLong(Interval interval) const {
    const int length = interval.last - interval.first + 1;
    if (!max_operators_ || length <= *max_operators_) return std::nullopt;
    return FaultOf(fmt::format("a subgraph of {} operators is demanded", length),
                   fmt::format("at most {}, as --max-operators says", *max_operators_));
  }

  std::optional<Diagnostic> FindInSubgraph(const Demand& demand) const {
    if (auto fault = encoder::program::FindFault(graph_, demand.interval)) return fault;
    if (auto fault = FindTooLong(demand.interval)) return fault;
    if (auto fault = FindInPolicy(demand)) return fault;
    if (auto fault = FindInTile(demand)) return fault;
    return FindUnknownBuffer(demand);
  }

  std::optional<Diagnostic> FindInTile(const Demand& demand) const {
    if (!demand.way.tile) return std::nullopt;
    const graph::tiling::TileShape& tile = *demand.way.tile;
    if (auto fault = encoder::program::FindFault(graph_, demand.interval, tile)) return fault;
    const graph::Shape& output = encoder::program::OutputShape(graph_, demand.interval);
    graph::tiling::ShapeGrid whole;
    for (const int64_t extent : output) whole.extents.push_back({extent});
    if (graph::tiling::MakesTooManyTiles(whole, tile))
      return FaultOf(fmt::format("tiles of {} are too many", fmt::join(tile, "x")),
                     fmt::format("at most {} tiles", graph::tiling::kMostTiles));
    if (auto fault = FindInExtents(output, tile)) return fault;
    const bool caches = demand.way.halo && *demand.way.halo != hw_profiles::HaloStorage::kRecompute;
    if (caches && !encoder::program::MayKeepRows(profile_, output, tile))
      return FaultOf(
          fmt::format("tiles of {} keep no rows for the next", fmt::join(tile, "x")),
          "tiles cut along the rows, perhaps the batch and, where padding is implicit, the columns, or "
          "halo: recompute");
    return std::nullopt;
  }

  // Tiles are cut along the profile's axes alone, into multiples of their granules.
  std::optional<Diagnostic> FindInExtents(const graph::Shape& output,
                                          const graph::tiling::TileShape& tile) const {
    for (size_t axis = 0; axis < output.size(); ++axis) {
      if (tile[axis] == output[axis]) continue;
      const std::vector<hw_profiles::AxisGranule>& axes = profile_.tiling.axes;
      const auto cut = std::find_if(axes.begin(), axes.end(), [&](const hw_profiles::AxisGranule& each) {
        return graph::tiling::AxisOf(output, each.axis) == axis;
      });
      if (cut == axes.end())
        return FaultOf(
            fmt::format("tiles of {} cut axis {}, along which the profile cuts no tiles",
                        fmt::join(tile, "x"), axis),
            fmt::format("the whole extent, {}, or that axis in the profile's tiling.axes", output[axis]));
      if (tile[axis] % cut->granule != 0)
        return FaultOf(
            fmt::format("tiles of {} have {} {}", fmt::join(tile, "x"), tile[axis], base::NameOf(cut->axis)),
            fmt::format("a multiple of {}, the profile's granule, or the whole extent, {}", cut->granule,
                        output[axis]));
    }
    return std::nullopt;
  }

  std::optional<Diagnostic> FindInPolicy(const Demand& demand) const {
    const auto allows = [&](const encoder::program::Policy& policy) { return Allows(demand.way, policy); };
    const std::vector<encoder::program::Policy> policies =
        encoder::program::PoliciesOf(graph_, profile_, demand.interval);
    const std::vector<encoder::program::Policy> allowed =
        encoder::program::AllowedPolicies(graph_, profile_, demand.interval);
    if (std::any_of(policies.begin(), policies.end(), allows) ||
        std::any_of(allowed.begin(), allowed.end(), allows))
      return std::nullopt;
    std::vector<std::string> words;
    words.reserve(policies.size());
    for (const encoder::program::Policy& policy : policies) words.push_back(WordsFor(policy));
    return FaultOf("the profile has no such policy for these operators",
                   fmt::format("some of: {}", fmt::join(words, "; ")));
  }

  // What the subgraph holds in its tiles as a search begins with them, whatever is kept beside.
  std::optional<Diagnostic> FindUnknownBuffer(const Demand& demand) const {
    if (demand.way.addresses.empty()) return std::nullopt;
    tiling::TileOptions options;
    if (demand.way.tile) options.shapes = {*demand.way.tile};
    options.policies = encoder::program::AllowedPolicies(graph_, profile_, demand.interval);
    options.made = encoder::program::TilesMade::kAll;
    std::erase_if(*options.policies,
                  [&demand](const encoder::program::Policy& policy) { return !Allows(demand.way, policy); });
    const auto tiles = tiling::IntervalTiles::Build(graph_, profile_, demand.interval, options);
    if (!tiles) return std::nullopt;  // the search says why it does not run
    std::set<std::string> names;
    for (size_t i = 0; i < tiles->Candidates().size(); ++i) {
      for (const problem::Buffer& buffer : tiles->LadderOf(i).program.problem.buffers) {
        if (buffer.id.starts_with(kOwn)) names.insert(buffer.id.substr(kOwn.size()));
      }
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    for (const auto& [id, offset] : demand.way.addresses) {
      if (!names.contains(id))
        return FaultOf(fmt::format("the subgraph has no buffer '{}'", id), "one of " + base::Join(views),
                       base::DidYouMean(id, views));
    }
    return std::nullopt;
  }

  std::optional<Diagnostic> FindInAddress(const Demand& demand) const {
    const auto tensor = static_cast<size_t>(demand.tensor);
    if (demand.tensor < 0 || tensor >= graph_.tensors.size())
      return FaultOf("there is no such tensor", "a tensor of the network");
    const graph::Usage usage = graph::UsagesOf(graph_)[tensor];
    const int op = usage.producer >= 0       ? usage.producer
                   : usage.consumers.empty() ? 0
                                             : usage.consumers.front();
    const base::TensorRole role = graph::RoleIn(graph_, usage, demand.tensor, {op, op});
    const std::string& tile_memory = MemoryName(profile_.tile_memory);
    const std::string& home = MemoryName(encoder::program::HomeOf(graph_, profile_, demand.tensor, role));
    const bool may_be_kept = role == base::TensorRole::kBorder && demand.memory == tile_memory;
    if (demand.memory == home || may_be_kept) return std::nullopt;
    return FaultOf(
        fmt::format("tensor '{}' never lies whole in memory '{}'", graph_.tensors[tensor].id, demand.memory),
        role == base::TensorRole::kBorder ? fmt::format("its home '{}', or '{}'", home, tile_memory)
                                          : fmt::format("its home '{}'", home));
  }

  const std::string& MemoryName(int memory) const {
    return profile_.memories[static_cast<size_t>(memory)].name;
  }

  std::optional<Diagnostic> FindInStay(const Demand& demand) const {
    const auto tensor = static_cast<size_t>(demand.tensor);
    if (demand.tensor < 0 || tensor >= graph_.tensors.size())
      return FaultOf("there is no such tensor", "a tensor of the network");
    const std::string& id = graph_.tensors[tensor].id;
    const graph::Usage usage = graph::UsagesOf(graph_)[tensor];
    const bool passes_on = usage.producer >= 0 && !usage.consumers.empty() &&
                           graph::RoleIn(graph_, usage, demand.tensor, {usage.producer, usage.producer}) ==
                               base::TensorRole::kBorder;
    if (!passes_on)
      return FaultOf(fmt::format("tensor '{}' has its home whatever the subgraphs", id),
                     "the result of an operator that others read and that is no output of the network");
    const bool lives_on_chip =
        hw_profiles::LayoutOf(profile_, base::TensorRole::kBorder).home == profile_.tile_memory;
    if (lives_on_chip && demand.kind == DemandKind::kSpill)
      return FaultOf(fmt::format("tensor '{}' cannot leave the tile memory", id),
                     "a profile whose tile memory is not the home of borders");
    return std::nullopt;
  }

  static bool Contradict(const Demand& a, const Demand& b) {
    if (a.kind > b.kind) return Contradict(b, a);
    if (b.kind == DemandKind::kAddress)
      return a.kind == b.kind && a.tensor == b.tensor && a.memory == b.memory && a.offset != b.offset;
    if (b.kind == DemandKind::kSpill) return a.kind == DemandKind::kKeep && a.tensor == b.tensor;
    if (b.kind == DemandKind::kKeep) return false;
    const Interval first = a.interval;
    const Interval second = b.interval;
    if (b.kind == DemandKind::kApart)
      return a.kind == DemandKind::kTogether && first.first < second.first && second.first <= first.last;
    if (b.kind == DemandKind::kTogether) return false;
    if (a.kind == DemandKind::kApart) return second.first < first.first && first.first <= second.last;
    const bool overlap = first.first <= second.last && second.first <= first.last;
    if (a.kind == DemandKind::kSubgraph) return overlap;  // stating one subgraph twice included
    return overlap && (first.first < second.first || second.last < first.last);
  }

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  std::optional<int> max_operators_;
};

}  // namespace

std::optional<DemandFault> FindFault(const graph::Graph& network, const hw_profiles::Profile& profile,
                                     std::span<const Demand> demands, std::optional<int> max_operators) {
  const graph::Graph graph = encoder::program::WithHomes(network, profile);
  const FaultSearch search(graph, profile, max_operators);
  for (size_t i = 0; i < demands.size(); ++i) {
    if (auto fault = search.FindIn(demands[i])) return DemandFault{i, *std::move(fault)};
    for (size_t before = 0; before < i; ++before) {
      if (auto fault = search.FindBetween(demands[before], demands[i]))
        return DemandFault{i, *std::move(fault)};
    }
  }
  return std::nullopt;
}

}  // namespace tessera::search::partition::constraints
