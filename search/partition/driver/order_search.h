// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/plan/plan.h"
#include "tessera/search/orders/legal_orders.h"
#include "tessera/search/partition/answer/options_and_result.h"
#include "tessera/search/partition/answer/refusal.h"
#include "tessera/search/partition/choices/search_context.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/paths/ordered_network.h"
#include "tessera/search/partition/paths/path_search.h"
#include "tessera/search/tiling/engine_cache.h"

// The search for the best partition of a network whose operators run in one order.
//
// The search selects subgraphs as if each were alone, and reserves exactly the space of tensors
// that pass over it. This is exact except for long-lived buffers, which must keep one address
// throughout. So the best selection is placed as one joint Problem. If that has no solution, the
// selection is forbidden and the next best is tried. If the joint peak is worse than that of the
// subgraphs and the objective uses the peak, the next best is tried too, until none can be better
// than the current plan.
namespace tessera::search::partition::driver {

// The work allowed for skipped shapes once the best selection is known, as a multiple of the effort
// of the search.
inline constexpr int64_t kCompletion = 30;

struct FixedOrderResult {
  // The result, without statements about other orders (PartitionOptions::ordering).
  answer::PartitionResult result;
  std::unique_ptr<paths::PathSearch> paths;  // the knowledge of the search; refers to the network
  paths::Selection selection = {};           // the selection of `paths` that the plan realises
  cost::Cost cost = {};                      // of the plan, if any: Attempted::cost
  bool whatever_the_order = false;           // no other order changes the result
  // The layer-by-layer plan, if nothing was taken over from another search and it was known before
  // a stop.
  std::optional<plan::Baseline> alone = std::nullopt;
};

// Whether a plan exists already. If so, a stop ends the search of an order immediately.
enum class Known : uint8_t { kNothing, kPlan };

// Returns the limits of a search of a network.
paths::SearchLimits SearchLimitsFor(const graph::Graph& graph, const cost::Scale& scale,
                                    const answer::PartitionOptions& options,
                                    paths::LaterAxes later_axes);

// Searches for the best plan in the network's order. The scale of the objective and the constraints
// come from the network, all other options from `options`. `lower_bounds` hold for every order.
// `before`: earlier searches whose results are taken over. An error is an error of the program.
base::Expected<FixedOrderResult> SearchFixedOrder(const paths::OrderedNetwork& network,
                                                  const answer::PartitionOptions& options,
                                                  const answer::LowerBounds& lower_bounds,
                                                  std::span<paths::PathSearch* const> before,
                                                  Known known, paths::LaterAxes later_axes);

// Whether two stages may improve the plan: engines may work at the same time, and the objective
// depends on time.
bool MayGainByStages(const plan::Plan& plan);

// Returns the reason why no subgraph on a profile with `concurrent` can have two stages; nullopt if
// one can, or if the profile is not concurrent.
std::optional<std::string> ObstacleToStages(const hw_profiles::Profile& profile);

// Adapts scope and status: the search considered only subgraphs of single stages.
void LeaveOutStages(plan::Plan& plan);

// Returns the plan with two stages in the subgraphs that gain by them, where everything still fits.
// `context` and `constraints` are those of the plan's network. See stages.cc. An error is an error
// of the program.
base::Expected<plan::Plan> AddStages(const choices::SearchContext& context,
                                     const constraints::PlanConstraints& constraints,
                                     plan::Plan plan);

// Whether constants that arrive while earlier subgraphs run may improve a plan of the network, or
// make it keep its limits: transfers overlap, some constant is loaded once, and the objective
// depends on time.
bool MayGainByPrefetching(const graph::Graph& network, const hw_profiles::Profile& profile,
                          const plan::Objective& objective);

// Returns the plan with constants prefetched wherever that lowers its score and everything still
// fits. A note states how often; Plan::scope and status are adapted. See prefetch.cc. `context` and
// `constraints` are those of the plan's network. After context.stop nothing more is tried. An error
// is an error of the program.
base::Expected<plan::Plan> Prefetch(const choices::SearchContext& context,
                                    const constraints::PlanConstraints& constraints,
                                    const answer::PartitionOptions& options, plan::Plan plan);

// The order of the operators as part of the search.
//
// A partition divides an order into intervals. So the order determines which operators may form a
// subgraph, which tensors can be kept on chip past it, and which are live during it. A network that
// is one chain has one order. Forks multiply the number of orders. But one search covers many
// orders:
//
//     a --> b --> d --> e     {} - a - ab -- abc - abcd - abcde   orders meet at cuts: one path
//      '--> c ---'                  '- ac --'                     search over all cuts finds the
//                                                                 best path through all orders, and
//                                                                 selects freely at each fork
//
// 1. The first order (that of the file, or of a previous plan) is searched as if there were no
//    other. Its plan is the result until a better one is found: no result is worse. In a large
//    network the first plan takes long. So a layer-by-layer plan is made before, in haste, and is
//    the result if a stop comes early (TryInHaste).
// 2. At home: if boundary tensors may be kept on chip, a cut has many states, and these cause most
//    of the work. So the best order without kept tensors is found first, at low cost. It becomes
//    the first of the other orders.
// 3. Scout: a path search over the cuts of many orders together. It takes over the existing results
//    and shares all intervals that orders have in common. It visits paths by their bounds; so an
//    order that cannot be better costs only the bounds of the intervals that no other order has. It
//    ends when no bound is below the best score.
// 4. If it finds a partition with a better score that fits subgraph by subgraph, the order of that
//    partition is searched by itself like the first one, with the results of the scout. If that
//    improves the plan, the search continues with the neighbours of that order (FindSwapped).
// 5. If limits exclude every plan found so far, the search runs without them, and the orders of
//    those plans are searched with limits (TryOrdersWithoutLimits).
// 6. All of this cuts tiles only along the first axes of the profile, except operators that do not
//    fit alone. At the end the best order is searched again, and the subgraphs of the best path are
//    cut along all axes (CutLaterAxes); if that covers all tiles, the scout searches again too. If
//    the first order has no plan, all axes are cut from then on.
// 7. If all orders were settled, the scout searches for plans of the same score that ties prefer,
// in
//    small networks (BreakTies).
//
// The scout covers all legal orders if there are few. Otherwise it covers orders that are good by
// known rules (FindUsualOrders: dynamic programming over cuts after Held and Karp, Ahn et al. 2020,
// "SERENITY"; depth first after Sethi and Ullman 1970; breadth first) and the neighbours of the
// best, as many as the effort allows; of similar intervals it then considers one. Related work: IOS
// (Ding et al. 2021) searches over cuts that are sets of operators, for stages on a GPU.
//
// Soundness: every path of the scout is a legal order, since its cuts are closed under
// dependencies. An interval has the same costs and fits equally in every order in which the same
// operators come before it and in it: the tensors that are live across it were made before and are
// read after. States are the exception. Whether the next value is in the place of its state depends
// on whether all readers of the state come before its maker, and affects fit and traffic elsewhere
// too. So only orders that agree in that meet at cuts (OrderLattice::Kind), and a path through such
// orders agrees with them: the operators before the maker are those of the order that the path
// follows there. The search of the single order makes, checks and proves an answer; the scout only
// adds statements about other orders. Cost: counted like that of a path search, and limited to a
// share of it.

// If there are at most this many orders, all are considered.
inline constexpr size_t kMostEvery = 128;

class OrderSearch {
 public:
  // All arguments must outlive the search.
  OrderSearch(const paths::NetworkContext& network_context, const answer::PartitionOptions& options,
              const answer::LowerBounds& lower_bounds);

