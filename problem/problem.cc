// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/engine.h"
#include "tessera/problem/result.h"

namespace tessera::problem {
namespace {

constexpr auto kNames = [] {
  std::array<std::string_view, kRequirementKinds> names;
  for (size_t kind = 0; kind < names.size(); ++kind) names[kind] = kRuleTraits[kind].name;
  return names;
}();

}  // namespace

void SortByBegin(std::vector<AddressRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
}

void SortByBegin(std::vector<Lifespan>& lifespans) {
  std::sort(lifespans.begin(), lifespans.end(),
            [](const Lifespan& a, const Lifespan& b) { return a.lower < b.lower; });
}

std::span<const std::string_view> RequirementNames() { return kNames; }

std::span<const std::string_view> BankSetKeys() {
  static const std::vector<std::string_view> keys = [] {
    std::set<std::string_view> found;
    for (const RuleTraits& traits : kRuleTraits) {
      if (!traits.bank_sets.empty()) found.insert(traits.bank_sets);
    }
    return std::vector<std::string_view>(found.begin(), found.end());
  }();
  return keys;
}

const BankSets& BankSetsOf(const Memory& memory, std::string_view key) {
  static const BankSets none;
  const auto found = memory.bank_sets.find(key);
  return found == memory.bank_sets.end() ? none : found->second;
}

size_t BanksIn(const BankSets& sets) {
  return std::accumulate(sets.begin(), sets.end(), size_t{0},
                         [](size_t sum, const std::vector<int>& set) { return sum + set.size(); });
}

bool IsOnSet(const Rule& rule) {
  return TraitsOf(rule.requirement.kind).sets && !rule.buffers.empty();
}

size_t ItemCount(const Rule& rule) {
  const size_t buffers = rule.buffers.size();
  return buffers + rule.pairs.size() + (IsOnSet(rule) ? buffers * (buffers - 1) / 2 : 0);
}

// The pairs of a set are (0, 1), (0, 2), (1, 2), (0, 3), ...; upper (upper - 1) / 2 of them precede
// those whose second buffer is `upper`.
RuleItem ItemAt(const Rule& rule, size_t number) {
  if (number < rule.buffers.size()) return {rule.buffers[number]};
  number -= rule.buffers.size();
  if (!IsOnSet(rule)) return {rule.pairs[number].first, rule.pairs[number].second};
  auto upper = static_cast<size_t>((1 + std::sqrt(1 + 8 * static_cast<double>(number))) / 2);
  while (upper * (upper - 1) / 2 > number) --upper;
  while (upper * (upper + 1) / 2 <= number) ++upper;
  return {rule.buffers[number - upper * (upper - 1) / 2], rule.buffers[upper]};
}

std::vector<RuleItem> ItemsOf(const Rule& rule) {
  std::vector<RuleItem> items(ItemCount(rule));
  for (size_t k = 0; k < items.size(); ++k) items[k] = ItemAt(rule, k);
  return items;
}

bool AppliesTo(const Rule& rule, const RuleItem& item, const Problem& problem) {
  const auto holds = [&](int buffer) {
    return rule.sizes.Holds(problem.buffers[static_cast<size_t>(buffer)].size);
  };
  return holds(item.first) && (!item.IsPair() || holds(item.second));
}

std::vector<Guard> GuardsOf(const Problem& problem) {
  std::vector<Guard> guards;
  for (const Rule& rule : problem.rules) {
    if (!TraitsOf(rule.requirement.kind).guards) continue;
    guards.resize(problem.buffers.size());
    for (const RuleItem& item : ItemsOf(rule)) {
      if (!AppliesTo(rule, item, problem)) continue;
      Guard& guard = guards[static_cast<size_t>(item.first)];
      guard.before = std::max(guard.before, rule.requirement.before);
      guard.after = std::max(guard.after, rule.requirement.after);
    }
  }
  return guards;
}

std::string Describe(const Rule& rule) {
  if (!rule.name.empty()) return "rule '" + rule.name + "'";
  return "a rule of kind " + std::string(NameOf(rule.requirement.kind));
}

namespace {

bool Reuses(const Problem& problem, const Allocation& allocation, const Cost& cost) {
  const auto first = static_cast<size_t>(cost.first);
  const auto second = static_cast<size_t>(cost.second);
  const Buffer& a = problem.buffers[first];
  const Buffer& b = problem.buffers[second];
  return !LiveTogether(a, b) && allocation.offsets[first] < allocation.offsets[second] + b.size &&
         allocation.offsets[second] < allocation.offsets[first] + a.size;
}

int64_t SwitchesOf(const Problem& problem, const ModeSchedule& schedule) {
  const Step start = Horizon(problem).lower;
  const std::vector<std::pair<Step, Step>> pairs = Successions(problem);
  return std::count_if(pairs.begin(), pairs.end(), [&](const std::pair<Step, Step>& pair) {
    return schedule[static_cast<size_t>(pair.first - start)] !=
           schedule[static_cast<size_t>(pair.second - start)];
  });
}

}  // namespace

int64_t CostOf(const Problem& problem, const Allocation& allocation) {
  int64_t total = 0;
  for (const Cost& cost : problem.costs) {
    if (cost.kind == CostKind::kReuse) {
      total += Reuses(problem, allocation, cost) ? cost.weight : 0;
    } else {
      total +=
          cost.weight * SwitchesOf(problem, allocation.modes[static_cast<size_t>(cost.memory)]);
    }
  }
  return total;
}

Lifespan Horizon(const Problem& problem) {
  std::optional<Lifespan> horizon;
  const auto include = [&horizon](Step lower, Step upper) {
    if (!horizon) horizon = Lifespan{lower, upper};
    horizon->lower = std::min(horizon->lower, lower);
    horizon->upper = std::max(horizon->upper, upper);
  };
  for (const Buffer& buffer : problem.buffers) {
    for (const Lifespan& life : buffer.lifespans) include(life.lower, life.upper);
  }
  for (const Loop& loop : problem.loops) include(loop.begin, loop.end);
  return horizon.value_or(Lifespan{0, 0});
}

Bytes AlignmentOf(const Problem& problem, const Buffer& buffer) {
  const Bytes home = problem.memories[static_cast<size_t>(buffer.memory)].alignment;
  return home == 1 ? buffer.alignment : std::lcm(buffer.alignment, home);
}

bool LivesAt(const Buffer& buffer, Step step) {
  return std::any_of(
      buffer.lifespans.begin(), buffer.lifespans.end(),
      [step](const Lifespan& life) { return life.lower <= step && step < life.upper; });
}

bool LiveTogether(const Buffer& a, const Buffer& b) {
  auto x = a.lifespans.begin();
  auto y = b.lifespans.begin();
  while (x != a.lifespans.end() && y != b.lifespans.end()) {
    if (x->lower < y->upper && y->lower < x->upper) return true;
    x->upper < y->upper ? ++x : ++y;
  }
  return false;
}

int64_t CountMeetings(const Problem& problem, int memory) {
  std::vector<std::pair<Step, int>> events;  // lower before upper events: lifespans are half-open
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.memory != memory) continue;
    for (const Lifespan& life : buffer.lifespans) {
      events.emplace_back(life.lower, 1);
      events.emplace_back(life.upper, -1);
    }
  }
  std::sort(events.begin(), events.end());
  int64_t alive = 0;
  int64_t meetings = 0;
  for (const auto& [step, change] : events) {
    if (change > 0) meetings += alive;
    alive += change;
  }
  return meetings;
}

