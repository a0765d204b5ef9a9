#include "tessera/plan/refutation/orders.h"

#include <algorithm>

namespace tessera::plan::refutation {
namespace {

class Listing {
 public:
  Listing(const graph::Graph& network, size_t most) : most_(most), needs_(network.operators.size()) {
    std::vector<int> maker(network.tensors.size(), -1);
    for (size_t i = 0; i < network.operators.size(); ++i) {
      for (const int output : network.operators[i].outputs) {
        if (!network.tensors[static_cast<size_t>(output)].state)
          maker[static_cast<size_t>(output)] = static_cast<int>(i);
      }
    }
    for (size_t i = 0; i < network.operators.size(); ++i) {
      for (const int input : network.operators[i].inputs) {
        if (const int other = maker[static_cast<size_t>(input)]; other >= 0) needs_[i].push_back(other);
      }
    }
  }

  std::optional<std::vector<std::vector<int>>> Run() {
    done_.assign(needs_.size(), 0);
    Extend();
    if (orders_.size() > most_) return std::nullopt;
    return std::move(orders_);
  }

 private:
  bool IsReady(size_t op) const {
    return done_[op] == 0 && std::all_of(needs_[op].begin(), needs_[op].end(), [this](int other) {
             return done_[static_cast<size_t>(other)] != 0;
           });
  }

  void Extend() {
    if (orders_.size() > most_) return;
    if (order_.size() == needs_.size()) {
      orders_.push_back(order_);
      return;
    }
    for (size_t op = 0; op < needs_.size(); ++op) {
      if (!IsReady(op)) continue;
      done_[op] = 1;
      order_.push_back(static_cast<int>(op));
      Extend();
      order_.pop_back();
      done_[op] = 0;
    }
  }

  const size_t most_;
  std::vector<std::vector<int>> needs_;  // by operator
  std::vector<char> done_;
  std::vector<int> order_;
  std::vector<std::vector<int>> orders_;
};

}  // namespace

std::optional<std::vector<std::vector<int>>> OrdersOf(const graph::Graph& network, size_t most) {
  return Listing(network, most).Run();
}

}  // namespace tessera::plan::refutation
