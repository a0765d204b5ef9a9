// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "tessera/base/text.h"
#include "tessera/problem/explanation.h"

// The whole text of an explanation. The summary recognizes the few kinds of conflict that have
// their own sentence: too many bytes at one step, a packing that leaves holes, modes, a buffer
// longer than its banks.
namespace tessera::problem {
namespace {

class Summary {
 public:
  Summary(const Problem& problem, Bytes capacity) : problem_(problem), capacity_(capacity) {}

  std::string Of(const Explanation& explanation) const {
    std::vector<std::string> buffers;
    bool only_room = true;  // only capacities, and conditions that make buffers need more space
    bool about_modes = false;
    for (const Condition& each : explanation.conditions) {
      switch (each.kind) {
        case ConditionKind::kBuffer:
          buffers.push_back(NameOfBuffer(problem_, each.owner));
          break;
        case ConditionKind::kCapacity:
        case ConditionKind::kAlignment:
        case ConditionKind::kMemoryAlignment:
        case ConditionKind::kReserved:
          break;
        case ConditionKind::kModes:
          about_modes = true;
          [[fallthrough]];
        default:
          only_room = false;
      }
    }
    const std::optional<int> memory = OnlyMemory(explanation);
    const std::string_view them = buffers.size() == 1 ? "it" : "them";
    if (!memory)
      return fmt::format("{} cannot be placed as is asked of {}", Enumerate(buffers), them);
    if (about_modes) {
      return fmt::format("no choice of banks and modes of {} serves what happens to {}",
                         MemoryName(*memory), Enumerate(buffers));
    }
    if (const std::optional<std::string> text = OfTooLarge(explanation)) return *text;
    if (!only_room || !HasCapacity(explanation))
      return fmt::format("{} cannot be placed in {} as is asked of {}", Enumerate(buffers),
                         MemoryName(*memory), them);
    return OfRoom(explanation, *memory, buffers);
  }

 private:
  const Buffer& BufferAt(int index) const { return problem_.buffers[static_cast<size_t>(index)]; }
  const Memory& MemoryAt(int index) const { return problem_.memories[static_cast<size_t>(index)]; }
  Bytes CapacityOf(int memory) const { return memory == 0 ? capacity_ : MemoryAt(memory).capacity; }
  std::string MemoryName(int memory) const { return NameOfMemory(problem_, memory); }

  // The memory of all buffers of the explanation; nullopt if there are several memories, or none.
  std::optional<int> OnlyMemory(const Explanation& explanation) const {
    std::optional<int> memory;
    for (const Condition& each : explanation.conditions) {
      if (each.kind != ConditionKind::kBuffer) continue;
      if (memory.value_or(BufferAt(each.owner).memory) != BufferAt(each.owner).memory)
        return std::nullopt;
      memory = BufferAt(each.owner).memory;
    }
    return memory;
  }

  // Describes a buffer that is larger than every bank and must lie inside one, if this is the whole
  // conflict.
  std::optional<std::string> OfTooLarge(const Explanation& explanation) const {
    const std::vector<Condition>& conditions = explanation.conditions;
    if (conditions.size() != 2 || conditions[1].kind != ConditionKind::kBanks) return std::nullopt;
    const Buffer& buffer = BufferAt(conditions[0].owner);
    if (buffer.span != Span::kSingle) return std::nullopt;
    Bytes longest = 0;
    const std::vector<Bank>& banks = MemoryAt(buffer.memory).banks;
    for (size_t bank = 0; bank < banks.size(); ++bank) {
      const std::vector<int>& allowed = buffer.allowed_banks;
      if (!allowed.empty() &&
          std::find(allowed.begin(), allowed.end(), static_cast<int>(bank)) == allowed.end())
        continue;
      longest = std::max(longest, banks[bank].range.end - banks[bank].range.begin);
    }
    if (buffer.size <= longest) return std::nullopt;
    return fmt::format("{}, but needs {} bytes, and the longest holds {}",
                       Describe(problem_, conditions[1], capacity_), buffer.size, longest);
  }

