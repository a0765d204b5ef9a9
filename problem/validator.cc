// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/validator.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include "tessera/base/arithmetic.h"

namespace tessera::problem {
namespace {

// Each Check* method checks one requirement for all buffers and records the violations.
class Validation {
 public:
  Validation(const Problem& problem, const Allocation& allocation, Bytes capacity, size_t most)
      : problem_(problem),
        allocation_(allocation),
        capacity_(capacity),
        most_(most),
        horizon_(Horizon(problem)) {}

  std::vector<Violation> Run() {
    // If the shape is wrong or addresses overflow, nothing further can be checked.
    if (!CheckShape() || !CheckBounds()) return std::move(violations_);
    FindTouchedBanks();
    CheckAlignment();
    CheckFixedOffsets();
    CheckReserved();
    CheckOverlaps();
    CheckRelations();
    CheckSpans();
    for (std::string& fault : FindBrokenRules(problem_, allocation_.offsets, capacity_)) {
      Note(ViolationKind::kRule, std::move(fault));
    }
    for (size_t memory = 0; memory < problem_.memories.size(); ++memory) {
      if (!problem_.memories[memory].modes.empty()) {
        CheckAccesses(memory);
        CheckOffBanks(memory);
        CheckTransitions(memory);
      }
      CheckPorts(memory);
    }
    return std::move(violations_);
  }

 private:
  void Note(ViolationKind kind, std::string message) {
    if (violations_.size() < most_) violations_.push_back({kind, std::move(message)});
  }

  const Buffer& BufferAt(size_t i) const { return problem_.buffers[i]; }
  const Memory& MemoryOf(size_t i) const {
    return problem_.memories[static_cast<size_t>(BufferAt(i).memory)];
  }
  Bytes OffsetOf(size_t i) const { return allocation_.offsets[i]; }
  AddressRange RangeOf(size_t i) const { return {OffsetOf(i), OffsetOf(i) + BufferAt(i).size}; }
  const std::string& IdOf(size_t i) const { return BufferAt(i).id; }

  bool IsIn(size_t i, size_t memory) const {
    return static_cast<size_t>(BufferAt(i).memory) == memory;
  }

  size_t ModeAt(size_t memory, Step step) const {
    return static_cast<size_t>(
        allocation_.modes[memory][static_cast<size_t>(step - horizon_.lower)]);
  }

  std::string BankName(size_t memory, size_t bank) const {
    const std::string& name = problem_.memories[memory].banks[bank].name;
    return name.empty() ? fmt::format("bank {}", bank) : fmt::format("bank {} '{}'", bank, name);
  }

  std::string ModeName(size_t memory, size_t mode) const {
    const std::string& name = problem_.memories[memory].modes[mode].name;
    return name.empty() ? fmt::format("mode {}", mode) : fmt::format("mode '{}'", name);
  }

  std::string Place(size_t i) const {
    const AddressRange range = RangeOf(i);
    return fmt::format("buffer '{}' at [{}, {})", IdOf(i), range.begin, range.end);
  }

  bool CheckShape() {
    if (allocation_.offsets.size() != problem_.buffers.size()) {
      Note(ViolationKind::kShape, fmt::format("{} offsets for {} buffers",
                                              allocation_.offsets.size(), problem_.buffers.size()));
      return false;
    }
    const bool has_modes = std::any_of(problem_.memories.begin(), problem_.memories.end(),
                                       [](const Memory& memory) { return !memory.modes.empty(); });
    if (!has_modes && allocation_.modes.empty()) return true;
    if (allocation_.modes.size() != problem_.memories.size()) {
      Note(ViolationKind::kShape, fmt::format("mode schedules for {} of {} memories",
                                              allocation_.modes.size(), problem_.memories.size()));
      return false;
    }
    bool sound = true;
    for (size_t i = 0; i < problem_.memories.size(); ++i) sound = CheckSchedule(i) && sound;
    return sound;
  }

