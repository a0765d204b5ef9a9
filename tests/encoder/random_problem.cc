// SPDX-License-Identifier: Apache-2.0

#include "random_problem.h"

#include <algorithm>
#include <optional>
#include <string>

#include "brute_force.h"
#include "random_rules.h"

namespace tessera::encoder {
namespace {

using problem::Access;
using problem::AccessKind;
using problem::Bank;
using problem::BankMode;
using problem::Buffer;
using problem::Bytes;
using problem::Cost;
using problem::CostKind;
using problem::Lifespan;
using problem::Memory;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;
using problem::Span;
using problem::Step;

class Generator {
 public:
  explicit Generator(base::Random& random)
      : random_(random),
        steps_(random.Uniform(3, 6)),
        first_step_(random.Uniform(-1, 3)),
        scale_(random.Chance(0.2) ? 2 : 1) {}

  Problem Draw() {
    DrawMemory("main", random_.Chance(0.96));
    if (random_.Chance(0.15)) DrawMemory("side", random_.Chance(0.3));
    DrawBuffers(random_.Uniform(2, scale_ == 1 ? 6 : 4));
    DrawAccesses();
    if (random_.Chance(0.6)) DrawRelations();
    if (random_.Chance(0.8)) DrawBearableRules();
    if (random_.Chance(0.5)) DrawLoop();
    if (random_.Chance(0.87)) PlantModes();
    return std::move(problem_);
  }

 private:
  int64_t Pick(int64_t lower, int64_t upper) { return random_.Uniform(lower, upper); }

  void DrawMemory(const std::string& name, bool banked) {
    Memory memory;
    memory.name = name;
    memory.alignment = random_.Chance(0.1) ? 2 : 1;
    if (banked) DrawBanks(memory);
    if (!banked) memory.capacity = Pick(3, 9) * scale_;
    if (random_.Chance(0.12)) {
      const Bytes begin = Pick(0, memory.capacity / scale_) * scale_;
      memory.reserved.push_back({{begin, begin + Pick(1, 2) * scale_}, "vector table"});
    }
    problem_.memories.push_back(std::move(memory));
  }

  void DrawBanks(Memory& memory) {
    const int64_t count = random_.Chance(0.15) ? 1 : Pick(2, 3);
    Bytes end = random_.Chance(0.1) ? scale_ : 0;
    for (int64_t b = 0; b < count; ++b) {
      Bank bank;
      bank.name = "b" + std::to_string(b);
      bank.range = {end, end + std::max(Pick(2, 4), Pick(2, 4)) * scale_};
      end = bank.range.end + (random_.Chance(0.1) ? scale_ : 0);
      if (random_.Chance(0.1)) bank.ports.total = static_cast<int>(Pick(1, 2));
      if (random_.Chance(0.08)) bank.ports.reads = static_cast<int>(Pick(0, 2));
      if (random_.Chance(0.08)) bank.ports.writes = static_cast<int>(Pick(0, 2));
      memory.banks.push_back(bank);
    }
    if (count > 1 && random_.Chance(0.6)) DrawBankGroups(memory);
    memory.capacity = end + (random_.Chance(0.2) ? Pick(1, 2) : 0);
    if (random_.Chance(0.98)) DrawModes(memory);
  }

  // At most two groups. A few banks are in none.
  void DrawBankGroups(Memory& memory) {
    problem::BankSets groups(2);
    for (int b = 0; b < static_cast<int>(memory.banks.size()); ++b) {
      if (random_.Chance(0.9)) groups[static_cast<size_t>(Pick(0, 1))].push_back(b);
    }
    std::erase_if(groups, [](const auto& group) { return group.empty(); });
    if (!groups.empty()) memory.bank_sets["bank_groups"] = std::move(groups);
  }

  // Modes in which banks exchange reading and writing, as hardware has them, with a few exceptions.
  void DrawModes(Memory& memory) {
    const int64_t count = random_.Chance(0.05) ? 1 : Pick(2, 3);
    for (int64_t k = 0; k < count; ++k) {
      problem::Mode mode;
      mode.name = "m" + std::to_string(k);
      for (size_t b = 0; b < memory.banks.size(); ++b) mode.banks.push_back(DrawBankMode());
      memory.modes.push_back(mode);
    }
    if (!random_.Chance(0.4)) return;
    memory.transitions.emplace();
    for (int from = 0; from < count; ++from) {
      for (int to = 0; to < count; ++to) {
        if (from != to && random_.Chance(0.65)) memory.transitions->emplace_back(from, to);
      }
    }
  }

  BankMode DrawBankMode() {
    const double draw = random_.Real();
    if (draw < 0.44) return {false, {{"", AccessKind::kRead}}};
    if (draw < 0.84) return {false, {{"", AccessKind::kWrite}}};
    if (draw < 0.88) return {false, {{"", AccessKind::kRead}, {"", AccessKind::kWrite}}};
    if (draw < 0.93) return {false, {{"pe", AccessKind::kRead}, {"dma", AccessKind::kWrite}}};
    if (draw < 0.97) return {false, {}};
    return {true, {}};
  }

