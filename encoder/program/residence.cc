// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/program/residence.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/layout.h"

namespace tessera::encoder::program {
namespace {

using base::Diagnostic;
using base::TensorRole;
using hw_profiles::Memory;
using hw_profiles::Profile;

std::string Describe(const graph::Tensor& tensor, TensorRole role) {
  return fmt::format("{} '{}'", base::NameOf(role), tensor.id);
}

// Decides the residence of one tensor after another, or reports why there is none.
class Registrar {
 public:
  Registrar(const graph::Graph& graph, const Profile& profile, const std::vector<int>& kept,
            bool on_host)
      : graph_(graph), profile_(profile), kept_(kept), on_host_(on_host) {}

  std::optional<Diagnostic> PlaceFeature(TensorUse& use) const {
    if (use.role == TensorRole::kFeature) {
      use.residence = Residence::kInside;
      return std::nullopt;
    }
    if (IsAtHome(use)) {
      use.residence = Residence::kWhole;
      return std::nullopt;
    }
    if (on_host_) return PlaceForHost(use);
    return use.makers.empty() ? PlaceIncoming(use) : PlaceOutgoing(use);
  }

  std::optional<Diagnostic> PlaceConstant(TensorUse& use, hw_profiles::WeightPolicy weights,
                                          const SubgraphUses& uses) const {
    if (IsAtHome(use)) {
      use.residence = Residence::kWhole;
      return std::nullopt;
    }
    if (weights != hw_profiles::WeightPolicy::kDirect) {
      const bool streamed = uses.split_k ? uses.split_k->Takes(use.tensor)
                                         : weights == hw_profiles::WeightPolicy::kStreamed &&
                                               IsSliceable(graph_, use.tensor, uses.interval);
      use.residence = streamed ? Residence::kStreamed : Residence::kResident;
      return FindLink(use);
    }
    use.residence = Residence::kDirect;
    if (IsReadAtHome(use) || on_host_) return std::nullopt;
    Diagnostic refusal =
        Refuse(use, "cannot be read directly", "direct_read", "stream it, or keep it resident");
    if (hw_profiles::LayoutOf(profile_, use.role).tiles_only)
      refusal.expected = "tiles_only: false for the role";
    return refusal;
  }

 private:
  std::optional<Diagnostic> PlaceForHost(TensorUse& use) const {
    use.residence = Residence::kDirect;
    if (use.makers.empty() || HomeOf(use).writable) return std::nullopt;
    return RefuseWriting(use);
  }

  std::optional<Diagnostic> PlaceIncoming(TensorUse& use) const {
    use.residence = IsReadAtHome(use) ? Residence::kDirect : Residence::kLoaded;
    return use.residence == Residence::kDirect ? std::nullopt : FindLink(use);
  }

  std::optional<Diagnostic> PlaceOutgoing(TensorUse& use) const {
    const Memory& home = HomeOf(use);
    if (!home.writable) return RefuseWriting(use);
    const bool direct = hw_profiles::MayWriteAt(profile_, use.role, HomeIndex(use)) &&
                        (use.readers.empty() || IsReadAtHome(use));
    use.residence = direct ? Residence::kDirect : Residence::kStored;
    return direct ? std::nullopt : FindLink(use);
  }

  bool IsReadAtHome(const TensorUse& use) const {
    return hw_profiles::MayReadAt(profile_, use.role, HomeIndex(use));
  }

  std::optional<Diagnostic> FindLink(TensorUse& use) const {
    use.link = hw_profiles::LinkBetween(profile_, HomeIndex(use), profile_.tile_memory);
    if (use.link != nullptr) return std::nullopt;
    Diagnostic refusal;
    refusal.message =
        fmt::format("{} cannot be moved between memories '{}' and '{}'",
                    Describe(TensorOf(use), use.role), HomeOf(use).name, TileMemory().name);
    refusal.expected = "a link between them";
    refusal.hint = "add the link to the profile, or give the role another home";
    return refusal;
  }

  Diagnostic RefuseWriting(const TensorUse& use) const {
    return Refuse(use, "cannot be written", "writable", "give its role another home");
  }

  Diagnostic Refuse(const TensorUse& use, std::string_view what, std::string_view needed,
                    std::string hint) const {
    Diagnostic refusal;
    refusal.message = fmt::format("{} {} in its home '{}'", Describe(TensorOf(use), use.role), what,
                                  HomeOf(use).name);
    refusal.expected = fmt::format("a home that is {}", needed);
    refusal.hint = std::move(hint);
    return refusal;
  }