  base::Expected<answer::PartitionResult> Run();

 private:
  // The best result so far, and its network.
  struct Incumbent {
    const paths::OrderedNetwork* network = nullptr;
    FixedOrderResult found;
  };

  // The knowledge about orders other than the incumbent's.
  struct Survey {
    size_t orders = 0;     // considered, with all combinations of them
    bool every = false;    // these are all orders
    bool settled = false;  // it is proven that none of them has a better plan
    bool proven = false;   // it is proven that none has any plan
  };

  // The requirement for another result to replace the incumbent. kNone: a lower score, or an equal
  // one if the result is proven or ties do not prefer the incumbent. kTie: ties must prefer the
  // result. kSome: its score must be lower.
  enum class Gain : uint8_t { kNone, kTie, kSome };

  // The orders of a search over all of them, the incumbent's first; those beyond a limit on
  // intervals are missing.
  struct EveryOrder {
    std::vector<orders::Order> orders;
    paths::OtherOrderLimits limits;
  };

  const paths::OrderedNetwork& Add(const paths::NetworkContext& network_context,
                                   orders::Order order);
  bool MayGain() const;      // whether a plan with a lower score may be found
  bool MayContinue() const;  // whether the limits allow a further search
  std::optional<base::Diagnostic> Try(orders::Order order, Gain wanted,
                                      std::span<paths::PathSearch* const> before);
  std::optional<base::Diagnostic> TryInHaste(const orders::Order& order);
  std::optional<base::Diagnostic> SearchOrders();
  bool HasLaterAxes() const { return incumbent_.network->Context().first_axes != nullptr; }
  std::optional<base::Diagnostic> TryEveryAxis();
  std::optional<base::Diagnostic> CutLaterAxes();
  bool Gains(const FixedOrderResult& found, Gain wanted) const;
  bool MayBreakTies() const;
  std::optional<base::Diagnostic> BreakTies();
  EveryOrder TakeEvery() const;
  std::optional<base::Diagnostic> ScoutInRounds();
  std::optional<base::Diagnostic> TryOrdersWithoutLimits();
  std::optional<base::Diagnostic> Scout();
  std::optional<base::Diagnostic> ScoutAmong(const std::vector<orders::Order>& orders,
                                             const paths::OtherOrderLimits& other_limits,
                                             int64_t effort);
  std::vector<orders::Order> FindOrders() const;
  std::vector<paths::Ordered> Prepare(const paths::NetworkContext& network_context,
                                      const std::vector<orders::Order>& orders);
  std::optional<orders::Order> FindAtHome(const std::vector<orders::Order>& orders, int64_t effort);
  // TakeResult returns the incumbent's result, with constants prefetched if requested. Finish adds
  // the statements about orders.
  base::Expected<answer::PartitionResult> TakeResult();
  base::Expected<answer::PartitionResult> Finish();
  bool SinglesDependOnOrder() const;
  plan::Baseline BaselineIn(const choices::SearchContext& context, plan::Baseline baseline) const;
  void StateOrders(plan::Plan& plan) const;
  void Qualify(answer::PartitionResult& result) const;

  const paths::NetworkContext& network_context_;
  paths::NetworkContext at_home_;   // the same, but only required tensors are kept
  base::Stop ended_;                // requested from the start; forwards interrupts of the search
  paths::NetworkContext in_haste_;  // the same as network_context_, with the stop ended_
  const answer::PartitionOptions& options_;
  const answer::LowerBounds& lower_bounds_;
  orders::Precedence precedence_;
  std::optional<std::vector<orders::Order>> every_;  // all orders of the nodes, if there are few
  std::vector<std::unique_ptr<paths::OrderedNetwork>> networks_;
  Incumbent incumbent_;
  std::vector<FixedOrderResult> failed_;  // searches of orders that were not better
  paths::LaterAxes later_axes_ = paths::LaterAxes::kNone;
  std::optional<double> first_score_;    // of the plan in the order of the file
  std::optional<plan::Baseline> alone_;  // of the first order, if it was known before a stop
  Survey survey_;
  int64_t work_ = 0;  // of all searches so far (PathSearch::Work)
};

}  // namespace tessera::search::partition::driver