  bool CheckSchedule(size_t memory) {
    const size_t modes = problem_.memories[memory].modes.size();
    const ModeSchedule& schedule = allocation_.modes[memory];
    const size_t steps = modes == 0 ? 0 : static_cast<size_t>(horizon_.upper - horizon_.lower);
    if (schedule.size() != steps) {
      Note(ViolationKind::kShape,
           fmt::format("memory {} has a mode for {} steps where {} are needed", memory,
                       schedule.size(), steps));
      return false;
    }
    for (size_t i = 0; i < steps; ++i) {
      if (schedule[i] >= 0 && static_cast<size_t>(schedule[i]) < modes) continue;
      Note(ViolationKind::kShape, fmt::format("memory {} has no mode {}, used at step {}", memory,
                                              schedule[i], horizon_.lower + static_cast<Step>(i)));
      return false;
    }
    return true;
  }

  bool CheckBounds() {
    bool computable = true;
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      const Bytes capacity = BufferAt(i).memory == 0 ? capacity_ : MemoryOf(i).capacity;
      const Bytes offset = OffsetOf(i);
      const Bytes size = BufferAt(i).size;
      if (offset < -base::kMaxTotal || offset > base::kMaxTotal - size) computable = false;
      if (offset >= 0 && size <= capacity && offset <= capacity - size) continue;
      Note(ViolationKind::kBounds,
           fmt::format("buffer '{}' of {} bytes at offset {} is outside [0, {}) of memory {}",
                       IdOf(i), size, offset, capacity, BufferAt(i).memory));
    }
    return computable;
  }

  void FindTouchedBanks() {
    touched_.resize(problem_.buffers.size());
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      const std::vector<Bank>& banks = MemoryOf(i).banks;
      for (size_t bank = 0; bank < banks.size(); ++bank) {
        if (Intersect(RangeOf(i), banks[bank].range)) touched_[i].push_back(bank);
      }
    }
  }

