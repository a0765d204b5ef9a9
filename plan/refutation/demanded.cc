#include "tessera/plan/refutation/demanded.h"

#include <algorithm>

namespace tessera::plan::refutation {
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

}  // namespace tessera::plan::refutation
