#include "tessera/search/orders/walks.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tessera::search {
namespace {

class DepthFirst {
 public:
  DepthFirst(const Precedence& precedence, const LiveBytes& live, Turn turn)
      : precedence_(precedence), nodes_(static_cast<int>(precedence.Count())), visited_(precedence.Count()) {
    for (int node = 0; node < nodes_; ++node) operands_.push_back(precedence.Before(node));
    if (turn == Turn::kLast) {
      for (std::vector<int>& operands : operands_) std::reverse(operands.begin(), operands.end());
    } else if (turn == Turn::kHungriest) {
      for (int node = 0; node < nodes_; ++node) SortOperands(live, node);
    }
  }

  Order Run() {
    for (int node = 0; node < nodes_; ++node) {
      if (precedence_.Behind(node).empty()) Visit(node);
    }
    return std::move(order_);
  }

 private:
  // Operands are sorted before what needs them, since they come before it in the order given.
  void SortOperands(const LiveBytes& live, int node) {
    std::vector<int>& operands = operands_[static_cast<size_t>(node)];
    const auto beyond = [&](int operand) {
      return needs_[static_cast<size_t>(operand)] - live.MadeBy(operand);
    };
    std::stable_sort(operands.begin(), operands.end(), [&](int a, int b) { return beyond(a) > beyond(b); });
    int64_t held = 0;
    int64_t need = 0;
    for (const int operand : operands) {
      need = std::max(need, held + needs_[static_cast<size_t>(operand)]);
      held += live.MadeBy(operand);
    }
    needs_.push_back(std::max(need, held + live.MadeBy(node)));
  }

  // With a stack of its own, for networks may be deep.
  void Visit(int sink) {
    std::vector<std::pair<int, size_t>> open = {{sink, 0}};  // nodes, and how many operands were looked at
    visited_[static_cast<size_t>(sink)] = true;
    while (!open.empty()) {
      auto& [node, looked] = open.back();
      const std::vector<int>& operands = operands_[static_cast<size_t>(node)];
      if (looked == operands.size()) {
        order_.push_back(node);
        open.pop_back();
        continue;
      }
      const int operand = operands[looked++];
      if (visited_[static_cast<size_t>(operand)]) continue;
      visited_[static_cast<size_t>(operand)] = true;
      open.emplace_back(operand, 0);
    }
  }

  const Precedence& precedence_;
  int nodes_;
  std::vector<std::vector<int>> operands_;  // by node, in the order in which they are walked to
  std::vector<int64_t> needs_;  // by node: bytes that its walk needs at most, where Turn::kHungriest asks
  std::vector<bool> visited_;
  Order order_;
};

}  // namespace

Order WalkDepthFirst(const Precedence& precedence, const LiveBytes& live, Turn turn) {
  return DepthFirst(precedence, live, turn).Run();
}

Order WalkBreadthFirst(const Precedence& precedence, Pace pace) {
  const auto nodes = static_cast<int>(precedence.Count());
  std::vector<int64_t> keys(precedence.Count());
  const auto key = [&keys](int node) -> int64_t& { return keys[static_cast<size_t>(node)]; };
  if (pace == Pace::kEarliest) {
    for (int node = 0; node < nodes; ++node) {
      for (const int before : precedence.Before(node)) key(node) = std::max(key(node), key(before) + 1);
    }
  } else {
    for (int node = nodes - 1; node >= 0; --node) {
      for (const int after : precedence.Behind(node)) key(node) = std::min(key(node), key(after) - 1);
    }
  }
  return precedence.NearestTo(keys);
}

}  // namespace tessera::search
