#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/search/orders/precedence.h"
#include "tessera/search/partition/fixed_order.h"
#include "tessera/search/partition/ordered_network.h"

// The order of the operators as part of the search.
//
// A partition cuts an order into intervals, so what may be one subgraph, what is kept on chip past it and what is alive meanwhile all
// hang on the order. A network of one chain has one; every fork gives a choice, and the orders are as many as the products of these.
// But they are not that many searches:
//
//     a --> b --> d --> e       {} - a - ab -- abc - abcd - abcde      orders meet at cuts: one path search over all
//      '--> c ---'                    '- ac --'                        cuts finds the best way through all orders, and
//                                                                      may take each fork as it likes
//
// 1. The first order (that of the file, or of an older plan) is searched as if there were no other. What is found there stands until
//    something better is found: no plan is worse than that.
// 2. At home: where borders may be kept on chip, a cut has many states, and most of the work is with them. So first the best
//    order is found as if nothing were kept, which costs little; that one is the first of the other orders.
// 3. Scout: a path search over the cuts of many orders at once, which takes over what is known and shares all intervals that orders have
//    in common. Its paths are taken up by their bounds, so an order that cannot be better than what is there costs no more than the
//    bounds of those intervals that no other order has; where no bound is lower, it is over.
// 4. If it finds a partition of a better score that fits subgraph by subgraph, the order of that partition is searched by itself like the
//    first one, with what the scout knows. If it gains, it goes on from there with the neighbours of that order (orders/swaps.h).
//
// The scout looks at all legal orders where these are few. Else at those that are known to be good (order_candidates.h: dynamic
// programming over cuts after Held and Karp, Ahn et al. 2020, "SERENITY"; depth first after Sethi and Ullman 1970; breadth
// first) and the neighbours of the best, as many as the effort allows; of intervals that are alike it then looks at one. A search over cuts
// that are sets of operators is what IOS (Ding et al. 2021) does for stages on a GPU.
//
// Sound: every path of the scout is a legal order, since its cuts are closed under what they need, and an interval costs and fits the
// same in every order in which the same operators come before it and in it: what is alive beside it was made before and is read behind.
// States are the exception. Whether the next value lies in the place of its state hangs on whether all readers of the state come before
// its maker, and decides over room and traffic elsewhere too; so only orders that agree in that meet at cuts (OrderLattice::Kind). A path
// through orders that agree agrees with them: what comes before the maker is what does so in the order that the path is in there.
// An answer is made, checked and called optimal by the search in its one order; only what is said about other orders comes from here.
// Cost: counted like that of a path search, and limited to a share of it.
namespace tessera::search {

// Orders that are all looked at if there are no more.
inline constexpr size_t kMostEvery = 128;

class OrderSearch {
 public:
  // All of it outlives the search.
  OrderSearch(const Grounds& grounds, const PartitionOptions& options, const Floors& floors);

  base::Expected<PartitionResult> Run();

 private:
  // The best that is there, and the network it is for.
  struct Incumbent {
    const OrderedNetwork* network = nullptr;
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

  const OrderedNetwork& Add(const Grounds& grounds, Order order);
  bool MayGain() const;
  std::optional<base::Diagnostic> Try(Order order, Gain wanted, std::span<PathSearch* const> before);
  std::optional<base::Diagnostic> Scout();
  std::optional<base::Diagnostic> ScoutAmong(const std::vector<Order>& orders, const Besides& besides,
                                             int64_t effort);
  std::vector<Order> FindOrders() const;
  std::vector<Ordered> Prepare(const Grounds& grounds, const std::vector<Order>& orders);
  std::optional<Order> FindAtHome(const std::vector<Order>& orders, int64_t effort);
  base::Expected<PartitionResult>
  TakeResult();  // of the incumbent, its constants prefetched where that is asked for
  base::Expected<PartitionResult> Finish();
  plan::Baseline BaselineOf(plan::Baseline baseline, const graph::Graph& ordered) const;
  void StateOrders(plan::Plan& plan) const;
  void Qualify(PartitionResult& result) const;

  const Grounds& grounds_;
  Grounds at_home_;  // the same where nothing is kept that is not demanded
  const PartitionOptions& options_;
  const Floors& floors_;
  Precedence precedence_;
  std::optional<std::vector<Order>> every_;  // order of the nodes, where these are few
  std::vector<std::unique_ptr<OrderedNetwork>> networks_;
  Incumbent incumbent_;
  std::vector<FixedOrderResult> failed_;  // searches of orders that were no better
  std::optional<double> first_score_;     // in the order of the file
  std::optional<plan::Baseline> alone_;  // of the first order, where no stop came before it was known
  Survey survey_;
  int64_t work_ = 0;  // of all searches so far (PathSearch::Work)
};

}  // namespace tessera::search