  void DrawBuffers(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      Buffer buffer;
      buffer.id = "v" + std::to_string(i);
      buffer.memory = static_cast<int>(Pick(0, static_cast<int64_t>(problem_.memories.size()) - 1));
      if (buffer.memory == 1 && random_.Chance(0.5)) buffer.memory = 0;
      const Memory& home = problem_.memories[static_cast<size_t>(buffer.memory)];
      buffer.size = std::min(Pick(1, 2), Pick(1, 3)) * scale_;
      buffer.alignment = random_.Chance(0.15) ? Pick(2, 3) : random_.Chance(0.5) ? scale_ : 1;
      buffer.lifespans = DrawLifespans();
      const double span = random_.Real();
      buffer.span = span < 0.2 ? Span::kAny : span < 0.5 ? Span::kContiguous : Span::kSingle;
      for (int b = 0; b < static_cast<int>(home.banks.size()); ++b) {
        if (random_.Chance(0.09)) buffer.allowed_banks.push_back(b);
      }
      if (random_.Chance(0.06))
        buffer.offset = Pick(0, std::max<Bytes>(0, home.capacity - buffer.size));
      if (random_.Chance(0.2)) buffer.hint = Pick(0, home.capacity);
      problem_.buffers.push_back(std::move(buffer));
    }
  }

  std::vector<Lifespan> DrawLifespans() {
    const Step lower = first_step_ + Pick(0, steps_ - 1);
    const Step upper = std::min(first_step_ + steps_, lower + Pick(2, 5));
    if (upper - lower < 3 || random_.Chance(0.6)) return {{lower, upper}};
    return {{lower, lower + 1}, {upper - 1, upper}};
  }

  // Most buffers alternate between reads and writes at every step, like ping and pong.
  void DrawAccesses() {
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      for (Step step = first_step_; step < first_step_ + steps_; ++step) {
        if (!LivesAt(problem_.buffers[i], step) || random_.Chance(0.15)) continue;
        const bool ping = (step + static_cast<Step>(i)) % 2 == 0;
        const AccessKind kind =
            ping != random_.Chance(0.1) ? AccessKind::kWrite : AccessKind::kRead;
        const std::string engine = random_.Chance(0.5) ? "pe" : random_.Chance(0.5) ? "dma" : "";
        problem_.buffers[i].accesses.push_back({step, engine, kind});
        if (random_.Chance(0.03))
          problem_.buffers[i].accesses.push_back({step, engine, AccessKind::kRead});
      }
    }
  }

  void DrawRelations() {
    const int64_t count = random_.Chance(0.5) ? 1 : 2;
    for (int64_t r = 0; r < count; ++r) {
      const auto last = static_cast<int64_t>(problem_.buffers.size()) - 1;
      const int first = static_cast<int>(Pick(0, last));
      const int second = static_cast<int>(Pick(0, last));
      const Buffer& a = problem_.buffers[static_cast<size_t>(first)];
      const Buffer& b = problem_.buffers[static_cast<size_t>(second)];
      if (first == second || a.memory != b.memory) continue;
      Relation relation{static_cast<RelationKind>(Pick(0, 5)), first, second, 0};
      if (relation.kind == RelationKind::kColocate) relation.delta = Pick(-2, 2) * scale_;
      problem_.relations.push_back(relation);
    }
  }

  // Of the rules that leave no placement, even without modes, only some are kept.
  void DrawBearableRules() {
    for (int64_t left = Pick(2, 6); left > 0; --left) {
      const size_t before = problem_.rules.size();
      DrawRules(random_, 1, scale_, problem_);
      if (!random_.Chance(0.1) && !FindPlacement()) problem_.rules.resize(before);
    }
  }

  std::optional<problem::Allocation> FindPlacement() const {
    Problem free = problem_;
    for (Memory& memory : free.memories) {
      memory.modes.clear();
      memory.transitions.reset();
    }
    return Enumerate(free, free.memories[0].capacity);
  }

  void DrawLoop() {
    const Step begin = first_step_ + Pick(0, steps_ - 1);
    const Step end = Pick(begin + 1, first_step_ + steps_);
    const Step exit = Pick(begin + 1, end);
    problem_.loops.push_back({begin, end, {exit}});
    if (exit != end && random_.Chance(0.5)) problem_.loops.back().exits.push_back(end);
    if (end - begin > 2 && random_.Chance(0.3))
      problem_.loops.push_back({begin, begin + 2, {begin + 2}});
  }

