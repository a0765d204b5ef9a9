#include "tessera/search/orders/every_order.h"

#include <utility>

namespace tessera::search {
namespace {

class Enumeration {
 public:
  Enumeration(const Precedence& precedence, size_t most, const base::Stop& stop)
      : precedence_(precedence), most_(most), stop_(stop), nodes_(static_cast<int>(precedence.Count())) {
    for (int node = 0; node < nodes_; ++node) waiting_for_.push_back(precedence.Before(node).size());
    placed_.resize(precedence.Count());
  }

  std::optional<std::vector<Order>> Run() {
    if (!Extend()) return std::nullopt;
    return std::move(orders_);
  }

 private:
  // Everything that begins with what is placed; false where that is too much.
  bool Extend() {
    if (stop_.Requested()) return false;
    if (order_.size() == precedence_.Count()) {
      orders_.push_back(order_);
      return orders_.size() <= most_;
    }
    for (int node = 0; node < nodes_; ++node) {
      const auto at = static_cast<size_t>(node);
      if (placed_[at] || waiting_for_[at] > 0) continue;
      Place(node);
      if (!Extend()) return false;
      TakeBack(node);
    }
    return true;
  }

  void Place(int node) {
    placed_[static_cast<size_t>(node)] = true;
    order_.push_back(node);
    for (const int after : precedence_.Behind(node)) --waiting_for_[static_cast<size_t>(after)];
  }

  void TakeBack(int node) {
    for (const int after : precedence_.Behind(node)) ++waiting_for_[static_cast<size_t>(after)];
    order_.pop_back();
    placed_[static_cast<size_t>(node)] = false;
  }

  const Precedence& precedence_;
  size_t most_;
  const base::Stop& stop_;
  int nodes_;
  std::vector<size_t> waiting_for_;
  std::vector<bool> placed_;
  Order order_;
  std::vector<Order> orders_;
};

}  // namespace

std::optional<std::vector<Order>> FindEveryOrder(const Precedence& precedence, size_t most,
                                                 const base::Stop& stop) {
  return Enumeration(precedence, most, stop).Run();
}

}  // namespace tessera::search
