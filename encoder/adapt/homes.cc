#include "tessera/encoder/adapt/homes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/checked.h"
#include "tessera/encoder/adapt/layout.h"

// The load of a home is the sum of what stays there. A tensor stays for whole subgraphs, from the one that makes it to the one
// that reads it last, for tiles come and go all through a subgraph:
//
//     subgraph     0        1        2
//     constants |--------|--------|--------|      state likewise
//     x         |--------|                        network input, read last in 0
//     a         |--------|--------|--------|      border, made in 0, read in 2
//     y                           |--------|      network output
//
// What passes a border between two subgraphs is there in both, so the loads of the subgraphs bound those of the borders. A load
// within the capacity is necessary for addresses to exist, not sufficient: alignment and fragmentation are not counted.
namespace tessera::encoder {
namespace {

using base::TensorRole;
using hw_profiles::Memory;
using hw_profiles::Profile;
using problem::Bytes;

Bytes Sum(Bytes a, Bytes b) { return base::CheckedAdd(a, b).value_or(base::kMaxTotal); }

// The capacity without reserved ranges, each byte of which counts once.
Bytes RoomOf(const Memory& memory) {
  std::vector<problem::AddressRange> ranges;
  for (const problem::Reserved& reserved : memory.reserved) ranges.push_back(reserved.range);
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  Bytes room = memory.capacity_bytes;
  Bytes counted = 0;  // up to this address
  for (const problem::AddressRange& range : ranges) {
    const Bytes begin = std::max<Bytes>(counted, range.begin);
    const Bytes end = std::min<Bytes>(memory.capacity_bytes, range.end);
    if (begin < end) room -= end - begin;
    counted = std::max(counted, end);
  }
  return room;
}

// What stays at each home, in each subgraph.
class Ledger {
 public:
  Ledger(const graph::Graph& graph, const Profile& profile, size_t subgraphs)
      : graph_(graph),
        profile_(profile),
        usages_(graph::UsagesOf(graph)),
        always_(profile.memories.size()),
        loads_(profile.memories.size(), std::vector<Bytes>(subgraphs)) {
    for (int tensor = 0; tensor < static_cast<int>(graph.tensors.size()); ++tensor) {
      const graph::Tensor& facts = graph.tensors[static_cast<size_t>(tensor)];
      if (!facts.constant && !facts.state) continue;
      const TensorRole role = facts.constant ? TensorRole::kConstant : TensorRole::kState;
      Bytes& load = always_[static_cast<size_t>(hw_profiles::LayoutOf(profile, role).home)];
      load = Sum(load, BytesOf(tensor, role));
    }
  }

  void Add(std::span<const SubgraphChoice> choices) {
    for (int tensor = 0; tensor < static_cast<int>(graph_.tensors.size()); ++tensor) Add(choices, tensor);
  }

  std::optional<base::Diagnostic> FindOverflow(std::span<const SubgraphChoice> choices) const {
    for (size_t s = 0; s < choices.size(); ++s) {
      for (size_t memory = 0; memory < always_.size(); ++memory) {
        const Bytes load = Sum(always_[memory], loads_[memory][s]);
        if (Fits(memory, load)) continue;
        const graph::Interval interval = choices[s].interval;
        return Refuse(memory, load,
                      fmt::format(" while operators '{}' to '{}' run",
                                  graph_.operators[static_cast<size_t>(interval.first)].id,
                                  graph_.operators[static_cast<size_t>(interval.last)].id));
      }
    }
    return std::nullopt;
  }

  std::optional<base::Diagnostic> FindConstantOverflow() const {
    for (size_t memory = 0; memory < always_.size(); ++memory) {
      if (!Fits(memory, always_[memory]))
        return Refuse(memory, always_[memory], ", constants and state alone");
    }
    return std::nullopt;
  }

 private:
  void Add(std::span<const SubgraphChoice> choices, int tensor) {
    const graph::Tensor& facts = graph_.tensors[static_cast<size_t>(tensor)];
    const graph::Usage& usage = usages_[static_cast<size_t>(tensor)];
    const int begin = choices.front().interval.first;
    const int end = choices.back().interval.last;
    const bool to_the_end = facts.network_output || usage.consumers.empty();
    if (facts.constant || facts.state || usage.producer > end) return;
    if (!to_the_end && usage.consumers.back() < begin) return;
    const size_t first = usage.producer < begin ? 0 : SubgraphOf(choices, usage.producer);
    const bool passes = to_the_end || usage.consumers.back() > end;
    const size_t last = passes ? choices.size() - 1 : SubgraphOf(choices, usage.consumers.back());
    const TensorRole role = graph::RoleIn(graph_, usage, tensor, choices[first].interval);
    if (role == TensorRole::kFeature) return;
    std::vector<Bytes>& loads = loads_[static_cast<size_t>(hw_profiles::LayoutOf(profile_, role).home)];
    const Bytes bytes = BytesOf(tensor, role);
    for (size_t s = first; s <= last; ++s) loads[s] = Sum(loads[s], bytes);
  }

  static size_t SubgraphOf(std::span<const SubgraphChoice> choices, int op) {
    const auto after =
        std::partition_point(choices.begin(), choices.end(),
                             [op](const SubgraphChoice& choice) { return choice.interval.last < op; });
    return static_cast<size_t>(after - choices.begin());
  }

  Bytes BytesOf(int tensor, TensorRole role) const {
    const graph::Tensor& facts = graph_.tensors[static_cast<size_t>(tensor)];
    if (role == TensorRole::kConstant)
      return ConstantBytes(graph_, profile_, tensor, usages_[static_cast<size_t>(tensor)].consumers);
    return FeatureBytes(hw_profiles::LayoutOf(profile_, role), facts.type,
                        NameExtents(facts.shape, facts.shape), Pads{});
  }

  bool Fits(size_t memory, Bytes load) const {
    return static_cast<int>(memory) == profile_.tile_memory || load <= RoomOf(profile_.memories[memory]);
  }

  base::Diagnostic Refuse(size_t memory, Bytes load, std::string_view when) const {
    const Memory& home = profile_.memories[memory];
    base::Diagnostic refusal;
    refusal.message = fmt::format("memory '{}' of profile '{}' has room for {} bytes, and is home to {}{}",
                                  home.name, profile_.name, RoomOf(home), load, when);
    refusal.expected = fmt::format("at most {} bytes", RoomOf(home));
    refusal.hint = "a larger memory, or another home for one of the roles";
    return refusal;
  }

  const graph::Graph& graph_;
  const Profile& profile_;
  std::vector<graph::Usage> usages_;
  std::vector<Bytes> always_;              // by memory
  std::vector<std::vector<Bytes>> loads_;  // by memory and subgraph, what is there for a while
};

}  // namespace

std::optional<base::Diagnostic> FindHomeOverflow(const graph::Graph& graph, const Profile& profile,
                                                 std::span<const SubgraphChoice> choices) {
  if (choices.empty()) return std::nullopt;
  Ledger ledger(graph, profile, choices.size());
  ledger.Add(choices);
  return ledger.FindOverflow(choices);
}

std::optional<base::Diagnostic> FindConstantOverflow(const graph::Graph& graph, const Profile& profile) {
  return Ledger(graph, profile, 0).FindConstantOverflow();
}

}  // namespace tessera::encoder
