// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/well_formed.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/well_formed_faults.h"

namespace tessera::problem {
namespace {

using base::CheckedAdd;
using base::Diagnostic;
using base::kMaxTotal;

Fault CheckRange(const AddressRange& range, Bytes limit, const std::string& pointer,
                 std::string_view what) {
  if (range.begin >= 0 && range.begin < range.end && range.end <= limit) return std::nullopt;
  return FaultAt(
      pointer,
      fmt::format("{} [{}, {}) is empty or leaves its memory", what, range.begin, range.end),
      fmt::format("0 <= begin < end <= {}", limit));
}

Fault CheckBanks(const Memory& memory, const std::string& pointer) {
  for (size_t i = 0; i < memory.banks.size(); ++i) {
    const Bank& bank = memory.banks[i];
    const std::string at = fmt::format("{}/banks/{}", pointer, i);
    if (Fault fault = CheckRange(bank.range, memory.capacity, at, "bank")) return fault;
    for (const std::optional<int>& ports :
         {bank.ports.total, bank.ports.reads, bank.ports.writes}) {
      if (ports && *ports < 0)
        return FaultAt(at + "/ports", "a number of ports is negative", "0 or more");
    }
  }
  std::vector<size_t> order(memory.banks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return memory.banks[a].range.begin < memory.banks[b].range.begin;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    if (memory.banks[order[i - 1]].range.end <= memory.banks[order[i]].range.begin) continue;
    return FaultAt(fmt::format("{}/banks/{}", pointer, order[i]),
                   fmt::format("banks {} and {} overlap", order[i - 1], order[i]),
                   "disjoint address ranges");
  }
  return std::nullopt;
}

Fault CheckModes(const Memory& memory, const std::string& pointer) {
  for (size_t i = 0; i < memory.modes.size(); ++i) {
    const Mode& mode = memory.modes[i];
    const std::string at = fmt::format("{}/modes/{}", pointer, i);
    if (mode.banks.size() != memory.banks.size()) {
      return FaultAt(at, fmt::format("the mode describes {} banks", mode.banks.size()),
                     fmt::format("one entry for each of {} banks", memory.banks.size()));
    }
    for (size_t bank = 0; bank < mode.banks.size(); ++bank) {
      if (!mode.banks[bank].off || mode.banks[bank].allowed.empty()) continue;
      return FaultAt(fmt::format("{}/banks/{}", at, bank),
                     "a bank that is off cannot allow accesses");
    }
  }
  if (!memory.transitions) return std::nullopt;
  for (size_t i = 0; i < memory.transitions->size(); ++i) {
    const auto& [from, to] = (*memory.transitions)[i];
    for (const int mode : {from, to}) {
      const std::string at = fmt::format("{}/transitions/{}", pointer, i);
      if (Fault fault = FaultIfNoIndex(mode, memory.modes.size(), at, "mode")) return fault;
    }
  }
  return std::nullopt;
}

// Checks that the sets of banks are disjoint and that none is empty.
Fault CheckBankSets(const Memory& memory, const std::string& pointer) {
  for (const auto& [key, sets] : memory.bank_sets) {
    std::set<int> taken;
    const size_t listed = BanksIn(sets);
    if (listed > kMostBanksInSets)
      return FaultAt(fmt::format("{}/{}", pointer, key), fmt::format("{} banks are listed", listed),
                     fmt::format("at most {}", kMostBanksInSets));
    for (size_t i = 0; i < sets.size(); ++i) {
      const std::string at = fmt::format("{}/{}/{}", pointer, key, i);
      if (sets[i].empty()) return FaultAt(at, "no bank is listed", "at least one bank");
      for (size_t k = 0; k < sets[i].size(); ++k) {
        const std::string here = fmt::format("{}/{}", at, k);
        const int bank = sets[i][k];
        if (Fault fault = FaultIfNoIndex(bank, memory.banks.size(), here, "bank")) return fault;
        if (taken.insert(bank).second) continue;
        const std::string& name = memory.banks[static_cast<size_t>(bank)].name;
        return FaultAt(here,
                       fmt::format("bank {} is listed twice",
                                   name.empty() ? std::to_string(bank) : "'" + name + "'"),
                       "each bank once");
      }
    }
  }
  return std::nullopt;
}

Fault CheckMemory(const Memory& memory, const std::string& pointer) {
  if (Fault fault =
          FaultIfOutside(memory.capacity, 0, kMaxTotal, pointer + "/capacity", "capacity"))
    return fault;
  if (Fault fault =
          FaultIfOutside(memory.alignment, 1, kMaxTotal, pointer + "/alignment", "alignment"))
    return fault;
  for (size_t i = 0; i < memory.reserved.size(); ++i) {
    // A range beyond the capacity is harmless, because callers vary the capacity of memories[0].
    const std::string at = fmt::format("{}/reserved/{}", pointer, i);
    if (Fault fault = CheckRange(memory.reserved[i].range, kMaxTotal, at, "reserved range"))
      return fault;
  }
  if (Fault fault = CheckBanks(memory, pointer)) return fault;
  if (Fault fault = CheckBankSets(memory, pointer)) return fault;
  return CheckModes(memory, pointer);
}

Fault CheckLifespans(const Buffer& buffer) {
  if (buffer.lifespans.empty())
    return FaultAt("", "the buffer never lives", "at least one lifespan");
  for (size_t i = 0; i < buffer.lifespans.size(); ++i) {
    const Lifespan& life = buffer.lifespans[i];
    const auto fault_at = [i](std::string message, std::string expected) {
      return FaultAt(fmt::format("/{}", i), std::move(message), std::move(expected));
    };
    if (life.lower >= life.upper) {
      return fault_at(fmt::format("the lifespan [{}, {}) is empty", life.lower, life.upper),
                      "lower < upper");
    }
    if (life.lower < -kMaxTotal || life.upper > kMaxTotal)
      return fault_at("a step is beyond 2^62", "");
    if (i > 0 && buffer.lifespans[i - 1].upper >= life.lower) {
      return fault_at(fmt::format("the lifespan [{}, {}) overlaps or touches the one before",
                                  life.lower, life.upper),
                      "ascending lifespans with a gap between them");
    }
  }
  return std::nullopt;
}

bool LivesAtSorted(const Buffer& buffer, Step step) {
  const auto after =
      std::upper_bound(buffer.lifespans.begin(), buffer.lifespans.end(), step,
                       [](Step at, const Lifespan& life) { return at < life.lower; });
  return after != buffer.lifespans.begin() && step < std::prev(after)->upper;
}

Fault CheckAllowedBanks(const Buffer& buffer, const Memory& memory) {
  for (size_t i = 0; i < buffer.allowed_banks.size(); ++i) {
    const std::string at = fmt::format("/{}", i);
    if (Fault fault = FaultIfNoIndex(buffer.allowed_banks[i], memory.banks.size(), at, "bank"))
      return fault;
    if (i > 0 && buffer.allowed_banks[i - 1] >= buffer.allowed_banks[i]) {
      return FaultAt(at, "allowed banks are not in order", "ascending banks, each once");
    }
  }
  return std::nullopt;
}

Fault CheckBuffer(const Problem& problem, const Buffer& buffer) {
  if (buffer.id.empty()) return FaultAt("/id", "the buffer has no id");
  if (Fault fault = FaultIfOutside(buffer.size, 1, kMaxTotal, "/size", "size")) return fault;
  if (Fault fault = FaultIfOutside(buffer.alignment, 1, kMaxTotal, "/alignment", "alignment"))
    return fault;
  if (Fault fault = FaultIfNoIndex(buffer.memory, problem.memories.size(), "/memory", "memory"))
    return fault;
  const Memory& memory = problem.memories[static_cast<size_t>(buffer.memory)];
  if (!base::CheckedMul(buffer.alignment / std::gcd(buffer.alignment, memory.alignment),
                        memory.alignment)) {
    return FaultAt("/alignment",
                   "the alignments of buffer and memory have no common multiple below 2^62");
  }
  if (Fault fault = Within("/lifespans", CheckLifespans(buffer))) return fault;
  if (Fault fault = Within("/allowed_banks", CheckAllowedBanks(buffer, memory))) return fault;
  if (buffer.offset) {
    if (Fault fault = FaultIfOutside(*buffer.offset, 0, kMaxTotal, "/offset", "offset"))
      return fault;
  }
  if (buffer.hint) {
    if (Fault fault = FaultIfOutside(*buffer.hint, 0, kMaxTotal, "/hint", "hint")) return fault;
  }
  if (buffer.value) {
    if (Fault fault = FaultIfOutside(*buffer.value, 0, kMaxTotal, "/value", "value")) return fault;
  }
  for (size_t i = 0; i < buffer.accesses.size(); ++i) {
    if (LivesAtSorted(buffer, buffer.accesses[i].step)) continue;
    return FaultAt(fmt::format("/accesses/{}", i),
                   fmt::format("step {} is outside the life of buffer '{}'",
                               buffer.accesses[i].step, buffer.id));
  }
  return std::nullopt;
}

Fault CheckBuffers(const Problem& problem) {
  std::optional<int64_t> values = 0;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (Fault fault = CheckBuffer(problem, problem.buffers[i]))
      return Within(fmt::format("/buffers/{}", i), std::move(fault));
    if (problem.buffers[i].value) values = CheckedAdd(*values, *problem.buffers[i].value);
    if (!values) return FaultAt("/buffers", "values add up to more than 2^62");
  }
  const std::optional<std::pair<size_t, size_t>> repeated = FindRepeatedId(problem);
  if (!repeated) return std::nullopt;
  return FaultAt(fmt::format("/buffers/{}/id", repeated->second),
                 fmt::format("id '{}' is already that of /buffers/{}",
                             problem.buffers[repeated->first].id, repeated->first),
                 "ids that differ");
}

// Checks the sum of the highest address that any fixed part reaches, every size rounded up to its
// alignment, and every guard. No greedy stacking of the buffers can end higher, so engines may add
// offsets and sizes without checks.
Fault CheckTotal(const Problem& problem, const std::vector<Bytes>* sizes,
                 const std::string& pointer) {
  std::optional<Bytes> total = 0;
  for (const Memory& memory : problem.memories) {
    for (const Reserved& reserved : memory.reserved) total = std::max(*total, reserved.range.end);
  }
  for (const Buffer& buffer : problem.buffers) total = std::max(*total, buffer.offset.value_or(0));
  for (size_t i = 0; i < problem.buffers.size() && total; ++i) {
    const Bytes size = sizes != nullptr ? (*sizes)[i] : problem.buffers[i].size;
    total = CheckedAdd(*total, base::RoundUp(size, AlignmentOf(problem, problem.buffers[i])));
  }
  for (const Rule& rule : problem.rules) {
    if (!TraitsOf(rule.requirement.kind).guards) continue;
    for (size_t i = 0; i < rule.buffers.size() && total; ++i) {
      total = CheckedAdd(*total, rule.requirement.before);
      if (total) total = CheckedAdd(*total, rule.requirement.after);
    }
  }
  if (total) return std::nullopt;
  return FaultAt(pointer, "sizes, rounded up to their alignments, add up to more than 2^62 bytes");
}

Fault CheckRelation(const Problem& problem, const Relation& relation, const std::string& pointer) {
  const size_t count = problem.buffers.size();
  if (Fault fault = FaultIfNoIndex(relation.first, count, pointer + "/first", "buffer"))
    return fault;
  if (Fault fault = FaultIfNoIndex(relation.second, count, pointer + "/second", "buffer"))
    return fault;
  if (relation.first == relation.second)
    return FaultAt(pointer, "a relation of a buffer with itself");
  const Buffer& first = problem.buffers[static_cast<size_t>(relation.first)];
  const Buffer& second = problem.buffers[static_cast<size_t>(relation.second)];
  if (first.memory != second.memory) {
    return FaultAt(pointer, fmt::format("buffers '{}' and '{}' are in different memories", first.id,
                                        second.id));
  }
  if (relation.kind != RelationKind::kColocate && relation.delta != 0) {
    return FaultAt(pointer + "/delta", "only a colocate relation has a delta");
  }
  return FaultIfOutside(relation.delta, -kMaxTotal, kMaxTotal, pointer + "/delta", "delta");
}

Fault CheckHorizon(const Problem& problem) {
  const Lifespan horizon = Horizon(problem);
  const std::optional<Step> length = CheckedAdd(horizon.upper, -horizon.lower);
  if (!length) return FaultAt("", "more than 2^62 steps lie between the first and the last");
  for (size_t i = 0; i < problem.memories.size(); ++i) {
    if (problem.memories[i].modes.empty() || *length <= kMaxModeSteps) continue;
    return FaultAt(fmt::format("/memories/{}/modes", i),
                   fmt::format("modes over a horizon of {} steps", *length),
                   fmt::format("at most {} steps", kMaxModeSteps));
  }
  return std::nullopt;
}

}  // namespace

