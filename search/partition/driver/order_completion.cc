// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/memory_lower_bound.h"
#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/driver/order_search.h"

// The last steps of an order search: tiles cut along the later axes of the profile
// (AxisGranularity), plans of other orders with the same score, and the statements about orders.
namespace tessera::search::partition::driver {
namespace {

// The most orders that are searched to decide ties.
constexpr int kMostTiedOrders = 4;

// The effort for one tie among all orders of a small network, as a multiple of that of a search.
constexpr int64_t kTieEffort = 10;

}  // namespace

// If the first order has no plan, searches it again with tiles cut along all axes. Until then, "no
// plan" is not proven for such tiles.
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

// Orders are compared without the later axes, which saves time. Only if the best order was searched
// to the end with them, the others are scouted again. No score is better than that of a plan that
// meets its bound, but ties may be. The search must be able to find the best plan again, so its
// selection is allowed; it was excluded if the plan exceeds the promise of the selection.
std::optional<base::Diagnostic> OrderSearch::CutLaterAxes() {
  const bool may_gain = HasLaterAxes() && incumbent_.found.result.plan && MayContinue();
  if (later_axes_ != paths::LaterAxes::kNone || !may_gain) return std::nullopt;
  later_axes_ = paths::LaterAxes::kBestPath;
  incumbent_.found.paths->Allow(incumbent_.found.selection);
  const std::vector<paths::PathSearch*> known = {incumbent_.found.paths.get()};
  if (auto fault = Try(incumbent_.network->InOrder(), Gain::kNone, known)) return fault;
  if (!survey_.every || !plan::CoversAll(incumbent_.found.result.plan->scope)) return std::nullopt;
  later_axes_ = paths::LaterAxes::kEvery;
  return ScoutInRounds();
}

// Whether the plan is the best of all orders, and the network is so small that the effort for a tie
// is small too.
bool OrderSearch::MayBreakTies() const {
  const bool is_best = incumbent_.found.whatever_the_order || (survey_.every && survey_.settled);
  return every_ && is_best && incumbent_.found.result.plan && MayContinue() &&
         network_context_.graph.operators.size() <= paths::kSmallNetwork;
}

// The search of an order breaks ties within that order. So the scout searches all orders for a
// selection that ties prefer, and the order of that selection is then searched by itself.
std::optional<base::Diagnostic> OrderSearch::BreakTies() {
  if (!MayBreakTies()) return std::nullopt;
  const EveryOrder every = TakeEvery();
  if (every.orders.size() < every_->size()) return std::nullopt;
  const std::vector<paths::Ordered> looked_at = Prepare(network_context_, every.orders);
  const paths::SearchLimits search_limits =
      SearchLimitsFor(network_context_.graph, network_context_.scale, options_, later_axes_);
  std::vector<std::unique_ptr<paths::PathSearch>> scouts;
  std::vector<paths::PathSearch*> known = {incumbent_.found.paths.get()};
  for (int attempt = 0; attempt < kMostTiedOrders && MayContinue(); ++attempt) {
    scouts.push_back(std::make_unique<paths::PathSearch>(
        looked_at, search_limits, every.limits, options_.threads, options_.progress, known));
    paths::PathSearch& scout = *scouts.back();
    known.push_back(&scout);
    scout.FindBounds();
    const std::optional<paths::Selection> tie =
        scout.FindTie(incumbent_.found.cost, options_.effort * kTieEffort);
    work_ += scout.Work();
    if (!tie) return std::nullopt;
    const paths::OrderedNetwork* before = incumbent_.network;
    if (auto fault = Try(scout.OrderOf(*tie), Gain::kTie, known)) return fault;
    if (incumbent_.network != before) {
      known = {incumbent_.found.paths.get()};
    } else {
      known.push_back(failed_.back().paths.get());
    }
  }
  return std::nullopt;
}

// Whether an operator alone may have less space in one order than in another: tensors whose home is
// the tile memory stay there while it runs, or homes may overflow.
bool OrderSearch::SinglesDependOnOrder() const {
  const graph::Graph& graph = network_context_.graph;
  const hw_profiles::Profile& profile = network_context_.profile;
  for (int tensor = 0; tensor < static_cast<int>(graph.tensors.size()); ++tensor) {
    const base::TensorRole role = encoder::program::RoleAtHome(graph, tensor);
    if (encoder::program::HomeOf(graph, profile, tensor, role) == profile.tile_memory) return true;
  }
  return !encoder::program::HomeCapacity(graph, profile).HoldsEverything();
}

// Converts the baseline of the order of the file to another order. The tiles are the same; which
// tensors are at home at the same time depends on the order.
plan::Baseline OrderSearch::BaselineIn(const choices::SearchContext& context,
                                       plan::Baseline baseline) const {
  const graph::Graph& ordered = context.graph;
  for (int& op : baseline.do_not_fit)
    op = graph::FindOperator(ordered, network_context_.graph.operators[static_cast<size_t>(op)].id)
             .value_or(op);
  std::vector<int>& left_out = baseline.do_not_fit;
  std::sort(left_out.begin(), left_out.end());
  const encoder::program::BytesAtHomes at_homes(ordered, context.profile);
  baseline.totals.off_chip_peak_bytes = 0;
  for (int op = 0; op < static_cast<int>(ordered.operators.size()); ++op) {
    if (std::binary_search(left_out.begin(), left_out.end(), op)) continue;
    baseline.totals.off_chip_peak_bytes =
        std::max(baseline.totals.off_chip_peak_bytes, at_homes.LeastPeak({op, op}, {}));
  }
  baseline.score = context.scale.ScoreOf(baseline.totals);
  return baseline;
}

// States the knowledge about other orders. A plan that meets its bound is optimal in all of them.
void OrderSearch::StateOrders(plan::Plan& plan) const {
  const orders::Order& order = incumbent_.network->InOrder();
  if (!incumbent_.network->IsInOrderOfFile()) {
    size_t moved = 0;
    for (size_t i = 0; i < order.size(); ++i) moved += order[i] == static_cast<int>(i) ? 0 : 1;
    std::string of_file = "no plan was found";
    if (first_score_)
      of_file = fmt::format("the score is {}{}", *first_score_,
                            *first_score_ == plan.score ? " as well" : "");
    plan.notes.push_back(
        fmt::format("{} of {} operators run elsewhere than in the order of the file, in which {}",
                    moved, order.size(), of_file));
  }
  if (precedence_.IsChain() || incumbent_.found.whatever_the_order) return;
  if (options_.ordering == answer::Ordering::kGiven) {
    plan.scope.orders = "orders other than that of the file, as asked";
  } else if (survey_.every && survey_.settled) {
    plan.notes.push_back(fmt::format("all {} orders of the operators were tried", survey_.orders));
  } else {
    plan.scope.orders =
        "some orders, for want of effort, among which bounds do not rule out a better plan";
  }
  if (!plan::CoversAll(plan.scope)) plan.status = "feasible";
}

// Qualifies a proof that no plan exists: one for the order of the file does not hold for others.
void OrderSearch::Qualify(answer::PartitionResult& result) const {
  if (survey_.proven) {
    result.reason +=
        fmt::format("; the same holds for each of the {} orders of the operators", survey_.orders);
    return;
  }
  result.status = problem::Status::kUnknown;
  result.of_file_order = true;
}
base::Expected<answer::PartitionResult> OrderSearch::TakeResult() {
  answer::PartitionResult result = std::move(incumbent_.found.result);
  if (!result.plan) return result;
  const paths::OrderedNetwork& network = *incumbent_.network;
  // Takes the plan over if it passes the independent check. Returns whether it did.
  const auto take = [&](base::Expected<plan::Plan> plan) -> base::Expected<bool> {
    if (!plan) return base::Unexpected(plan.error());
    if (network_context_.stop.Requested()) return false;
    const base::Expected<bool> passes = answer::PassesCheck(*plan, options_.stop);
    if (!passes || !*passes) return passes;
    result.status =
        plan->status == "optimal" ? problem::Status::kOptimal : problem::Status::kFeasible;
    result.plan = *std::move(plan);
    return true;
  };
  if (options_.prefetch) {
    const base::Expected<bool> taken =
        take(Prefetch(network.Context(), network.PlanConstraints(), options_, *result.plan));
    if (!taken) return base::Unexpected(taken.error());
    if (!*taken) {
      result.plan->notes.emplace_back(
          "no constants are prefetched; time ended before all was tried");
    }
  }
  if (MayGainByStages(*result.plan)) {
    if (network.PlanConstraints().IsEmpty() && options_.off_chip == plan::OffChip::kWhole) {
      const base::Expected<bool> taken =
          take(AddStages(network.Context(), network.PlanConstraints(), *result.plan));
      if (!taken) return base::Unexpected(taken.error());
    }
    LeaveOutStages(*result.plan);
    result.status =
        result.plan->status == "optimal" ? problem::Status::kOptimal : problem::Status::kFeasible;
  } else if (std::optional<std::string> obstacle = ObstacleToStages(result.plan->profile)) {
    result.plan->notes.push_back(*std::move(obstacle));
  }
  if (const choices::PreviousPlan* previous = network.Context().previous)
    result.plan->notes.push_back(previous->Compare(*result.plan));
  return result;
}

base::Expected<answer::PartitionResult> OrderSearch::Finish() {
  base::Expected<answer::PartitionResult> taken = TakeResult();
  if (!taken) return taken;
  answer::PartitionResult result = *std::move(taken);
  if (result.plan) {
    const bool is_of_file = incumbent_.network->IsInOrderOfFile();
    if (alone_ && (is_of_file || !SinglesDependOnOrder()))
      result.alone = is_of_file ? *alone_ : BaselineIn(incumbent_.network->Context(), *alone_);
    StateOrders(*result.plan);
    result.status =
        result.plan->status == "optimal" ? problem::Status::kOptimal : problem::Status::kFeasible;
    if (!is_of_file) {
      answer::RenumberTensors(*result.plan);  // a plan after a stop was checked in this numbering
      if (!network_context_.stop.Requested()) {
        if (auto fault = answer::CheckWellFormed(*result.plan, options_.stop))
          return base::Unexpected(*std::move(fault));
      }
    }
  } else if (result.status == problem::Status::kInfeasible &&
             !incumbent_.found.whatever_the_order &&
             options_.ordering == answer::Ordering::kSearch && !precedence_.IsChain()) {
    Qualify(result);
  }
  return result;
}

}  // namespace tessera::search::partition::driver
