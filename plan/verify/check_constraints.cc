#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "tessera/plan/verify/checks.h"

namespace tessera::plan::verify {

namespace {

// Where a buffer lies; nullopt where there is none of that id.
std::optional<int64_t> AddressOf(const std::string& id, const problem::Problem& problem,
                                 const problem::Allocation& allocation) {
  for (size_t i = 0; i < std::min(problem.buffers.size(), allocation.offsets.size()); ++i) {
    if (problem.buffers[i].id == id) return allocation.offsets[i];
  }
  return std::nullopt;
}

bool RunsAs(const Plan& plan, size_t index, const WayDemand& way) {
  const Subgraph& subgraph = plan.subgraphs[index];
  const bool same =
      (!way.tile || subgraph.tile == *way.tile) && (!way.weights || subgraph.weights == *way.weights) &&
      (!way.in_place || subgraph.in_place == *way.in_place) && (!way.halo || subgraph.halo == *way.halo);
  return same && std::all_of(way.addresses.begin(), way.addresses.end(), [&](const auto& pin) {
           return AddressOf(fmt::format("s{}/{}", index, pin.first), plan.problem, plan.allocation) ==
                  pin.second;
         });
}

bool IsSubgraph(const Plan& plan, const Demand& demand) {
  for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
    if (plan.subgraphs[i].interval == demand.interval) return RunsAs(plan, i, demand.way);
  }
  return false;
}

bool LiesAt(const Plan& plan, const Demand& demand) {
  const std::string& id = plan.network.tensors[static_cast<size_t>(demand.tensor)].id;
  const auto lies = [&](const problem::Problem& problem, const problem::Allocation& allocation) {
    return problem.memories.front().name != demand.memory ||
           AddressOf(id, problem, allocation).value_or(demand.offset) == demand.offset;
  };
  return lies(plan.problem, plan.allocation) &&
         std::all_of(plan.homes.begin(), plan.homes.end(),
                     [&](const Home& home) { return lies(home.problem, home.allocation); });
}

bool IsCutBetween(const Plan& plan, int first, int last) {
  return std::any_of(plan.subgraphs.begin(), plan.subgraphs.end(), [&](const Subgraph& subgraph) {
    return first < subgraph.interval.first && subgraph.interval.first <= last;
  });
}

// From the operator that makes the tensor to the last that reads it.
graph::Interval LifeOf(const Plan& plan, int tensor) {
  graph::Interval life = {-1, -1};
  const auto has = [tensor](const std::vector<int>& list) {
    return std::find(list.begin(), list.end(), tensor) != list.end();
  };
  for (size_t i = 0; i < plan.network.operators.size(); ++i) {
    const graph::Operator& op = plan.network.operators[i];
    if (has(op.outputs)) life.first = static_cast<int>(i);
    if (has(op.inputs) || has(op.weights)) life.last = static_cast<int>(i);
  }
  return life;
}

}  // namespace

bool Keeps(const Plan& plan, const Demand& demand) {
  const auto is_kept = [&] { return std::count(plan.kept.begin(), plan.kept.end(), demand.tensor) > 0; };
  switch (demand.kind) {
    case DemandKind::kTogether:
      return !IsCutBetween(plan, demand.interval.first, demand.interval.last);
    case DemandKind::kApart:
      return demand.interval.first == 0 ||
             IsCutBetween(plan, demand.interval.first - 1, demand.interval.first);
    case DemandKind::kSubgraph:
      return IsSubgraph(plan, demand);
    case DemandKind::kKeep: {
      const graph::Interval life = LifeOf(plan, demand.tensor);
      return is_kept() || !IsCutBetween(plan, life.first, life.last);
    }
    case DemandKind::kSpill:
      return !is_kept();
    case DemandKind::kAddress:
      return LiesAt(plan, demand);
  }
  return false;
}

void CheckDemands(const Plan& plan, Findings& findings) {
  for (const Demand& demand : plan.demands) {
    if (!Keeps(plan, demand))
      findings.Note(ViolationKind::kDemand, "not as demanded: " + Describe(plan.network, demand));
  }
}

namespace {

// How many of the demand's operators are in the interval.
int CountInside(std::span<const int> order, graph::Interval interval, graph::Interval demanded) {
  int count = 0;
  for (int op = interval.first; op <= interval.last; ++op)
    count += Contains(demanded, order[static_cast<size_t>(op)]) ? 1 : 0;
  return count;
}

int LengthOf(graph::Interval interval) { return interval.last - interval.first + 1; }

// Whether some operator outside the interval touches the tensor too.
bool PassesBorder(const Users& users, graph::Interval interval) {
  const auto outside = [&](int op) { return !Contains(interval, op); };
  return std::any_of(users.makers.begin(), users.makers.end(), outside) ||
         std::any_of(users.readers.begin(), users.readers.end(), outside);
}

bool Allows(const Demand& demand, std::span<const int> order, const std::vector<Users>& users,
            graph::Interval interval, const std::vector<int>& kept) {
  const int inside = CountInside(order, interval, demand.interval);
  const bool is_kept = std::count(kept.begin(), kept.end(), demand.tensor) > 0;
  switch (demand.kind) {
    case DemandKind::kTogether:
      return inside == 0 || inside == LengthOf(demand.interval);
    case DemandKind::kApart:
      return inside == 0 || order[static_cast<size_t>(interval.first)] == demand.interval.first;
    case DemandKind::kSubgraph:
      return inside == 0 || (inside == LengthOf(demand.interval) && inside == LengthOf(interval));
    case DemandKind::kKeep: {
      const Users& who = users[static_cast<size_t>(demand.tensor)];
      const bool touches = AnyInside(who.makers, interval) || AnyInside(who.readers, interval);
      return !touches || is_kept || !PassesBorder(who, interval);
    }
    case DemandKind::kSpill:
      return !is_kept;
    case DemandKind::kAddress:
      return true;
  }
  return true;
}

}  // namespace

bool MayBeSubgraph(const Plan& plan, std::span<const int> order, const std::vector<Users>& users,
                   graph::Interval interval, const std::vector<int>& kept) {
  return std::all_of(plan.demands.begin(), plan.demands.end(),
                     [&](const Demand& demand) { return Allows(demand, order, users, interval, kept); });
}

const Demand* DemandOn(const Plan& plan, std::span<const int> order, graph::Interval interval) {
  const auto found = std::find_if(plan.demands.begin(), plan.demands.end(), [&](const Demand& demand) {
    return demand.kind == DemandKind::kSubgraph &&
           CountInside(order, interval, demand.interval) == LengthOf(demand.interval) &&
           LengthOf(interval) == LengthOf(demand.interval);
  });
  return found == plan.demands.end() ? nullptr : &*found;
}

bool RunsAsDemanded(const Plan& plan, std::span<const int> order, const Subgraph& subgraph) {
  const Demand* demand = DemandOn(plan, order, subgraph.interval);
  if (demand == nullptr) return true;
  const WayDemand& way = demand->way;
  return (!way.tile || subgraph.tile == *way.tile) && (!way.weights || subgraph.weights == *way.weights) &&
         (!way.in_place || subgraph.in_place == *way.in_place) && (!way.halo || subgraph.halo == *way.halo);
}

}  // namespace tessera::plan::verify
