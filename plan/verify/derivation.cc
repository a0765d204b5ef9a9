// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/derivation.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/costs.h"
#include "tessera/plan/verify/in_place.h"

namespace tessera::plan::verify {

namespace {

Label LabelOf(const Plan& plan, const std::vector<Users>& users, const BufferUse& use) {
  if (use.tensor < 0) return {plan.network.operators[static_cast<size_t>(use.op)].id, "scratch"};
  return {plan.network.tensors[static_cast<size_t>(use.tensor)].id,
          std::string(base::NameOf(RoleOf(plan, users, use)))};
}

}  // namespace

Derivation Derive(const Plan& plan) {
  base::GraceWork unbounded(nullptr, 1);
  return *DeriveWithin(plan, unbounded);
}

std::optional<Derivation> DeriveWithin(const Plan& plan, base::GraceWork& work) {
  const std::vector<Users> users = FindUsers(plan.network);
  Derivation derivation;
  std::vector<TileMaxima> maxima(plan.subgraphs.size());
  std::vector<std::set<int>> cached(plan.subgraphs.size());
  std::vector<std::set<int>> by_channel(
      plan.subgraphs
          .size());  // first the operators that may work channel by channel, later those that do
  std::vector<ExtentComparison> comparisons(plan.subgraphs.size(), ExtentComparison(plan.network));
  for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
    const Subgraph& subgraph = plan.subgraphs[i];
    WorkCount count(plan, users, subgraph);
    CostCount costs(plan, users, static_cast<int>(i));
    ChannelSurvey survey(plan, users, subgraph);
    const int operators = subgraph.interval.last - subgraph.interval.first + 1;
    ForEachTileWhile(plan.network, users, subgraph, [&](const Tile& tile) {
      count.Add(tile);
      costs.Add(tile);
      maxima[i].Add(tile);
      if (subgraph.in_place) comparisons[i].Look(subgraph.interval, tile);
      survey.Look(tile);
      return work.Continues(operators);
    });
    if (work.IsCutOff()) return std::nullopt;
    derivation.work.push_back(count.Finish());
    derivation.costs.push_back(costs.Finish(derivation.work.back()));
    by_channel[i] = survey.Able(maxima[i].Extents());
    for (const auto& [tensor, extents] : maxima[i].Extents()) {
      if (IsCached(ResidencyOf(plan, users, subgraph, tensor), tensor, maxima[i].Rows()))
        cached[i].insert(tensor);
    }
  }
  derivation.trace = Execute(plan, users, std::move(cached));
  derivation.pairs = FindAliasedStates(plan, users, derivation.trace);
  AddChannelPairs(plan, users, derivation.trace, by_channel, derivation.pairs);
  for (size_t i = 0; i < plan.subgraphs.size(); ++i)
    AddChannelScratch(plan, static_cast<int>(i), by_channel[i], derivation.trace);
  derivation.rules = FindRules(plan, users, derivation.trace);

  for (const auto& [use, observed_use] : derivation.trace.buffers) {
    derivation.labels.emplace(use, LabelOf(plan, users, use));
    const auto subgraph = static_cast<size_t>(use.subgraph);
    derivation.footprints.emplace(
        use, use.subgraph < 0 ? FootprintOf(plan, users, use, {})
                              : FootprintOf(plan, users, use, maxima[subgraph].Extents(),
                                            maxima[subgraph].Rows(), by_channel[subgraph]));
  }
  AddInPlacePairs(plan, users, derivation.trace, comparisons, derivation.footprints,
                  derivation.pairs);
  return derivation;
}

