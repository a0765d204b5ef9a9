// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/formulation/refinements.h"

// Normal patterns (Herz 1972; Christofides and Whitlock 1977), with banks
// -----------------------------------------------------------------------
// Take a solution and let one buffer after the other slide down until it meets an obstacle. At its
// end position it rests on something, and that leaves few positions:
//
//     ^   |   c   |               c rests on e, e on f, f on the bottom:
//     |   '-------'                   offset of c = size of f + size of e
//     |     |    e    |           d cannot leave its bank from below:
//     |  .--'---------'--bank         offset of d = begin of the bank
//     |  | d |  |  f  |
//     '--'---'--'-----'------> time
//
// Formally: consider all solutions (placement and schedule) that differ from a given one only by
// moving buffers down, and take one with the least sum of offsets. It exists, because offsets are
// natural numbers. A move of buffer c down by its alignment a, from o to o - a, would keep every
// constraint except one of the following, so one of them forbids it:
//
// - o < a, so o is 0;
// - a buffer e that must share no byte with c then overlaps c. It did not before, so its end lies
//   in (o - a, o];
// - a forbidden range [p, q) (a reserved range, a bank that is not allowed, a gap between allowed
//   ones; for a boundary p = q) then overlaps c, so q lies in (o - a, o];
// - c then touches a bank [p, q) that it did not touch, so q lies in (o - a, o]. If it touches no
//   new bank, modes, ports and banks that must differ hold as before, because all of these only
//   forbid touching.
//
// In each case o = up(x, a) for x = 0, an end of e, or q. The least sets that are closed under
// these steps, from below, contain every such solution. Ends are sums of sizes; so if sizes are few
// and large, positions are few.
//
// Buffers that slide: those without fixed offset that no colocate, adjacent or same-bank relation
// and no rule names, because these also require distances, or touching. If a buffer that must not
// slide is not fixed either, its end may be anywhere; then its whole memory is not restricted. A
// Problem with costs keeps all positions, because a move down may have a cost. So does a Problem
// with guard bytes, on which other buffers rest.
//
// No buffer occurs twice in such a chain of supports. Only this part of that fact is used, because
// it has no cost: if e can lie at an offset only because of c, c does not rest on it there.
//
// Each candidate has its own sets; their union is valid for the ladder.
namespace tessera::encoder::formulation {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::RelationKind;

// With more positions, sums of sizes are as dense as all multiples of the granularity, and finding
// them costs more than it saves.
constexpr size_t kMostPositions = 100;

// Limit on the supports of all buffers: more take seconds, and such a formula is large anyway.
constexpr int64_t kMostSupports = 2'000'000;
constexpr size_t kBetweenLooks = 64;  // positions between two polls of the stop

constexpr int kSeveral = -1;  // or a boundary, which is not a buffer

std::vector<bool> FindMovable(const Problem& problem) {
  std::vector<bool> movable;
  for (const problem::Buffer& buffer : problem.buffers)
    movable.push_back(!buffer.offset.has_value());
  const auto pin = [&movable](int buffer) { movable[static_cast<size_t>(buffer)] = false; };
  for (const problem::Relation& relation : problem.relations) {
    const bool asks = relation.kind == RelationKind::kColocate ||
                      relation.kind == RelationKind::kAdjacent ||
                      relation.kind == RelationKind::kSameBank;
    if (!asks) continue;
    pin(relation.first);
    pin(relation.second);
  }
  for (const problem::Rule& rule : problem.rules) {
    for (const int buffer : rule.buffers) pin(buffer);
    for (const auto& [first, second] : rule.pairs) pin(first), pin(second);
  }
  return movable;
}

// The positions of one memory's buffers for one candidate. They are found in ascending order, so
// that everything on which an offset can rest is known before it.
class Closure {
 public:
  Closure(const Problem& problem, const AddressConstraints& address_constraints,
          const std::vector<bool>& movable, const std::vector<std::vector<size_t>>& neighbours,
          const std::vector<Bytes>& sizes, int memory, Bytes ceiling, const base::Stop& stop)
      : problem_(problem),
        address_constraints_(address_constraints),
        movable_(movable),
        neighbours_(neighbours),
        sizes_(sizes),
        memory_(memory),
        granularity_(address_constraints.granularities[static_cast<size_t>(memory)]),
        granularities_(ceiling / granularity_),
        stop_(stop) {}

  // Adds to the positions of each buffer. False if some buffer has too many or must not be moved at
  // all, if there are too many in total, and after a stop.
  bool Find(std::vector<std::set<Bytes>>& positions) {
    for (size_t i = 0; i < sizes_.size(); ++i) {
      if (problem_.buffers[i].memory == memory_ && !ReachBases(i)) return false;
    }
    int64_t supports = 0;
    for (size_t done = 0; !reached_.empty(); ++done) {
      if (done % kBetweenLooks == 0 && stop_.Requested()) return false;
      const auto [offset, buffer, support] = TakeLowest();
      positions[buffer].insert(offset);
      supports += static_cast<int64_t>(neighbours_[buffer].size());
      if (positions[buffer].size() > kMostPositions || supports > kMostSupports) return false;
      for (const size_t other : neighbours_[buffer]) {
        const bool rests = movable_[other] && static_cast<int>(other) != support;
        if (rests) Reach(other, offset + sizes_[buffer] / granularity_, static_cast<int>(buffer));
      }
    }
    return true;
  }

