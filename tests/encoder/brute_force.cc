// SPDX-License-Identifier: Apache-2.0

#include "brute_force.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "brute_force_rules.h"

namespace tessera::encoder {
namespace {

using problem::Access;
using problem::AccessKind;
using problem::AddressRange;
using problem::Allocation;
using problem::Bank;
using problem::Buffer;
using problem::Bytes;
using problem::Memory;
using problem::ModeSchedule;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;
using problem::Span;
using problem::Step;

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

bool Meet(const AddressRange& a, const AddressRange& b) {
  return a.begin < b.end && b.begin < a.end;
}

bool Holds(const AddressRange& outer, Bytes byte) {
  return outer.begin <= byte && byte < outer.end;
}

class Enumeration {
 public:
  Enumeration(const Problem& problem, Bytes capacity, ModeChanges changes)
      : problem_(problem), capacity_(capacity), changes_(changes), horizon_(Horizon(problem)) {
    FindLiveSteps();
    FindSuccessors();
  }

  std::optional<Allocation> Run() {
    Allocation answer;
    if (!PlaceFrom(0)) return std::nullopt;
    for (const AddressRange& range : placed_) answer.offsets.push_back(range.begin);
    for (size_t m = 0; m < problem_.memories.size(); ++m) answer.modes.push_back(*FindSchedule(m));
    return answer;
  }

  // Looks for a cheaper answer than the last one, until there is none.
  std::optional<int64_t> FindLeastCost() {
    std::optional<int64_t> least;
    for (; most_cost_ >= 0 && PlaceFrom(0); most_cost_ = *least - 1) {
      least = ReuseCost() + ScheduleCost();
      placed_.clear();
    }
    return least;
  }

 private:
  const Buffer& At(size_t i) const { return problem_.buffers[i]; }
  const Memory& HomeOf(size_t i) const {
    return problem_.memories[static_cast<size_t>(At(i).memory)];
  }

  void FindLiveSteps() {
    for (const Buffer& buffer : problem_.buffers) {
      std::set<Step>& steps = live_.emplace_back();
      for (const problem::Lifespan& life : buffer.lifespans) {
        for (Step step = life.lower; step < life.upper; ++step) steps.insert(step);
      }
    }
  }

  // Steps as a graph, from the definition of a loop: a step goes to the next one. The last step of
  // a loop goes to the next one only if it is one of the exits.
  void FindSuccessors() {
    for (Step step = horizon_.lower; step < horizon_.upper; ++step) {
      std::set<Step>& next = successors_[step];
      bool falls_through = true;
      for (const problem::Loop& loop : problem_.loops) {
        if (step == loop.end - 1) next.insert(loop.begin);
        for (const Step exit : loop.exits) {
          if (step == exit - 1) next.insert(loop.end);
        }
        if (step == loop.end - 1 && loop.exits.back() != loop.end) falls_through = false;
      }
      if (falls_through) next.insert(step + 1);
      next.erase(horizon_.upper);
    }
  }

  bool PlaceFrom(size_t i) {
    if (ReuseCost() > most_cost_) return false;
    if (i == problem_.buffers.size()) {
      return PortsSuffice() && SchedulesExist() && ReuseCost() + ScheduleCost() <= most_cost_;
    }
    const Bytes capacity = At(i).memory == 0 ? capacity_ : HomeOf(i).capacity;
    for (Bytes offset = 0; offset + At(i).size <= capacity; ++offset) {
      placed_.push_back({offset, offset + At(i).size});
      if (StandsAlone(i) && AgreesWithEarlier(i) && RulesHold(problem_, placed_, capacity_) &&
          EveryStepHasAMode(i) && PlaceFrom(i + 1)) {
        return true;
      }
      placed_.pop_back();
    }
    return false;
  }

  bool StandsAlone(size_t i) const {
    const AddressRange& range = placed_[i];
    if (range.begin % At(i).alignment != 0 || range.begin % HomeOf(i).alignment != 0) return false;
    if (At(i).offset && *At(i).offset != range.begin) return false;
    for (const problem::Reserved& reserved : HomeOf(i).reserved) {
      if (Meet(range, reserved.range)) return false;
    }
    return HomeOf(i).banks.empty() || SpanHolds(i);
  }

