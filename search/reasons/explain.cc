// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/reasons/explain.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/formulation/address_constraints.h"
#include "tessera/search/reasons/query.h"

// Finds changes that make the query feasible.
//
// Every change is first tried at its maximum: all capacity that could be useful, no alignment, no
// limit of ports. If that does not help, no smaller change does. Otherwise the least change is
// found: capacities by bisection, in which each placement lowers the upper end to its peak, and
// each failure raises the lower end; alignments among the divisors, largest first; ports one by
// one. If an adjacent relation rounds up to an alignment, the alignment moves the neighbour; so
// every divisor is tried, whether or not the alignment is one of the conditions.
//
//     infeasible ]........ bound ...... probe ...... peak [ feasible
//
// A probe that stays unknown counts as infeasible in the search, but the result is then not called
// least.
namespace tessera::search::reasons {

using problem::Bytes;
using problem::ChangeKind;
using problem::Condition;
using problem::ConditionKind;
using problem::Result;
using problem::Status;

namespace {

constexpr Bytes kMostDivisors = 1 << 16;  // trial divisors of an alignment

// Returns proper divisors, largest first: all of them for numbers up to 2^32; for larger ones,
// those of which the divisor or its cofactor is at most 2^16.
std::vector<Bytes> DivisorsOf(Bytes number) {
  std::set<Bytes, std::greater<>> divisors;
  for (Bytes factor = 1; factor <= kMostDivisors && factor <= number / factor; ++factor) {
    if (number % factor != 0) continue;
    divisors.insert(factor);
    divisors.insert(number / factor);
  }
  divisors.erase(number);
  return {divisors.begin(), divisors.end()};
}

// The least amount that was found to suffice, and whether no smaller one does.
struct Least {
  Bytes amount = 0;
  bool proven = true;
};

class ChangeFinder {
 public:
  ChangeFinder(const Query& query, std::span<const Condition> set, Oracle& oracle)
      : query_(query), set_(set), oracle_(oracle) {}

  ChangeSearch Run(CandidateOf candidate) {
    ForEach(ConditionKind::kCapacity, [this](const Condition& each) { TryCapacity(each); });
    TryAlignments();
    for (const int memory : MemoriesWithBanks()) TryBanks(memory);
    ForEach(ConditionKind::kPorts, [this](const Condition& each) { TryPorts(each); });
    for (const ConditionKind kind :
         {ConditionKind::kRule, ConditionKind::kRelation, ConditionKind::kReserved,
          ConditionKind::kFixedOffset, ConditionKind::kBanks, ConditionKind::kAccess,
          ConditionKind::kLoop, ConditionKind::kTransitions, ConditionKind::kModes}) {
      ForEach(kind, [this](const Condition& each) {
        if (Fits(Strike(query_, each))) Add(ChangeKind::kDrop, each);
      });
    }
    TryCandidates(candidate);
    return std::move(found_);
  }

 private:
  template <typename Visit>
  void ForEach(ConditionKind kind, Visit visit) {
    for (const Condition& each : set_) {
      if (each.kind != kind) continue;
      if (HasEnded()) return;
      visit(each);
    }
  }

  // Is called before a query is made: queries are copies of the Problem, so none is made without an
  // answer.
  bool HasEnded() {
    if (!oracle_.HasEnded()) return false;
    found_.all_tried = false;
    return true;
  }

  Result Solve(const Query& query) {
    Result result = oracle_.Solve(query);
    if (result.status == Status::kUnknown) found_.all_tried = false;
    return result;
  }

  bool Fits(const Query& query) { return Solve(query).status == Status::kFeasible; }

  void Add(ChangeKind kind, const Condition& condition, Bytes amount = 0, bool least = true) {
    found_.changes.push_back({kind, condition, amount, {}, least});
  }

