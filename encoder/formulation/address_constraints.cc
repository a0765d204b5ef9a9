// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/formulation/address_constraints.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/rule_definition.h"
#include "tessera/problem/structure.h"

// Granularities
// -------------
// Real buffers have sizes that are multiples of 16 or 1024 bytes. A solver that counts bytes wastes
// bits on addresses that cannot matter. Let g divide every size (for all candidates), every fixed
// offset, delta, reserved and bank boundary, and every alignment above 1. Take any solution and
// round each offset down to a multiple of g:
//
//        g       g       g       g
//     |.......|.......|.......|.......|
//     |   [=======a=======]   |       |    before: from o to o + size
//     [=======a=======]       |       |    after: g divides the size, so both ends move down by the
//                                          same amount, less than g; neither passes a multiple of g
//
// floor(o_a) + s_a = floor(o_a + s_a) <= floor(o_b) whenever o_a + s_a <= o_b, so pairs stay
// disjoint. Boundaries at multiples of g stay uncrossed. Aligned and fixed offsets do not move.
// Colocated offsets move by the same amount. Ends only decrease, so the capacity holds, even
// rounded down to a multiple of g, because every rounded end is a multiple. A buffer may leave the
// highest bank that it touched and enters none; so modes, ports, allowed and different banks still
// hold. Two constraints can break. For these an alignment of 1 counts as well, which makes g = 1:
// - same bank, if one of the two leaves a bank that the other keeps (not if both are kSingle);
// - adjacent, if the second is aligned and the first is not: up(o + s) changes, the second does
//   not.
// A hint is not a constraint: it is rounded down like any offset.
//
// The restrictions of rules are covered as follows. Remainders and distances hold if g divides them
// and their moduli: then both offsets of a pair move by the same amount. The same applies to
// margins and windows that g divides. Flipped address bits need g to be a power of two: clearing
// low bits in which two offsets agree changes no XOR. Clauses that only forbid banks hold as above.
// Clauses that demand a bank, same banks and common distances need exact starts.
namespace tessera::encoder::formulation {
namespace {

using problem::AddressRange;
using problem::Buffer;
using problem::Bytes;
using problem::Memory;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;
using problem::Rule;
using problem::Span;

constexpr Bytes kBeyond = std::numeric_limits<Bytes>::max();
constexpr int64_t kWorkBetweenPolls = 1 << 16;  // pairs: about a millisecond

const Memory& MemoryOf(const Problem& problem, const Buffer& buffer) {
  return problem.memories[static_cast<size_t>(buffer.memory)];
}

const Buffer& BufferAt(const Problem& problem, int index) {
  return problem.buffers[static_cast<size_t>(index)];
}

// Whether rounding the two buffers of `relation` down by different amounts could break it: see
// above.
bool NeedsExactStart(const Problem& problem, const Relation& relation) {
  const Buffer& first = BufferAt(problem, relation.first);
  const Buffer& second = BufferAt(problem, relation.second);
  if (relation.kind == RelationKind::kAdjacent) return AlignmentOf(problem, second) > 1;
  const bool both_single = first.span == Span::kSingle && second.span == Span::kSingle;
  return relation.kind == RelationKind::kSameBank && !both_single &&
         !MemoryOf(problem, first).banks.empty();
}

bool MayShare(RelationKind kind) {
  return kind == RelationKind::kColocate || kind == RelationKind::kExclusive;
}

template <typename Predicate>
std::set<std::pair<int, int>> RelatedPairs(const Problem& problem, Predicate predicate) {
  std::set<std::pair<int, int>> pairs;
  for (const Relation& relation : problem.relations) {
    if (predicate(relation.kind)) pairs.insert(std::minmax(relation.first, relation.second));
  }
  return pairs;
}

// Pairs that a relation keeps disjoint in any case, or allows to share bytes: that they live
// together adds no constraint.
std::set<std::pair<int, int>> ExemptPairs(const Problem& problem) {
  return RelatedPairs(
      problem, [](RelationKind kind) { return MayShare(kind) || kind == RelationKind::kAdjacent; });
}

// The partners of each buffer in pairs (i < j), in lists of ascending order. A list of all pairs
// would be sorted as a whole, which takes long without a poll of the stop.
class PairLists {
 public:
  explicit PairLists(size_t buffers) : partners_(buffers) {}

