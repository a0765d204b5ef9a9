#include <utility>
#include <vector>

#include "tessera/search/partition/driver/order_search.h"

// The axes that the profile names for later (AxisGranularity): what an order search does with them.
namespace tessera::search::partition::driver {

// That the first order has no plan is no statement about tiles that are cut along later axes.
std::optional<base::Diagnostic> OrderSearch::TryEveryAxis() {
  answer::PartitionResult& result = incumbent_.found.result;
  if (result.plan || incumbent_.found.whatever_the_order || !HasLaterAxes()) return std::nullopt;
  if (network_context_.stop.Requested()) {
    if (result.status == problem::Status::kInfeasible) result.status = problem::Status::kUnknown;
    return std::nullopt;
  }
  later_axes_ = paths::LaterAxes::kEvery;
  const Incumbent before = std::exchange(incumbent_, {});
  const std::vector<paths::PathSearch*> known = {before.found.paths.get()};
  return Try(before.network->InOrder(), Gain::kNone, known);
}

// Other orders are compared without these axes, so that they cost the search of no order time. Only
// where the best order was searched to the end with them, the others are scouted again. A plan that
// meets its bound has no better score, but may have better ties.
std::optional<base::Diagnostic> OrderSearch::CutLaterAxes() {
  const bool may_gain = HasLaterAxes() && incumbent_.found.result.plan && MayContinue();
  if (later_axes_ != paths::LaterAxes::kNone || !may_gain) return std::nullopt;
  later_axes_ = paths::LaterAxes::kBestPath;
  const std::vector<paths::PathSearch*> known = {incumbent_.found.paths.get()};
  if (auto fault = Try(incumbent_.network->InOrder(), Gain::kNone, known)) return fault;
  if (!survey_.every || !plan::CoversAll(incumbent_.found.result.plan->scope)) return std::nullopt;
  later_axes_ = paths::LaterAxes::kEvery;
  return ScoutInRounds();
}

}  // namespace tessera::search::partition::driver