 private:
  struct Reached {
    Bytes offset = 0;
    size_t buffer = 0;
    int support = kSeveral;  // the only buffer that it can rest on

    bool IsAt(const Reached& other) const {
      return offset == other.offset && buffer == other.buffer;
    }
    friend bool operator>(const Reached& a, const Reached& b) {
      return std::pair(a.offset, a.buffer) > std::pair(b.offset, b.buffer);
    }
  };

  Bytes StepOf(size_t buffer) const {
    return std::max<Bytes>(1, AlignmentOf(problem_, problem_.buffers[buffer]) / granularity_);
  }

  // The least position at or above `bottom`, for that support.
  void Reach(size_t buffer, Bytes bottom, int support) {
    if (bottom > granularities_) return;
    const Bytes offset = base::RoundUp(bottom, StepOf(buffer));
    if (offset + sizes_[buffer] / granularity_ > granularities_) return;
    reached_.push({offset, buffer, support});
  }

  // Removes the lowest place of all buffers, with all its supports.
  Reached TakeLowest() {
    Reached lowest = reached_.top();
    while (!reached_.empty() && reached_.top().IsAt(lowest)) {
      if (reached_.top().support != lowest.support) lowest.support = kSeveral;
      reached_.pop();
    }
    return lowest;
  }

  bool ReachBases(size_t buffer) {
    if (const std::optional<Bytes>& fixed = problem_.buffers[buffer].offset) {
      reached_.push({*fixed / granularity_, buffer, kSeveral});
      return true;
    }
    if (!movable_[buffer]) return false;
    Reach(buffer, 0, kSeveral);
    for (const problem::AddressRange& range : address_constraints_.forbidden[buffer]) {
      Reach(buffer, range.end / granularity_, kSeveral);
    }
    for (const problem::Bank& bank : problem_.memories[static_cast<size_t>(memory_)].banks) {
      Reach(buffer, bank.range.end / granularity_, kSeveral);
    }
    return true;
  }

  const Problem& problem_;
  const AddressConstraints& address_constraints_;
  const std::vector<bool>& movable_;
  const std::vector<std::vector<size_t>>& neighbours_;
  const std::vector<Bytes>& sizes_;
  int memory_;
  Bytes granularity_;
  Bytes granularities_;  // of the memory
  const base::Stop& stop_;
  // Pending places, the lowest first. A place that was reached from several supports is there
  // several times.
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> reached_;
};

// Incomplete after a stop.
std::vector<std::vector<size_t>> FindNeighbours(const Problem& problem,
                                                const AddressConstraints& address_constraints,
                                                const base::Stop& stop) {
  std::vector<std::vector<size_t>> neighbours(problem.buffers.size());
  base::PolledWork work(&stop, 1 << 16);
  for (const auto& [i, j] : address_constraints.disjoint) {
    if (!work.Continues()) break;
    neighbours[static_cast<size_t>(i)].push_back(static_cast<size_t>(j));
    neighbours[static_cast<size_t>(j)].push_back(static_cast<size_t>(i));
  }
  return neighbours;
}

std::vector<std::vector<Bytes>> SizesByCandidate(const Problem& problem,
                                                 const problem::Ladder* ladder) {
  std::vector<std::vector<Bytes>> sizes;
  if (ladder != nullptr) {
    for (const problem::CandidateSizes& candidate : ladder->candidates)
      sizes.push_back(candidate.sizes);
    return sizes;
  }
  for (const problem::Buffer& buffer : problem.buffers) {
    if (sizes.empty()) sizes.emplace_back();
    sizes.front().push_back(buffer.size);
  }
  return sizes;
}

}  // namespace

std::vector<std::vector<Bytes>> FindNormalPositions(const Problem& problem,
                                                    const problem::Ladder* ladder,
                                                    const AddressConstraints& address_constraints,
                                                    const std::vector<Bytes>& ceilings,
                                                    const base::Stop& stop) {
  std::vector<std::vector<Bytes>> positions(problem.buffers.size());
  const bool guards = std::any_of(
      problem.rules.begin(), problem.rules.end(),
      [](const problem::Rule& rule) { return problem::TraitsOf(rule.requirement.kind).guards; });
  if (guards || !problem.costs.empty()) return positions;
  const std::vector<bool> movable = FindMovable(problem);
  const std::vector<std::vector<size_t>> neighbours =
      FindNeighbours(problem, address_constraints, stop);
  std::vector<std::set<Bytes>> found(problem.buffers.size());
  std::vector<bool> few(problem.memories.size(), true);
  for (const std::vector<Bytes>& sizes : SizesByCandidate(problem, ladder)) {
    for (size_t m = 0; m < problem.memories.size(); ++m) {
      Closure closure(problem, address_constraints, movable, neighbours, sizes, static_cast<int>(m),
                      ceilings[m], stop);
      few[m] = few[m] && closure.Find(found);
    }
  }
  for (size_t i = 0; i < found.size(); ++i) {
    const bool distinguishes = movable[i] && few[static_cast<size_t>(problem.buffers[i].memory)];
    if (distinguishes) positions[i].assign(found[i].begin(), found[i].end());
  }
  return positions;
}

}  // namespace tessera::encoder::formulation
