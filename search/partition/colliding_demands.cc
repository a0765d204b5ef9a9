#include "tessera/search/partition/colliding_demands.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tessera::search {
namespace {

using problem::Status;

// Those that suffice; all where they do only jointly, in one program.
std::vector<Demand> LeastOf(const DemandProbe& probe, std::vector<Demand> demands) {
  for (size_t i = 0; i < demands.size() && !probe.planning.stop.Requested();) {
    std::vector<Demand> rest = demands;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    if (probe.Run(rest).status == Status::kInfeasible) {
      demands = std::move(rest);
    } else {
      ++i;
    }
  }
  return demands;
}

}  // namespace

PartitionResult DemandProbe::Run(const std::vector<Demand>& wanted, Telling telling) const {
  const Demands demands(planning.graph, wanted);
  const CutStates states(planning.graph, planning.profile, planning.Room(), keeping, demands);
  const encoder::HomeRoom homes(planning.graph, planning.profile);
  PathSearch paths({&planning, &states, &demands, &homes, {}}, reach, threads, {});
  paths.PoseSingles(planning.stop);
  paths.FindBounds();
  Found found = paths.FindBest();
  while (found.ending == Ending::kMilestone) found = paths.FindBest();
  if (found.ending == Ending::kFound) return {Status::kFeasible, std::nullopt, ""};
  return ExplainAbsence(planning, paths, floors, telling);
}

PartitionResult BlameDemands(const DemandProbe& probe, std::vector<Demand> demands, PartitionResult result) {
  if (probe.planning.stop.Requested()) return result;
  PartitionResult free = probe.Run({}, Telling::kObstacle);
  if (free.status == result.status) return free;
  if (result.status == Status::kInfeasible) demands = LeastOf(probe, std::move(demands));
  const graph::Graph& graph = probe.planning.graph;
  for (const Demand& demand : demands) result.demands.push_back(Describe(graph, demand));
  result.obstacle.reset();
  return result;
}

void NameDemands(PartitionResult& result) {
  if (result.demands.empty()) return;
  const bool none = result.status == Status::kInfeasible;
  const std::string reason = std::exchange(result.reason, "");
  result.reason = fmt::format("{} {}: {}", none ? "no plan keeps" : "no plan was found that keeps",
                              result.demands.size() == 1 ? "what is demanded" : "all that is demanded",
                              fmt::join(result.demands, "; "));
  if (!reason.empty()) result.reason += fmt::format(" (under all demands: {})", reason);
}

}  // namespace tessera::search
