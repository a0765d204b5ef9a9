#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/plan/plan.h"
#include "tessera/search/orders/precedence.h"

// Which orders of a network's operators are worth a look. All are orders of the nodes of a precedence.
namespace tessera::search {

// Orders that are good by well-known rules, whatever the hardware: fewest bytes alive at once and in sum, one branch after another in
// several ways, and all branches side by side. A stop leaves out those that come later.
std::vector<Order> FindUsualOrders(const graph::Graph& graph, const Precedence& precedence,
                                   const base::Stop& stop);

// The order nearest to that of an older plan, perhaps of another network: operators of the same id come as they did there, others behind the
// one they follow in the network.
Order FindOrderLike(const plan::Plan& old, const graph::Graph& graph, const Precedence& precedence);

// As many of the orders, the first of them in any case, as have between them no more than `most_visited` operators in intervals that
// the first one has not (order_lattice.h), of at most `most_operators` each; repetitions left out. Orders are of operators.
std::vector<Order> TakeFirst(std::vector<Order> orders, int most_operators, bool alike, int64_t most_visited);

}  // namespace tessera::search
