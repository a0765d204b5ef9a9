#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/search/orders/precedence.h"

namespace tessera::search {

// All orders of the nodes, in lexicographic order, so that the one given comes first; nullopt where
// there are more than `most`, or the stop comes first. Cost: nodes^2 for each of them.
std::optional<std::vector<Order>> FindEveryOrder(const Precedence& precedence, size_t most,
                                                 const base::Stop& stop);

}  // namespace tessera::search
