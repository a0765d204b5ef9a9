// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "tessera/base/sorting.h"
#include "tessera/search/reasons/explain.h"

namespace tessera::search::reasons {

using problem::Buffer;
using problem::Bytes;
using problem::Condition;
using problem::ConditionKind;
using problem::Problem;
using problem::RelationKind;
using problem::Step;

// Finds the most common reason by counting bytes.
//
//     bytes at one step, largest buffer first            |capacity
//     |=========== a ===========|====== b ======|=== c ==|===|== d ==|= e =|
//                                                        ^ c is the first beyond it:
//                                                          a, b and c conflict
//
// The largest buffers form the smallest set of this step. It is minimal: without c the sizes are
// within the capacity, and each of a and b is at least as large as c. So without any one of them, a
// stack of the others is a placement, because alignments and banks are not in the set. Buffers that
// a relation allows to share addresses are not counted.
namespace {

constexpr size_t kSteps = 32;  // the heaviest ones, which are examined

std::vector<bool> FindCounted(const Problem& problem, int memory) {
  std::vector<bool> counted;
  for (const Buffer& buffer : problem.buffers) counted.push_back(buffer.memory == memory);
  for (const problem::Relation& relation : problem.relations) {
    if (relation.kind != RelationKind::kExclusive && relation.kind != RelationKind::kColocate)
      continue;
    counted[static_cast<size_t>(relation.first)] = counted[static_cast<size_t>(relation.second)] =
        false;
  }
  return counted;
}

// Returns steps at which a buffer is born and more than `capacity` bytes live, heaviest first, at
// most kSteps.
std::vector<Step> FindHeavySteps(const Problem& problem, const std::vector<bool>& counted,
                                 Bytes capacity) {
  std::map<Step, Bytes> changes;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (!counted[i]) continue;
    for (const problem::Lifespan& life : problem.buffers[i].lifespans) {
      changes[life.lower] += problem.buffers[i].size;
      changes[life.upper] -= problem.buffers[i].size;
    }
  }
  std::vector<std::pair<Bytes, Step>> heavy;
  Bytes load = 0;
  for (const auto& [step, change] : changes) {
    load += change;
    if (change > 0 && load > capacity) heavy.emplace_back(-load, step);
  }
  std::sort(heavy.begin(), heavy.end());
  if (heavy.size() > kSteps) heavy.resize(kSteps);
  std::vector<Step> steps;
  steps.reserve(heavy.size());
  for (const auto& [load_below, step] : heavy) steps.push_back(step);
  return steps;
}

// Returns the fewest largest buffers of the step whose sizes exceed the capacity.
std::vector<size_t> FindLargest(const Problem& problem, const std::vector<bool>& counted, Step step,
                                Bytes capacity) {
  std::vector<size_t> living;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (counted[i] && problem::LivesAt(problem.buffers[i], step)) living.push_back(i);
  }
  base::SortBy(living, [&](size_t i) { return -problem.buffers[i].size; });
  Bytes load = 0;
  size_t count = 0;
  while (load <= capacity) load += problem.buffers[living[count++]].size;
  living.resize(count);
  return living;
}

}  // namespace

std::optional<std::vector<Condition>> FindOverload(const Query& query) {
  const Problem& problem = query.problem;
  std::optional<std::vector<Condition>> best;
  for (size_t m = 0; m < problem.memories.size(); ++m) {
    const Bytes capacity = CapacityOf(query, static_cast<int>(m));
    const std::vector<bool> counted = FindCounted(problem, static_cast<int>(m));
    for (const Step step : FindHeavySteps(problem, counted, capacity)) {
      const std::vector<size_t> buffers = FindLargest(problem, counted, step, capacity);
      if (best && best->size() <= buffers.size() + 1) continue;
      best.emplace();
      for (const size_t i : buffers)
        best->push_back({ConditionKind::kBuffer, static_cast<int>(i), 0});
      best->push_back({ConditionKind::kCapacity, static_cast<int>(m), 0});
    }
  }
  if (best) std::sort(best->begin(), best->end());
  return best;
}

