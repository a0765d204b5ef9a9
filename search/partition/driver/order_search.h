#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
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

// The best partition of a network whose operators run in one order.
//
// Subgraphs are chosen as if each were alone, with exactly that reserved which passes over it; this
// is exact but for long-lived buffers, which must keep one address throughout. So the best
// selection is laid out as one joint Problem. If that has no answer, the selection is forbidden and
// the next best is tried; if the joint peak is worse than what the subgraphs promised and the
// objective looks at the peak, the next best is tried too, until none can beat what is there.
namespace tessera::search::partition::driver {

// Work that may be spent on what was skipped once the best selection is known, in terms of the
// effort of the search.
inline constexpr int64_t kCompletion = 30;

struct FixedOrderResult {
  answer::PartitionResult
      result;  // PartitionOptions::order and what it means for status and notes apart
  std::unique_ptr<paths::PathSearch> paths;  // what was found out; refers to the network
  bool whatever_the_order = false;           // no other order changes the result
  std::optional<plan::Baseline> alone =
      std::nullopt;  // where nothing was taken over and no stop came before it was known
};

// Whether there is a plan already: then a stop ends the search of an order at once.
enum class Known : uint8_t { kNothing, kPlan };

// Why a plan must not be handed out: what the independent validator refuses in it, constraints that
// it does not keep among that. A fault of the program.
std::optional<base::Diagnostic> CheckWellFormed(const plan::Plan& plan);

// How far a search of a network looks.
paths::SearchLimits SearchLimitsFor(const graph::Graph& graph, const cost::Scale& scale,
                                    const answer::PartitionOptions& options);

// `options` are those of the search, but that the objective's scale and the constraints are in the
// network. `lower_bounds` hold for every order. `before`: searches over other orders that are taken
// over. An error is a fault of the program.
base::Expected<FixedOrderResult> SearchFixedOrder(const paths::OrderedNetwork& network,
                                                  const answer::PartitionOptions& options,
                                                  const answer::LowerBounds& lower_bounds,
                                                  std::span<paths::PathSearch* const> before,
                                                  Known known);

// The plan with constants prefetched wherever that lowers its score and all still fits; notes say
// how often, and what the status is about then. See prefetch.cc. `context` and `constraints` are
// those of the plan's network. After context.stop nothing more is tried. An error is a fault of the
// program.
base::Expected<plan::Plan> Prefetch(const choices::SearchContext& context,
                                    const constraints::PlanConstraints& constraints,
                                    plan::Plan plan);

// The order of the operators as part of the search.
//
// A partition cuts an order into intervals, so what may be one subgraph, what is kept on chip past
// it and what is alive meanwhile all hang on the order. A network of one chain has one; every fork
// gives a choice, and the orders are as many as the products of these. But they are not that many
// searches:
//
//     a --> b --> d --> e       {} - a - ab -- abc - abcd - abcde      orders meet at cuts: one path search over all
//      '--> c ---'                    '- ac --'                        cuts finds the best way through all orders, and
//                                                                      may take each fork as it likes
//
// 1. The first order (that of the file, or of an older plan) is searched as if there were no other.
// What is found there stands until
//    something better is found: no plan is worse than that.
// 2. At home: where boundary tensors may be kept on chip, a cut has many states, and most of the
// work is with them. So first the best
//    order is found as if nothing were kept, which costs little; that one is the first of the other orders.
// 3. Scout: a path search over the cuts of many orders at once, which takes over what is known and
// shares all intervals that orders have
//    in common. Its paths are taken up by their bounds, so an order that cannot be better than what is there costs no more than the
//    bounds of those intervals that no other order has; where no bound is lower, it is over.
// 4. If it finds a partition of a better score that fits subgraph by subgraph, the order of that
// partition is searched by itself like the
//    first one, with what the scout knows. If it gains, it goes on from there with the neighbours of that order (orders/swaps.h).
//
// The scout looks at all legal orders where these are few. Else at those that are known to be good
// (order_candidates.h: dynamic programming over cuts after Held and Karp, Ahn et al. 2020,
// "SERENITY"; depth first after Sethi and Ullman 1970; breadth first) and the neighbours of the
// best, as many as the effort allows; of intervals that are alike it then looks at one. A search
// over cuts that are sets of operators is what IOS (Ding et al. 2021) does for stages on a GPU.
//
// Sound: every path of the scout is a legal order, since its cuts are closed under what they need,
// and an interval costs and fits the same in every order in which the same operators come before it
// and in it: what is alive beside it was made before and is read behind. States are the exception.
// Whether the next value lies in the place of its state hangs on whether all readers of the state
// come before its maker, and decides over room and traffic elsewhere too; so only orders that agree
// in that meet at cuts (OrderLattice::Kind). A path through orders that agree agrees with them:
// what comes before the maker is what does so in the order that the path is in there. An answer is
// made, checked and called optimal by the search in its one order; only what is said about other
// orders comes from here. Cost: counted like that of a path search, and limited to a share of it.

// Orders that are all looked at if there are no more.
inline constexpr size_t kMostEvery = 128;

class OrderSearch {
 public:
  // All of it outlives the search.
  OrderSearch(const paths::NetworkContext& network_context, const answer::PartitionOptions& options,
              const answer::LowerBounds& lower_bounds);