  void CheckAlignment() {
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      const Bytes own = BufferAt(i).alignment, common = MemoryOf(i).alignment;
      CheckMultiple(i, std::min(own, common));
      if (own != common) CheckMultiple(i, std::max(own, common));
    }
  }

  void CheckMultiple(size_t i, Bytes alignment) {
    if (OffsetOf(i) % alignment == 0) return;
    Note(ViolationKind::kAlignment, fmt::format("offset {} of buffer '{}' is not a multiple of {}",
                                                OffsetOf(i), IdOf(i), alignment));
  }

  void CheckFixedOffsets() {
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      const std::optional<Bytes>& fixed = BufferAt(i).offset;
      if (!fixed || *fixed == OffsetOf(i)) continue;
      Note(ViolationKind::kFixedOffset,
           fmt::format("buffer '{}' is fixed at offset {} but placed at {}", IdOf(i), *fixed,
                       OffsetOf(i)));
    }
  }

  void CheckReserved() {
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      for (const Reserved& reserved : MemoryOf(i).reserved) {
        if (!Intersect(RangeOf(i), reserved.range)) continue;
        Note(ViolationKind::kReserved,
             fmt::format("{} touches [{}, {}), reserved for '{}'", Place(i), reserved.range.begin,
                         reserved.range.end, reserved.reason));
      }
    }
  }

  void CheckOverlaps() {
    for (const Overlap& overlap : FindOverlaps(problem_, allocation_.offsets, most_)) {
      Note(ViolationKind::kOverlap,
           fmt::format("buffers '{}' and '{}' share addresses [{}, {}) at step {}",
                       IdOf(overlap.first), IdOf(overlap.second), overlap.shared.begin,
                       overlap.shared.end, overlap.step));
    }
  }

  void CheckRelations() {
    for (const Relation& relation : problem_.relations) {
      const auto first = static_cast<size_t>(relation.first);
      const auto second = static_cast<size_t>(relation.second);
      if (const std::string fault = FaultOf(relation, first, second); !fault.empty()) {
        Note(ViolationKind::kRelation,
             fmt::format("{} and {} {}", Place(first), Place(second), fault));
      }
    }
  }

  // Returns the requirement between two buffers that is violated; empty if there is none.
  std::string FaultOf(const Relation& relation, size_t first, size_t second) const {
    const std::vector<size_t>& a = touched_[first];
    const std::vector<size_t>& b = touched_[second];
    switch (relation.kind) {
      case RelationKind::kColocate:
        if (OffsetOf(second) - relation.delta == OffsetOf(first)) return "";
        return fmt::format("are not {} bytes apart", relation.delta);
      case RelationKind::kAdjacent: {
        const Bytes expected =
            base::RoundUp(RangeOf(first).end, AlignmentOf(problem_, BufferAt(second)));
        if (OffsetOf(second) == expected) return "";
        return fmt::format("are not adjacent: the second belongs at {}", expected);
      }
      case RelationKind::kSameBank:
        return a == b ? "" : "do not touch the same banks";
      case RelationKind::kDifferentBank: {
        const auto common = std::find_first_of(a.begin(), a.end(), b.begin(), b.end());
        if (common == a.end()) return "";
        return fmt::format("both touch {}",
                           BankName(static_cast<size_t>(BufferAt(first).memory), *common));
      }
      case RelationKind::kSeparate:
        return Intersect(RangeOf(first), RangeOf(second)) ? "share addresses" : "";
      case RelationKind::kExclusive:
        return "";  // a permission to overlap, not a requirement
    }
    return "";
  }

  void CheckSpans() {
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      if (MemoryOf(i).banks.empty()) continue;
      Bytes inside = 0;
      for (const size_t bank : touched_[i]) {
        if (!MayUse(i, bank)) {
          Note(ViolationKind::kSpan,
               fmt::format("{} touches {}, which is not allowed to it", Place(i),
                           BankName(static_cast<size_t>(BufferAt(i).memory), bank)));
        }
        const AddressRange& range = MemoryOf(i).banks[bank].range;
        inside += std::min(range.end, RangeOf(i).end) - std::max(range.begin, RangeOf(i).begin);
      }
      if (BufferAt(i).span != Span::kAny && inside < BufferAt(i).size) {
        Note(ViolationKind::kSpan,
             fmt::format("{} has {} bytes outside the banks", Place(i), BufferAt(i).size - inside));
      }
      if (BufferAt(i).span == Span::kSingle && touched_[i].size() > 1) {
        Note(ViolationKind::kSpan,
             fmt::format("{} belongs inside a single bank but touches {} banks", Place(i),
                         touched_[i].size()));
      }
    }
  }

  bool MayUse(size_t buffer, size_t bank) const {
    const std::vector<int>& allowed = BufferAt(buffer).allowed_banks;
    return allowed.empty() ||
           std::find(allowed.begin(), allowed.end(), static_cast<int>(bank)) != allowed.end();
  }

  static bool Allows(const BankMode& mode, const Access& access) {
    return std::any_of(mode.allowed.begin(), mode.allowed.end(), [&](const Permission& permission) {
      return permission.kind == access.kind &&
             (permission.engine.empty() || permission.engine == access.engine);
    });
  }

  void CheckAccesses(size_t memory) {
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      if (!IsIn(i, memory)) continue;
      for (const Access& access : BufferAt(i).accesses) {
        const size_t mode = ModeAt(memory, access.step);
        for (const size_t bank : touched_[i]) {
          const BankMode& bank_mode = problem_.memories[memory].modes[mode].banks[bank];
          // CheckOffBanks reports banks that are off
          if (bank_mode.off || Allows(bank_mode, access)) continue;
          Note(ViolationKind::kMode,
               fmt::format("buffer '{}' is {} at step {}{} but {} forbids that in {}", IdOf(i),
                           access.kind == AccessKind::kRead ? "read" : "written", access.step,
                           access.engine.empty() ? "" : fmt::format(" by '{}'", access.engine),
                           ModeName(memory, mode), BankName(memory, bank)));
        }
      }
    }
  }

  void CheckOffBanks(size_t memory) {
    std::vector<std::vector<Step>> off_steps(problem_.memories[memory].banks.size());
    for (Step step = horizon_.lower; step < horizon_.upper; ++step) {
      const Mode& mode = problem_.memories[memory].modes[ModeAt(memory, step)];
      for (size_t bank = 0; bank < off_steps.size(); ++bank) {
        if (mode.banks[bank].off) off_steps[bank].push_back(step);
      }
    }
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      if (!IsIn(i, memory)) continue;
      for (const size_t bank : touched_[i]) {
        for (const Lifespan& life : BufferAt(i).lifespans) {
          const auto off =
              std::lower_bound(off_steps[bank].begin(), off_steps[bank].end(), life.lower);
          if (off == off_steps[bank].end() || *off >= life.upper) continue;
          Note(ViolationKind::kMode,
               fmt::format("buffer '{}' is live at step {} in {}, which is off in {}", IdOf(i),
                           *off, BankName(memory, bank), ModeName(memory, ModeAt(memory, *off))));
        }
      }
    }
  }

  void CheckTransitions(size_t memory) {
    if (!problem_.memories[memory].transitions) return;
    const std::set<std::pair<int, int>> allowed(problem_.memories[memory].transitions->begin(),
                                                problem_.memories[memory].transitions->end());
    for (const auto& [from, to] : Successions(problem_)) {
      const size_t before = ModeAt(memory, from);
      const size_t after = ModeAt(memory, to);
      if (before == after || allowed.count({static_cast<int>(before), static_cast<int>(after)}) > 0)
        continue;
      Note(ViolationKind::kTransition,
           fmt::format("{} at step {} may not be followed by {} at step {}",
                       ModeName(memory, before), from, ModeName(memory, after), to));
    }
  }

  // An access of one buffer in one bank. Sorted, accesses that compete for the ports of one bank
  // are neighbours.
  using Touch = std::tuple<size_t, Step, size_t, AccessKind>;  // bank, step, buffer, kind

  void CheckPorts(size_t memory) {
    const std::vector<Bank>& banks = problem_.memories[memory].banks;
    std::vector<Touch> touches;
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      if (!IsIn(i, memory)) continue;
      for (const Access& access : BufferAt(i).accesses) {
        for (const size_t bank : touched_[i])
          touches.emplace_back(bank, access.step, i, access.kind);
      }
    }
    std::sort(touches.begin(), touches.end());
    for (auto begin = touches.begin(); begin != touches.end();) {
      const auto [bank, step, buffer, kind] = *begin;
      std::set<size_t> all;
      std::set<size_t> reads;
      std::set<size_t> writes;
      for (; begin != touches.end() && std::get<0>(*begin) == bank && std::get<1>(*begin) == step;
           ++begin) {
        all.insert(std::get<2>(*begin));
        (std::get<3>(*begin) == AccessKind::kRead ? reads : writes).insert(std::get<2>(*begin));
      }
      const Ports& ports = banks[bank].ports;
      CheckPort(memory, bank, step, ports.total, all, "accesses");
      CheckPort(memory, bank, step, ports.reads, reads, "reads");
      CheckPort(memory, bank, step, ports.writes, writes, "writes");
    }
  }

  void CheckPort(size_t memory, size_t bank, Step step, const std::optional<int>& limit,
                 const std::set<size_t>& buffers, std::string_view what) {
    if (!limit || buffers.size() <= static_cast<size_t>(*limit)) return;
    std::string ids;
    for (const size_t buffer : buffers)
      ids += fmt::format("{}'{}'", ids.empty() ? "" : ", ", IdOf(buffer));
    Note(ViolationKind::kPorts,
         fmt::format("{} serves {} {} at step {} but has ports for {}: {}", BankName(memory, bank),
                     buffers.size(), what, step, *limit, ids));
  }

  const Problem& problem_;
  const Allocation& allocation_;
  const Bytes capacity_;
  const size_t most_;
  const Lifespan horizon_;
  std::vector<std::vector<size_t>> touched_;  // banks of each buffer
  std::vector<Violation> violations_;
};

}  // namespace

std::string_view NameOf(ViolationKind kind) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "shape",    "bounds", "alignment", "fixed offset", "reserved", "overlap",
      "relation", "span",   "mode",      "transition",   "ports",    "rule"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<Violation> Validate(const Problem& problem, const Allocation& allocation,
                                Bytes capacity, size_t most) {
  return Validation(problem, allocation, capacity, most).Run();
}

}  // namespace tessera::problem
