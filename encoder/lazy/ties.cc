#include "tessera/encoder/lazy/ties.h"

#include <fmt/format.h>

#include <map>
#include <numeric>
#include <utility>

// Bounds that chase each other
// ----------------------------
// If x lies 1 above y and y lies 1 above x, bounds propagation raises the two in turn, one unit at a time, up to the
// capacity. The same happens where alignments leave no common offset: a at multiples of 4 and b one above a, also at
// multiples of 4. Both are found beforehand.
//
// Distances: a walk over the relations from the first buffer of each group gives every member its distance d. A
// relation that closes a cycle must agree with the distances of its ends.
//
// Alignments: the first buffer's offset x must satisfy x + d = 0 modulo the alignment of every member. Two such
// congruences modulo m and n have a common solution exactly if their residues agree modulo gcd(m, n), and congruences
// that agree in pairs have a solution in common (the Chinese remainder theorem, in its form for any moduli).
namespace tessera::encoder::lazy {
namespace {

struct Edge {
  int to = 0;
  Bound distance = 0;
};

std::string Apart(const problem::Problem& problem, int first, int second, problem::Bytes bytes) {
  return fmt::format("'{}' would lie {} bytes above '{}'", problem.buffers[static_cast<size_t>(second)].id,
                     bytes, problem.buffers[static_cast<size_t>(first)].id);
}

// The members of one group, with what they ask of the offset of its first buffer.
class Congruences {
 public:
  // The member with which this one has no common offset; -1 if there is none.
  int Add(int member, Bound distance, Bound alignment) {
    const Bound residue = ((-distance) % alignment + alignment) % alignment;
    for (const auto& [modulus, other] : by_modulus_) {
      if ((residue - other.first) % std::gcd(modulus, alignment) != 0) return other.second;
    }
    by_modulus_.try_emplace(alignment, residue, member);
    return -1;
  }

 private:
  std::map<Bound, std::pair<Bound, int>> by_modulus_;  // residue, and a member that asks for it
};

}  // namespace

Ties FindTies(const problem::Problem& problem, const std::vector<Bound>& alignment, problem::Bytes granule) {
  const size_t buffers = problem.buffers.size();
  Ties ties{std::vector<int>(buffers, -1), std::vector<Bound>(buffers), {}};
  std::vector<std::vector<Edge>> edges(buffers);
  for (const problem::Relation& relation : problem.relations) {
    if (relation.kind != problem::RelationKind::kColocate) continue;
    const Bound delta = relation.delta / granule;
    edges[static_cast<size_t>(relation.first)].push_back({relation.second, delta});
    edges[static_cast<size_t>(relation.second)].push_back({relation.first, -delta});
  }
  for (size_t first = 0; first < buffers; ++first) {
    if (ties.group[first] >= 0) continue;
    Congruences congruences;
    std::vector<int> members = {static_cast<int>(first)};
    ties.group[first] = static_cast<int>(first);
    for (size_t next = 0; next < members.size(); ++next) {
      const auto at = static_cast<size_t>(members[next]);
      const int other = congruences.Add(members[next], ties.distance[at], alignment[at]);
      if (other >= 0 && ties.contradiction.empty()) {
        const Bound apart = ties.distance[at] - ties.distance[static_cast<size_t>(other)];
        ties.contradiction =
            Apart(problem, other, members[next], apart * granule) + ", which their alignments rule out";
      }
      for (const Edge& edge : edges[at]) {
        const auto to = static_cast<size_t>(edge.to);
        const Bound distance = ties.distance[at] + edge.distance;
        if (ties.group[to] < 0) {
          ties.group[to] = static_cast<int>(first);
          ties.distance[to] = distance;
          members.push_back(edge.to);
        } else if (ties.distance[to] != distance && ties.contradiction.empty()) {
          ties.contradiction =
              fmt::format("{}, and {} bytes above it",
                          Apart(problem, static_cast<int>(first), edge.to, distance * granule),
                          ties.distance[to] * granule);
        }
      }
    }
  }
  return ties;
}

}  // namespace tessera::encoder::lazy
