// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/residence.h"

// The load of a home is the sum of the tensors that stay there. A tensor stays for whole subgraphs,
// from the one that makes it to the last one that reads it, because tiles move in and out
// throughout a subgraph:
//
//     subgraph     0        1        2
//     constants |--------|--------|--------|      the same for state
//     x         |--------|                        network input, last read in 0
//     a         |--------|--------|--------|      boundary tensor, made in 0, read in 2
//     y                           |--------|      network output
//
// A tensor that crosses from one subgraph to the next is present in both, so the loads of the
// subgraphs bound the loads between them. A load within the capacity is necessary for addresses to
// exist, but not sufficient: alignment and fragmentation are not counted. The Problem of a home
// counts everything; its buffers are the bars of the picture.
namespace tessera::encoder::program {
namespace {

using base::TensorRole;
using hw_profiles::Memory;
using hw_profiles::Profile;
using problem::Bytes;

Bytes Sum(Bytes a, Bytes b) { return base::CheckedAdd(a, b).value_or(base::kMaxTotal); }

// A tensor in a memory while subgraphs [first, last] run.
struct Stay {
  int tensor = 0;
  TensorRole role = TensorRole::kBoundary;
  size_t memory = 0;
  Bytes bytes = 1;
  size_t first = 0;
  size_t last = 0;
};

// The tensors in each memory, including the tile memory: its own, and the boundary tensors kept
// there instead of at home.
class Residents {
 public:
  Residents(const graph::Graph& graph, const Profile& profile)
      : graph_(graph), profile_(profile), usages_(graph::UsagesOf(graph)) {}

  // All tensors together, with nothing kept: this bounds the load of every memory.
  std::vector<Stay> FindEvery() const {
    std::vector<Stay> stays = FindLasting(1);
    for (int tensor = 0; tensor < static_cast<int>(graph_.tensors.size()); ++tensor) {
      const graph::Tensor& facts = graph_.tensors[static_cast<size_t>(tensor)];
      const graph::Usage& usage = usages_[static_cast<size_t>(tensor)];
      if (facts.constant || facts.state) continue;
      const int at = std::max(0, usage.producer);
      stays.push_back(StayOf(tensor, graph::RoleIn(graph_, usage, tensor, {at, at}), 0, 0, {}));
    }
    return stays;
  }

  // Constants and state, which are present for all of `subgraphs`.
  std::vector<Stay> FindLasting(size_t subgraphs) const {
    std::vector<Stay> stays;
    for (int tensor = 0; tensor < static_cast<int>(graph_.tensors.size()); ++tensor) {
      const graph::Tensor& facts = graph_.tensors[static_cast<size_t>(tensor)];
      if (!facts.constant && !facts.state) continue;
      const TensorRole role = facts.constant ? TensorRole::kConstant : TensorRole::kState;
      stays.push_back(StayOf(tensor, role, 0, std::max<size_t>(subgraphs, 1) - 1, {}));
    }
    return stays;
  }

  // Constants and state, and all other tensors, by tensor, given the boundary tensors kept in the
  // tile memory.
  std::vector<Stay> FindAll(std::span<const SubgraphChoice> choices,
                            const std::vector<int>& kept) const {
    std::vector<Stay> stays = FindLasting(choices.size());
    for (int tensor = 0; tensor < static_cast<int>(graph_.tensors.size()); ++tensor) {
      if (const std::optional<Stay> visit = FindVisit(choices, kept, tensor))
        stays.push_back(*visit);
    }
    std::sort(stays.begin(), stays.end(),
              [](const Stay& a, const Stay& b) { return a.tensor < b.tensor; });
    return stays;
  }

 private:
  // nullopt for constants and state, features, and tensors that end before or begin after the
  // choices.
  std::optional<Stay> FindVisit(std::span<const SubgraphChoice> choices,
                                const std::vector<int>& kept, int tensor) const {
    const graph::Tensor& facts = graph_.tensors[static_cast<size_t>(tensor)];
    const graph::Usage& usage = usages_[static_cast<size_t>(tensor)];
    const int begin = choices.front().interval.first;
    const int end = choices.back().interval.last;
    const bool to_the_end = facts.network_output || usage.consumers.empty();
    if (facts.constant || facts.state || usage.producer > end) return std::nullopt;
    if (!to_the_end && usage.consumers.back() < begin) return std::nullopt;
    const bool is_unused = usage.consumers.empty() && !facts.network_output && facts.next_of < 0;
    if (is_unused && usage.producer >= 0) return std::nullopt;
    const size_t first = usage.producer < begin ? 0 : SubgraphOf(choices, usage.producer);
    const bool passes = to_the_end || usage.consumers.back() > end;
    const size_t last = passes ? choices.size() - 1 : SubgraphOf(choices, usage.consumers.back());
    const TensorRole role = graph::RoleIn(graph_, usage, tensor, choices[first].interval);
    if (role == TensorRole::kFeature) return std::nullopt;
    return StayOf(tensor, role, first, last, kept);
  }

