// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/orders/low_memory_orders.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace tessera::search::orders {

LiveBytes::LiveBytes(const graph::Graph& graph, const Precedence& precedence,
                     std::span<const int64_t> bytes)
    : bytes_(bytes.begin(), bytes.end()),
      readers_(graph.tensors.size()),
      touched_(precedence.Count()),
      made_(precedence.Count()) {
  for (int node = 0; node < static_cast<int>(precedence.Count()); ++node) {
    std::vector<int>& touched = touched_[static_cast<size_t>(node)];
    const graph::Interval operators = precedence.OperatorsOf(node);
    for (int i = operators.first; i <= operators.last; ++i) {
      const graph::Operator& op = graph.operators[static_cast<size_t>(i)];
      touched.insert(touched.end(), op.inputs.begin(), op.inputs.end());
      touched.insert(touched.end(), op.outputs.begin(), op.outputs.end());
      for (const int tensor : op.outputs)
        made_[static_cast<size_t>(node)] += bytes_[static_cast<size_t>(tensor)];
    }
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    std::erase_if(touched, [&graph](int tensor) {
      const graph::Tensor& facts = graph.tensors[static_cast<size_t>(tensor)];
      return facts.network_output || facts.state || facts.constant;
    });
    for (const int tensor : touched) readers_[static_cast<size_t>(tensor)].push_back(node);
  }
  for (size_t tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    if (graph.tensors[tensor].network_input || graph.tensors[tensor].state)
      at_start_ += bytes_[tensor];
  }
}

int64_t LiveBytes::PeakOf(std::span<const int> order) const {
  std::vector<bool> done(made_.size());
  int64_t live = at_start_;
  int64_t peak = live;
  for (const int node : order) {
    live += MadeBy(node);
    peak = std::max(peak, live);
    live -= FreedBy(node, [&done](int other) { return done[static_cast<size_t>(other)]; });
    done[static_cast<size_t>(node)] = true;
  }
  return peak;
}

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
  CutSearch(const Precedence& precedence, const LiveBytes& live, LiveGoal goal,
            const base::Stop& stop, size_t width)
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
  // Returns the cuts of the next size; empty after a stop.
  std::vector<Cut> Next(const std::vector<Cut>& cuts) const {
    std::vector<Cut> next;
    std::map<std::vector<bool>, size_t> known;
    for (size_t i = 0; i < cuts.size(); ++i) {
      if (stop_.Requested()) return {};
      for (int node = 0; node < static_cast<int>(precedence_.Count()); ++node) {
        if (!IsReady(cuts[i], node)) continue;
        Cut cut = After(cuts[i], node);
        cut.previous = i;
        const auto [place, fresh] = known.try_emplace(cut.done, next.size());
        if (fresh) {
          next.push_back(std::move(cut));
        } else if (IsBetter(cut, next[place->second])) {
          next[place->second] = std::move(cut);
        }
      }
    }
    std::stable_sort(next.begin(), next.end(),
                     [this](const Cut& a, const Cut& b) { return IsBetter(a, b); });
    if (next.size() > width_) next.resize(width_);
    return next;
  }

  bool IsReady(const Cut& cut, int node) const {
    const std::vector<int>& before = precedence_.Before(node);
    return !cut.done[static_cast<size_t>(node)] &&
           std::all_of(before.begin(), before.end(),
                       [&](int other) { return cut.done[static_cast<size_t>(other)]; });
  }

  Cut After(const Cut& cut, int node) const {
    Cut next = cut;
    next.node = node;
    next.live += live_.MadeBy(node);
    const int64_t held = next.live;
    next.live -=
        live_.FreedBy(node, [&cut](int other) { return cut.done[static_cast<size_t>(other)]; });
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

std::optional<Order> FindLeastLiveOrder(const Precedence& precedence, const LiveBytes& live,
                                        LiveGoal goal, const base::Stop& stop, size_t width) {
  return CutSearch(precedence, live, goal, stop, width).Run();
}

namespace {

class DepthFirst {
 public:
  DepthFirst(const Precedence& precedence, const LiveBytes& live, OperandOrder turn)
      : precedence_(precedence),
        nodes_(static_cast<int>(precedence.Count())),
        visited_(precedence.Count()) {
    for (int node = 0; node < nodes_; ++node) operands_.push_back(precedence.Before(node));
    if (turn == OperandOrder::kLast) {
      for (std::vector<int>& operands : operands_) std::reverse(operands.begin(), operands.end());
    } else if (turn == OperandOrder::kHungriest) {
      for (int node = 0; node < nodes_; ++node) SortOperands(live, node);
    }
  }

  Order Run() {
    for (int node = 0; node < nodes_; ++node) {
      if (precedence_.After(node).empty()) Visit(node);
    }
    return std::move(order_);
  }

 private:
  // The operands of a node are sorted before the node, because they precede it in the current
  // order.
  void SortOperands(const LiveBytes& live, int node) {
    std::vector<int>& operands = operands_[static_cast<size_t>(node)];
    const auto beyond = [&](int operand) {
      return needs_[static_cast<size_t>(operand)] - live.MadeBy(operand);
    };
    std::stable_sort(operands.begin(), operands.end(),
                     [&](int a, int b) { return beyond(a) > beyond(b); });
    int64_t held = 0;
    int64_t need = 0;
    for (const int operand : operands) {
      need = std::max(need, held + needs_[static_cast<size_t>(operand)]);
      held += live.MadeBy(operand);
    }
    needs_.push_back(std::max(need, held + live.MadeBy(node)));
  }

  // Walks with an explicit stack, because networks may be deep.
  void Visit(int sink) {
    std::vector<std::pair<int, size_t>> open = {
        {sink, 0}};  // nodes, and how many operands were looked at
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
  // By node: the most bytes that its walk needs; only for OperandOrder::kHungriest.
  std::vector<int64_t> needs_;
  std::vector<bool> visited_;
  Order order_;
};

}  // namespace

Order WalkDepthFirst(const Precedence& precedence, const LiveBytes& live, OperandOrder turn) {
  return DepthFirst(precedence, live, turn).Run();
}

Order WalkBreadthFirst(const Precedence& precedence, Pace pace) {
  const auto nodes = static_cast<int>(precedence.Count());
  std::vector<int64_t> keys(precedence.Count());
  const auto key = [&keys](int node) -> int64_t& { return keys[static_cast<size_t>(node)]; };
  if (pace == Pace::kEarliest) {
    for (int node = 0; node < nodes; ++node) {
      for (const int before : precedence.Before(node))
        key(node) = std::max(key(node), key(before) + 1);
    }
  } else {
    for (int node = nodes - 1; node >= 0; --node) {
      for (const int after : precedence.After(node))
        key(node) = std::min(key(node), key(after) - 1);
    }
  }
  return precedence.NearestTo(keys);
}

}  // namespace tessera::search::orders