std::string BufferId(const graph::Graph& network, const BufferUse& use) {
  std::string tensor = use.tensor < 0 ? "" : network.tensors[static_cast<size_t>(use.tensor)].id;
  const std::string op = use.op < 0 ? "" : network.operators[static_cast<size_t>(use.op)].id;
  switch (use.kind) {
    case BufferKind::kTile:
      return fmt::format("s{}/{}@{}", use.subgraph, tensor, use.phase);
    case BufferKind::kWhole:
      return tensor;
    case BufferKind::kResident:
      return fmt::format("s{}/{}", use.subgraph, tensor);
    case BufferKind::kSlice:
      return fmt::format("s{}/{}/{}@{}.{}", use.subgraph, op, tensor, use.phase, use.slot);
    case BufferKind::kRollingBuffer:
      return fmt::format("s{}/{}@rolling_buffer", use.subgraph, tensor);
    case BufferKind::kLine:
      return fmt::format("s{}/{}@line", use.subgraph, tensor);
    case BufferKind::kHalo:
      return fmt::format("s{}/{}@{}.halo", use.subgraph, tensor, use.phase);
    case BufferKind::kAccumulator:
      return fmt::format("s{}/{}/accumulator@{}", use.subgraph, op, use.phase);
    case BufferKind::kScratch:
      break;
  }
  return fmt::format("s{}/{}/scratch@{}", use.subgraph, op, use.phase);
}

namespace {

problem::Memory ToMemory(const hw_profiles::Memory& from) {
  problem::Memory memory;
  memory.name = from.name;
  memory.capacity = from.capacity_bytes;
  memory.alignment = from.alignment_bytes;
  memory.reserved = from.reserved;
  memory.banks = from.banks;
  memory.bank_sets = from.bank_sets;
  return memory;
}

}  // namespace

problem::Memory TileMemory(const hw_profiles::Profile& profile) {
  const hw_profiles::Memory& from = profile.memories[static_cast<size_t>(profile.tile_memory)];
  problem::Memory memory = ToMemory(from);
  memory.modes = from.modes;
  memory.transitions = from.transitions;
  return memory;
}

problem::Memory HomeMemory(const hw_profiles::Profile& profile, int memory) {
  return ToMemory(profile.memories[static_cast<size_t>(memory)]);
}

namespace {

using problem::Bytes;
using problem::Lifespan;
using problem::Problem;
using problem::Step;

class Builder {
 public:
  Builder(const Plan& plan, const Derivation& derivation, Lifespan steps)
      : plan_(plan), derivation_(derivation), steps_(steps) {}

  Problem Run() {
    problem_.name = plan_.network.name;
    problem_.memories = {TileMemory(plan_.profile)};
    for (const auto& [use, observed_use] : derivation_.trace.buffers) AddBuffer(use, observed_use);
    for (const problem::Loop& loop : derivation_.trace.loops) AddLoop(loop);
    for (const auto& [operand, result] : derivation_.pairs)
      Relate(problem::RelationKind::kColocate, operand, result);
    for (const auto& [use, index] : index_) {
      if (use.kind != BufferKind::kHalo) continue;
      BufferUse tile = use;
      tile.kind = BufferKind::kTile;
      Relate(problem::RelationKind::kAdjacent, use, tile);
    }
    for (const RuleMatch& match : derivation_.rules) AddRule(match);
    return std::move(problem_);
  }

 private:
  bool IsInside(Step step) const { return steps_.lower <= step && step < steps_.upper; }

  void AddBuffer(const BufferUse& use, const ObservedUse& observed_use) {
    problem::Buffer buffer;
    for (const Lifespan& life : observed_use.lifespans) {
      const Lifespan part = {std::max(life.lower, steps_.lower),
                             std::min(life.upper, steps_.upper)};
      if (part.lower < part.upper)
        buffer.lifespans.push_back({part.lower - steps_.lower, part.upper - steps_.lower});
    }
    if (buffer.lifespans.empty()) return;
    for (problem::Access access : observed_use.accesses) {
      if (!IsInside(access.step)) continue;
      access.step -= steps_.lower;
      buffer.accesses.push_back(std::move(access));
    }
    const Footprint& footprint = derivation_.footprints.at(use);
    buffer.id = BufferId(plan_.network, use);
    buffer.role = derivation_.labels.at(use).role;
    buffer.size = footprint.size;
    buffer.alignment = footprint.alignment;
    buffer.span = plan_.profile.memories[static_cast<size_t>(plan_.profile.tile_memory)].span;
    index_.emplace(use, static_cast<int>(problem_.buffers.size()));
    problem_.buffers.push_back(std::move(buffer));
  }

