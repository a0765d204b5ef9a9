// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "tessera/base/text.h"
#include "tessera/problem/explanation.h"
#include "tessera/problem/rule_definition.h"

namespace tessera::problem {

namespace {

constexpr size_t kMostNames = 12;

const Memory& MemoryAt(const Problem& problem, int memory) {
  return problem.memories[static_cast<size_t>(memory)];
}

}  // namespace

std::string Quote(std::string_view name) { return fmt::format("'{}'", base::Printable(name)); }

std::string Enumerate(const std::vector<std::string>& words) {
  const size_t named = std::min(words.size(), kMostNames);
  std::string text;
  for (size_t i = 0; i < named; ++i) {
    const bool last = i + 1 == words.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + words[i];
  }
  if (words.size() > named) text += fmt::format(" and {} more", words.size() - named);
  return text;
}

std::string Count(int64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

std::string NameOfBuffer(const Problem& problem, int buffer) {
  return Quote(problem.buffers[static_cast<size_t>(buffer)].id);
}

std::string NameOfMemory(const Problem& problem, int memory) {
  if (const std::string& name = MemoryAt(problem, memory).name; !name.empty()) return Quote(name);
  return problem.memories.size() == 1 ? "the memory" : fmt::format("memory {}", memory);
}

std::string NameOfBank(const Problem& problem, int memory, int bank) {
  const std::string& name = MemoryAt(problem, memory).banks[static_cast<size_t>(bank)].name;
  return name.empty() ? fmt::format("bank {}", bank) : Quote(name);
}

std::string NameOfMode(const Problem& problem, int memory, int mode) {
  const std::string& name = MemoryAt(problem, memory).modes[static_cast<size_t>(mode)].name;
  return name.empty() ? fmt::format("mode {}", mode) : Quote(name);
}

namespace {

std::string MostOf(const std::optional<int>& limit, std::string_view thing) {
  return limit ? Count(*limit, thing) : "";
}

class Wording {
 public:
  Wording(const Problem& problem, Bytes capacity) : problem_(problem), capacity_(capacity) {}

  std::string Of(const Condition& condition) const {
    if (condition.kind < ConditionKind::kRelation) return OfBuffer(condition);
    if (condition.kind == ConditionKind::kRelation) return OfRelation(condition);
    if (condition.kind == ConditionKind::kLoop) return OfLoop(condition);
    return condition.kind == ConditionKind::kRule ? OfRule(condition) : OfMemory(condition);
  }

  std::string Of(const Change& change) const {
    const Condition& condition = change.condition;
    switch (change.kind) {
      case ChangeKind::kCapacity:
        return fmt::format("with {} more in {}, {} in all{}", Count(change.amount, "byte"),
                           MemoryName(condition.owner), CapacityOf(condition.owner) + change.amount,
                           Doubt(change));
      case ChangeKind::kAlignment:
        if (condition.kind == ConditionKind::kBuffer) return "without the alignments of buffers";
        return fmt::format("with {} aligned to {} instead of {}{}",
                           condition.kind == ConditionKind::kAlignment
                               ? BufferName(condition.owner)
                               : "every offset in " + MemoryName(condition.owner),
                           change.amount, AlignmentOf(condition), Doubt(change));
      case ChangeKind::kBank:
        return fmt::format("with one bank more like {} ({})",
                           BankName(condition.owner, condition.item), Count(change.amount, "byte"));
      case ChangeKind::kFreeBank:
        return fmt::format("with one bank more of {} in {}{}{}{}", Count(change.amount, "byte"),
                           MemoryName(condition.owner), InOwnSets(MemoryAt(condition.owner)),
                           MemoryAt(condition.owner).modes.empty()
                               ? ""
                               : ", which every mode lets be read and written",
                           Doubt(change));
      case ChangeKind::kPorts:
        return fmt::format("with {} more in {}{}", Count(change.amount, "port"),
                           BankName(condition.owner, condition.item), Doubt(change));
      case ChangeKind::kDrop:
        return "if it were not that " + Of(condition);
      case ChangeKind::kCandidate:
        return fmt::format("with the sizes of {}", Quote(change.candidate));
    }
    return "";
  }

 private:
  const Buffer& BufferAt(int index) const { return problem_.buffers[static_cast<size_t>(index)]; }
  const Memory& MemoryAt(int index) const { return problem_.memories[static_cast<size_t>(index)]; }
  Bytes CapacityOf(int memory) const { return memory == 0 ? capacity_ : MemoryAt(memory).capacity; }

  Bytes AlignmentOf(const Condition& condition) const {
    return condition.kind == ConditionKind::kAlignment ? BufferAt(condition.owner).alignment
                                                       : MemoryAt(condition.owner).alignment;
  }

  std::string BufferName(int buffer) const { return NameOfBuffer(problem_, buffer); }
  std::string MemoryName(int memory) const { return NameOfMemory(problem_, memory); }
  std::string BankName(int memory, int bank) const { return NameOfBank(problem_, memory, bank); }
  std::string ModeName(int memory, int mode) const { return NameOfMode(problem_, memory, mode); }

  // An added bank forms a separate set in each list of sets.
  static std::string InOwnSets(const Memory& memory) {
    std::string text;
    for (const auto& [key, sets] : memory.bank_sets)
      text += fmt::format(", alone in one of its {}", key);
    return text;
  }

  static std::string Doubt(const Change& change) {
    return change.least ? "" : "; whether less would do is not proven";
  }

  std::string OfBuffer(const Condition& condition) const {
    const Buffer& buffer = BufferAt(condition.owner);
    const std::string name = Quote(buffer.id);
    switch (condition.kind) {
      case ConditionKind::kBuffer: {
        std::vector<std::string> lives;
        for (const Lifespan& life : buffer.lifespans)
          lives.push_back(fmt::format("[{}, {})", life.lower, life.upper));
        return fmt::format("{} of {} lives in steps {}", name, Count(buffer.size, "byte"),
                           Enumerate(lives));
      }
      case ConditionKind::kAlignment:
        return fmt::format("{} lies at a multiple of {}", name, buffer.alignment);
      case ConditionKind::kFixedOffset:
        return fmt::format("{} is fixed at offset {}", name, *buffer.offset);
      case ConditionKind::kBanks:
        return OfBanks(buffer);
      default: {
        const Access& access = buffer.accesses[static_cast<size_t>(condition.item)];
        return fmt::format("{} is {} at step {}{}", name,
                           access.kind == AccessKind::kRead ? "read" : "written", access.step,
                           access.engine.empty() ? "" : " by " + Quote(access.engine));
      }
    }
  }

  std::string OfBanks(const Buffer& buffer) const {
    std::vector<std::string> banks;
    for (const int bank : buffer.allowed_banks) banks.push_back(BankName(buffer.memory, bank));
    const std::string name = Quote(buffer.id);
    const std::string which =
        banks.size() == 1 ? banks.front() : fmt::format("the banks {}", Enumerate(banks));
    switch (buffer.span) {
      case Span::kSingle:
        if (banks.empty()) return name + " lies inside a single bank";
        return banks.size() == 1 ? fmt::format("{} lies inside {}", name, which)
                                 : fmt::format("{} lies inside one of {}", name, which);
      case Span::kContiguous:
        return banks.empty() ? name + " lies inside the banks"
                             : fmt::format("{} lies inside {}", name, which);
      case Span::kAny:
        break;
    }
    return fmt::format("{} touches no bank but {}", name, Enumerate(banks));
  }

  std::string OfRelation(const Condition& condition) const {
    const Relation& relation = problem_.relations[static_cast<size_t>(condition.item)];
    const std::string first = BufferName(relation.first);
    const std::string second = BufferName(relation.second);
    switch (relation.kind) {
      case RelationKind::kColocate:
        if (relation.delta == 0)
          return fmt::format("{} and {} lie at the same offset", first, second);
        return fmt::format("{} lies {} {} {}", second, Count(std::abs(relation.delta), "byte"),
                           relation.delta > 0 ? "above" : "below", first);
      case RelationKind::kAdjacent: {
        const Bytes alignment = problem::AlignmentOf(problem_, BufferAt(relation.second));
        return fmt::format(
            "{} is adjacent to {}: it begins where {} ends{}", second, first, first,
            alignment == 1 ? "" : fmt::format(", rounded up to a multiple of {}", alignment));
      }
      case RelationKind::kSameBank:
        return fmt::format("{} and {} touch the same banks", first, second);
      case RelationKind::kDifferentBank:
        return fmt::format("{} and {} have no bank in common", first, second);
      case RelationKind::kSeparate:
        return fmt::format("{} and {} never share an address", first, second);
      case RelationKind::kExclusive:
        break;
    }
    return fmt::format("{} and {} are exclusive", first, second);
  }

  std::string OfLoop(const Condition& condition) const {
    const Loop& loop = problem_.loops[static_cast<size_t>(condition.item)];
    return fmt::format("steps [{}, {}) repeat: the mode of step {} follows that of step {}",
                       loop.begin, loop.end, loop.begin, loop.end - 1);
  }

  // "rule 'wide rows': 'a' and 'b' lie at 0 modulo 64"
  std::string OfRule(const Condition& condition) const {
    const Rule& rule = problem_.rules[static_cast<size_t>(condition.item)];
    std::vector<std::string> subjects;
    for (const int buffer : rule.buffers) subjects.push_back(BufferName(buffer));
    for (const auto& [first, second] : rule.pairs)
      subjects.push_back(fmt::format("({}, {})", BufferName(first), BufferName(second)));
    return fmt::format("{}: {} {}", problem::Describe(rule), Enumerate(subjects),
                       DefinitionOf(rule.requirement.kind).words(problem_, rule));
  }

  std::string OfMemory(const Condition& condition) const {
    const Memory& memory = MemoryAt(condition.owner);
    const std::string name = MemoryName(condition.owner);
    switch (condition.kind) {
      case ConditionKind::kCapacity:
        return fmt::format("{} holds {}", name, Count(CapacityOf(condition.owner), "byte"));
      case ConditionKind::kMemoryAlignment:
        return fmt::format("every offset in {} is a multiple of {}", name, memory.alignment);
      case ConditionKind::kReserved: {
        const Reserved& reserved = memory.reserved[static_cast<size_t>(condition.item)];
        return fmt::format("[{}, {}) of {} is reserved{}", reserved.range.begin, reserved.range.end,
                           name, reserved.reason.empty() ? "" : " for " + Quote(reserved.reason));
      }
      case ConditionKind::kPorts:
        return OfPorts(condition);
      case ConditionKind::kModes:
        return OfModes(condition.owner);
      default:
        return OfTransitions(condition.owner);
    }
  }

  std::string OfPorts(const Condition& condition) const {
    const Ports& ports = MemoryAt(condition.owner).banks[static_cast<size_t>(condition.item)].ports;
    std::vector<std::string> limits;
    for (const std::string& limit : {MostOf(ports.total, "buffer"), MostOf(ports.reads, "read"),
                                     MostOf(ports.writes, "write")}) {
      if (!limit.empty()) limits.push_back(limit);
    }
    return fmt::format("{} serves at most {} in one step",
                       BankName(condition.owner, condition.item), Enumerate(limits));
  }

  static std::string Allowed(const BankMode& bank) {
    if (bank.off) return "off";
    if (bank.allowed.empty()) return "hold";
    std::string text;
    for (const Permission& permission : bank.allowed) {
      if (!text.empty() && !permission.engine.empty()) text += '+';
      if (!permission.engine.empty()) text += permission.engine + '.';
      text += permission.kind == AccessKind::kRead ? 'r' : 'w';
    }
    return text;
  }

  // "the modes of 'sram' are 'm0' (r r w) and 'm1' (w w r), bank by bank"
  std::string OfModes(int memory) const {
    std::vector<std::string> modes;
    for (size_t mode = 0; mode < MemoryAt(memory).modes.size(); ++mode) {
      std::vector<std::string> banks;
      for (const BankMode& bank : MemoryAt(memory).modes[mode].banks)
        banks.push_back(Allowed(bank));
      modes.push_back(
          fmt::format("{} ({})", ModeName(memory, static_cast<int>(mode)), fmt::join(banks, " ")));
    }
    return fmt::format("{} has the mode{} {}, bank by bank", MemoryName(memory),
                       modes.size() == 1 ? "" : "s", Enumerate(modes));
  }

  std::string OfTransitions(int memory) const {
    std::vector<std::string> pairs;
    for (const auto& [from, to] : *MemoryAt(memory).transitions)
      pairs.push_back(fmt::format("from {} to {}", ModeName(memory, from), ModeName(memory, to)));
    if (pairs.empty()) return MemoryName(memory) + " never changes its mode";
    return fmt::format("{} changes its mode only {}", MemoryName(memory), Enumerate(pairs));
  }

  const Problem& problem_;
  const Bytes capacity_;
};

}  // namespace

std::string Describe(const Problem& problem, const Condition& condition, Bytes capacity) {
  return base::Printable(Wording(problem, capacity).Of(condition));
}

std::string Describe(const Problem& problem, const Change& change, Bytes capacity) {
  return base::Printable(Wording(problem, capacity).Of(change));
}

}  // namespace tessera::problem
