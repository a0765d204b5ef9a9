// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/sat/plain_formula.h"

#include <algorithm>
#include <iterator>
#include <numeric>

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
    domain.variable = NextVariable();
    bounds_ += domain.values.size();
    full_ = full_ || bounds_ > limit_ || stop_.Requested();
  }
}

// All values if they are few; else the sums of a boundary and sizes, filled up by a grid.
void PlainFormula::ChooseValues(int buffer, size_t most) {
  Domain& domain = domains_[static_cast<size_t>(buffer)];
  const int64_t all = domain.Count() - 1;
  const bool every = all <= static_cast<int64_t>(std::min(most, limit_));
  weakened_ = weakened_ || !every;
  const int64_t pitch = every ? 1 : all / (static_cast<int64_t>(most) + 1) + 1;
  const int64_t pieces = all / pitch;
  full_ = bounds_ + static_cast<size_t>(pieces) > limit_;
  if (full_) return;
  const std::set<Bytes> sums = every ? std::set<Bytes>() : SumsOfSizes(buffer, most);
  std::vector<Bytes> grid;
  grid.reserve(static_cast<size_t>(pieces));
  base::PolledWork work(&stop_);
  for (int64_t k = 1; k <= pieces && sums.size() + grid.size() < most && work.Continues(); ++k) {
    const Bytes value = domain.first + k * pitch * domain.stride;
    if (!sums.contains(value)) grid.push_back(value);
  }
  domain.values.reserve(sums.size() + grid.size());
  std::merge(sums.begin(), sums.end(), grid.begin(), grid.end(), std::back_inserter(domain.values));
}

std::set<Bytes> PlainFormula::SumsOfSizes(int buffer, size_t most) const {
  const Domain& domain = domains_[static_cast<size_t>(buffer)];
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
  std::set<Bytes> sums;
  const auto insert = [&](Bytes value) {
    value = base::RoundUp(value, domain.stride);
    if (value > domain.first && value <= domain.last && sums.size() < most) sums.insert(value);
  };
  for (const Bytes size : sizes) {
    for (const Bytes boundary : boundaries) insert(boundary + size);
    for (const Bytes boundary : boundaries) insert(boundary - size - BufferAt(buffer).size + 1);
  }
  return sums;
}

ProofLiteral PlainFormula::MeaningOf(int literal) const {
  const int variable = std::abs(literal);
  const auto index = static_cast<size_t>(variable) - 1;
  const ProofLiteral meaning =
      index < bounds_ ? MeaningOfBound(variable) : meanings_[index - bounds_];
  return literal > 0 ? meaning : ~meaning;
}

ProofLiteral PlainFormula::MeaningOfBound(int variable) const {
  const auto after =
      std::upper_bound(domains_.begin(), domains_.end(), variable,
                       [](int wanted, const Domain& domain) { return wanted < domain.variable; });
  const Domain& domain = *std::prev(after);
  return AtLeast(static_cast<int>(after - domains_.begin()) - 1,
                 domain.values[static_cast<size_t>(variable - domain.variable)]);
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
    const auto [entry, is_new] = variables.try_emplace(key, NextVariable());
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

PlainFormula::Clause PlainFormula::At(size_t clause) const {
  const Row before = clause == 0 ? Row{} : rows_[clause - 1];
  const Row& row = rows_[clause];
  const auto part = [](const auto& list, size_t begin, size_t end) {
    return std::span(list).subspan(begin, end - begin);
  };
  return {row.ground, row.free, part(subjects_, before.subjects_end, row.subjects_end),
          part(literals_, before.literals_end, row.literals_end)};
}

bool PlainFormula::HasRoom() {
  const bool polls = rows_.size() % kClausesBetweenPolls == 0;
  full_ = full_ || rows_.size() >= limit_ || (polls && stop_.Requested());
  return !full_;
}

void PlainFormula::Add(Ground ground, const std::vector<int64_t>& subjects,
                       const Literals& literals) {
  if (!HasRoom()) return;
  const size_t begin = literals_.size();
  const auto has = [&](int literal) {
    return std::find(literals_.begin() + static_cast<ptrdiff_t>(begin), literals_.end(), literal) !=
           literals_.end();
  };
  for (ProofLiteral literal : literals) {
    const std::optional<bool> known = Weaken(literal);
    const int dimacs = known ? 0 : DimacsOf(literal);
    if (known.value_or(false) || (!known && has(-dimacs))) {
      literals_.resize(begin);
      return;
    }
    if (!known && !has(dimacs)) literals_.push_back(dimacs);
  }
  subjects_.insert(subjects_.end(), subjects.begin(), subjects.end());
  rows_.push_back({subjects_.size(), literals_.size(), ground, false});
}

void PlainFormula::WriteChains() {
  for (const Domain& domain : domains_) {
    for (int k = 1; k < static_cast<int>(domain.values.size()) && HasRoom(); ++k) {
      const int variable = domain.variable + k;
      literals_.insert(literals_.end(), {-variable, variable - 1});
      rows_.push_back({subjects_.size(), literals_.size(), Ground::kRoom, true});
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
