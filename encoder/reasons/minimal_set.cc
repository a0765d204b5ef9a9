#include "tessera/encoder/reasons/minimal_set.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "tessera/encoder/reasons/overload.h"

// A minimal set of conditions that collide, by deletion in chunks.
//
// A condition that can be left out while the rest stays infeasible is left out for good. Asking one by one costs a question for
// each; so whole chunks are tried, and halved where they cannot go:
//
//     a b c d e f g h      without a..h: fits, so one of them is needed
//     a b c d              without a..d: infeasible; gone
//             e f g h      need not be asked: some of a..h is needed, and a..d were not
//             e f          without e, f: fits
//             e            without e: infeasible; gone
//               f          need not be asked: needed
//                 g h      without g, h: infeasible; gone
//
// That is the divide and conquer of Junker's QuickXplain (AAAI 2004), which asks O(k log(n/k) + k) questions for k of n conditions;
// written as deletion, a question that stays unknown does no harm: the chunk is halved, and a single condition stays. Leaving
// something out only ever adds placements (conditions.h). So what was needed among many is needed among few, and the set is
// minimal if each of its members was once proven needed.
//
// What is tried first tends to go, so the order is one of taste. First all at once that speaks of one thing: capacities, modes and
// ports, relations, reserved ranges, and so on; if any kind has no part in the matter, the reason should not mention it. Then
// buffers, in the order of their lives: neighbours in time share a chunk, and most collisions are confined to a few steps. Then
// everything else, one kind after the other.
namespace tessera::encoder::reasons {

using problem::Condition;
using problem::ConditionKind;
using problem::Status;

namespace {

using Kinds = std::vector<ConditionKind>;

const std::array<Kinds, 8>& ThingsToSpeakOf() {
  static const std::array<Kinds, 8> kThings = {
      Kinds{ConditionKind::kCapacity},
      Kinds{ConditionKind::kAccess, ConditionKind::kPorts, ConditionKind::kModes,
            ConditionKind::kTransitions},
      Kinds{ConditionKind::kRule},
      Kinds{ConditionKind::kRelation},
      Kinds{ConditionKind::kReserved},
      Kinds{ConditionKind::kFixedOffset},
      Kinds{ConditionKind::kBanks},
      Kinds{ConditionKind::kAlignment, ConditionKind::kMemoryAlignment}};
  return kThings;
}

constexpr std::array kOneByOne = {ConditionKind::kTransitions, ConditionKind::kPorts,
                                  ConditionKind::kAccess,      ConditionKind::kRule,
                                  ConditionKind::kRelation,    ConditionKind::kReserved,
                                  ConditionKind::kBanks,       ConditionKind::kFixedOffset,
                                  ConditionKind::kAlignment,   ConditionKind::kMemoryAlignment,
                                  ConditionKind::kModes,       ConditionKind::kCapacity};

class Deletion {
 public:
  Deletion(const Query& query, Oracle& oracle)
      : query_(query), oracle_(oracle), kept_(ListConditions(query)) {}

  MinimalSet Run() {
    for (const Kinds& kinds : ThingsToSpeakOf()) {
      const std::vector<Condition> all = Select(kinds);
      if (!all.empty() && AskWithout(all) == Status::kInfeasible) LeaveOut(all);
    }
    std::vector<Condition> buffers = Select({ConditionKind::kBuffer});
    std::stable_sort(buffers.begin(), buffers.end(),
                     [this](const Condition& a, const Condition& b) { return BirthOf(a) < BirthOf(b); });
    Shrink(buffers, false);
    LeaveOutWhatIsVoid();
    for (const ConditionKind kind : kOneByOne) Shrink(Select({kind}), false);
    return {std::move(kept_), proven_};
  }

 private:
  std::vector<Condition> Select(const Kinds& kinds) const {
    std::vector<Condition> selected;
    std::copy_if(kept_.begin(), kept_.end(), std::back_inserter(selected), [&](const Condition& each) {
      return std::find(kinds.begin(), kinds.end(), each.kind) != kinds.end();
    });
    return selected;
  }

  problem::Step BirthOf(const Condition& buffer) const {
    return query_.problem.buffers[static_cast<size_t>(buffer.owner)].lifespans.front().lower;
  }

  std::vector<Condition> Without(std::span<const Condition> chunk) const {
    std::vector<Condition> sorted(chunk.begin(), chunk.end());
    std::sort(sorted.begin(), sorted.end());
    std::vector<Condition> rest;
    std::set_difference(kept_.begin(), kept_.end(), sorted.begin(), sorted.end(), std::back_inserter(rest));
    return rest;
  }

  Status AskWithout(std::span<const Condition> chunk) { return oracle_.Ask(Keep(query_, Without(chunk))); }

  void LeaveOut(std::span<const Condition> chunk) { kept_ = Without(chunk); }

  // Leaves out of the chunk what can go. `needed`: not all of it can, as is proven. Returns whether all went.
  bool Shrink(std::span<const Condition> chunk, bool needed) {
    if (chunk.empty()) return true;
    if (!needed) {
      const Status status = AskWithout(chunk);
      if (status == Status::kInfeasible) {
        LeaveOut(chunk);
        return true;
      }
      needed = status == Status::kFeasible;
    }
    if (chunk.size() == 1) {
      proven_ = proven_ && needed;
      return false;
    }
    const size_t half = chunk.size() / 2;
    const bool first_gone = Shrink(chunk.first(half), false);
    const bool second_gone = Shrink(chunk.subspan(half), needed && first_gone);
    return first_gone && second_gone;
  }

  // What belongs to buffers that are gone; a rule about none but them goes when its kind comes.
  void LeaveOutWhatIsVoid() {
    const auto is_gone = [this](int buffer) {
      return !std::binary_search(kept_.begin(), kept_.end(), Condition{ConditionKind::kBuffer, buffer, 0});
    };
    std::vector<Condition> left;
    for (const Condition& each : kept_) {
      bool is_void = each.kind < ConditionKind::kRelation && is_gone(each.owner);
      if (each.kind == ConditionKind::kRelation) {
        const problem::Relation& relation = query_.problem.relations[static_cast<size_t>(each.item)];
        is_void = is_gone(relation.first) || is_gone(relation.second);
      }
      if (!is_void) left.push_back(each);
    }
    kept_ = std::move(left);
  }

  const Query& query_;
  Oracle& oracle_;
  std::vector<Condition> kept_;  // infeasible together
  bool proven_ = true;
};

}  // namespace

MinimalSet FindMinimalSet(const Query& query, Oracle& oracle) {
  if (std::optional<std::vector<Condition>> overload = FindOverload(query))
    return {*std::move(overload), true};
  return Deletion(query, oracle).Run();
}

}  // namespace tessera::encoder::reasons
