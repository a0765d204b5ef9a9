#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tessera/search/orders/precedence.h"

namespace tessera::search {

// All orders of the nodes, in lexicographic order, so that the one given comes first; nullopt where there are more than `most`.
// Cost: nodes^2 for each of them.
std::optional<std::vector<Order>> FindEveryOrder(const Precedence& precedence, size_t most);

}  // namespace tessera::search
