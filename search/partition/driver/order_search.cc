// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/driver/order_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "tessera/search/orders/legal_orders.h"
#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/paths/ordered_network.h"

namespace tessera::search::partition::driver {
namespace {

// The most orders with swaps, and the most operators in one swap.
constexpr size_t kMostSwapped = 48;
constexpr int kLongestSwap = 24;

// Limit on operators in intervals that only other orders have: the number in all intervals of a
// network of 64.
constexpr int64_t kMostVisited = 45'760;
constexpr int64_t kMostVisitedForProof = 8 * kMostVisited;  // if no plan is known

// Limit for all searches of one network together: about a quarter of a minute. If the first search
// takes more, no other order is considered.
constexpr int64_t kMostWork = 6'000'000;

// The most unsuccessful orders that are tried in one round.
constexpr int kMostFailed = 6;

// The most rounds, each from a better order.
constexpr int kMostRounds = 4;

// The most operators in a subgraph in the search for the best order without kept tensors.
constexpr int kMostAtHome = 6;

// A network with at least so many operators is planned layer by layer, in haste, before it is
// searched. This takes a few tenths of a second, a small part of the time of its search.
constexpr size_t kLarge = 256;

constexpr size_t kEveryInterval = std::numeric_limits<size_t>::max() / 2;

// A round of scouting may take the effort of a search if there is a plan already. If there is none,
// or the network is so small that a proof over all orders is within reach, it may take this
// multiple.
constexpr int64_t kShare = 4;

// Sums of doubles in different orders differ by less than this share, which does not justify
// another order.
constexpr double kRounding = 1e-9;

// Whether the search considered everything in these orders.
bool LeavesNothing(const paths::PathSearch& paths) {
  return paths.Coverage().IsWhole() && !paths.UntriedCouldFit();
}

}  // namespace

// Without PartitionOptions::max_operators, limits intervals to the greatest length with which all
// of them together have at most as many operators as those of a network of 64 (64 * 65 * 66 / 6),
// but not below kUsualMostOperators.
paths::SearchLimits SearchLimitsFor(const graph::Graph& graph, const cost::Scale& scale,
                                    const answer::PartitionOptions& options,
                                    paths::LaterAxes later_axes) {
  constexpr int64_t kMostVisited = 45'760;
  if (options.max_operators)
    return {.most_operators = *options.max_operators,
            .effort = {},
            .most_work = options.most_work,
            .later_axes = later_axes};
  const auto operators = static_cast<int64_t>(graph.operators.size());
  int64_t most = 0;
  int64_t visited = 0;
  while (most < operators && (most < paths::kUsualMostOperators || visited <= kMostVisited)) {
    ++most;
    visited += most * (operators - most + 1);
  }
  // If peaks count, paths are harder to compare.
  return {.most_operators = static_cast<int>(most),
          .effort = scale.MinimizesPeak() ? options.effort / 4 : options.effort,
          .most_work = options.most_work,
          .later_axes = later_axes};
}

OrderSearch::OrderSearch(const paths::NetworkContext& network_context,
                         const answer::PartitionOptions& options,
                         const answer::LowerBounds& lower_bounds)
    : network_context_(network_context),
      at_home_(network_context),
      ended_(base::Stop::Ended{}, &network_context.stop),
      in_haste_(network_context.With(network_context.scale, ended_)),
      options_(options),
      lower_bounds_(lower_bounds),
      precedence_(network_context.graph,
                  constraints::PlanConstraints(network_context.graph, network_context.constraints)
                      .Inseparable()) {
  at_home_.keeping = paths::Keeping::kNothing;
}

base::Expected<answer::PartitionResult> OrderSearch::Run() {
  if (auto fault = SearchOrders()) return base::Unexpected(*fault);
  if (auto fault = CutLaterAxes()) return base::Unexpected(*fault);
  if (auto fault = BreakTies()) return base::Unexpected(*fault);
  return Finish();
}

// Plans a large network layer by layer: its context has a stop that is requested already, so the
// search only makes such a plan.
std::optional<base::Diagnostic> OrderSearch::TryInHaste(const orders::Order& order) {
  if (order.size() < kLarge || network_context_.stop.Requested()) return std::nullopt;
  const paths::OrderedNetwork& network = Add(in_haste_, order);
  base::Expected<FixedOrderResult> found =
      SearchFixedOrder(network, options_, lower_bounds_, {}, Known::kNothing, later_axes_);
  if (!found) return found.error();
  if (found->result.plan || network_context_.stop.Requested())
    incumbent_ = {&network, *std::move(found)};
  return std::nullopt;
}

std::optional<base::Diagnostic> OrderSearch::SearchOrders() {
  orders::Order given(network_context_.graph.operators.size());
  std::iota(given.begin(), given.end(), 0);
  if (auto fault = TryInHaste(given)) return fault;
  if (incumbent_.network != nullptr && network_context_.stop.Requested()) return std::nullopt;
  if (auto fault = Try(given, Gain::kNone, {})) return fault;
  if (auto fault = TryEveryAxis()) return fault;
  if (incumbent_.found.result.plan) first_score_ = incumbent_.found.result.plan->score;
  if (options_.ordering == answer::Ordering::kGiven || precedence_.IsChain()) return std::nullopt;
  if (network_context_.previous != nullptr) {
    orders::Order like = precedence_.OperatorsOf(
        paths::FindOrderLike(*network_context_.previous, network_context_.graph, precedence_));
    if (like != given) {
      if (auto fault = Try(std::move(like), Gain::kNone, {})) return fault;
    }
  }
  every_ = orders::FindEveryOrder(precedence_, kMostEvery, network_context_.stop);
  if (auto fault = ScoutInRounds()) return fault;
  if (!incumbent_.found.result.plan && MayGain() && !survey_.proven) {
    if (auto fault = TryOrdersWithoutLimits()) return fault;
    if (incumbent_.found.result.plan) return ScoutInRounds();
  }
  return std::nullopt;
}

std::optional<base::Diagnostic> OrderSearch::ScoutInRounds() {
  bool gained = true;
  for (int round = 0; gained && MayGain() && round < kMostRounds; ++round) {
    const orders::Order before = incumbent_.network->InOrder();
    if (auto fault = Scout()) return fault;
    gained = incumbent_.network->InOrder() != before;
  }
  return std::nullopt;
}

// Limits exclude most partitions of most orders, and as long as no plan is known, the search has no
// indication of which order is close to one. Without limits there is a plan, and the search
// improves it. So the orders of such plans are tried: of the best plan for the objective, and for
// each limited metric.
std::optional<base::Diagnostic> OrderSearch::TryOrdersWithoutLimits() {
  const plan::Objective& asked = network_context_.scale.Objective();
  if (asked.limits.empty()) return std::nullopt;
  std::vector<plan::Objective> objectives = {{.weights = asked.weights, .limits = {}}};
  for (const auto& [metric, limit] : asked.limits)
    objectives.push_back({.weights = {{metric, 1}}, .limits = {}});
  answer::PartitionOptions options = options_;
  options.prefetch = false;
  for (const plan::Objective& objective : objectives) {
    const base::Expected<cost::Scale> scale = cost::Scale::Make(objective, lower_bounds_.costs);
    if (!scale) continue;  // a ratio alone is no objective without a limit
    const paths::NetworkContext without_limits =
        network_context_.With(*scale, network_context_.stop);
    OrderSearch search(without_limits, options, lower_bounds_);
    const base::Expected<answer::PartitionResult> result = search.Run();
    if (!result) return result.error();
    if (network_context_.stop.Requested()) return std::nullopt;
    if (!result->plan) continue;
    if (auto fault = Try(search.incumbent_.network->InOrder(), Gain::kSome, {})) return fault;
    if (incumbent_.found.result.plan) return std::nullopt;
  }
  return std::nullopt;
}

bool OrderSearch::MayGain() const { return !incumbent_.found.whatever_the_order && MayContinue(); }

bool OrderSearch::MayContinue() const {
  return work_ <= kMostWork && !incumbent_.found.paths->IsCutShort();
}

const paths::OrderedNetwork& OrderSearch::Add(const paths::NetworkContext& network_context,
                                              orders::Order order) {
  networks_.push_back(std::make_unique<paths::OrderedNetwork>(network_context, std::move(order)));
  return *networks_.back();
}

// Whether a result gains as much as is wanted. A result that ties prefer must not replace a proven
// one unless it is proven too.
bool OrderSearch::Gains(const FixedOrderResult& found, Gain wanted) const {
  const std::optional<plan::Plan>& best = incumbent_.found.result.plan;
  const std::optional<plan::Plan>& plan = found.result.plan;
  if (!plan || !best) return plan.has_value();
  const auto cost_of = [this](const FixedOrderResult& its) {
    cost::Cost cost = network_context_.scale.CostOf(its.result.plan->totals);
    cost.change = its.cost.change;
    return cost;
  };
  const auto prefers = [&](const FixedOrderResult& one, const FixedOrderResult& other) {
    return network_context_.scale.Prefers(cost_of(one), cost_of(other));
  };
  const bool proven = plan::CoversAll(plan->scope);
  switch (wanted) {
    case Gain::kSome:
      return plan->score < best->score;
    case Gain::kTie:
      return prefers(found, incumbent_.found) && (proven || !plan::CoversAll(best->scope));
    case Gain::kNone:
      return plan->score < best->score ||
             (plan->score == best->score && (proven || !prefers(incumbent_.found, found)));
  }
  return false;
}

// Searches the order by itself, and adopts the result if it gains what is wanted.
std::optional<base::Diagnostic> OrderSearch::Try(orders::Order order, Gain wanted,
                                                 std::span<paths::PathSearch* const> before) {
  const paths::OrderedNetwork& network = Add(network_context_, std::move(order));
  base::Expected<FixedOrderResult> found =
      SearchFixedOrder(network, options_, lower_bounds_, before,
                       incumbent_.found.result.plan ? Known::kPlan : Known::kNothing, later_axes_);
  if (!found) return found.error();
  if (found->alone && !alone_ && network.IsInOrderOfFile()) alone_ = std::move(found->alone);
  work_ += found->paths->Work();
  if (incumbent_.network == nullptr || Gains(*found, wanted)) {
    incumbent_ = {&network, *std::move(found)};
  } else {
    failed_.push_back(*std::move(found));
  }
  return std::nullopt;
}

// Returns the orders for the scout, the incumbent's first, perhaps with repetitions.
std::vector<orders::Order> OrderSearch::FindOrders() const {
  const orders::Order& own = incumbent_.network->InOrder();
  std::vector<orders::Order> nodes;
  if (every_) {
    nodes = *every_;
  } else {
    nodes = paths::FindUsualOrders(network_context_.graph, precedence_, network_context_.stop);
    const std::vector<orders::Order> swapped =
        orders::FindSwapped(precedence_, precedence_.NodesOf(own), kLongestSwap, kMostSwapped);
    nodes.insert(nodes.end(), swapped.begin(), swapped.end());
  }
  std::vector<orders::Order> orders = {own};
  orders.reserve(nodes.size() + 1);
  for (const orders::Order& order : nodes) orders.push_back(precedence_.OperatorsOf(order));
  return orders;
}

std::vector<paths::Ordered> OrderSearch::Prepare(const paths::NetworkContext& network_context,
                                                 const std::vector<orders::Order>& orders) {
  std::vector<paths::Ordered> prepared;
  prepared.reserve(orders.size());
  for (const orders::Order& order : orders)
    prepared.push_back(Add(network_context, order).AsOrdered());
  return prepared;
}

// Returns the best of the orders if only required tensors are kept on chip and subgraphs are short.
// nullopt if that is the incumbent's order, which is the first, or the effort ends before it is
// known.
std::optional<orders::Order> OrderSearch::FindAtHome(const std::vector<orders::Order>& orders,
                                                     int64_t effort) {
  const paths::SearchLimits search_limits{
      .most_operators = kMostAtHome, .effort = {}, .later_axes = later_axes_};
  const paths::OtherOrderLimits other_limits{.most_operators = kMostAtHome};
  const std::vector<paths::Ordered> all = Prepare(at_home_, orders);
  paths::PathSearch own(std::span<const paths::Ordered>(all).first(1), search_limits, other_limits,
                        options_.threads, options_.progress, {});
  own.FindBounds();
  const std::optional<paths::Selection> best = own.FindBelow(std::nullopt, effort);
  work_ += own.Work();
  if (!best && (own.HasSpent() || own.IsCutShort())) return std::nullopt;
  std::optional<double> below;
  if (best) below = network_context_.scale.ScoreOf(best->cost) * (1 - kRounding);
  const std::vector<paths::PathSearch*> known = {&own};
  paths::PathSearch others(all, search_limits, other_limits, options_.threads, options_.progress,
                           known);
  others.FindBounds();
  const std::optional<paths::Selection> better = others.FindBelow(below, effort);
  work_ += others.Work();
  if (!better) return std::nullopt;
  return others.OrderOf(*better);
}

OrderSearch::EveryOrder OrderSearch::TakeEvery() const {
  const int64_t most_visited = incumbent_.found.result.plan ? kMostVisited : kMostVisitedForProof;
  EveryOrder every{.orders = {},
                   .limits = {.most_operators = incumbent_.found.paths->Coverage().most_operators,
                              .most_intervals = kEveryInterval,
                              .alike = false}};
  every.orders =
      paths::TakeFirst(FindOrders(), every.limits.most_operators, every.limits.alike, most_visited);
  return every;
}

std::optional<base::Diagnostic> OrderSearch::Scout() {
  const bool has_plan = incumbent_.found.result.plan.has_value();
  const bool is_small = network_context_.graph.operators.size() <= paths::kSmallNetwork;
  const int64_t effort = has_plan && !is_small ? options_.effort : options_.effort * kShare;
  if (every_) {
    const EveryOrder every = TakeEvery();
    survey_ = {.orders = every.orders.size(), .every = every.orders.size() == every_->size()};
    if (survey_.every) return ScoutAmong(every.orders, every.limits, effort);
  }
  std::vector<orders::Order> orders = FindOrders();
  if (network_context_.stop.Requested()) return std::nullopt;
  const paths::OtherOrderLimits other_limits;
  orders = paths::TakeFirst(std::move(orders), other_limits.most_operators, other_limits.alike,
                            kMostVisited);
  survey_ = {.orders = orders.size()};
  // The order from FindAtHome must be searched from the beginning.
  if (incumbent_.found.paths->MayKeep() && work_ + incumbent_.found.paths->Work() <= kMostWork) {
    const paths::OrderedNetwork* before = incumbent_.network;
    if (std::optional<orders::Order> order = FindAtHome(orders, effort)) {
      if (auto fault = Try(*std::move(order), Gain::kSome, {})) return fault;
    }
    if (incumbent_.network != before) return std::nullopt;
  }
  return ScoutAmong(orders, other_limits, effort);
}

// Finds a better selection among the orders, and searches its order by itself. Subgraphs that fit
// one by one may not fit as a whole. Then these selections stay excluded, and the next best is
// tried.
std::optional<base::Diagnostic> OrderSearch::ScoutAmong(const std::vector<orders::Order>& orders,
                                                        const paths::OtherOrderLimits& other_limits,
                                                        int64_t effort) {
  const std::optional<plan::Plan>& plan = incumbent_.found.result.plan;
  std::optional<double> below;
  if (plan) below = plan->score * (1 - kRounding);
  const paths::SearchLimits search_limits =
      SearchLimitsFor(network_context_.graph, network_context_.scale, options_, later_axes_);
  const std::vector<paths::Ordered> looked_at = Prepare(network_context_, orders);
  std::vector<std::unique_ptr<paths::PathSearch>> scouts;
  std::vector<paths::PathSearch*> known = {incumbent_.found.paths.get()};
  for (int attempt = 0; attempt < kMostFailed && !network_context_.stop.Requested(); ++attempt) {
    scouts.push_back(std::make_unique<paths::PathSearch>(
        looked_at, search_limits, other_limits, options_.threads, options_.progress, known));
    paths::PathSearch& scout = *scouts.back();
    known.push_back(&scout);
    scout.FindBounds();
    std::optional<paths::Selection> selection = scout.FindBelow(below, effort);
    const bool at_end = !scout.HasSpent() && scout.Lattice().HasAllOrders() && !scout.IsCutShort();
    paths::Found rejected_alternatives{paths::Ending::kCutShort};
    if (!selection && at_end && plan) rejected_alternatives = scout.FindBetter(*below, effort);
    if (rejected_alternatives.ending == paths::Ending::kFound)
      selection = std::move(rejected_alternatives.selection);
    work_ += scout.Work();
    if (options_.progress) {
      const std::string line = fmt::format("{} orders of the operators looked at{}", survey_.orders,
                                           at_end ? "" : ", not to the end");
      options_.progress(
          {.line = line, .phase = "orders", .done = static_cast<int64_t>(survey_.orders)});
    }
    if (!selection) {
      const bool all_decided = at_end && failed_.empty() && !scout.Coverage().any_given_up;
      survey_.settled = all_decided && !scout.Coverage().leaves_out_axes &&
                        rejected_alternatives.ending == paths::Ending::kNone;
      survey_.proven = all_decided && survey_.every && !plan && LeavesNothing(scout);
      return std::nullopt;
    }
    const paths::OrderedNetwork* before = incumbent_.network;
    if (auto fault = Try(scout.OrderOf(*selection), Gain::kSome, known)) return fault;
    if (incumbent_.network != before) return std::nullopt;
    known.push_back(failed_.back().paths.get());
  }
  return std::nullopt;
}

}  // namespace tessera::search::partition::driver
