#include "tessera/search/orders/swaps.h"

#include <algorithm>
#include <tuple>

namespace tessera::search {
namespace {

// Nodes [begin, middle) and [middle, end) of an order change places.
struct Swap {
  int begin = 0;
  int middle = 0;
  int end = 0;
};

std::vector<Swap> FindSwaps(const Precedence& precedence, const Order& order, int longest) {
  const auto nodes = static_cast<int>(order.size());
  const auto needs = [&](int behind, int before) {
    const std::vector<int>& all = precedence.Before(order[static_cast<size_t>(behind)]);
    return std::binary_search(all.begin(), all.end(), order[static_cast<size_t>(before)]);
  };
  std::vector<Swap> swaps;
  for (int middle = 1; middle < nodes; ++middle) {
    int first_end =
        std::min(nodes, middle + longest);  // no end beyond it is legal for any longer run before the middle
    for (int begin = middle - 1; begin >= std::max(0, middle - longest + 1); --begin) {
      for (int end = middle + 1; end <= std::min(first_end, begin + longest); ++end) {
        if (needs(end - 1, begin)) {
          first_end = end - 1;
          break;
        }
        swaps.push_back({begin, middle, end});
      }
    }
  }
  std::stable_sort(swaps.begin(), swaps.end(), [](const Swap& a, const Swap& b) {
    return std::tuple(a.end - a.begin, a.begin) < std::tuple(b.end - b.begin, b.begin);
  });
  return swaps;
}

}  // namespace

std::vector<Order> FindSwapped(const Precedence& precedence, const Order& order, int longest, size_t most) {
  std::vector<Order> orders;
  std::vector<std::vector<bool>> touched;  // parallel: which places are swapped
  for (const Swap& swap : FindSwaps(precedence, order, longest)) {
    size_t at = 0;
    const auto is_free = [&](const std::vector<bool>& places) {
      return std::none_of(places.begin() + swap.begin, places.begin() + swap.end, [](bool is) { return is; });
    };
    while (at < orders.size() && !is_free(touched[at])) ++at;
    if (at == most) continue;
    if (at == orders.size()) {
      orders.push_back(order);
      touched.emplace_back(order.size());
    }
    const auto nodes = orders[at].begin();
    std::rotate(nodes + swap.begin, nodes + swap.middle, nodes + swap.end);
    std::fill(touched[at].begin() + swap.begin, touched[at].begin() + swap.end, true);
  }
  return orders;
}

}  // namespace tessera::search