  static bool HasCapacity(const Explanation& explanation) {
    return std::any_of(explanation.conditions.begin(), explanation.conditions.end(),
                       [](const Condition& each) { return each.kind == ConditionKind::kCapacity; });
  }

  // Describes too many bytes for the capacity: at one step or, if no single step exceeds it, over
  // all steps.
  std::string OfRoom(const Explanation& explanation, int memory,
                     const std::vector<std::string>& names) const {
    Bytes reserved = 0;
    std::vector<int> buffers;
    for (const Condition& each : explanation.conditions) {
      if (each.kind == ConditionKind::kBuffer) buffers.push_back(each.owner);
      if (each.kind != ConditionKind::kReserved) continue;
      const AddressRange& range = MemoryAt(memory).reserved[static_cast<size_t>(each.item)].range;
      reserved += std::max<Bytes>(0, std::min(range.end, CapacityOf(memory)) - range.begin);
    }
    const auto [step, load] = Heaviest(buffers);
    std::string holds = fmt::format("{} holds {}", MemoryName(memory), CapacityOf(memory));
    if (reserved > 0) holds += fmt::format(", {} of them reserved", reserved);
    if (load > CapacityOf(memory) - reserved && names.size() == 1)
      return fmt::format("{} needs {} bytes; {}", names.front(), load, holds);
    if (load > CapacityOf(memory) - reserved)
      return fmt::format("{} live together at step {} and need {} bytes; {}", Enumerate(names),
                         step, load, holds);
    return fmt::format("{}, although no step needs more than {} bytes; {}",
                       names.size() == 1 ? names.front() + " finds no place"
                                         : Enumerate(names) + " find no place together",
                       load, holds);
  }

  struct Load {
    Step step = 0;
    Bytes bytes = 0;
  };

  Load Heaviest(const std::vector<int>& buffers) const {
    std::map<Step, Bytes> changes;
    for (const int buffer : buffers) {
      for (const Lifespan& life : BufferAt(buffer).lifespans) {
        changes[life.lower] += BufferAt(buffer).size;
        changes[life.upper] -= BufferAt(buffer).size;
      }
    }
    Load heaviest;
    Bytes load = 0;
    for (const auto& [step, change] : changes) {
      load += change;
      if (load > heaviest.bytes) heaviest = {step, load};
    }
    return heaviest;
  }

  const Problem& problem_;
  const Bytes capacity_;
};

}  // namespace

std::string Summarize(const Problem& problem, const Explanation& explanation, Bytes capacity) {
  return base::Printable(Summary(problem, capacity).Of(explanation));
}

std::vector<std::string> Sentences(const Problem& problem, const Explanation& explanation,
                                   Bytes capacity) {
  std::vector<std::string> lines = {Summarize(problem, explanation, capacity)};
  const auto list = [&](const auto& items) {
    for (size_t i = 0; i < std::min(kMostListed, items.size()); ++i)
      lines.push_back("  " + Describe(problem, items[i], capacity));
    if (items.size() > kMostListed)
      lines.push_back(fmt::format("  and {} more", items.size() - kMostListed));
  };
  const size_t count = explanation.conditions.size();
  lines.push_back(count == 1
                      ? "one condition alone cannot be kept:"
                      : fmt::format("{} conditions collide; {}:", count,
                                    explanation.minimal
                                        ? "without any one of them the others can be kept"
                                        : "a limit came first, so the set may not be minimal"));
  list(explanation.conditions);
  if (!explanation.changes.empty()) {
    lines.emplace_back("it would fit");
    list(explanation.changes);
  } else {
    lines.emplace_back(
        explanation.all_tried
            ? "none of these makes it fit by itself: more capacity behind the same banks, a "
              "lower alignment, one bank more, "
              "one condition less"
            : "no single change is known to make it fit; not all were decided");
  }
  return lines;
}

}  // namespace tessera::problem
