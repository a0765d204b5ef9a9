// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/search/engines/lazy/propagation.h"

// Bounds that raise each other
// ----------------------------
// If x lies 1 above y and y lies 1 above x, bounds propagation raises the two in turn, one unit at
// a time, up to the capacity. The same happens if alignments leave no common offset: a at multiples
// of 4 and b one above a, also at multiples of 4. Both are detected beforehand.
//
// Distances: a walk over the relations from the first buffer of each group determines the distance
// d of every member. A relation that closes a cycle must agree with the distances of its ends.
//
// Alignments: the first buffer's offset x must satisfy x + d = 0 modulo the alignment of every
// member. Two such congruences modulo m and n have a common solution if and only if their residues
// agree modulo gcd(m, n), and congruences that agree in pairs have a common solution (the Chinese
// remainder theorem, in its form for arbitrary moduli).
namespace tessera::search::engines::lazy {

namespace {

struct TieEdge {
  int to = 0;
  Bound distance = 0;
};

// Returns the fixed distances of each buffer. A relation consists of four differences (packing.cc):
// both directions, and each again as seen from the top.
std::vector<std::vector<TieEdge>> ExactDistances(const Packing& packing, const Axis& axis) {
  constexpr size_t kOfRelation = 4;
  std::vector<std::vector<TieEdge>> edges(static_cast<size_t>(packing.buffers));
  for (size_t first = 0; first < packing.differences.size(); first += kOfRelation) {
    const Difference& there = packing.differences[first];
    const Difference& back = packing.differences[first + 2];
    const Bound distance = DistanceOf(there, axis);
    if (DistanceOf(back, axis) != -distance) continue;
    const int a = IntegerOf(there.from);
    const int b = IntegerOf(there.to);
    edges[static_cast<size_t>(a)].push_back({b, distance});
    edges[static_cast<size_t>(b)].push_back({a, -distance});
  }
  return edges;
}

// The conditions that the members of one group impose on the offset of its first buffer.
class Congruences {
 public:
  // Returns whether the member's alignment has a common offset with each one added before.
  bool Add(Bound distance, Bound alignment) {
    const Bound residue = ((-distance) % alignment + alignment) % alignment;
    for (const auto& [modulus, other] : by_modulus_) {
      if ((residue - other) % std::gcd(modulus, alignment) != 0) return false;
    }
    by_modulus_.try_emplace(alignment, residue);
    return true;
  }

 private:
  std::map<Bound, Bound> by_modulus_;  // residue
};

}  // namespace

Ties FindTies(const Packing& packing, const Axis& axis) {
  const auto buffers = static_cast<size_t>(packing.buffers);
  Ties ties{std::vector<int>(buffers, -1), std::vector<Bound>(buffers), false};
  const std::vector<std::vector<TieEdge>> edges = ExactDistances(packing, axis);
  for (size_t first = 0; first < buffers; ++first) {
    if (ties.group[first] >= 0) continue;
    Congruences congruences;
    std::vector<size_t> members = {first};
    ties.group[first] = static_cast<int>(first);
    for (size_t next = 0; next < members.size(); ++next) {
      const size_t at = members[next];
      if (!congruences.Add(ties.distance[at], packing.alignment[at])) ties.contradict = true;
      for (const TieEdge& edge : edges[at]) {
        const auto to = static_cast<size_t>(edge.to);
        const Bound distance = ties.distance[at] + edge.distance;
        if (ties.group[to] < 0) {
          ties.group[to] = static_cast<int>(first);
          ties.distance[to] = distance;
          members.push_back(to);
        }
        if (ties.distance[to] != distance) ties.contradict = true;
      }
    }
  }
  return ties;
}

// Rising cycles (after Bellman 1958 and Ford 1956)
// ------------------------------------------------
// "i lies below j" requires offset(j) >= offset(i) + size(i); a tie requires offset(j) >= offset(i)
// + distance. The right side is rounded up to the alignment of j. If a cycle of such steps raises
// every offset, no offsets satisfy it, at any capacity:
//
//     a --colocated +8--> c         a below b: b >= a + 6
//     a below b below c             b below c: c >= b + 4
//                                   but a = c - 8: one iteration raises a by 6 + 4 - 8
//
// All offsets begin at 0 and are raised along every edge, round after round. The edges that last
// raised offsets may form cycles. Each cycle is then iterated from 0. Let L be a common multiple of
// the alignments. A solution of the cycle stays one when it is shifted by L. So if there is any
// solution, there is one from 0 to L - 1, and no round leads beyond it. A cycle that leads to L or
// higher is a contradiction.

namespace {

struct BoundEdge {
  int from = 0;
  int to = 0;
  Bound distance = 0;
  View order = -1;  // that holds; -1: a tie
};

class Graph {
 public:
  Graph(const Packing& packing, const Axis& axis, std::optional<int> start)
      : number_(static_cast<size_t>(packing.buffers), -1) {
    const Trail& trail = axis.trail();
    for (int buffer = 0; !start && buffer < packing.buffers; ++buffer)
      number_[static_cast<size_t>(buffer)] = nodes_++;
    for (int at = start.value_or(trail.Size()); at < trail.Size(); ++at) {
      const View view = trail.At(at).view;
      const auto buffer = static_cast<size_t>(IntegerOf(view));
      if ((view & 1) == 0 && buffer < number_.size() && number_[buffer] < 0)
        number_[buffer] = nodes_++;
    }
    alignment_.resize(static_cast<size_t>(nodes_), 1);
    for (size_t buffer = 0; buffer < number_.size(); ++buffer) {
      if (number_[buffer] >= 0)
        alignment_[static_cast<size_t>(number_[buffer])] = packing.alignment[buffer];
    }
    for (const Difference& tie : packing.differences) {
      if ((tie.from & 1) == 0)
        Add(IntegerOf(tie.from), IntegerOf(tie.to), DistanceOf(tie, axis), -1);
    }
    for (int buffer = 0; buffer < packing.buffers; ++buffer) {
      if (number_[static_cast<size_t>(buffer)] < 0) continue;
      for (const Neighbour& neighbour : packing.neighbours[buffer]) {
        if (trail.IsTrue(OrderLiteral(neighbour.below)))
          Add(buffer, neighbour.buffer, axis.Size(buffer), neighbour.below);
      }
    }
  }