  Stay StayOf(int tensor, TensorRole role, size_t first, size_t last,
              const std::vector<int>& kept) const {
    const bool is_held = IsHeldInTileMemory(graph_, profile_, kept, tensor, role);
    const int memory = is_held ? profile_.tile_memory : HomeOf(graph_, profile_, tensor, role);
    return {tensor,
            role,
            static_cast<size_t>(memory),
            BytesAtHome(graph_, profile_, usages_[static_cast<size_t>(tensor)], tensor, role),
            first,
            last};
  }

  static size_t SubgraphOf(std::span<const SubgraphChoice> choices, int op) {
    const auto after = std::partition_point(
        choices.begin(), choices.end(),
        [op](const SubgraphChoice& choice) { return choice.interval.last < op; });
    return static_cast<size_t>(after - choices.begin());
  }

  const graph::Graph& graph_;
  const Profile& profile_;
  std::vector<graph::Usage> usages_;
};

// The load of each home while each subgraph runs.
class Ledger {
 public:
  Ledger(const Profile& profile, size_t subgraphs, std::span<const Stay> stays)
      : profile_(profile), loads_(profile.memories.size(), std::vector<Bytes>(subgraphs)) {
    for (const Stay& stay : stays) {
      for (size_t s = stay.first; s <= stay.last; ++s)
        loads_[stay.memory][s] = Sum(loads_[stay.memory][s], stay.bytes);
    }
  }

  struct Overflow {
    size_t subgraph = 0;
    size_t memory = 0;
  };

  std::optional<Overflow> FindOverflow() const {
    for (size_t s = 0; s < loads_.front().size(); ++s) {
      for (size_t memory = 0; memory < loads_.size(); ++memory) {
        if (!Fits(memory, loads_[memory][s])) return Overflow{s, memory};
      }
    }
    return std::nullopt;
  }

  Bytes LoadOf(const Overflow& overflow) const {
    return loads_[overflow.memory][overflow.subgraph];
  }

  base::Diagnostic Refuse(const Overflow& overflow, std::string_view when) const {
    const Memory& home = profile_.memories[overflow.memory];
    base::Diagnostic refusal;
    refusal.message = fmt::format(
        "memory '{}' of profile '{}' has room for {} bytes, and is home to {}{}", home.name,
        profile_.name, RoomOf(home), loads_[overflow.memory][overflow.subgraph], when);
    refusal.expected = fmt::format("at most {} bytes", RoomOf(home));
    refusal.hint =
        "a larger memory, or another home for one of the roles, which may be one more in a list of "
        "homes";
    return refusal;
  }

 private:
  bool Fits(size_t memory, Bytes load) const {
    return static_cast<int>(memory) == profile_.tile_memory ||
           load <= RoomOf(profile_.memories[memory]);
  }