std::vector<std::pair<Step, Step>> Successions(const Problem& problem) {
  const Lifespan horizon = Horizon(problem);
  std::vector<std::pair<Step, Step>> pairs;
  for (Step step = horizon.lower; step + 1 < horizon.upper; ++step)
    pairs.emplace_back(step, step + 1);
  for (const Loop& loop : problem.loops) {
    pairs.emplace_back(loop.end - 1, loop.begin);
    for (const Step exit : loop.exits) {
      if (loop.end < horizon.upper) pairs.emplace_back(exit - 1, loop.end);
    }
  }
  for (const Loop& loop : problem.loops) {
    const bool leaves_at_end =
        std::find(loop.exits.begin(), loop.exits.end(), loop.end) != loop.exits.end();
    if (!leaves_at_end) std::erase(pairs, std::pair{loop.end - 1, loop.end});
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

Bytes PeakOf(const Problem& problem, const Allocation& allocation, int memory) {
  const std::vector<Guard> guards = GuardsOf(problem);
  Bytes peak = 0;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (buffer.memory != memory) continue;
    peak = std::max(peak,
                    allocation.offsets[i] + buffer.size + (guards.empty() ? 0 : guards[i].after));
  }
  return peak;
}

Result Session::Minimise(size_t /*candidate*/, Bytes /*capacity*/, const base::Budget& /*budget*/,
                         const base::Stop& /*stop*/) {
  Result result;
  result.status = Status::kUnsupported;
  result.reason = "this engine does not minimise costs";
  return result;
}

Result Session::LowerPeak(const PeakQuery& /*query*/, const base::Budget& /*budget*/,
                          const base::Stop& /*stop*/) {
  Result result;
  result.status = Status::kUnsupported;
  result.reason = "this engine does not lower peaks";
  return result;
}

namespace {

std::optional<base::Diagnostic> WrongFallback(std::string pointer, std::string message,
                                              std::string expected, int64_t found) {
  base::Diagnostic fault;
  fault.pointer = std::move(pointer);
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  fault.found = std::to_string(found);
  return fault;
}

std::optional<base::Diagnostic> CheckFallback(const Problem& problem, const Buffer& buffer,
                                              const Fallback& fallback) {
  if (!buffer.value) {
    base::Diagnostic fault;
    fault.message = "a fallback of a buffer without a value, which is always placed";
    fault.hint = "give the buffer a value";
    return fault;
  }
  if (fallback.memory < 0 || static_cast<size_t>(fallback.memory) >= problem.memories.size())
    return WrongFallback("/memory", "there is no such memory", "a memory", fallback.memory);
  const bool is_in_place = fallback.memory == buffer.memory;
  const Bytes most = is_in_place ? buffer.size - 1 : base::kMaxTotal;
  if (fallback.size < 1 || fallback.size > most)
    return WrongFallback("/size",
                         is_in_place
                             ? "the fallback is no smaller than the buffer, in the same memory"
                             : "the size of the fallback is out of range",
                         fmt::format("1 to {} bytes", most), fallback.size);
  if (fallback.value < 0 || fallback.value > *buffer.value)
    return WrongFallback("/value", "the fallback is worth more than the buffer",
                         fmt::format("0 to {}", *buffer.value), fallback.value);
  return std::nullopt;
}

}  // namespace

Buffer StandInFor(const Buffer& buffer, const Fallback& fallback) {
  Buffer other;
  other.id = buffer.id;
  other.name = buffer.name;
  other.role = buffer.role;
  other.size = fallback.size;
  other.memory = fallback.memory;
  other.lifespans = buffer.lifespans;
  other.alignment = buffer.alignment;
  other.accesses = buffer.accesses;
  return other;
}

std::optional<base::Diagnostic> CheckWellFormed(const Problem& problem,
                                                const Fallbacks& fallbacks) {
  for (size_t i = 0; i < fallbacks.size(); ++i) {
    if (!fallbacks[i]) continue;
    if (std::optional<base::Diagnostic> fault =
            CheckFallback(problem, problem.buffers[i], *fallbacks[i])) {
      fault->pointer = fmt::format("/buffers/{}/fallback{}", i, fault->pointer);
      return fault;
    }
  }
  return std::nullopt;
}

}  // namespace tessera::problem
