#include "tessera/encoder/lazy/ties.h"

#include <map>
#include <numeric>
#include <utility>

// Bounds that chase each other
// ----------------------------
// If x lies 1 above y and y lies 1 above x, bounds propagation raises the two in turn, one unit at a time, up to the
// capacity. The same happens where alignments leave no common offset: a at multiples of 4 and b one above a, also at
// multiples of 4. Both are found beforehand.
//
// Distances: a walk over the relations from the first buffer of each group gives every member its
// distance d. A relation that closes a cycle must agree with the distances of its ends.
//
// Alignments: the first buffer's offset x must satisfy x + d = 0 modulo the alignment of every
// member. Two such congruences modulo m and n have a common solution exactly if their residues
// agree modulo gcd(m, n), and congruences that agree in pairs have a solution in common (the
// Chinese remainder theorem, in its form for any moduli).
namespace tessera::encoder::lazy {
namespace {

struct TieEdge {
  int to = 0;
  Bound distance = 0;
};

// Of each buffer. A relation is stated as four differences (packing.cc): there and back, each once
// more from the top.
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

// What the members of one group ask of the offset of its first buffer.
class Congruences {
 public:
  // Whether the member's alignment leaves a common offset with each one added before.
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

}  // namespace tessera::encoder::lazy