  const Profile& profile_;
  std::vector<std::vector<Bytes>> loads_;  // by memory and subgraph
};

// The properties of a home that matter for the placement of whole tensors. Modes belong to steps
// within subgraphs and are omitted.
problem::Memory AsHome(const Memory& memory) {
  problem::Memory home = hw_profiles::AsProblemMemory(memory);
  home.modes.clear();
  home.transitions.reset();
  return home;
}

problem::Buffer BufferOf(const graph::Graph& graph, const Profile& profile, const Stay& stay) {
  const auto memory = static_cast<int>(stay.memory);
  problem::Buffer buffer;
  buffer.id = graph.tensors[static_cast<size_t>(stay.tensor)].id;
  buffer.role = base::NameOf(stay.role);
  buffer.size = stay.bytes;
  buffer.alignment = AlignmentAtHome(profile, stay.role, memory);
  buffer.span = profile.memories[stay.memory].span;
  buffer.lifespans = {
      {static_cast<problem::Step>(stay.first), static_cast<problem::Step>(stay.last) + 1}};
  return buffer;
}

std::optional<base::Diagnostic> OverflowOf(const graph::Graph& graph, const Profile& profile,
                                           const Residents& residents,
                                           std::span<const SubgraphChoice> choices,
                                           const std::vector<int>& kept) {
  const Ledger ledger(profile, choices.size(), residents.FindAll(choices, kept));
  const std::optional<Ledger::Overflow> overflow = ledger.FindOverflow();
  if (!overflow) return std::nullopt;
  const graph::Interval interval = choices[overflow->subgraph].interval;
  return ledger.Refuse(*overflow,
                       fmt::format(" while operators '{}' to '{}' run",
                                   graph.operators[static_cast<size_t>(interval.first)].id,
                                   graph.operators[static_cast<size_t>(interval.last)].id));
}

}  // namespace

std::optional<base::Diagnostic> FindHomeOverflow(const graph::Graph& graph, const Profile& profile,
                                                 std::span<const SubgraphChoice> choices) {
  if (choices.empty()) return std::nullopt;
  return OverflowOf(graph, profile, Residents(graph, profile), choices, KeptBy(choices));
}

HomeCapacity::HomeCapacity(const graph::Graph& graph, const Profile& profile) {
  const auto residents = std::make_shared<const Residents>(graph, profile);
  if (!Ledger(profile, 1, residents->FindEvery()).FindOverflow()) return;
  find_ = [&graph, &profile, residents](graph::Interval interval, const std::vector<int>& kept) {
    SubgraphChoice choice;
    choice.interval = interval;
    return OverflowOf(graph, profile, *residents, {&choice, 1}, kept);
  };
}

std::optional<base::Diagnostic> HomeCapacity::FindOverflow(graph::Interval interval,
                                                           const std::vector<int>& kept) const {
  return find_ ? find_(interval, kept) : std::nullopt;
}

std::optional<base::Diagnostic> FindConstantOverflow(const graph::Graph& graph,
                                                     const Profile& profile) {
  const Ledger ledger(profile, 1, Residents(graph, profile).FindLasting(1));
  const std::optional<Ledger::Overflow> overflow = ledger.FindOverflow();
  if (!overflow) return std::nullopt;
  return ledger.Refuse(*overflow, ", constants and state alone");
}

std::optional<HomeOverflow> FindOverfullHome(const graph::Graph& graph, const Profile& profile,
                                             std::span<const SubgraphChoice> choices) {
  const size_t subgraphs = std::max<size_t>(1, choices.size());
  const std::vector<Stay> stays = choices.empty()
                                      ? Residents(graph, profile).FindLasting(subgraphs)
                                      : Residents(graph, profile).FindAll(choices, KeptBy(choices));
  const Ledger ledger(profile, subgraphs, stays);
  const std::optional<Ledger::Overflow> overflow = ledger.FindOverflow();
  if (!overflow) return std::nullopt;
  HomeOverflow found{.memory = static_cast<int>(overflow->memory),
                     .needed = ledger.LoadOf(*overflow),
                     .room = RoomOf(profile.memories[overflow->memory]),
                     .tensors = {}};
  for (const Stay& stay : stays) {
    if (stay.memory == overflow->memory && stay.first <= overflow->subgraph &&
        overflow->subgraph <= stay.last)
      found.tensors.emplace_back(stay.tensor, stay.bytes);
  }
  std::stable_sort(found.tensors.begin(), found.tensors.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return found;
}

std::vector<HomeProblem> BuildHomes(const graph::Graph& graph, const Profile& profile,
                                    std::span<const SubgraphChoice> choices) {
  std::vector<HomeProblem> homes;
  const std::vector<Stay> stays = Residents(graph, profile).FindAll(choices, KeptBy(choices));
  for (size_t memory = 0; memory < profile.memories.size(); ++memory) {
    if (static_cast<int>(memory) == profile.tile_memory) continue;
    HomeProblem home;
    home.memory = static_cast<int>(memory);
    home.problem.name = fmt::format("{} in {}", graph.name, profile.memories[memory].name);
    home.problem.memories = {AsHome(profile.memories[memory])};
    for (const Stay& stay : stays) {
      if (stay.memory != memory) continue;
      home.problem.buffers.push_back(BufferOf(graph, profile, stay));
      home.tensors.push_back(stay.tensor);
    }
    if (!home.tensors.empty()) homes.push_back(std::move(home));
  }
  return homes;
}

}  // namespace tessera::encoder::program