  // Narrows (impossible, reached], where only multiples of `granularity` count. probe(amount)
  // returns a Result; reach(result, amount) returns the amount that its placement needs.
  template <typename Probe, typename RestrictionBytes>
  Least Bisect(Bytes impossible, Bytes reached, Bytes granularity, Bytes first_probe, Probe probe,
               RestrictionBytes reach) {
    Least least{reached, true};
    Bytes low = base::RoundDown(impossible, granularity);
    for (Bytes next = base::RoundUp(first_probe, granularity); !HasEnded();
         next = base::RoundDown((low + least.amount) / 2, granularity)) {
      next = std::max(next, low + granularity);
      if (next >= least.amount) return least;
      const Result answer = probe(next);
      if (answer.status == Status::kFeasible) {
        least.amount = reach(answer, next);
      } else {
        least.proven = least.proven && answer.status == Status::kInfeasible;
        low = next;
      }
    }
    return {least.amount, false};
  }

  // Returns 1 if there are rules, because these may require addresses between units.
  Bytes GranularityFor(int memory) const {
    return query_.problem.rules.empty()
               ? encoder::formulation::GranularityOf(query_.problem, nullptr, memory)
               : 1;
  }

  void TryCapacity(const Condition& capacity) {
    const int memory = capacity.owner;
    const Bytes present = CapacityOf(query_, memory);
    const Result roomy = Solve(WithCapacity(query_, memory, Roomy(query_, memory)));
    if (roomy.status != Status::kFeasible) return;
    const auto peak = [&](const Result& result, Bytes) {
      return PeakOf(query_.problem, *result.allocation, memory);
    };
    const Least least = Bisect(
        present, peak(roomy, 0), GranularityFor(memory),
        memory == 0 ? std::max(present, roomy.lower_bound) : present,
        [&](Bytes bytes) { return oracle_.Solve(WithCapacity(query_, memory, bytes)); }, peak);
    Add(ChangeKind::kCapacity, capacity, least.amount - present, least.proven);
  }

  void TryAlignments() {
    std::set<Condition> alignments;
    size_t buffers = 0;
    ForEach(ConditionKind::kAlignment, [&](const Condition& each) {
      alignments.insert(each);
      ++buffers;
    });
    ForEach(ConditionKind::kMemoryAlignment,
            [&](const Condition& each) { alignments.insert(each); });
    std::set<Condition> moving;  // alignments that move neighbours, by relations of the set
    ForEach(ConditionKind::kRelation, [&](const Condition& each) {
      const problem::Relation& relation = query_.problem.relations[static_cast<size_t>(each.item)];
      if (relation.kind != problem::RelationKind::kAdjacent) return;
      const problem::Buffer& second = query_.problem.buffers[static_cast<size_t>(relation.second)];
      if (second.alignment > 1) moving.insert({ConditionKind::kAlignment, relation.second, 0});
      if (query_.problem.memories[static_cast<size_t>(second.memory)].alignment > 1)
        moving.insert({ConditionKind::kMemoryAlignment, second.memory, 0});
    });
    alignments.insert(moving.begin(), moving.end());
    bool alone = false;
    for (const Condition& each : alignments) {
      if (HasEnded()) return;
      alone = TryAlignment(each, moving.contains(each)) || alone;
    }
    if (!alone && buffers > 1 && Fits(WithoutAlignments(query_)))
      Add(ChangeKind::kAlignment, {ConditionKind::kBuffer, 0, 0}, 1);
  }

  bool TryAlignment(const Condition& alignment, bool moves_neighbours) {
    if (!moves_neighbours && !Fits(WithAlignment(query_, alignment, 1))) return false;
    const auto owner = static_cast<size_t>(alignment.owner);
    const Bytes present = alignment.kind == ConditionKind::kAlignment
                              ? query_.problem.buffers[owner].alignment
                              : query_.problem.memories[owner].alignment;
    bool proven = true;
    for (const Bytes divisor : DivisorsOf(present)) {
      if (HasEnded()) break;
      const Status status = moves_neighbours
                                ? Solve(WithAlignment(query_, alignment, divisor)).status
                                : oracle_.Ask(WithAlignment(query_, alignment, divisor));
      proven = proven && status != Status::kUnknown;
      if (status != Status::kFeasible) continue;
      Add(ChangeKind::kAlignment, alignment, divisor,
          proven && present <= kMostDivisors * kMostDivisors);
      return true;
    }
    return !moves_neighbours;
  }