  const graph::Tensor& TensorOf(const TensorUse& use) const {
    return graph_.tensors[static_cast<size_t>(use.tensor)];
  }
  int HomeIndex(const TensorUse& use) const {
    return program::HomeOf(graph_, profile_, use.tensor, use.role);
  }
  const Memory& HomeOf(const TensorUse& use) const {
    return profile_.memories[static_cast<size_t>(HomeIndex(use))];
  }
  const Memory& TileMemory() const {
    return profile_.memories[static_cast<size_t>(profile_.tile_memory)];
  }
  bool IsAtHome(const TensorUse& use) const {
    return IsHeldInTileMemory(graph_, profile_, kept_, use.tensor, use.role);
  }

  const graph::Graph& graph_;
  const Profile& profile_;
  const std::vector<int>& kept_;
  const bool on_host_;
};

void AddOnce(std::vector<int>& ascending, int value) {
  if (ascending.empty() || ascending.back() != value) ascending.push_back(value);
}

void CollectFeatures(const graph::Graph& graph, const std::vector<graph::Usage>& usages,
                     SubgraphUses& uses) {
  std::map<int, TensorUse> by_tensor;
  for (int k = 0; k < uses.Operators(); ++k) {
    const graph::Operator& op = uses.OperatorAt(graph, k);
    for (const int tensor : op.inputs) AddOnce(by_tensor[tensor].readers, k);
    for (const int tensor : op.outputs) AddOnce(by_tensor[tensor].makers, k);
  }
  for (auto& [tensor, use] : by_tensor) {
    use.tensor = tensor;
    use.role = graph::RoleIn(graph, usages[static_cast<size_t>(tensor)], tensor, uses.interval);
    uses.tensors.push_back(std::move(use));
  }
}

void CollectConstants(const graph::Graph& graph, SubgraphUses& uses) {
  std::map<int, size_t> index_of;
  for (int k = 0; k < uses.Operators(); ++k) {
    for (const int tensor : uses.OperatorAt(graph, k).weights) {
      const auto [place, is_new] = index_of.try_emplace(tensor, uses.constants.size());
      if (is_new) {
        TensorUse& use = uses.constants.emplace_back();
        use.tensor = tensor;
        use.role = TensorRole::kConstant;
      }
      AddOnce(uses.constants[place->second].readers, k);
    }
  }
}

// "conv.int8, conv.int16": the types of this kind that the profile runs.
std::string TypesOf(const Profile& profile, base::OperatorKind kind) {
  std::string types;
  for (const hw_profiles::Engine& engine : profile.engines) {
    for (const hw_profiles::Throughput& throughput : engine.throughputs) {
      if (throughput.kind != kind || !throughput.type) continue;
      types += fmt::format("{}{}.{}", types.empty() ? "" : ", ", base::NameOf(kind),
                           base::NameOf(*throughput.type));
    }
  }
  return types;
}

// Whether K slices are moved at all.
std::optional<Diagnostic> FindNothingToSlice(const graph::Graph& graph, const SubgraphUses& uses) {
  const auto slices = [&uses](const TensorUse& use) { return IsStreamed(uses, use.tensor); };
  if (std::any_of(uses.tensors.begin(), uses.tensors.end(), slices) ||
      std::any_of(uses.constants.begin(), uses.constants.end(), slices))
    return std::nullopt;
  Diagnostic refusal;
  refusal.message = fmt::format("operator '{}' reads whatever it adds up where it lies",
                                uses.OperatorAt(graph, 0).id);
  refusal.expected = "an operand that is moved, to hold it with split K";
  return refusal;
}

Diagnostic NoKExtent(const graph::Graph& graph, const Profile& profile, graph::Interval interval,
                     int64_t k_extent) {
  const std::optional<KCut> cut = FindKCut(graph, profile, interval);
  const int64_t granularity = cut ? cut->granularity : profile.tiling.k_granularity;
  Diagnostic refusal;
  refusal.message = fmt::format("what ends with operator '{}' cannot be cut along K",
                                graph.operators[static_cast<size_t>(interval.last)].id);
  refusal.expected = fmt::format(
      "one convolution of one group, matmul or reduction deeper than {}, a multiple of {}",
      k_extent == 0 ? granularity : k_extent, granularity);
  return refusal;
}

Diagnostic NotSerialized(const graph::Graph& graph, const Profile& profile,
                         graph::Interval interval) {
  Diagnostic refusal;
  refusal.message = fmt::format("the subgraph that ends with operator '{}' is serialized",
                                graph.operators[static_cast<size_t>(interval.last)].id);
  refusal.expected = fmt::format("a profile with dma: [double_buffered, serialized]; '{}' has {}",
                                 profile.name, hw_profiles::NameOf(profile.tiling.dma));
  return refusal;
}

Diagnostic NoEngine(const graph::Operator& op, base::DataType type, const Profile& profile) {
  const std::string types = TypesOf(profile, op.kind);
  Diagnostic refusal;
  refusal.message =
      fmt::format("operator '{}' is of kind {} and type {}, which no engine{} of profile '{}' runs",
                  op.id, base::NameOf(op.kind), base::NameOf(type),
                  op.engine.empty() ? "" : " called '" + op.engine + "'", profile.name);
  refusal.expected =
      types.empty() ? "an engine with a throughput for that kind" : "one of " + types;
  return refusal;
}

}  // namespace

namespace {

__extension__ using Wide = __int128;

// floor(whole * part / parts)
int64_t Portion(int64_t whole, int64_t part, int64_t parts) {
  return static_cast<int64_t>(static_cast<Wide>(whole) * part / parts);
}

}  // namespace

problem::Bytes ConstantPart::BytesOf(problem::Bytes whole) const {
  return Portion(whole, end, of) - Portion(whole, begin, of);
}

ConstantPart PartAhead(const graph::Tensor& constant, std::span<const int> prefetch, int ahead) {
  const int64_t extent = constant.shape.empty() ? 1 : constant.shape.front();
  if (prefetch.empty()) return {0, ahead == 0 ? extent : 0, extent};
  const auto parts = static_cast<int64_t>(prefetch.size());
  const auto first = std::find(prefetch.begin(), prefetch.end(), ahead);
  const auto end = std::find_if(first, prefetch.end(), [ahead](int each) { return each != ahead; });
  return {Portion(extent, first - prefetch.begin(), parts),
          Portion(extent, end - prefetch.begin(), parts), extent};
}

namespace {

// The entries of `prefetch` that are `ahead`, as positions.
std::pair<int64_t, int64_t> PartsAt(std::span<const int> prefetch, int ahead) {
  const auto range = std::equal_range(prefetch.begin(), prefetch.end(), ahead, std::greater<>());
  return {range.first - prefetch.begin(), range.second - prefetch.begin()};
}

}  // namespace

int64_t SlicesAhead(int64_t slices, std::span<const int> prefetch) {
  return std::min(slices, base::CeilDiv(static_cast<int64_t>(prefetch.size()), kPartsOfSlice));
}

SliceRange SlicesArriving(int64_t slices, std::span<const int> prefetch, int ahead) {
  const auto [first, end] = PartsAt(prefetch, ahead);
  if (first == end) return {};
  return {std::min(slices, first / kPartsOfSlice),
          std::min(slices, base::CeilDiv(end, kPartsOfSlice))};
}

ConstantPart SlicePartAhead(int64_t slice, int64_t extent, std::span<const int> prefetch,
                            int ahead) {
  const int64_t begin = slice * kPartsOfSlice;
  const int64_t parts = std::min(kPartsOfSlice, static_cast<int64_t>(prefetch.size()) - begin);
  const auto [first, end] = PartsAt(prefetch, ahead);
  return {Portion(extent, std::clamp<int64_t>(first - begin, 0, parts), parts),
          Portion(extent, std::clamp<int64_t>(end - begin, 0, parts), parts), extent};
}

std::optional<Diagnostic> FindNothingToPrefetch(const graph::Graph& graph,
                                                const SubgraphUses& uses) {
  if (std::any_of(uses.constants.begin(), uses.constants.end(), [&uses](const TensorUse& use) {
        return use.residence == Residence::kResident ||
               (use.residence == Residence::kStreamed && uses.slices_ahead);
      }))
    return std::nullopt;
  Diagnostic refusal;
  refusal.message = fmt::format("the subgraph that begins with '{}' loads no constant once",
                                uses.OperatorAt(graph, 0).id);
  refusal.expected = "one that is resident, to prefetch it";
  return refusal;
}

bool IsHeldInTileMemory(const graph::Graph& graph, const Profile& profile,
                        const std::vector<int>& kept, int tensor, TensorRole role) {
  if (HomeOf(graph, profile, tensor, role) == profile.tile_memory) return true;
  return role == TensorRole::kBoundary && std::binary_search(kept.begin(), kept.end(), tensor);
}

std::vector<int> MayBeHeldInTileMemory(const graph::Graph& graph, const Profile& profile,
                                       const std::vector<int>& kept) {
  std::vector<char> is_home(profile.roles.size());
  for (size_t role = 0; role < is_home.size(); ++role) {
    const bool is_outer = static_cast<TensorRole>(role) != TensorRole::kFeature;
    if (is_outer && hw_profiles::IsHomeOf(profile.roles[role], profile.tile_memory))
      is_home[role] = 1;
  }
  if (std::count(is_home.begin(), is_home.end(), 1) == 0) return kept;
  std::vector<int> held = kept;
  for (int index = 0; index < static_cast<int>(graph.tensors.size()); ++index) {
    const graph::Tensor& tensor = graph.tensors[static_cast<size_t>(index)];
    if (is_home[static_cast<size_t>(graph::OuterRoleOf(tensor))] != 0) held.push_back(index);
  }
  std::sort(held.begin(), held.end());
  held.erase(std::unique(held.begin(), held.end()), held.end());
  return held;
}

const TensorUse& UseOf(const SubgraphUses& uses, int tensor) {
  return *std::lower_bound(uses.tensors.begin(), uses.tensors.end(), tensor,
                           [](const TensorUse& use, int wanted) { return use.tensor < wanted; });
}

bool IsStreamed(const SubgraphUses& uses, int tensor) {
  const auto is_it = [tensor](const TensorUse& use) {
    return use.tensor == tensor && use.residence == Residence::kStreamed;
  };
  return std::any_of(uses.constants.begin(), uses.constants.end(), is_it) ||
         std::any_of(uses.tensors.begin(), uses.tensors.end(), is_it);
}

base::Expected<SubgraphUses> FindUses(const graph::Graph& graph,
                                      const std::vector<graph::Usage>& usages,
                                      const Profile& profile, graph::Interval interval,
                                      const Policy& policy) {
  SubgraphUses uses;
  uses.interval = interval;
  uses.kept = policy.kept;
  uses.dma = DmaOf(profile, policy);
  uses.second_stage = policy.second_stage;
  for (int i = interval.first; i <= interval.last; ++i) {
    const graph::Operator& op = graph.operators[static_cast<size_t>(i)];
    const hw_profiles::Engine* engine = EngineOf(graph, profile, op);
    if (engine == nullptr) return base::Unexpected(NoEngine(op, WorkingType(graph, op), profile));
    uses.engines.emplace_back(engine->name);
  }
  if (std::optional<Diagnostic> unfit = FindUnfitForHost(graph, profile, interval, policy))
    return base::Unexpected(*unfit);
  if (policy.serialized && !profile.tiling.may_serialize)
    return base::Unexpected(NotSerialized(graph, profile, interval));
  uses.on_host = RunsOnHost(graph, profile, interval);
  CollectFeatures(graph, usages, uses);
  CollectConstants(graph, uses);
  const bool split_k = policy.weights == hw_profiles::WeightPolicy::kSplitK;
  if (split_k) uses.split_k = FindKCut(graph, profile, interval, policy.k_extent);
  if (split_k && !uses.split_k)
    return base::Unexpected(NoKExtent(graph, profile, interval, policy.k_extent));

  const Registrar registrar(graph, profile, policy.kept, uses.on_host);
  for (TensorUse& use : uses.tensors) {
    if (std::optional<Diagnostic> refusal = registrar.PlaceFeature(use))
      return base::Unexpected(*refusal);
    if (split_k && use.residence == Residence::kLoaded && uses.split_k->Takes(use.tensor))
      use.residence = Residence::kStreamed;
  }
  for (TensorUse& use : uses.constants) {
    if (std::optional<Diagnostic> refusal = registrar.PlaceConstant(use, policy.weights, uses))
      return base::Unexpected(*refusal);
  }
  if (split_k) {
    if (std::optional<Diagnostic> refusal = FindNothingToSlice(graph, uses))
      return base::Unexpected(*refusal);
  }
  return uses;
}

}  // namespace tessera::encoder::program
