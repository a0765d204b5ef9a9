#include "tessera/search/orders/least_live_order.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace tessera::search {
namespace {

struct Cut {
  std::vector<bool> done;
  int64_t live = 0;
  int64_t peak = 0;  // of the best way here
  int64_t sum = 0;
  size_t previous = 0;  // of the size before
  int node = -1;        // that came last
};

class CutSearch {
 public:
  CutSearch(const Precedence& precedence, const LiveBytes& live, LiveGoal goal, const base::Stop& stop,
            size_t width)
      : precedence_(precedence), live_(live), goal_(goal), stop_(stop), width_(width) {}

  std::optional<Order> Run() {
    std::vector<std::vector<Cut>> sizes(1);
    Cut& start = sizes.front().emplace_back();
    start.done.resize(precedence_.Count());
    start.live = live_.AtStart();
    for (size_t size = 0; size < precedence_.Count(); ++size) {
      sizes.push_back(Next(sizes.back()));
      if (sizes.back().empty()) return std::nullopt;
    }
    Order order;
    size_t at = 0;
    for (size_t size = precedence_.Count(); size > 0; --size) {
      order.push_back(sizes[size][at].node);
      at = sizes[size][at].previous;
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

 private:
  // Empty where the stop came.
  std::vector<Cut> Next(const std::vector<Cut>& cuts) const {
    std::vector<Cut> next;
    std::map<std::vector<bool>, size_t> known;
    for (size_t i = 0; i < cuts.size(); ++i) {
      if (stop_.Requested()) return {};
      for (int node = 0; node < static_cast<int>(precedence_.Count()); ++node) {
        if (!IsReady(cuts[i], node)) continue;
        Cut cut = Behind(cuts[i], node);
        cut.previous = i;
        const auto [place, fresh] = known.try_emplace(cut.done, next.size());
        if (fresh) {
          next.push_back(std::move(cut));
        } else if (IsBetter(cut, next[place->second])) {
          next[place->second] = std::move(cut);
        }
      }
    }
    std::stable_sort(next.begin(), next.end(), [this](const Cut& a, const Cut& b) { return IsBetter(a, b); });
    if (next.size() > width_) next.resize(width_);
    return next;
  }

  bool IsReady(const Cut& cut, int node) const {
    const std::vector<int>& before = precedence_.Before(node);
    return !cut.done[static_cast<size_t>(node)] && std::all_of(before.begin(), before.end(), [&](int other) {
      return cut.done[static_cast<size_t>(other)];
    });
  }

  Cut Behind(const Cut& cut, int node) const {
    Cut next = cut;
    next.node = node;
    next.live += live_.MadeBy(node);
    const int64_t held = next.live;
    next.live -= live_.FreedBy(node, [&cut](int other) { return cut.done[static_cast<size_t>(other)]; });
    next.done[static_cast<size_t>(node)] = true;
    next.peak = std::max(next.peak, held);
    next.sum += held;
    return next;
  }

  bool IsBetter(const Cut& a, const Cut& b) const {
    if (goal_ == LiveGoal::kPeak) return std::tie(a.peak, a.sum) < std::tie(b.peak, b.sum);
    return std::tie(a.sum, a.peak) < std::tie(b.sum, b.peak);
  }

  const Precedence& precedence_;
  const LiveBytes& live_;
  LiveGoal goal_;
  const base::Stop& stop_;
  size_t width_;
};

}  // namespace

std::optional<Order> FindLeastLiveOrder(const Precedence& precedence, const LiveBytes& live, LiveGoal goal,
                                        const base::Stop& stop, size_t width) {
  return CutSearch(precedence, live, goal, stop, width).Run();
}

}  // namespace tessera::search