  void Add(int a, int b) {
    partners_[static_cast<size_t>(std::min(a, b))].push_back(std::max(a, b));
    ++size_;
  }
  size_t Size() const { return size_; }

  // Each pair once, ascending. Incomplete after a stop.
  std::vector<std::pair<int, int>> Join(base::PolledWork& work) {
    std::vector<std::pair<int, int>> pairs;
    pairs.reserve(size_);
    for (size_t i = 0; i < partners_.size(); ++i) {
      std::vector<int>& partners = partners_[i];
      if (!work.Continues(1 + static_cast<int64_t>(partners.size()))) return pairs;
      std::sort(partners.begin(), partners.end());
      partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
      for (const int j : partners) pairs.emplace_back(static_cast<int>(i), j);
    }
    return pairs;
  }

 private:
  std::vector<std::vector<int>> partners_;
  size_t size_ = 0;
};

// Sweeps over the starts of the hulls of lives. Buffers that have ended leave the list of live
// ones. Returns false if there are more pairs than `limit`, or after a stop.
bool CollectDisjointPairs(const Problem& problem, size_t limit, base::PolledWork& work,
                          PairLists& pairs) {
  const std::set<std::pair<int, int>> exempt = ExemptPairs(problem);
  std::vector<int> order(problem.buffers.size());
  std::iota(order.begin(), order.end(), 0);
  const auto start = [&problem](int i) { return BufferAt(problem, i).lifespans.front().lower; };
  std::stable_sort(order.begin(), order.end(),
                   [&start](int a, int b) { return start(a) < start(b); });
  std::vector<int> living;
  for (const int i : order) {
    if (!work.Continues(1 + static_cast<int64_t>(living.size()))) return false;
    std::erase_if(living,
                  [&](int j) { return BufferAt(problem, j).lifespans.back().upper <= start(i); });
    for (const int j : living) {
      const Buffer& a = BufferAt(problem, i);
      const Buffer& b = BufferAt(problem, j);
      if (a.memory != b.memory || !LiveTogether(a, b) || exempt.contains(std::minmax(i, j)))
        continue;
      pairs.Add(i, j);
      if (pairs.Size() >= limit) return false;
    }
    living.push_back(i);
  }
  return true;
}

// A bank that a kAny buffer must avoid is a forbidden range. With the other spans, a buffer must
// lie inside the union of the allowed banks: the gaps between these are forbidden, and kSingle may
// not cross the boundary where two of them touch.
std::vector<AddressRange> ForbiddenRanges(const Memory& memory, const Buffer& buffer) {
  std::vector<AddressRange> forbidden;
  for (const problem::Reserved& reserved : memory.reserved) forbidden.push_back(reserved.range);
  if (memory.banks.empty()) return forbidden;

  std::vector<AddressRange> allowed;
  for (size_t b = 0; b < memory.banks.size(); ++b) {
    const std::vector<int>& list = buffer.allowed_banks;
    const bool may =
        list.empty() || std::binary_search(list.begin(), list.end(), static_cast<int>(b));
    if (may) allowed.push_back(memory.banks[b].range);
    if (!may && buffer.span == Span::kAny) forbidden.push_back(memory.banks[b].range);
  }
  if (buffer.span == Span::kAny) return forbidden;

  std::sort(allowed.begin(), allowed.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  Bytes covered = 0;
  for (const AddressRange& range : allowed) {
    const bool boundary = range.begin == covered && covered > 0;
    if (range.begin > covered || (boundary && buffer.span == Span::kSingle))
      forbidden.push_back({covered, range.begin});
    covered = range.end;
  }
  forbidden.push_back({covered, kBeyond});
  return forbidden;
}

// Computes the greatest common divisor of its inputs.
class Divisor {
 public:
  void Include(Bytes value) { divisor_ = std::gcd(divisor_, value); }
  void Include(const AddressRange& range) {
    Include(range.begin);
    Include(range.end);
  }
  void IncludePowersOfTwoOnly() { divisor_ &= -divisor_; }
  Bytes Value() const { return std::max<Bytes>(divisor_, 1); }

 private:
  Bytes divisor_ = 0;
};

void IncludeAlignment(const Problem& problem, int buffer, Divisor& divisor) {
  divisor.Include(AlignmentOf(problem, BufferAt(problem, buffer)));
}

// The numbers that the granularity must divide because of one restriction.
class DivisorTerms {
 public:
  DivisorTerms(const Problem& problem, Divisor& divisor) : problem_(problem), divisor_(divisor) {}

  void operator()(const problem::Remainder& remainder) const {
    if (remainder.modulus == 1) return;
    divisor_.Include(remainder.modulus);
    divisor_.Include(remainder.least);
  }
  void operator()(const problem::Inside& inside) const { divisor_.Include(inside.window.begin); }
  void operator()(const problem::Margins& margins) const {
    divisor_.Include(margins.guard.before);
    divisor_.Include(margins.guard.after);
  }
  void operator()(const problem::BankClause& clause) const {
    if (!MayBreakByShrinking(clause)) return;
    for (const problem::BankLiteral& one : clause.any)
      IncludeAlignment(problem_, one.buffer, divisor_);
  }
  void operator()(const problem::OneBankSet& /*one*/) const {}
  void operator()(const Relation& relation) const {
    if (relation.kind == RelationKind::kSameBank) Exactly(relation.first, relation.second);
  }
  void operator()(const problem::ModularDistance& difference) const {
    if (difference.modulus == 1) return;
    divisor_.Include(difference.modulus);
    divisor_.Include(difference.residue);
  }
  void operator()(const problem::FixedDistance& fixed) const { divisor_.Include(fixed.distance); }
  void operator()(const problem::FlippedBits& flipped) const {
    divisor_.Include(flipped.bits);
    divisor_.IncludePowersOfTwoOnly();
  }
  void operator()(const problem::CommonDistance& common) const {
    Exactly(common.first, common.second);
  }

 private:
  void Exactly(int first, int second) const {
    IncludeAlignment(problem_, first, divisor_);
    IncludeAlignment(problem_, second, divisor_);
  }

  const Problem& problem_;
  Divisor& divisor_;
};

void IncludeRule(const Problem& problem, const problem::Ladder* ladder, const Rule& rule,
                 Divisor& divisor) {
  const DivisorTerms divisors(problem, divisor);
  for (const problem::RuleItem& item : ItemsOf(rule)) {
    std::vector<Bytes> sizes = SizesOf(problem, ladder, static_cast<size_t>(item.first));
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    for (const Bytes size : sizes) {
      for (const problem::Restriction& restriction : RestrictionsOn(problem, rule, item, size))
        std::visit(divisors, restriction);
    }
  }
}

// Merges two grids. Returns whether one residue modulo the least common multiple is equivalent to
// both. False if that multiple overflows, if the grids contradict each other, or if the search for
// the residue would be long.
bool Merge(Grid& grid, Bytes multiple, Bytes residue) {
  if (multiple % grid.multiple == 0) {
    if (residue % grid.multiple != grid.residue) return false;
    grid = {multiple, residue};
    return true;
  }
  constexpr Bytes kMostSteps = 1 << 12;
  const Bytes shared = std::gcd(grid.multiple, multiple);
  const std::optional<Bytes> merged = base::CheckedMul(grid.multiple / shared, multiple);
  if (!merged || multiple / shared > kMostSteps) return false;
  for (Bytes start = grid.residue; start < *merged; start += grid.multiple) {
    if (start % multiple != residue) continue;
    grid = {*merged, start};
    return true;
  }
  return false;
}

// Alignments, and the residues of offsets that hold for every candidate and every size. Those that
// do not merge are left to clauses.
std::vector<Grid> GridsOf(const Problem& problem, const problem::Ladder* ladder) {
  std::vector<Grid> grids;
  for (const Buffer& buffer : problem.buffers) grids.push_back({AlignmentOf(problem, buffer), 0});
  for (const Rule& rule : problem.rules) {
    for (const problem::RuleItem& item : ItemsOf(rule)) {
      const std::vector<Bytes> sizes = SizesOf(problem, ladder, static_cast<size_t>(item.first));
      const bool every = std::all_of(sizes.begin(), sizes.end(),
                                     [&](Bytes size) { return rule.sizes.Holds(size); });
      if (!every) continue;
      for (const problem::Restriction& restriction :
           RestrictionsOn(problem, rule, item, sizes.front())) {
        const auto* remainder = std::get_if<problem::Remainder>(&restriction);
        if (remainder == nullptr || remainder->of_size || remainder->least != remainder->most)
          continue;
        Merge(grids[static_cast<size_t>(item.first)], remainder->modulus, remainder->least);
      }
    }
  }
  return grids;
}

}  // namespace

Bytes GranularityOf(const Problem& problem, const problem::Ladder* ladder, int memory) {
  const Memory& home = problem.memories[static_cast<size_t>(memory)];
  Divisor divisor;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (buffer.memory != memory) continue;
    for (const Bytes size : SizesOf(problem, ladder, i)) divisor.Include(size);
    if (buffer.offset) divisor.Include(*buffer.offset);
    if (const Bytes alignment = AlignmentOf(problem, buffer); alignment > 1)
      divisor.Include(alignment);
  }
  for (const problem::Reserved& reserved : home.reserved) divisor.Include(reserved.range);
  for (const problem::Bank& bank : home.banks) divisor.Include(bank.range);
  for (const Relation& relation : problem.relations) {
    if (BufferAt(problem, relation.first).memory != memory) continue;
    if (relation.kind == RelationKind::kColocate) divisor.Include(relation.delta);
    if (!NeedsExactStart(problem, relation)) continue;
    IncludeAlignment(problem, relation.first, divisor);
    if (relation.kind == RelationKind::kSameBank)
      IncludeAlignment(problem, relation.second, divisor);
  }
  for (const Rule& rule : problem.rules) {
    if (BufferAt(problem, ItemAt(rule, 0).first).memory == memory)
      IncludeRule(problem, ladder, rule, divisor);
  }
  return divisor.Value();
}

AddressConstraints FindAddressConstraints(const Problem& problem, const problem::Ladder* ladder,
                                          size_t most_pairs, const base::Stop* stop) {
  AddressConstraints address_constraints;
  address_constraints.pair_limit = most_pairs;
  for (size_t m = 0; m < problem.memories.size(); ++m) {
    address_constraints.granularities.push_back(
        GranularityOf(problem, ladder, static_cast<int>(m)));
  }
  for (const Buffer& buffer : problem.buffers) {
    address_constraints.forbidden.push_back(ForbiddenRanges(MemoryOf(problem, buffer), buffer));
  }
  address_constraints.grids = GridsOf(problem, ladder);
  address_constraints.may_share = RelatedPairs(problem, MayShare);
  base::PolledWork work(stop, kWorkBetweenPolls);
  PairLists pairs(problem.buffers.size());
  const bool complete = CollectDisjointPairs(problem, most_pairs, work, pairs);
  address_constraints.too_many_pairs = !complete && !work.IsCutOff();
  for (const Relation& relation : problem.relations) {
    if (relation.kind == RelationKind::kSeparate) pairs.Add(relation.first, relation.second);
  }
  address_constraints.disjoint = pairs.Join(work);
  return address_constraints;
}

std::vector<Bytes> LoadOf(const Problem& problem) {
  std::vector<bool> shares(problem.buffers.size(), false);
  for (const auto& [first, second] : RelatedPairs(problem, MayShare)) {
    shares[static_cast<size_t>(first)] = true;
    shares[static_cast<size_t>(second)] = true;
  }
  struct Change {
    problem::Step step;
    Bytes bytes;  // an end precedes a start at the same step: negative first
  };
  std::vector<std::vector<Change>> changes(problem.memories.size());
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (shares[i]) continue;
    for (const problem::Lifespan& life : buffer.lifespans) {
      changes[static_cast<size_t>(buffer.memory)].push_back({life.lower, buffer.size});
      changes[static_cast<size_t>(buffer.memory)].push_back({life.upper, -buffer.size});
    }
  }
  std::vector<Bytes> loads;
  for (std::vector<Change>& list : changes) {
    std::sort(list.begin(), list.end(), [](const Change& a, const Change& b) {
      return std::pair(a.step, a.bytes) < std::pair(b.step, b.bytes);
    });
    Bytes now = 0;
    Bytes most = 0;
    for (const Change& change : list) most = std::max(most, now += change.bytes);
    loads.push_back(most);
  }
  return loads;
}

}  // namespace tessera::encoder::formulation