  // Returns the memories with banks that conditions of the set concern.
  std::set<int> MemoriesWithBanks() const {
    std::set<int> memories;
    for (const Condition& each : set_) {
      if (each.kind == ConditionKind::kRelation || each.kind == ConditionKind::kRule) continue;
      const bool of_buffer = each.kind < ConditionKind::kRelation;
      const int memory =
          of_buffer ? query_.problem.buffers[static_cast<size_t>(each.owner)].memory : each.owner;
      if (!query_.problem.memories[static_cast<size_t>(memory)].banks.empty())
        memories.insert(memory);
    }
    return memories;
  }

  // Tries copies of existing banks first, as these are the smaller change; then a free bank.
  void TryBanks(int memory) {
    const auto& banks = query_.problem.memories[static_cast<size_t>(memory)].banks;
    const size_t before = found_.changes.size();
    Bytes longest = 0;
    for (int bank = 0; bank < static_cast<int>(banks.size()); ++bank) {
      if (HasEnded()) return;
      const problem::AddressRange& range = banks[static_cast<size_t>(bank)].range;
      longest = std::max(longest, range.end - range.begin);
      bool seen = false;
      for (int other = 0; other < bank; ++other)
        seen = seen || AreAlike(query_, memory, bank, other);
      if (!seen && Fits(WithCopyOfBank(query_, memory, bank)))
        Add(ChangeKind::kBank, {ConditionKind::kCapacity, memory, bank}, range.end - range.begin);
    }
    if (found_.changes.size() > before || !Fits(WithFreeBank(query_, memory, longest))) return;
    const Bytes granularity = std::gcd(GranularityFor(memory), EndOf(query_, memory));
    const Least least = Bisect(
        0, longest, granularity, longest / 2,
        [&](Bytes bytes) { return oracle_.Solve(WithFreeBank(query_, memory, bytes)); },
        [](const Result&, Bytes bytes) { return bytes; });
    Add(ChangeKind::kFreeBank, {ConditionKind::kCapacity, memory, 0}, least.amount, least.proven);
  }

  void TryPorts(const Condition& ports) {
    if (!Fits(Strike(query_, ports))) return;
    const auto most = static_cast<int>(query_.problem.buffers.size());
    bool proven = true;
    for (int more = 1; more <= most && !HasEnded(); ++more) {
      const Status status = oracle_.Ask(WithPorts(query_, ports, more));
      if (status == Status::kFeasible) return Add(ChangeKind::kPorts, ports, more, proven);
      proven = proven && status == Status::kInfeasible;
    }
  }

  // Finds the next smaller candidate that fits.
  void TryCandidates(CandidateOf at) {
    for (size_t candidate = at.ladder != nullptr ? at.candidate : 0; candidate-- > 0;) {
      if (HasEnded()) return;
      const problem::CandidateSizes& smaller = at.ladder->candidates[candidate];
      if (!Fits({AtCandidate(query_.problem, smaller), query_.capacity})) continue;
      found_.changes.push_back({ChangeKind::kCandidate, {}, 0, smaller.name, true});
      return;
    }
  }

  const Query& query_;
  std::span<const Condition> set_;
  Oracle& oracle_;
  ChangeSearch found_;
};

}  // namespace

ChangeSearch FindChanges(const Query& query, std::span<const Condition> set, CandidateOf candidate,
                         Oracle& oracle) {
  return ChangeFinder(query, set, oracle).Run(candidate);
}

namespace {

// One hard query must not use up the budget of the others.
constexpr int64_t kMostTurns = 16;

}  // namespace

problem::Explanation Explain(const problem::Problem& problem, problem::Bytes capacity,
                             const Decide& decide, const ExplainOptions& options) {
  const base::Stop never;
  const base::Stop& stop = options.stop != nullptr ? *options.stop : never;
  const int64_t half = options.budget.units / 2;
  const int64_t confirmation = options.budget.units / 8;
  Query query{problem, capacity};
  query.problem.costs.clear();  // preferences never conflict
  Oracle oracle(decide, {half - confirmation}, {options.budget.units / kMostTurns + 1}, stop);
  MinimalSet set = FindMinimalSet(query, oracle, confirmation);
  oracle.Grant(options.budget.units - half);
  ChangeSearch search =
      FindChanges(query, set.conditions, {options.ladder, options.candidate}, oracle);
  return {std::move(set.conditions), set.proven, std::move(search.changes), search.all_tried};
}

}  // namespace tessera::search::reasons