  bool SpanHolds(size_t i) const {
    const std::vector<int>& allowed = At(i).allowed_banks;
    std::set<int> touched;
    for (Bytes byte = placed_[i].begin; byte < placed_[i].end; ++byte) {
      int bank = -1;
      for (size_t b = 0; b < HomeOf(i).banks.size(); ++b) {
        if (Holds(HomeOf(i).banks[b].range, byte)) bank = static_cast<int>(b);
      }
      if (bank < 0 && At(i).span != Span::kAny) return false;
      if (bank < 0) continue;
      if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), bank) == allowed.end())
        return false;
      touched.insert(bank);
    }
    return At(i).span != Span::kSingle || touched.size() == 1;
  }

  std::set<size_t> BanksOf(size_t i) const {
    std::set<size_t> banks;
    for (size_t b = 0; b < HomeOf(i).banks.size(); ++b) {
      if (Meet(placed_[i], HomeOf(i).banks[b].range)) banks.insert(b);
    }
    return banks;
  }

  bool AgreesWithEarlier(size_t i) const {
    for (size_t j = 0; j < i; ++j) {
      if (ShareAByteAndAStep(i, j) && !MayShare(i, j)) return false;
    }
    return std::all_of(
        problem_.relations.begin(), problem_.relations.end(), [&](const Relation& relation) {
          const auto first = static_cast<size_t>(relation.first);
          const auto second = static_cast<size_t>(relation.second);
          return std::max(first, second) != i || RelationHolds(relation, first, second);
        });
  }

  bool ShareAByteAndAStep(size_t i, size_t j) const {
    if (At(i).memory != At(j).memory || !Meet(placed_[i], placed_[j])) return false;
    return std::any_of(live_[i].begin(), live_[i].end(),
                       [&](Step step) { return live_[j].contains(step); });
  }

  bool MayShare(size_t i, size_t j) const {
    return std::any_of(
        problem_.relations.begin(), problem_.relations.end(), [&](const Relation& relation) {
          const bool licence =
              relation.kind == RelationKind::kColocate || relation.kind == RelationKind::kExclusive;
          const std::set<size_t> both = {static_cast<size_t>(relation.first),
                                         static_cast<size_t>(relation.second)};
          return licence && both == std::set<size_t>{i, j};
        });
  }

  bool RelationHolds(const Relation& relation, size_t first, size_t second) const {
    const AddressRange& a = placed_[first];
    const AddressRange& b = placed_[second];
    switch (relation.kind) {
      case RelationKind::kColocate:
        return b.begin - a.begin == relation.delta;
      case RelationKind::kAdjacent: {
        Bytes next = a.end;
        while (next % At(second).alignment != 0 || next % HomeOf(second).alignment != 0) ++next;
        return b.begin == next;
      }
      case RelationKind::kSameBank:
        return BanksOf(first) == BanksOf(second);
      case RelationKind::kDifferentBank: {
        const std::set<size_t> taken = BanksOf(first);
        const std::set<size_t> wanted = BanksOf(second);
        return std::none_of(wanted.begin(), wanted.end(),
                            [&](size_t bank) { return taken.contains(bank); });
      }
      case RelationKind::kSeparate:
        return !Meet(a, b);
      case RelationKind::kExclusive:
        return true;
    }
    return false;
  }

  static bool Permits(const problem::BankMode& bank, const Access& access) {
    if (bank.off) return false;
    return std::any_of(bank.allowed.begin(), bank.allowed.end(),
                       [&](const problem::Permission& permission) {
                         return permission.kind == access.kind &&
                                (permission.engine.empty() || permission.engine == access.engine);
                       });
  }

  bool ModeServes(size_t i, Step step, const problem::Mode& mode) const {
    for (const size_t bank : BanksOf(i)) {
      if (mode.banks[bank].off && live_[i].contains(step)) return false;
      for (const Access& access : At(i).accesses) {
        if (access.step == step && !Permits(mode.banks[bank], access)) return false;
      }
    }
    return true;
  }

  // The modes of `memory` that serve all buffers placed so far at `step`.
  std::vector<int> ModesFor(size_t memory, Step step) const {
    std::vector<int> modes;
    for (size_t k = 0; k < problem_.memories[memory].modes.size(); ++k) {
      bool serves = true;
      for (size_t i = 0; i < placed_.size() && serves; ++i) {
        if (static_cast<size_t>(At(i).memory) != memory) continue;
        serves = ModeServes(i, step, problem_.memories[memory].modes[k]);
      }
      if (serves) modes.push_back(static_cast<int>(k));
    }
    return modes;
  }

  bool EveryStepHasAMode(size_t i) const {
    if (HomeOf(i).modes.empty()) return true;
    return std::all_of(live_[i].begin(), live_[i].end(), [&](Step step) {
      return !ModesFor(static_cast<size_t>(At(i).memory), step).empty();
    });
  }

  bool SchedulesExist() const {
    for (size_t m = 0; m < problem_.memories.size(); ++m) {
      if (!FindSchedule(m)) return false;
    }
    return true;
  }

  std::optional<ModeSchedule> FindSchedule(size_t memory,
                                           int64_t most_switches = kUnlimited) const {
    if (problem_.memories[memory].modes.empty()) return ModeSchedule{};
    std::vector<std::vector<int>> choices;
    for (Step step = horizon_.lower; step < horizon_.upper; ++step)
      choices.push_back(ModesFor(memory, step));
    ModeSchedule schedule;
    if (ExtendSchedule(problem_.memories[memory], choices, most_switches, schedule))
      return schedule;
    return std::nullopt;
  }

  bool ExtendSchedule(const Memory& memory, const std::vector<std::vector<int>>& choices,
                      int64_t most_switches, ModeSchedule& schedule) const {
    if (schedule.size() == choices.size()) return true;
    for (const int mode : choices[schedule.size()]) {
      if (changes_ == ModeChanges::kForbidden && !schedule.empty() && schedule.front() != mode)
        continue;
      schedule.push_back(mode);
      if (TransitionsHold(memory, schedule) && SwitchesIn(schedule) <= most_switches &&
          ExtendSchedule(memory, choices, most_switches, schedule)) {
        return true;
      }
      schedule.pop_back();
    }
    return false;
  }

  // Whether the transitions between the last step of the schedule and all its steps are allowed.
  bool TransitionsHold(const Memory& memory, const ModeSchedule& schedule) const {
    if (!memory.transitions) return true;
    const Step last = horizon_.lower + static_cast<Step>(schedule.size()) - 1;
    const auto allowed = [&](Step from, Step to) {
      if (!successors_.at(from).contains(to)) return true;
      const int before = schedule[static_cast<size_t>(from - horizon_.lower)];
      const int after = schedule[static_cast<size_t>(to - horizon_.lower)];
      return before == after || std::count(memory.transitions->begin(), memory.transitions->end(),
                                           std::pair(before, after)) > 0;
    };
    for (Step step = horizon_.lower; step <= last; ++step) {
      if (!allowed(step, last) || !allowed(last, step)) return false;
    }
    return true;
  }

  int64_t SwitchesIn(const ModeSchedule& schedule) const {
    int64_t switches = 0;
    for (const auto& [from, next] : successors_) {
      for (const Step to : next) {
        const auto before = static_cast<size_t>(from - horizon_.lower);
        const auto after = static_cast<size_t>(to - horizon_.lower);
        if (std::max(before, after) < schedule.size() && schedule[before] != schedule[after])
          ++switches;
      }
    }
    return switches;
  }

  // The cost of reuse among the buffers placed so far: pairs that share a byte and no step.
  int64_t ReuseCost() const {
    int64_t total = 0;
    for (const problem::Cost& cost : problem_.costs) {
      const auto a = static_cast<size_t>(cost.first);
      const auto b = static_cast<size_t>(cost.second);
      if (cost.kind != problem::CostKind::kReuse || std::max(a, b) >= placed_.size()) continue;
      const bool together = std::any_of(live_[a].begin(), live_[a].end(),
                                        [&](Step step) { return live_[b].contains(step); });
      if (Meet(placed_[a], placed_[b]) && !together) total += cost.weight;
    }
    return total;
  }

  // The cost of mode switches in the schedules with the fewest; each memory has one.
  int64_t ScheduleCost() const {
    int64_t total = 0;
    for (const problem::Cost& cost : problem_.costs) {
      if (cost.kind != problem::CostKind::kModeSwitch || cost.weight == 0) continue;
      int64_t switches = 0;
      while (!FindSchedule(static_cast<size_t>(cost.memory), switches)) ++switches;
      total += cost.weight * switches;
    }
    return total;
  }

  bool PortsSuffice() const {
    for (size_t m = 0; m < problem_.memories.size(); ++m) {
      for (size_t bank = 0; bank < problem_.memories[m].banks.size(); ++bank) {
        for (Step step = horizon_.lower; step < horizon_.upper; ++step) {
          if (!PortsSufficeAt(m, bank, step)) return false;
        }
      }
    }
    return true;
  }

  bool PortsSufficeAt(size_t memory, size_t bank, Step step) const {
    int reads = 0;
    int writes = 0;
    int total = 0;
    for (size_t i = 0; i < placed_.size(); ++i) {
      if (static_cast<size_t>(At(i).memory) != memory || !BanksOf(i).contains(bank)) continue;
      bool reads_here = false;
      bool writes_here = false;
      for (const Access& access : At(i).accesses) {
        if (access.step != step) continue;
        (access.kind == AccessKind::kRead ? reads_here : writes_here) = true;
      }
      reads += reads_here ? 1 : 0;
      writes += writes_here ? 1 : 0;
      total += reads_here || writes_here ? 1 : 0;
    }
    const problem::Ports& ports = problem_.memories[memory].banks[bank].ports;
    return reads <= ports.reads.value_or(reads) && writes <= ports.writes.value_or(writes) &&
           total <= ports.total.value_or(total);
  }

  const Problem& problem_;
  Bytes capacity_;
  ModeChanges changes_;
  int64_t most_cost_ = kUnlimited;
  problem::Lifespan horizon_;
  std::vector<std::set<Step>> live_;  // by buffer
  std::map<Step, std::set<Step>> successors_;
  std::vector<AddressRange> placed_;  // of the buffers placed so far
};

}  // namespace

std::optional<Allocation> Enumerate(const Problem& problem, Bytes capacity, ModeChanges changes) {
  return Enumeration(problem, capacity, changes).Run();
}

std::optional<int64_t> EnumerateLeastCost(const Problem& problem, Bytes capacity) {
  return Enumeration(problem, capacity, ModeChanges::kAllowed).FindLeastCost();
}

}  // namespace tessera::encoder