// A hash table with linear probing: a table of nodes takes several times as long for a million ids.
std::optional<std::pair<size_t, size_t>> FindRepeatedId(const Problem& problem) {
  static constexpr size_t kEmpty = std::numeric_limits<size_t>::max();
  const size_t mask = std::bit_ceil(2 * problem.buffers.size() + 1) - 1;
  std::vector<size_t> table(mask + 1, kEmpty);
  const std::hash<std::string_view> hash;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const std::string_view id = problem.buffers[i].id;
    size_t slot = hash(id) & mask;
    for (; table[slot] != kEmpty; slot = (slot + 1) & mask) {
      if (problem.buffers[table[slot]].id == id) return std::pair(table[slot], i);
    }
    table[slot] = i;
  }
  return std::nullopt;
}

std::optional<Diagnostic> CheckWellFormed(const Problem& problem) {
  if (problem.memories.empty())
    return FaultAt("/memories", "the problem has no memory", "at least one memory");
  for (size_t i = 0; i < problem.memories.size(); ++i) {
    if (Fault fault = CheckMemory(problem.memories[i], fmt::format("/memories/{}", i)))
      return fault;
  }
  if (Fault fault = CheckBuffers(problem)) return fault;
  if (Fault fault = CheckWellFormedRules(problem)) return fault;
  if (Fault fault = CheckTotal(problem, nullptr, "/buffers")) return fault;
  for (size_t i = 0; i < problem.relations.size(); ++i) {
    if (Fault fault = CheckRelation(problem, problem.relations[i], fmt::format("/relations/{}", i)))
      return fault;
  }
  if (Fault fault = CheckWellFormedLoops(problem)) return fault;
  if (Fault fault = CheckHorizon(problem)) return fault;
  return CheckWellFormedCosts(problem);
}

