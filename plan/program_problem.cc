#include "tessera/plan/program_problem.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "tessera/base/checked.h"

namespace tessera::plan {
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
    for (const auto& [use, sighting] : derivation_.trace.buffers) AddBuffer(use, sighting);
    for (const problem::Loop& loop : derivation_.trace.loops) AddLoop(loop);
    for (const auto& [operand, result] : derivation_.pairs)
      Relate(problem::RelationKind::kColocate, operand, result);
    for (const auto& [use, index] : index_) {
      if (use.kind != BufferKind::kHalo) continue;
      BufferUse tile = use;
      tile.kind = BufferKind::kTile;
      Relate(problem::RelationKind::kAdjacent, use, tile);
    }
    for (const RuleReach& reach : derivation_.rules) AddRule(reach);
    return std::move(problem_);
  }

 private:
  bool IsInside(Step step) const { return steps_.lower <= step && step < steps_.upper; }

  void AddBuffer(const BufferUse& use, const Sighting& sighting) {
    problem::Buffer buffer;
    for (const Lifespan& life : sighting.lifespans) {
      const Lifespan part = {std::max(life.lower, steps_.lower), std::min(life.upper, steps_.upper)};
      if (part.lower < part.upper)
        buffer.lifespans.push_back({part.lower - steps_.lower, part.upper - steps_.lower});
    }
    if (buffer.lifespans.empty()) return;
    for (problem::Access access : sighting.accesses) {
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

  // A subgraph's steps hold each of its loops whole.
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

  void AddRule(const RuleReach& reach) {
    problem::Rule rule{reach.rule->name, reach.rule->require, {}, {}, reach.rule->select.sizes};
    for (const BufferUse& use : reach.buffers) {
      if (const std::optional<int> index = IndexOf(use)) rule.buffers.push_back(*index);
    }
    for (const auto& [a, b] : reach.pairs) {
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
  std::map<BufferUse, int, UseOrder> index_;
};

// For each buffer the first of those that share its place.
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

}  // namespace tessera::plan