// Finds a minimal set of conflicting conditions, by deletion in chunks.
//
// A condition is dropped permanently if the rest stays infeasible without it. A test of each one
// would cost a query for each; so whole chunks are tried, and halved if they cannot be dropped:
//
//     a b c d e f g h      without a..h: fits, so one of them is needed
//     a b c d              without a..d: infeasible; dropped
//             e f g h      no query: some of a..h is needed, and a..d were not
//             e f          without e, f: fits
//             e            without e: infeasible; dropped
//               f          no query: needed
//                 g h      without g, h: infeasible; dropped
//
// This is the divide and conquer of Junker's QuickXplain (AAAI 2004), which needs O(k log(n/k) + k)
// queries for k of n conditions. In the form of deletion, a query that stays unknown does no harm:
// the chunk is halved, and a single condition stays.
//
// Dropping a condition adds placements, with one exception: the alignment that an adjacent relation
// rounds up to. Without it the neighbour moves. Then both positions count (Readings in query.h). So
// each tested set allows everything that the query allows, and a conflicting set is a reason why
// the query is infeasible. But because of the exception, a condition that was needed among many is
// not always needed among few. So the set is confirmed at the end: each member is tried once more,
// until none can be dropped.
//
// Conditions that are tried first tend to be dropped, so the order is a matter of preference. The
// first chunks are all conditions of one subject: capacities, modes and ports, relations, reserved
// ranges, and so on. If a kind is not needed, the reason should not mention it. Adjacent relations
// come later: if sizes alone conflict too, the set that names the relation is the one that the user
// can act on. Next are buffers, in the order of their lives, those that are adjacent to others
// last: neighbours in time share a chunk, and most conflicts are confined to a few steps.
// Everything else follows, one kind after the other.

using problem::Condition;
using problem::ConditionKind;
using problem::RelationKind;
using problem::Status;

namespace {

using Kinds = std::vector<ConditionKind>;

const std::array<Kinds, 9>& ThingsToSpeakOf() {
  static const std::array<Kinds, 9> kThings = {
      Kinds{ConditionKind::kCapacity},
      Kinds{ConditionKind::kAccess, ConditionKind::kPorts, ConditionKind::kModes,
            ConditionKind::kTransitions},
      Kinds{ConditionKind::kRule},
      Kinds{ConditionKind::kRelation},
      Kinds{ConditionKind::kLoop},
      Kinds{ConditionKind::kReserved},
      Kinds{ConditionKind::kFixedOffset},
      Kinds{ConditionKind::kBanks},
      Kinds{ConditionKind::kAlignment, ConditionKind::kMemoryAlignment}};
  return kThings;
}

constexpr std::array kOneByOne = {ConditionKind::kTransitions,
                                  ConditionKind::kPorts,
                                  ConditionKind::kLoop,
                                  ConditionKind::kAccess,
                                  ConditionKind::kRule,
                                  ConditionKind::kRelation,
                                  ConditionKind::kReserved,
                                  ConditionKind::kBanks,
                                  ConditionKind::kFixedOffset,
                                  ConditionKind::kAlignment,
                                  ConditionKind::kMemoryAlignment,
                                  ConditionKind::kModes,
                                  ConditionKind::kCapacity};

class Deletion {
 public:
  Deletion(const Query& query, Oracle& oracle)
      : query_(query), oracle_(oracle), kept_(ListConditions(query)) {}

  MinimalSet Run(int64_t confirmation) {
    for (const Kinds& kinds : ThingsToSpeakOf()) {
      std::vector<Condition> all = Select(kinds);
      std::erase_if(all, [this](const Condition& each) { return IsAdjacent(each); });
      if (!all.empty() && AskWithout(all) == Status::kInfeasible) LeaveOut(all);
    }
    Shrink(SelectBuffers(), false);
    LeaveOutWhatIsVoid();
    for (const ConditionKind kind : kOneByOne) Shrink(Select({kind}), false);
    oracle_.Grant(confirmation);
    const bool confirmed = Confirm();
    return {std::move(kept_), confirmed};
  }

 private:
  // Whether the set conflicts and each of its members is needed, according to answers about this
  // exact set. Members that are not needed are dropped.
  bool Confirm() {
    const Status together = AskWithout({});
    // The answers contradict each other, or are impossible.
    if (together == Status::kFeasible || kept_.empty()) {
      kept_ = ListConditions(query_);
      return false;
    }
    if (together != Status::kInfeasible) return false;
    bool confirmed = false;
    for (bool changed = true; changed;) {
      changed = false;
      confirmed = true;
      for (const Condition& member : std::vector<Condition>(kept_)) {
        const Status status = AskWithout(std::span(&member, 1));
        if (status == Status::kInfeasible) {
          LeaveOut(std::span(&member, 1));
          changed = true;
        }
        confirmed = confirmed && status != Status::kUnknown;
      }
    }
    return confirmed;
  }

  std::vector<Condition> Select(const Kinds& kinds) const {
    std::vector<Condition> selected;
    std::copy_if(kept_.begin(), kept_.end(), std::back_inserter(selected),
                 [&](const Condition& each) {
                   return std::find(kinds.begin(), kinds.end(), each.kind) != kinds.end();
                 });
    return selected;
  }