  // Modes drawn independently almost never admit a schedule that changes. So the draw takes a
  // placement that ignores modes, changes the mode at random along the steps, and lets each mode
  // permit exactly the accesses of its steps.
  void PlantModes() {
    const auto placement = FindPlacement();
    if (!placement) return;
    for (size_t m = 0; m < problem_.memories.size(); ++m) {
      if (!problem_.memories[m].modes.empty()) PlantModesOf(m, placement->offsets);
    }
  }

  void PlantModesOf(size_t m, const std::vector<Bytes>& offsets) {
    Memory& memory = problem_.memories[m];
    for (problem::Mode& mode : memory.modes) mode.banks.assign(memory.banks.size(), BankMode{});
    const auto last = static_cast<int64_t>(memory.modes.size()) - 1;
    std::vector<int> schedule;
    for (Step step = 0; step < steps_; ++step) {
      const int64_t previous = step > 0 ? schedule.back() : 0;
      const bool stays = random_.Chance(0.05);
      schedule.push_back(static_cast<int>(
          stays ? previous : (previous + Pick(1, std::max<int64_t>(1, last))) % (last + 1)));
    }
    for (size_t i = 0; i < offsets.size(); ++i) {
      const Buffer& buffer = problem_.buffers[i];
      if (static_cast<size_t>(buffer.memory) != m) continue;
      for (const Access& access : buffer.accesses) {
        problem::Mode& mode = memory.modes[static_cast<size_t>(
            schedule[static_cast<size_t>(access.step - first_step_)])];
        for (size_t b = 0; b < memory.banks.size(); ++b) {
          const problem::AddressRange& range = memory.banks[b].range;
          const bool touches = offsets[i] < range.end && range.begin < offsets[i] + buffer.size;
          if (touches) mode.banks[b].allowed.push_back({access.engine, access.kind});
        }
      }
    }
    SwitchOffUnusedBanks(m, offsets, schedule);
    if (!memory.transitions) return;
    for (const auto& [from, to] : problem::Successions(problem_)) {
      const int before = schedule[static_cast<size_t>(from - first_step_)];
      const int after = schedule[static_cast<size_t>(to - first_step_)];
      if (before != after && random_.Chance(0.95)) memory.transitions->emplace_back(before, after);
    }
  }

  // Half of the banks without a live buffer in a mode are off in it.
  void SwitchOffUnusedBanks(size_t m, const std::vector<Bytes>& offsets,
                            const std::vector<int>& schedule) {
    Memory& memory = problem_.memories[m];
    for (size_t k = 0; k < memory.modes.size(); ++k) {
      for (size_t b = 0; b < memory.banks.size(); ++b) {
        const problem::AddressRange& range = memory.banks[b].range;
        bool used = false;
        for (size_t i = 0; i < offsets.size(); ++i) {
          const Buffer& buffer = problem_.buffers[i];
          const bool touches = offsets[i] < range.end && range.begin < offsets[i] + buffer.size;
          if (static_cast<size_t>(buffer.memory) != m || !touches) continue;
          for (size_t s = 0; s < schedule.size(); ++s) {
            used |= static_cast<size_t>(schedule[s]) == k &&
                    LivesAt(buffer, first_step_ + static_cast<Step>(s));
          }
        }
        if (!used && random_.Chance(0.5)) memory.modes[k].banks[b].off = true;
      }
    }
  }

  base::Random& random_;
  Step steps_;
  Step first_step_;
  Bytes scale_;
  Problem problem_;
};

// Mostly draws a pair that could reuse addresses: two buffers that live together never do.
std::optional<Cost> DrawReuse(base::Random& random, const Problem& problem) {
  const auto last = static_cast<int64_t>(problem.buffers.size()) - 1;
  for (int attempt = 0; attempt < 8; ++attempt) {
    const int first = static_cast<int>(random.Uniform(0, last));
    const int second = static_cast<int>(random.Uniform(0, last));
    const Buffer& a = problem.buffers[static_cast<size_t>(first)];
    const Buffer& b = problem.buffers[static_cast<size_t>(second)];
    if (first == second || a.memory != b.memory || (LiveTogether(a, b) && random.Chance(0.9)))
      continue;
    return Cost{"", CostKind::kReuse, random.Uniform(0, 5), first, second, 0};
  }
  return std::nullopt;
}

}  // namespace

Problem DrawProblem(base::Random& random) { return Generator(random).Draw(); }

void DrawCosts(base::Random& random, Problem& problem) {
  for (int64_t left = random.Uniform(1, 3); left > 0; --left) {
    const auto last = static_cast<int64_t>(problem.memories.size()) - 1;
    const int memory = static_cast<int>(random.Uniform(0, last));
    if (random.Chance(0.6)) {
      if (const std::optional<Cost> reuse = DrawReuse(random, problem))
        problem.costs.push_back(*reuse);
    } else if (!problem.memories[static_cast<size_t>(memory)].modes.empty()) {
      problem.costs.push_back({"", CostKind::kModeSwitch, random.Uniform(0, 5), 0, 0, memory});
    }
  }
}

}  // namespace tessera::encoder