  // Returns the edges of a contradiction; empty if none is found.
  std::vector<BoundEdge> FindContradiction() {
    std::vector<Bound> distance(static_cast<size_t>(nodes_));
    raised_by_.assign(static_cast<size_t>(nodes_), -1);
    for (int round = 0; round <= 2 * nodes_ + 2; ++round) {
      bool raises = false;
      for (size_t i = 0; i < edges_.size(); ++i) {
        const BoundEdge& edge = edges_[i];
        const Bound raised = Along(edge, distance[static_cast<size_t>(edge.from)]);
        if (raised <= distance[static_cast<size_t>(edge.to)]) continue;
        distance[static_cast<size_t>(edge.to)] = raised;
        raised_by_[static_cast<size_t>(edge.to)] = static_cast<int>(i);
        raises = true;
      }
      if (!raises) return {};
      for (std::vector<BoundEdge>& cycle : CyclesOfRaises()) {
        if (RisesForEver(cycle)) return std::move(cycle);
      }
    }
    return {};
  }

 private:
  void Add(int from, int to, Bound distance, View order) {
    const int a = number_[static_cast<size_t>(from)];
    const int b = number_[static_cast<size_t>(to)];
    if (a >= 0 && b >= 0) edges_.push_back({a, b, distance, order});
  }

  Bound Along(const BoundEdge& edge, Bound offset) const {
    return base::RoundUp(offset + edge.distance, alignment_[static_cast<size_t>(edge.to)]);
  }

  // Each node has at most one edge that raised it, so walks backwards from all nodes find all
  // cycles. A cycle begins with the edge into one of its nodes, and goes backwards.
  std::vector<std::vector<BoundEdge>> CyclesOfRaises() const {
    std::vector<std::vector<BoundEdge>> cycles;
    std::vector<int> seen_from(static_cast<size_t>(nodes_), -1);
    for (int start = 0; start < nodes_; ++start) {
      int node = start;
      while (seen_from[static_cast<size_t>(node)] < 0 &&
             raised_by_[static_cast<size_t>(node)] >= 0) {
        seen_from[static_cast<size_t>(node)] = start;
        node = EdgeInto(node).from;
      }
      if (seen_from[static_cast<size_t>(node)] != start) continue;
      std::vector<BoundEdge>& cycle = cycles.emplace_back();
      const int last = node;
      do {
        cycle.push_back(EdgeInto(node));
        node = cycle.back().from;
      } while (node != last);
    }
    return cycles;
  }

  // A round that begins at the greatest alignment raises by at least this much.
  bool RisesForEver(std::vector<BoundEdge> cycle) const {
    constexpr int kMostRounds = 1'000;
    const auto alignment_of = [this](const BoundEdge& edge) {
      return alignment_[static_cast<size_t>(edge.to)];
    };
    std::rotate(cycle.begin(),
                std::max_element(cycle.begin(), cycle.end(),
                                 [&](const BoundEdge& a, const BoundEdge& b) {
                                   return alignment_of(a) < alignment_of(b);
                                 }),
                cycle.end());
    Bound common = 1;
    for (const BoundEdge& edge : cycle) {
      const auto product =
          base::CheckedMul(common, alignment_of(edge) / std::gcd(common, alignment_of(edge)));
      if (!product) return false;
      common = *product;
    }
    Bound offset = 0;
    for (int round = 0; round < kMostRounds && offset < common; ++round) {
      const Bound before = offset;
      for (auto edge = cycle.rbegin(); edge != cycle.rend(); ++edge) offset = Along(*edge, offset);
      if (offset <= before) return false;
    }
    return offset >= common;
  }

  const BoundEdge& EdgeInto(int node) const {
    return edges_[static_cast<size_t>(raised_by_[static_cast<size_t>(node)])];
  }

  std::vector<int> number_;  // of each buffer among the nodes; -1: none
  int nodes_ = 0;
  std::vector<Bound> alignment_;  // of each node
  std::vector<BoundEdge> edges_;
  std::vector<int> raised_by_;  // of each node: the edge
};

}  // namespace

bool RefuteCycle(const Packing& packing, const Axis& axis, std::optional<int> start) {
  const std::vector<BoundEdge> cycle = Graph(packing, axis, start).FindContradiction();
  if (cycle.empty()) return true;
  Trail& trail = axis.trail();
  trail.OpenReason();
  for (const BoundEdge& edge : cycle) {
    if (edge.order >= 0) trail.Because(OrderLiteral(edge.order));
  }
  return trail.Refute(trail.CloseReason(Reason::Kind::kLiterals));
}

}  // namespace tessera::search::engines::lazy
