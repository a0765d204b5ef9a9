// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/sat/plain_formula.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "tessera/base/arithmetic.h"

namespace tessera::encoder::sat {
namespace {

using problem::Buffer;
using problem::Bytes;
using problem::Memory;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;
using problem::Step;
using problem::proof::AtLeast;
using problem::proof::Below;
using problem::proof::Ground;
using problem::proof::ProofLiteral;
using problem::proof::Touches;
using problem::proof::Under;

constexpr size_t kClausesBetweenPolls = 1024;

}  // namespace

PlainFormula::PlainFormula(const Problem& problem, Bytes capacity, size_t most_values,
                           size_t most_clauses, const base::Stop& stop)
    : problem_(problem),
      stop_(stop),
      capacity_(capacity),
      horizon_(problem::Horizon(problem)),
      limit_(most_clauses) {
  MakeDomains(most_values);
  if (contradicts_ || full_) return;
  const formulation::AddressConstraints address_constraints =
      formulation::FindAddressConstraints(problem, nullptr, formulation::kPairLimit, &stop);
  full_ = address_constraints.too_many_pairs || stop.Requested();
  if (full_) return;
  WriteChains();
  WriteForbidden(address_constraints);
  WritePairs(address_constraints);
  for (int r = 0; r < static_cast<int>(problem.rules.size()); ++r) WriteRule(r);
  for (int r = 0; r < static_cast<int>(problem.relations.size()); ++r) WriteRelation(r);
  for (int m = 0; m < static_cast<int>(problem.memories.size()); ++m) {
    const Memory& memory = problem.memories[static_cast<size_t>(m)];
    if (!memory.modes.empty()) WriteModes(m);
    if (!memory.modes.empty() && memory.transitions) WriteTransitions(m);
    for (int bank = 0; bank < static_cast<int>(memory.banks.size()); ++bank) WritePorts(m, bank);
  }
  for (int i = 0; i < static_cast<int>(problem.buffers.size()); ++i) {
    if (!MemoryOf(i).modes.empty()) WriteAccesses(i);
  }
}

// If rounding down could break a relation, the offsets must be multiples already.
Bytes PlainFormula::GranularityOf(int memory) const {
  Bytes granularity = formulation::GranularityOf(problem_, nullptr, memory);
  for (const Relation& relation : problem_.relations) {
    const bool exact =
        relation.kind == RelationKind::kAdjacent || relation.kind == RelationKind::kSameBank;
    if (!exact || BufferAt(relation.first).memory != memory) continue;
    for (const int buffer : {relation.first, relation.second}) {
      granularity = std::gcd(granularity, problem::AlignmentOf(problem_, BufferAt(buffer)));
    }
  }
  return granularity;
}

void PlainFormula::MakeDomains(size_t most_values) {
  std::vector<Bytes> granularities;
  granularities.reserve(problem_.memories.size());
  for (int m = 0; m < static_cast<int>(problem_.memories.size()); ++m)
    granularities.push_back(GranularityOf(m));
  for (const Buffer& buffer : problem_.buffers) {
    const auto memory = static_cast<size_t>(buffer.memory);
    const Bytes alignment = problem::AlignmentOf(problem_, buffer);
    const Bytes stride = alignment > 1 ? alignment : granularities[memory];
    const Bytes most = (memory == 0 ? capacity_ : problem_.memories[memory].capacity) - buffer.size;
    const Bytes first = base::RoundUp(buffer.offset.value_or(0), stride);
    const Bytes last = base::RoundDown(std::min(buffer.offset.value_or(most), most), stride);
    contradicts_ = contradicts_ || first > last;
    domains_.push_back({first, last, stride, {}, 0});
  }
  for (int i = 0; i < static_cast<int>(domains_.size()) && !contradicts_ && !full_; ++i) {
    ChooseValues(i, most_values);
    Domain& domain = domains_[static_cast<size_t>(i)];
    domain.variable = static_cast<int>(meanings_.size()) + 1;
    for (const Bytes value : domain.values) meanings_.push_back(AtLeast(i, value));
    full_ = meanings_.size() > limit_ || stop_.Requested();
  }
}

void PlainFormula::ChooseValues(int buffer, size_t most) {
  Domain& domain = domains_[static_cast<size_t>(buffer)];
  const int64_t all = domain.Count() - 1;
  std::set<Bytes> values;
  const auto insert = [&](Bytes value) {
    value = base::RoundUp(value, domain.stride);
    if (value > domain.first && value <= domain.last && values.size() < most) values.insert(value);
  };
  const bool every = all <= static_cast<int64_t>(std::min(most, limit_));
  weakened_ = weakened_ || !every;
  if (!every) {
    const Memory& home = MemoryOf(buffer);
    std::set<Bytes> boundaries = {0, domain.last + BufferAt(buffer).size};
    for (const problem::Bank& bank : home.banks)
      boundaries.insert({bank.range.begin, bank.range.end});
    for (const problem::Reserved& reserved : home.reserved) {
      boundaries.insert({reserved.range.begin, reserved.range.end});
    }
    std::set<Bytes> sizes = {0};
    for (const Buffer& other : problem_.buffers) {
      if (other.memory == BufferAt(buffer).memory) sizes.insert(other.size);
    }
    for (const Bytes size : sizes) {
      for (const Bytes boundary : boundaries) insert(boundary + size);
      for (const Bytes boundary : boundaries) insert(boundary - size - BufferAt(buffer).size + 1);
    }
  }
  const int64_t pieces = every ? all : static_cast<int64_t>(most);
  base::PolledWork work(&stop_);
  for (int64_t k = 1; k <= pieces && work.Continues(); ++k) {
    insert(domain.first + (every ? k : k * (all / (pieces + 1) + 1)) * domain.stride);
  }
  domain.values.assign(values.begin(), values.end());
}

ProofLiteral PlainFormula::MeaningOf(int literal) const {
  const ProofLiteral meaning = meanings_[static_cast<size_t>(std::abs(literal)) - 1];
  return literal > 0 ? meaning : ~meaning;
}

// Replaces a bound by one that has a variable, which may be weaker. Returns the truth value if the
// literal is then constant, else nullopt.
std::optional<bool> PlainFormula::Weaken(ProofLiteral& literal) const {
  if (literal.kind != ProofLiteral::Kind::kOffset) return std::nullopt;
  const Domain& domain = domains_[static_cast<size_t>(literal.first)];
  const Bytes bound = base::RoundUp(literal.value, domain.stride);
  if (bound <= domain.first) return !literal.negated;
  if (bound > domain.last) return literal.negated;
  auto value = std::lower_bound(domain.values.begin(), domain.values.end(), bound);
  if (!literal.negated && (value == domain.values.end() || *value > bound)) {
    if (value == domain.values.begin()) return true;
    --value;
  }
  if (value == domain.values.end()) return true;
  literal.value = *value;
  return std::nullopt;
}

// For a literal that Weaken has left open.
int PlainFormula::DimacsOf(const ProofLiteral& literal) {
  const auto fresh = [this](std::map<std::pair<int, int>, int>& variables, std::pair<int, int> key,
                            const ProofLiteral& meaning) {
    const auto [entry, is_new] = variables.try_emplace(key, static_cast<int>(meanings_.size()) + 1);
    if (is_new) meanings_.push_back(meaning);
    return entry->second;
  };
  const int sign = literal.negated ? -1 : 1;
  switch (literal.kind) {
    case ProofLiteral::Kind::kOffset: {
      const Domain& domain = domains_[static_cast<size_t>(literal.first)];
      const auto value =
          std::lower_bound(domain.values.begin(), domain.values.end(), literal.value);
      return sign * (domain.variable + static_cast<int>(value - domain.values.begin()));
    }
    case ProofLiteral::Kind::kBelow: {
      const auto pair = std::minmax(literal.first, literal.second);
      const int variable = fresh(pairs_, pair, Below(pair.first, pair.second));
      return literal.first < literal.second ? variable : -variable;
    }
    case ProofLiteral::Kind::kTouch:
      return sign * fresh(touches_, {literal.first, literal.second},
                          Touches(literal.first, literal.second));
    case ProofLiteral::Kind::kMode:
      return sign * (modes_.at({literal.first, literal.value}) + literal.second);
  }
  return 0;
}

void PlainFormula::Add(Ground ground, std::vector<int64_t> subjects, const Literals& literals) {
  const bool polls = clauses_.size() % kClausesBetweenPolls == 0;
  full_ = full_ || clauses_.size() >= limit_ || (polls && stop_.Requested());
  if (full_) return;
  Clause clause{ground, false, std::move(subjects), {}};
  for (ProofLiteral literal : literals) {
    const std::optional<bool> known = Weaken(literal);
    if (known.value_or(false)) return;
    if (known) continue;
    const int dimacs = DimacsOf(literal);
    const auto& own = clause.literals;
    if (std::find(own.begin(), own.end(), -dimacs) != own.end()) return;
    if (std::find(own.begin(), own.end(), dimacs) == own.end()) clause.literals.push_back(dimacs);
  }
  clauses_.push_back(std::move(clause));
}

void PlainFormula::WriteChains() {
  for (const Domain& domain : domains_) {
    for (int k = 1; k < static_cast<int>(domain.values.size()); ++k) {
      const int variable = domain.variable + k;
      clauses_.push_back({Ground::kRoom, true, {}, {-variable, variable - 1}});
    }
  }
}

void PlainFormula::WriteForbidden(const formulation::AddressConstraints& address_constraints) {
  for (int i = 0; i < static_cast<int>(domains_.size()); ++i) {
    const Domain& domain = domains_[static_cast<size_t>(i)];
    for (const problem::AddressRange& range :
         address_constraints.forbidden[static_cast<size_t>(i)]) {
      const Bytes first = base::RoundUp(range.begin - BufferAt(i).size + 1, domain.stride);
      const Bytes after = base::RoundUp(std::min(range.end, domain.last + 1), domain.stride);
      if (first < after) Add(Ground::kRoom, {i}, {Under(i, first), AtLeast(i, after)});
    }
  }
}

void PlainFormula::WriteOrder(Ground ground, const std::vector<int64_t>& subjects,
                              const Literals& unless, int low, int high, Bytes distance) {
  const Domain& below = domains_[static_cast<size_t>(low)];
  const Domain& above = domains_[static_cast<size_t>(high)];
  const auto add = [&](ProofLiteral a, ProofLiteral b) {
    Literals clause = unless;
    clause.insert(clause.end(), {a, b});
    Add(ground, subjects, clause);
  };
  if (below.values.size() <= above.values.size()) {
    add(Under(low, below.first), AtLeast(high, below.first + distance));
    for (const Bytes value : below.values) {
      add(Under(low, value), AtLeast(high, value + distance));
      if (value + distance > above.last || full_) return;
    }
    return;
  }
  add(AtLeast(high, above.last + 1), Under(low, above.last - distance + 1));
  for (auto value = above.values.rbegin(); value != above.values.rend() && !full_; ++value) {
    // The greatest offset of the lower buffer if the higher one begins below the value.
    const Bytes greatest = *value - above.stride - distance;
    add(AtLeast(high, *value), Under(low, greatest + 1));
    if (greatest < below.first) return;
  }
}

// For two buffers that are disjoint because they live together: the bytes that guards keep free
// between them when the first lies below.
Bytes PlainFormula::GuardBetween(const std::vector<problem::Guard>& guards, int below,
                                 int above) const {
  if (guards.empty() || !LiveTogether(BufferAt(below), BufferAt(above))) return 0;
  const bool may_share = std::any_of(
      problem_.relations.begin(), problem_.relations.end(), [&](const Relation& relation) {
        return (relation.kind == RelationKind::kColocate ||
                relation.kind == RelationKind::kExclusive) &&
               std::minmax(relation.first, relation.second) == std::minmax(below, above);
      });
  if (may_share) return 0;
  return std::max(guards[static_cast<size_t>(below)].after,
                  guards[static_cast<size_t>(above)].before);
}

void PlainFormula::WritePairs(const formulation::AddressConstraints& address_constraints) {
  const std::vector<problem::Guard> guards = problem::GuardsOf(problem_);
  const auto write_both = [&](int i, int j) {
    WritePair(i, j, GuardBetween(guards, i, j));
    WritePair(j, i, GuardBetween(guards, j, i));
  };
  for (const auto& [i, j] : address_constraints.disjoint) write_both(i, j);
  // The relation alone keeps adjacent buffers disjoint, but not their guards.
  for (const Relation& relation : problem_.relations) {
    if (relation.kind != RelationKind::kAdjacent) continue;
    if (GuardBetween(guards, relation.first, relation.second) > 0)
      write_both(relation.first, relation.second);
  }
}

// i below j, with `between` additional bytes.
void PlainFormula::WritePair(int i, int j, Bytes between) {
  const Bytes distance = BufferAt(i).size + between;
  if (between == 0) WriteOrder(Ground::kStack, {i}, {Below(j, i)}, i, j, distance);
  if (between != 0) WriteOrder(Ground::kGuard, {i, j}, {Below(j, i)}, i, j, distance);
}

void PlainFormula::WriteRelation(int index) {
  const Relation& relation = problem_.relations[static_cast<size_t>(index)];
  const int a = relation.first;
  const int b = relation.second;
  if (relation.kind == RelationKind::kColocate) {
    WriteOrder(Ground::kTie, {index}, {}, a, b, relation.delta);
    WriteOrder(Ground::kTie, {index}, {}, b, a, -relation.delta);
  }
  if (relation.kind == RelationKind::kAdjacent) {
    const Bytes size = BufferAt(a).size;
    const Bytes padding = problem::AlignmentOf(problem_, BufferAt(b)) - 1;
    WriteOrder(Ground::kTie, {index}, {}, a, b, size);
    WriteOrder(Ground::kTie, {index}, {}, b, a, -size - padding);
  }
  const bool same = relation.kind == RelationKind::kSameBank;
  if (same || relation.kind == RelationKind::kDifferentBank)
    WriteBanks(Ground::kBanks, {index}, same, a, b);
}

void PlainFormula::WriteBanks(Ground ground, const std::vector<int64_t>& subjects, bool same,
                              int first, int second) {
  for (int bank = 0; bank < static_cast<int>(MemoryOf(first).banks.size()); ++bank) {
    const ProofLiteral a = Touch(first, bank);
    const ProofLiteral b = Touch(second, bank);
    if (!same) Add(ground, subjects, {~a, ~b});
    if (same) Add(ground, subjects, {~a, b});
    if (same) Add(ground, subjects, {a, ~b});
  }
}

}  // namespace tessera::encoder::sat
