#include <algorithm>
#include <numeric>
#include <set>

#include "tessera/encoder/sat/plain_formula.h"
#include "tessera/problem/structure.h"

namespace tessera::encoder::sat {

namespace {

using problem::Bytes;
using problem::Memory;
using problem::RequirementKind;
using problem::proof::AtLeast;
using problem::proof::Ground;
using problem::proof::Under;

}  // namespace

// The rules of a Problem in a plain formula: the offsets of a buffer, or of one for an offset of
// the other, that break them.
void PlainFormula::WriteRule(int index) {
  const problem::Rule& rule = problem_.rules[static_cast<size_t>(index)];
  if (rule.requirement.kind == RequirementKind::kCommonDelta) return WriteCommonDelta(index);
  const auto holds_for = [&](int buffer) { return rule.sizes.Holds(BufferAt(buffer).size); };
  for (size_t k = 0; k < rule.buffers.size() && !full_; ++k) {
    if (holds_for(rule.buffers[k])) {
      WriteRuleOn({index, static_cast<int64_t>(k)}, rule.requirement, rule.buffers[k]);
    }
  }
  for (size_t k = 0; k < rule.pairs.size() && !full_; ++k) {
    const auto [first, second] = rule.pairs[k];
    if (holds_for(first) && holds_for(second)) {
      WriteRuleOn({index, static_cast<int64_t>(k)}, rule.requirement, first, second);
    }
  }
}

void PlainFormula::WriteRuleOn(const std::vector<int64_t>& subjects,
                               const problem::Requirement& wanted, int buffer) {
  const Bytes size = BufferAt(buffer).size;
  const Memory& home = MemoryOf(buffer);
  const auto except = [&](const std::function<bool(Bytes)>& bad) {
    WriteExcept(subjects, {}, buffer, bad);
  };
  switch (wanted.kind) {
    case RequirementKind::kOffset:
      return except([&](Bytes offset) { return offset % wanted.multiple != wanted.residue; });
    case RequirementKind::kWindow:
      return except([&](Bytes offset) {
        return offset < wanted.window.begin || offset + size > wanted.window.end;
      });
    case RequirementKind::kNoCrossing:
      return except([&](Bytes offset) {
        return offset / wanted.multiple != (offset + size - 1) / wanted.multiple;
      });
    case RequirementKind::kNaturalAlignment:
      return except([&](Bytes offset) { return offset % problem::NaturalAlignmentOf(size) != 0; });
    case RequirementKind::kGuard:
      return except([&](Bytes offset) {
        const problem::AddressRange guarded{offset - wanted.before, offset + size + wanted.after};
        const Bytes capacity = BufferAt(buffer).memory == 0 ? capacity_ : home.capacity;
        return guarded.begin < 0 || guarded.end > capacity ||
               std::any_of(home.reserved.begin(), home.reserved.end(),
                           [&](const problem::Reserved& reserved) {
                             return reserved.range.begin < guarded.end &&
                                    guarded.begin < reserved.range.end;
                           });
      });
    case RequirementKind::kBanks:
      for (int bank = 0; bank < static_cast<int>(home.banks.size()); ++bank) {
        const bool may =
            std::find(wanted.banks.begin(), wanted.banks.end(), bank) != wanted.banks.end();
        if (!may) Add(Ground::kRule, subjects, {~Touch(buffer, bank)});
      }
      return;
    default:
      return;
  }
}

void PlainFormula::WriteRuleOn(const std::vector<int64_t>& subjects,
                               const problem::Requirement& wanted, int first, int second) {
  const auto exclude_pairs = [&](const std::function<bool(Bytes, Bytes)>& bad) {
    const Domain& domain = domains_[static_cast<size_t>(first)];
    const int64_t others = domains_[static_cast<size_t>(second)].Count();
    if (domain.Count() > static_cast<int64_t>(limit_) / others) return;
    for (Bytes offset = domain.first; offset <= domain.last && !full_; offset += domain.stride) {
      WriteExcept(subjects, {Under(first, offset), AtLeast(first, offset + domain.stride)}, second,
                  [&](Bytes other) { return bad(offset, other); });
    }
  };
  switch (wanted.kind) {
    case RequirementKind::kDistance:
      WriteOrder(Ground::kRule, subjects, {}, first, second, wanted.distance);
      return WriteOrder(Ground::kRule, subjects, {}, second, first, -wanted.distance);
    case RequirementKind::kDifference:
      return exclude_pairs([&](Bytes offset, Bytes other) {
        const Bytes rest = (other - offset) % wanted.multiple;
        return (rest + wanted.multiple) % wanted.multiple != wanted.residue;
      });
    case RequirementKind::kXorDistance:
      return exclude_pairs(
          [&](Bytes offset, Bytes other) { return (offset ^ other) != wanted.distance; });
    case RequirementKind::kSameBank:
    case RequirementKind::kDifferentBank:
      return WriteBanks(Ground::kRule, subjects, wanted.kind == RequirementKind::kSameBank, first,
                        second);
    default:
      return;
  }
}

// Each pair has the same distance as the first: offset(b) - offset(a) = offset(d) - offset(c),
// written without differences, and as two inequalities. They take at most a quarter of the formula.
void PlainFormula::WriteCommonDelta(int index) {
  const problem::Rule& rule = problem_.rules[static_cast<size_t>(index)];
  const size_t most_clauses = limit_ / 8 / rule.pairs.size();
  std::optional<size_t> chosen;
  for (size_t k = 0; k < rule.pairs.size() && !full_; ++k) {
    const auto [c, d] = rule.pairs[k];
    if (!rule.sizes.Holds(BufferAt(c).size) || !rule.sizes.Holds(BufferAt(d).size)) continue;
    if (!chosen) {
      chosen = k;
      continue;
    }
    const auto [a, b] = rule.pairs[*chosen];
    const std::vector<int64_t> subjects = {index, static_cast<int64_t>(*chosen),
                                           static_cast<int64_t>(k)};
    WriteSumOrder(subjects, b, c, a, d, most_clauses);
    WriteSumOrder(subjects, a, d, b, c, most_clauses);
  }
}

// If also_low is at least l and also_high at most h, then offset(low) + l - h <= offset(high). Some
// l and h are skipped if all would make too many clauses.
void PlainFormula::WriteSumOrder(const std::vector<int64_t>& subjects, int low, int also_low,
                                 int high, int also_high, size_t most_clauses) {
  const auto domain_of = [&](int buffer) -> const Domain& {
    return domains_[static_cast<size_t>(buffer)];
  };
  std::vector<Bytes> begins = {domain_of(also_low).first};
  begins.insert(begins.end(), domain_of(also_low).values.begin(), domain_of(also_low).values.end());
  std::vector<Bytes> ends = domain_of(also_high).values;
  ends.push_back(domain_of(also_high).last + domain_of(also_high).stride);
  const size_t clauses = std::min(domain_of(low).values.size(), domain_of(high).values.size()) + 1;
  size_t step = 1;
  while (step < std::max(begins.size(), ends.size()) &&
         (begins.size() / step + 1) * (ends.size() / step + 1) > most_clauses / clauses) {
    ++step;
  }
  for (size_t i = 0; i < begins.size(); i += step) {
    for (size_t j = ends.size(); j > 0 && !full_; j -= std::min(j, step)) {
      const Bytes end = ends[j - 1];
      WriteOrder(Ground::kDelta, subjects, {Under(also_low, begins[i]), AtLeast(also_high, end)},
                 low, high, begins[i] - (end - domain_of(also_high).stride));
    }
  }
}

void PlainFormula::WriteExcept(const std::vector<int64_t>& subjects, const Literals& unless,
                               int buffer, const std::function<bool(Bytes)>& bad) {
  const Domain& domain = domains_[static_cast<size_t>(buffer)];
  if (domain.Count() > static_cast<int64_t>(limit_)) return;
  std::optional<Bytes> first;  // of a run
  for (Bytes offset = domain.first; offset <= domain.last + domain.stride && !full_;
       offset += domain.stride) {
    const bool breaks = offset <= domain.last && bad(offset);
    if (breaks && !first) first = offset;
    if (breaks || !first) continue;
    Literals clause = unless;
    clause.insert(clause.end(), {Under(buffer, *first), AtLeast(buffer, offset)});
    Add(Ground::kRule, subjects, clause);
    first.reset();
  }
}

// Banks, modes and ports in a plain formula: the banks that a buffer touches, and what these forbid
// at each step.

namespace {

using problem::Access;
using problem::AccessKind;
using problem::BankMode;
using problem::Buffer;
using problem::Bytes;
using problem::Memory;
using problem::Step;
using problem::proof::AtLeast;
using problem::proof::Ground;
using problem::proof::InMode;
using problem::proof::ProofLiteral;
using problem::proof::Touches;
using problem::proof::Under;

}  // namespace

// The first call for a buffer and a bank also defines the literal.
ProofLiteral PlainFormula::Touch(int buffer, int bank) {
  const ProofLiteral touches = Touches(buffer, bank);
  if (touches_.contains({buffer, bank})) return touches;
  const problem::AddressRange& range = MemoryOf(buffer).banks[static_cast<size_t>(bank)].range;
  const Bytes first = range.begin - BufferAt(buffer).size + 1;
  Add(Ground::kTouch, {buffer, bank}, {~touches, Under(buffer, range.end)});
  Add(Ground::kTouch, {buffer, bank}, {~touches, AtLeast(buffer, first)});
  Add(Ground::kTouch, {buffer, bank}, {touches, AtLeast(buffer, range.end), Under(buffer, first)});
  return touches;
}

void PlainFormula::WriteModes(int memory) {
  const int count = static_cast<int>(problem_.memories[static_cast<size_t>(memory)].modes.size());
  for (Step step = horizon_.lower; step < horizon_.upper && !full_; ++step) {
    modes_[{memory, step}] = static_cast<int>(meanings_.size()) + 1;
    Literals some;
    for (int mode = 0; mode < count; ++mode) some.push_back(InMode(memory, step, mode));
    meanings_.insert(meanings_.end(), some.begin(), some.end());
    Add(Ground::kMode, {memory, step}, some);
    for (int a = 0; a < count; ++a) {
      for (int b = a + 1; b < count; ++b) {
        Add(Ground::kMode, {memory, step}, {~InMode(memory, step, a), ~InMode(memory, step, b)});
      }
    }
  }
}

void PlainFormula::WriteTransitions(int memory) {
  const Memory& home = problem_.memories[static_cast<size_t>(memory)];
  const std::set<std::pair<int, int>> allowed(home.transitions->begin(), home.transitions->end());
  const int count = static_cast<int>(home.modes.size());
  for (const auto& [from, to] : problem::Successions(problem_)) {
    for (int a = 0; a < count; ++a) {
      for (int b = 0; b < count; ++b) {
        if (a == b || allowed.contains({a, b})) continue;
        Add(Ground::kFollow, {memory, from, to},
            {~InMode(memory, from, a), ~InMode(memory, to, b)});
      }
    }
  }
}

void PlainFormula::WriteAccesses(int buffer) {
  const Buffer& own = BufferAt(buffer);
  const Memory& home = MemoryOf(buffer);
  for (const Step step : problem::StepsThatMatter(home, own)) {
    for (int bank = 0; bank < static_cast<int>(home.banks.size()) && !full_; ++bank) {
      for (int mode = 0; mode < static_cast<int>(home.modes.size()); ++mode) {
        const BankMode& state =
            home.modes[static_cast<size_t>(mode)].banks[static_cast<size_t>(bank)];
        if (problem::Serves(state, own, step)) continue;
        Add(Ground::kAccess, {buffer, bank, step},
            {~Touch(buffer, bank), ~InMode(own.memory, step, mode)});
      }
    }
  }
}

void PlainFormula::WritePorts(int memory, int bank) {
  const problem::Ports& ports =
      problem_.memories[static_cast<size_t>(memory)].banks[static_cast<size_t>(bank)].ports;
  const auto limit = [&](const std::optional<int>& most, std::optional<AccessKind> kind) {
    if (!most) return;
    std::map<Step, std::set<int>> users;
    for (int i = 0; i < static_cast<int>(problem_.buffers.size()); ++i) {
      if (BufferAt(i).memory != memory) continue;
      for (const Access& access : BufferAt(i).accesses) {
        if (!kind || access.kind == *kind) users[access.step].insert(i);
      }
    }
    for (const auto& [step, buffers] : users) {
      WriteLimit(std::vector<int64_t>{memory, bank, step}, {buffers.begin(), buffers.end()}, *most);
    }
  };
  limit(ports.total, std::nullopt);
  limit(ports.reads, AccessKind::kRead);
  limit(ports.writes, AccessKind::kWrite);
}

// Of each most + 1 of the users, not all touch the bank. Enumerates the sets in lexicographic
// order.
void PlainFormula::WriteLimit(std::span<const int64_t> subjects, const std::vector<int>& users,
                              int most) {
  const size_t count = static_cast<size_t>(std::max(most, 0)) + 1;
  if (users.size() < count) return;
  std::vector<size_t> chosen(count);
  std::iota(chosen.begin(), chosen.end(), 0);
  while (!full_) {
    Literals literals;
    for (const size_t user : chosen)
      literals.push_back(~Touch(users[user], static_cast<int>(subjects[1])));
    Add(Ground::kPorts, {subjects.begin(), subjects.end()}, literals);
    size_t at = count;
    while (at > 0 && chosen[at - 1] == users.size() - (count - at) - 1) --at;
    if (at == 0) return;
    ++chosen[at - 1];
    for (size_t k = at; k < count; ++k) chosen[k] = chosen[k - 1] + 1;
  }
}

}  // namespace tessera::encoder::sat