  // A subgraph's steps contain each of its loops completely.
  void AddLoop(const problem::Loop& loop) {
    if (!IsInside(loop.begin) || loop.end > steps_.upper) return;
    problem::Loop shifted = {loop.begin - steps_.lower, loop.end - steps_.lower, {}};
    for (const Step exit : loop.exits) shifted.exits.push_back(exit - steps_.lower);
    problem_.loops.push_back(std::move(shifted));
  }

  std::optional<int> IndexOf(const BufferUse& use) const {
    const auto found = index_.find(use);
    return found == index_.end() ? std::nullopt : std::optional(found->second);
  }

  void Relate(problem::RelationKind kind, const BufferUse& first, const BufferUse& second) {
    const std::optional<int> a = IndexOf(first);
    const std::optional<int> b = IndexOf(second);
    if (a && b) problem_.relations.push_back({kind, *a, *b, 0});
  }

  void AddRule(const RuleMatch& match) {
    problem::Rule rule{match.rule->name, match.rule->require, {}, {}, match.rule->select.sizes};
    for (const BufferUse& use : match.buffers) {
      if (const std::optional<int> index = IndexOf(use)) rule.buffers.push_back(*index);
    }
    for (const auto& [a, b] : match.pairs) {
      const std::optional<int> first = IndexOf(a);
      const std::optional<int> second = IndexOf(b);
      if (first && second) rule.pairs.emplace_back(*first, *second);
    }
    std::sort(rule.buffers.begin(), rule.buffers.end());
    std::sort(rule.pairs.begin(), rule.pairs.end());
    if (!rule.buffers.empty() || !rule.pairs.empty()) problem_.rules.push_back(std::move(rule));
  }

  const Plan& plan_;
  const Derivation& derivation_;
  const Lifespan steps_;
  Problem problem_;
  std::map<BufferUse, int> index_;
};

// For each buffer the first of the buffers that share its place.
std::vector<size_t> PlacesOf(const Problem& problem) {
  std::vector<size_t> place(problem.buffers.size());
  std::iota(place.begin(), place.end(), size_t{0});
  const auto root = [&place](size_t at) {
    while (place[at] != at) at = place[at];
    return at;
  };
  for (const problem::Relation& relation : problem.relations) {
    if (relation.kind != problem::RelationKind::kColocate || relation.delta != 0) continue;
    const size_t first = root(static_cast<size_t>(relation.first));
    const size_t second = root(static_cast<size_t>(relation.second));
    place[std::max(first, second)] = std::min(first, second);
  }
  for (size_t i = 0; i < place.size(); ++i) place[i] = root(i);
  return place;
}

}  // namespace

Problem ProblemOf(const Plan& plan, const Derivation& derivation, Lifespan steps) {
  return Builder(plan, derivation, steps).Run();
}

Bytes LeastLoad(const Problem& problem) {
  const std::vector<size_t> places = PlacesOf(problem);
  std::set<Step> begins;
  for (const problem::Buffer& buffer : problem.buffers) {
    for (const Lifespan& life : buffer.lifespans) begins.insert(life.lower);
  }
  Bytes most = 0;
  std::vector<Bytes> taken(problem.buffers.size());
  for (const Step step : begins) {
    std::fill(taken.begin(), taken.end(), 0);
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      if (!problem::LivesAt(problem.buffers[i], step)) continue;
      taken[places[i]] = std::max(taken[places[i]], problem.buffers[i].size);
    }
    Bytes load = 0;
    for (const Bytes bytes : taken) load = base::CheckedAdd(load, bytes).value_or(base::kMaxTotal);
    most = std::max(most, load);
  }
  return most;
}

Bytes FreeBytes(const problem::Memory& memory, Bytes capacity) {
  std::map<Bytes, Bytes> taken;  // end by begin
  for (const problem::Reserved& reserved : memory.reserved) {
    Bytes& end = taken[reserved.range.begin];
    end = std::max(end, reserved.range.end);
  }
  Bytes free = 0;
  Bytes at = 0;
  for (const auto& [begin, end] : taken) {
    free += std::max<Bytes>(0, std::min(begin, capacity) - at);
    at = std::max(at, end);
  }
  return free + std::max<Bytes>(0, capacity - at);
}

}  // namespace tessera::plan::verify
