// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>
#include <set>

#include "tessera/encoder/sat/plain_formula.h"
#include "tessera/problem/rule_definition.h"
#include "tessera/problem/structure.h"

namespace tessera::encoder::sat {

namespace {

using problem::Bytes;
using problem::Memory;
using problem::proof::AtLeast;
using problem::proof::Ground;
using problem::proof::Under;

}  // namespace

// Writes a rule of the Problem: clauses that forbid the offsets of a buffer, or of one buffer for
// each offset of the other, that break the rule.
void PlainFormula::WriteRule(int index) {
  const problem::Rule& rule = problem_.rules[static_cast<size_t>(index)];
  const std::vector<problem::RuleItem> items = ItemsOf(rule);
  for (size_t k = 0; k < items.size() && !full_; ++k) {
    if (!AppliesTo(rule, items[k], problem_)) continue;
    const Subjects subjects = {index, static_cast<int64_t>(k)};
    for (const problem::Restriction& restriction :
         RestrictionsOn(problem_, rule, items[k], BufferAt(items[k].first).size))
      std::visit([&](const auto& form) { WriteRestriction(subjects, form); }, restriction);
  }
}

void PlainFormula::WriteRestriction(const Subjects& subjects, const problem::Remainder& remainder) {
  WriteExcept(subjects, {}, remainder.buffer, [&](Bytes offset) {
    const Bytes rest = offset % remainder.modulus;
    return rest < remainder.least || rest > remainder.most;
  });
}

void PlainFormula::WriteRestriction(const Subjects& subjects, const problem::Inside& inside) {
  const Bytes size = BufferAt(inside.buffer).size;
  WriteExcept(subjects, {}, inside.buffer, [&](Bytes offset) {
    return offset < inside.window.begin || offset + size > inside.window.end;
  });
}

void PlainFormula::WriteRestriction(const Subjects& subjects, const problem::Margins& margins) {
  const Memory& home = MemoryOf(margins.buffer);
  const Bytes size = BufferAt(margins.buffer).size;
  const Bytes capacity = BufferAt(margins.buffer).memory == 0 ? capacity_ : home.capacity;
  WriteExcept(subjects, {}, margins.buffer, [&](Bytes offset) {
    const problem::AddressRange guarded{offset - margins.guard.before,
                                        offset + size + margins.guard.after};
    return guarded.begin < 0 || guarded.end > capacity ||
           std::any_of(
               home.reserved.begin(), home.reserved.end(), [&](const problem::Reserved& reserved) {
                 return reserved.range.begin < guarded.end && guarded.begin < reserved.range.end;
               });
  });
}

void PlainFormula::WriteRestriction(const Subjects& subjects, const problem::BankClause& clause) {
  Literals literals;
  for (const problem::BankLiteral& one : clause.any) {
    const problem::proof::ProofLiteral touch = Touch(one.buffer, one.bank);
    literals.push_back(one.touches ? touch : ~touch);
  }
  Add(Ground::kRule, subjects, literals);
}

// Every variable of a proof has a meaning, and the number of a set has none. So there is a clause
// for each pair of banks of different sets.
void PlainFormula::WriteRestriction(const Subjects& subjects, const problem::OneBankSet& one) {
  for (const std::vector<int>& set : one.sets) {
    for (const std::vector<int>& other : one.sets) {
      if (&set == &other) continue;
      for (const int a : set) {
        for (const int b : other)
          Add(Ground::kRule, subjects, {~Touch(one.first, a), ~Touch(one.second, b)});
      }
    }
  }
}

void PlainFormula::WriteRestriction(const Subjects& subjects, const problem::Relation& relation) {
  WriteBanks(Ground::kRule, subjects, relation.kind == problem::RelationKind::kSameBank,
             relation.first, relation.second);
}

void PlainFormula::WriteRestriction(const Subjects& subjects,
                                    const problem::ModularDistance& difference) {
  WriteExceptPairs(subjects, difference.first, difference.second, [&](Bytes offset, Bytes other) {
    const Bytes rest = (other - offset) % difference.modulus;
    return (rest + difference.modulus) % difference.modulus != difference.residue;
  });
}

void PlainFormula::WriteRestriction(const Subjects& subjects, const problem::FixedDistance& fixed) {
  WriteOrder(Ground::kRule, subjects, {}, fixed.first, fixed.second, fixed.distance);
  WriteOrder(Ground::kRule, subjects, {}, fixed.second, fixed.first, -fixed.distance);
}

void PlainFormula::WriteRestriction(const Subjects& subjects, const problem::FlippedBits& flipped) {
  WriteExceptPairs(subjects, flipped.first, flipped.second,
                   [&](Bytes offset, Bytes other) { return (offset ^ other) != flipped.bits; });
}

// The pair has the same distance as the first: offset(b) - offset(a) = offset(d) - offset(c),
// written without differences, and as two inequalities. These clauses are at most a quarter of the
// formula.
void PlainFormula::WriteRestriction(const Subjects& subjects,
                                    const problem::CommonDistance& common) {
  const problem::Rule& rule = problem_.rules[static_cast<size_t>(subjects[0])];
  const size_t most_clauses = limit_ / 8 / rule.pairs.size();
  int64_t chosen = 0;
  while (!AppliesTo(rule, ItemAt(rule, static_cast<size_t>(chosen)), problem_)) ++chosen;
  if (chosen == subjects[1]) return;
  const auto [a, b] = rule.pairs[static_cast<size_t>(chosen)];
  const Subjects both = {subjects[0], chosen, subjects[1]};
  WriteSumOrder(both, b, common.first, a, common.second, most_clauses);
  WriteSumOrder(both, a, common.second, b, common.first, most_clauses);
}

void PlainFormula::WriteExceptPairs(const Subjects& subjects, int first, int second,
                                    const std::function<bool(Bytes, Bytes)>& bad) {
  const Domain& domain = domains_[static_cast<size_t>(first)];
  const int64_t others = domains_[static_cast<size_t>(second)].Count();
  if (domain.Count() > static_cast<int64_t>(limit_) / others) return;
  for (Bytes offset = domain.first; offset <= domain.last && !full_; offset += domain.stride) {
    WriteExcept(subjects, {Under(first, offset), AtLeast(first, offset + domain.stride)}, second,
                [&](Bytes other) { return bad(offset, other); });
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
    modes_[{memory, step}] = NextVariable();
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

// Requires that of any `most` + 1 users not all touch the bank. Enumerates these sets in
// lexicographic order.
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
