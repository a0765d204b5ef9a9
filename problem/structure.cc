// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/structure.h"

#include <algorithm>
#include <bit>

namespace tessera::problem {

bool Permits(const BankMode& bank, const Access& access) {
  return std::any_of(bank.allowed.begin(), bank.allowed.end(), [&](const Permission& permission) {
    return permission.kind == access.kind &&
           (permission.engine.empty() || permission.engine == access.engine);
  });
}

bool Serves(const BankMode& bank, const Buffer& buffer, Step step) {
  return !bank.off &&
         std::all_of(buffer.accesses.begin(), buffer.accesses.end(), [&](const Access& access) {
           return access.step != step || Permits(bank, access);
         });
}

std::vector<Step> StepsThatMatter(const Memory& memory, const Buffer& buffer) {
  std::vector<Step> steps;
  for (const Access& access : buffer.accesses) steps.push_back(access.step);
  const bool can_be_off =
      std::any_of(memory.modes.begin(), memory.modes.end(), [](const Mode& mode) {
        return std::any_of(mode.banks.begin(), mode.banks.end(),
                           [](const BankMode& bank) { return bank.off; });
      });
  if (can_be_off) {
    for (const Lifespan& life : buffer.lifespans) {
      for (Step step = life.lower; step < life.upper; ++step) steps.push_back(step);
    }
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

bool HasPorts(const Bank& bank) {
  return bank.ports.total || bank.ports.reads || bank.ports.writes;
}

bool HasPorts(const Memory& memory) {
  return std::any_of(memory.banks.begin(), memory.banks.end(),
                     [](const Bank& bank) { return HasPorts(bank); });
}

bool BanksNarrow(const Problem& problem, const Buffer& buffer) {
  const Memory& memory = problem.memories[static_cast<size_t>(buffer.memory)];
  if (memory.banks.empty()) return false;
  const bool all =
      buffer.allowed_banks.empty() || buffer.allowed_banks.size() == memory.banks.size();
  return buffer.span != Span::kAny || !all;
}

std::optional<int> FindPermissiveMode(const Problem& problem, int memory) {
  const auto permits_all = [&](const BankMode& bank) {
    return !bank.off &&
           std::all_of(problem.buffers.begin(), problem.buffers.end(), [&](const Buffer& buffer) {
             return buffer.memory != memory ||
                    std::all_of(buffer.accesses.begin(), buffer.accesses.end(),
                                [&](const Access& access) { return Permits(bank, access); });
           });
  };
  const std::vector<Mode>& modes = problem.memories[static_cast<size_t>(memory)].modes;
  const auto found = std::find_if(modes.begin(), modes.end(), [&](const Mode& mode) {
    return std::all_of(mode.banks.begin(), mode.banks.end(), permits_all);
  });
  if (found == modes.end()) return std::nullopt;
  return static_cast<int>(found - modes.begin());
}

std::vector<ModeSchedule> ConstantModes(const Problem& problem) {
  const Lifespan horizon = Horizon(problem);
  std::vector<ModeSchedule> schedules(problem.memories.size());
  for (size_t m = 0; m < schedules.size(); ++m) {
    if (problem.memories[m].modes.empty()) continue;
    const int mode = FindPermissiveMode(problem, static_cast<int>(m)).value_or(0);
    schedules[m].assign(static_cast<size_t>(horizon.upper - horizon.lower), mode);
  }
  return schedules;
}

std::vector<Bytes> SizesOf(const Problem& problem, const Ladder* ladder, size_t buffer) {
  if (ladder == nullptr) return {problem.buffers[buffer].size};
  std::vector<Bytes> sizes;
  for (const CandidateSizes& candidate : ladder->candidates)
    sizes.push_back(candidate.sizes[buffer]);
  return sizes;
}

Bytes NaturalAlignmentOf(Bytes size) {
  return static_cast<Bytes>(std::bit_ceil(static_cast<uint64_t>(size)));
}

}  // namespace tessera::problem