  bool IsAdjacent(const Condition& condition) const {
    return condition.kind == ConditionKind::kRelation &&
           query_.problem.relations[static_cast<size_t>(condition.item)].kind ==
               RelationKind::kAdjacent;
  }

  // Returns the kept buffers in the order of their lives, those that are adjacent to others last.
  std::vector<Condition> SelectBuffers() const {
    std::vector<Condition> buffers = Select({ConditionKind::kBuffer});
    if (oracle_.HasEnded()) return buffers;
    std::vector<std::pair<bool, problem::Step>> ranks;
    ranks.reserve(query_.problem.buffers.size());
    for (const problem::Buffer& buffer : query_.problem.buffers)
      ranks.emplace_back(false, buffer.lifespans.front().lower);
    for (const problem::Relation& relation : query_.problem.relations) {
      if (relation.kind != RelationKind::kAdjacent) continue;
      ranks[static_cast<size_t>(relation.first)].first = true;
      ranks[static_cast<size_t>(relation.second)].first = true;
    }
    const auto rank = [&](const Condition& condition) {
      return ranks[static_cast<size_t>(condition.owner)];
    };
    base::SortBy(buffers, [&](const Condition& condition) { return rank(condition).second; });
    base::SortBy(buffers, [&](const Condition& condition) { return rank(condition).first; });
    return buffers;
  }

  std::vector<Condition> Without(std::span<const Condition> chunk) const {
    std::vector<Condition> sorted(chunk.begin(), chunk.end());
    std::sort(sorted.begin(), sorted.end());
    std::vector<Condition> rest;
    std::set_difference(kept_.begin(), kept_.end(), sorted.begin(), sorted.end(),
                        std::back_inserter(rest));
    return rest;
  }

  // Returns the status without the chunk: kFeasible if some reading fits, kInfeasible if none does.
  // Readings are copies of the Problem, so none is made after the oracle has ended.
  Status AskWithout(std::span<const Condition> chunk) {
    if (oracle_.HasEnded()) return Status::kUnknown;
    Status status = Status::kInfeasible;
    for (const Query& reading : Readings(query_, Without(chunk))) {
      const Status answer = oracle_.Ask(reading);
      if (answer == Status::kFeasible) return answer;
      if (answer != Status::kInfeasible) status = answer;
    }
    return status;
  }

  void LeaveOut(std::span<const Condition> chunk) { kept_ = Without(chunk); }

  // Drops the conditions of the chunk that can be dropped. `needed`: it is proven that not all can.
  // Returns whether all were dropped.
  bool Shrink(std::span<const Condition> chunk, bool needed) {
    if (chunk.empty()) return true;
    if (oracle_.HasEnded()) return false;
    if (!needed) {
      const Status status = AskWithout(chunk);
      if (status == Status::kInfeasible) {
        LeaveOut(chunk);
        return true;
      }
      needed = status == Status::kFeasible;
    }
    if (chunk.size() == 1) return false;
    const size_t half = chunk.size() / 2;
    const bool first_gone = Shrink(chunk.first(half), false);
    const bool second_gone = Shrink(chunk.subspan(half), needed && first_gone);
    return first_gone && second_gone;
  }

  // Drops the conditions and relations of dropped buffers. A rule that concerns only such buffers
  // is dropped with its kind.
  void LeaveOutWhatIsVoid() {
    const auto is_gone = [this](int buffer) {
      return !std::binary_search(kept_.begin(), kept_.end(),
                                 Condition{ConditionKind::kBuffer, buffer, 0});
    };
    std::vector<Condition> left;
    for (const Condition& each : kept_) {
      bool is_void = each.kind < ConditionKind::kRelation && is_gone(each.owner);
      if (each.kind == ConditionKind::kRelation) {
        const problem::Relation& relation =
            query_.problem.relations[static_cast<size_t>(each.item)];
        is_void = is_gone(relation.first) || is_gone(relation.second);
      }
      if (!is_void) left.push_back(each);
    }
    kept_ = std::move(left);
  }

  const Query& query_;
  Oracle& oracle_;
  std::vector<Condition> kept_;  // which are infeasible together
};

}  // namespace

MinimalSet FindMinimalSet(const Query& query, Oracle& oracle, int64_t confirmation) {
  if (std::optional<std::vector<Condition>> overload = FindOverload(query))
    return {*std::move(overload), true};
  return Deletion(query, oracle).Run(confirmation);
}

}  // namespace tessera::search::reasons