  base::Expected<answer::PartitionResult> Run();

 private:
  // The best that is there, and the network it is for.
  struct Incumbent {
    const paths::OrderedNetwork* network = nullptr;
    FixedOrderResult found;
  };

  // What is known about the orders that are not the incumbent's.
  struct Survey {
    size_t orders = 0;     // that were looked at, with all that can be mixed of them
    bool every = false;    // these are all there are
    bool settled = false;  // none of them has a better plan, by proof
    bool proven = false;   // none has any plan, by proof
  };

  // What makes another order better than the incumbent's.
  enum class Gain : uint8_t { kNone, kSome };

  const paths::OrderedNetwork& Add(const paths::NetworkContext& network_context,
                                   orders::Order order);
  bool MayGain() const;
  std::optional<base::Diagnostic> Try(orders::Order order, Gain wanted,
                                      std::span<paths::PathSearch* const> before);
  std::optional<base::Diagnostic> Scout();
  std::optional<base::Diagnostic> ScoutAmong(const std::vector<orders::Order>& orders,
                                             const paths::OtherOrderLimits& other_limits,
                                             int64_t effort);
  std::vector<orders::Order> FindOrders() const;
  std::vector<paths::Ordered> Prepare(const paths::NetworkContext& network_context,
                                      const std::vector<orders::Order>& orders);
  std::optional<orders::Order> FindAtHome(const std::vector<orders::Order>& orders, int64_t effort);
  base::Expected<answer::PartitionResult>
  TakeResult();  // of the incumbent, its constants prefetched where that is asked for
  base::Expected<answer::PartitionResult> Finish();
  plan::Baseline BaselineOf(plan::Baseline baseline, const graph::Graph& ordered) const;
  void StateOrders(plan::Plan& plan) const;
  void Qualify(answer::PartitionResult& result) const;

  const paths::NetworkContext& network_context_;
  paths::NetworkContext at_home_;  // the same where nothing is kept that is not required
  const answer::PartitionOptions& options_;
  const answer::LowerBounds& lower_bounds_;
  orders::Precedence precedence_;
  std::optional<std::vector<orders::Order>> every_;  // order of the nodes, where these are few
  std::vector<std::unique_ptr<paths::OrderedNetwork>> networks_;
  Incumbent incumbent_;
  std::vector<FixedOrderResult> failed_;  // searches of orders that were no better
  std::optional<double> first_score_;     // in the order of the file
  std::optional<plan::Baseline>
      alone_;  // of the first order, where no stop came before it was known
  Survey survey_;
  int64_t work_ = 0;  // of all searches so far (PathSearch::Work)
};

}  // namespace tessera::search::partition::driver