std::optional<Diagnostic> CheckWellFormed(const Problem& problem, const Ladder& ladder) {
  if (ladder.candidates.empty())
    return FaultAt("/tile_candidates/candidates", "there are no tile candidates",
                   "at least one candidate");
  std::set<std::string_view> names;
  for (size_t i = 0; i < ladder.candidates.size(); ++i) {
    const CandidateSizes& candidate = ladder.candidates[i];
    const std::string pointer = fmt::format("/tile_candidates/candidates/{}", i);
    if (!names.insert(candidate.name).second) {
      return FaultAt(pointer + "/name",
                     fmt::format("two candidates are named '{}'", candidate.name),
                     "names that differ");
    }
    if (candidate.sizes.size() != problem.buffers.size()) {
      return FaultAt(pointer + "/sizes",
                     fmt::format("the candidate has {} sizes", candidate.sizes.size()),
                     fmt::format("one for each of {} buffers", problem.buffers.size()));
    }
    for (size_t j = 0; j < candidate.sizes.size(); ++j) {
      const std::string what = fmt::format("for buffer '{}' the size", problem.buffers[j].id);
      if (Fault fault = FaultIfOutside(candidate.sizes[j], 1, kMaxTotal, pointer + "/sizes", what))
        return fault;
    }
    if (Fault fault = CheckTotal(problem, &candidate.sizes, pointer + "/sizes")) return fault;
  }
  return std::nullopt;
}

}  // namespace tessera::problem
