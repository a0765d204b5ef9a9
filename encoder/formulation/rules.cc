#include <algorithm>
#include <numeric>

#include "tessera/encoder/formulation/formulation.h"
#include "tessera/problem/structure.h"

// The encoding of each requirement. An offset o, an end e and, if a rule needs it, the remainder o
// mod m are integers of the sink. Everything is counted in units of the granularity, which divides
// the values in rules (address_constraints.cc).
//
//     offset m, r         o mod m = r                two bounds of the remainder
//     difference m, r     (ob - oa) mod m = r        ob mod m is oa mod m + r, or m less: two cases
//     window [p, q)       o >= p and e <= q
//     no crossing of m    o mod m <= m - size
//     natural alignment   o mod 2^k = 0
//     banks               no other bank is touched
//     distance d          oa + d <= ob and ob <= oa + d
//     xor distance d      bits of oa and ob differ as d says
//     guard               end + after <= offset of every buffer above,
//                         offset - before >= end of every buffer below
//     common delta        oa + D = ob + M, with D one integer for all pairs, and M large enough to
//                         keep it positive
//
// A rule that holds for every candidate is written once. A part that depends on the candidate,
// because the rule selects by size or the size is part of the requirement, is written under the
// candidate's selector when the candidate is first used. So sizes remain the only clauses that the
// next candidate adds.
namespace tessera::encoder::formulation {

using problem::Bytes;
using problem::RelationKind;
using problem::Requirement;
using problem::RequirementKind;
using problem::Rule;

namespace {

bool AreEqual(const std::vector<Bytes>& sizes) {
  return std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()) == sizes.end();
}

bool DependsOnSize(RequirementKind kind) {
  return kind == RequirementKind::kNoCrossing || kind == RequirementKind::kNaturalAlignment;
}

// The candidates for which a statement about one buffer or pair holds.
enum class RuleScope : uint8_t { kNoCandidate, kSomeCandidates, kEveryCandidate };

RuleScope RuleScopeOf(const FormulationInput& question, const Rule& rule,
                      std::initializer_list<int> buffers) {
  size_t holding = 0;
  const size_t candidates = question.ladder == nullptr ? 1 : question.ladder->candidates.size();
  bool constant = true;
  std::vector<bool> holds(candidates, true);
  for (const int buffer : buffers) {
    const std::vector<Bytes> sizes =
        SizesOf(question.problem, question.ladder, static_cast<size_t>(buffer));
    constant = constant && AreEqual(sizes);
    for (size_t candidate = 0; candidate < candidates; ++candidate)
      holds[candidate] = holds[candidate] && rule.sizes.Holds(sizes[candidate]);
  }
  holding = static_cast<size_t>(std::count(holds.begin(), holds.end(), true));
  if (holding == 0) return RuleScope::kNoCandidate;
  if (holding < candidates || (!constant && DependsOnSize(rule.requirement.kind)))
    return RuleScope::kSomeCandidates;
  return RuleScope::kEveryCandidate;
}

// The possible distances from first to second offset, plus `most`, over the pairs of the rule. The
// steps of all domains have a common divisor, and so have the differences of their starts.
Domain DeltaDomain(const FormulationInput& question, const Rule& rule, Bytes most) {
  Bytes step = 0;
  std::optional<Bytes> start;
  for (const auto& [first, second] : rule.pairs) {
    const std::optional<Domain> a = Addresses::DomainOf(question, static_cast<size_t>(first));
    const std::optional<Domain> b = Addresses::DomainOf(question, static_cast<size_t>(second));
    if (!a || !b) continue;  // then the formula is contradictory already
    if (a->count > 1) step = std::gcd(step, a->step);
    if (b->count > 1) step = std::gcd(step, b->step);
    const Bytes distance = most + b->first - a->first;
    if (start) step = std::gcd(step, distance - *start);
    start = start.value_or(distance);
  }
  if (step == 0) return {start.value_or(0), 1, 1};
  const Bytes least = start.value_or(0) % step;
  return {least, step, (2 * most - least) / step + 1};
}

}  // namespace

Rules::Rules(const FormulationInput& question, Addresses& addresses, ClauseSink& clauses,
             IntegerSink& integers)
    : question_(question), addresses_(addresses), clauses_(clauses), integers_(integers) {}

Bytes Rules::Granularities(size_t buffer, Bytes bytes) const {
  return bytes / question_.GranularityOf(buffer);
}

Integer Rules::RemainderOf(size_t buffer, int64_t modulus) {
  const Integer remainder = integers_.Remainder(addresses_.OffsetOf(buffer), modulus);
  const Bytes granularity = question_.GranularityOf(buffer);
  integers_.Explain(remainder, Quantity{Quantity::Kind::kRemainder, static_cast<int>(buffer),
                                        granularity, modulus * granularity});
  return remainder;
}

void Rules::Write() {
  for (const Rule& rule : question_.problem.rules) {
    if (clauses_.Full()) return;
    WriteFor(rule, kTrue, std::nullopt);
  }
}

void Rules::WriteForCandidate(size_t candidate, Literal selected) {
  for (const Rule& rule : question_.problem.rules) {
    if (clauses_.Full()) return;
    WriteFor(rule, selected, candidate);
  }
}

// Without a candidate: the part that holds for every candidate. With one: the part that holds for
// this candidate, and not for every one.
void Rules::WriteFor(const Rule& rule, Literal guard, std::optional<size_t> candidate) {
  topic_ = candidate ? Topic::kSizes : Topic::kRules;
  const auto size_of = [&](int buffer) {
    return SizesOf(question_.problem, question_.ladder,
                   static_cast<size_t>(buffer))[candidate.value_or(0)];
  };
  for (const int buffer : rule.buffers) {
    const RuleScope scope = RuleScopeOf(question_, rule, {buffer});
    clauses_.Enter(topic_);
    if (!candidate && scope == RuleScope::kSomeCandidates &&
        rule.requirement.kind == RequirementKind::kGuard) {
      addresses_.ExpectGuard(static_cast<size_t>(buffer));
    }
    if (scope != (candidate ? RuleScope::kSomeCandidates : RuleScope::kEveryCandidate)) continue;
    if (rule.sizes.Holds(size_of(buffer))) {
      WriteForBuffer(rule, guard, static_cast<size_t>(buffer), size_of(buffer));
    }
  }
  for (const auto& [first, second] : rule.pairs) {
    if (RuleScopeOf(question_, rule, {first, second}) !=
        (candidate ? RuleScope::kSomeCandidates : RuleScope::kEveryCandidate))
      continue;
    clauses_.Enter(topic_);
    if (rule.sizes.Holds(size_of(first)) && rule.sizes.Holds(size_of(second))) {
      WriteForPair(rule, guard, static_cast<size_t>(first), static_cast<size_t>(second));
    }
  }
}

void Rules::WriteForBuffer(const Rule& rule, Literal guard, size_t buffer, Bytes size) {
  const Requirement& wanted = rule.requirement;
  const Term offset{addresses_.OffsetOf(buffer)};
  switch (wanted.kind) {
    case RequirementKind::kOffset:
      return WriteResidue(guard, buffer, wanted.multiple, wanted.residue);
    case RequirementKind::kWindow:
      clauses_.Add({~guard, integers_.AtLeast(offset, Granularities(buffer, wanted.window.begin))});
      return clauses_.Add(
          {~guard, ~integers_.AtLeast(addresses_.EndOf(buffer),
                                      Granularities(buffer, wanted.window.end) + 1)});
    case RequirementKind::kNoCrossing: {
      if (size > wanted.multiple) return clauses_.Add({~guard});
      const Integer remainder = RemainderOf(buffer, Granularities(buffer, wanted.multiple));
      return clauses_.Add(
          {~guard,
           ~integers_.AtLeast({remainder}, Granularities(buffer, wanted.multiple - size) + 1)});
    }
    case RequirementKind::kNaturalAlignment:
      return WriteResidue(guard, buffer, problem::NaturalAlignmentOf(size), 0);
    case RequirementKind::kBanks:
      return WriteBanks(guard, buffer, wanted.banks);
    case RequirementKind::kGuard:
      return WriteGuard(guard, buffer, Granularities(buffer, wanted.before),
                        Granularities(buffer, wanted.after));
    default:
      return;
  }
}

void Rules::WriteForPair(const Rule& rule, Literal guard, size_t first, size_t second) {
  const Requirement& wanted = rule.requirement;
  const Integer a = addresses_.OffsetOf(first);
  const Integer b = addresses_.OffsetOf(second);
  switch (wanted.kind) {
    case RequirementKind::kDifference:
      return WriteDifference(guard, first, second, wanted.multiple, wanted.residue);
    case RequirementKind::kSameBank:
      return WriteBankRelation(guard, RelationKind::kSameBank, first, second);
    case RequirementKind::kDifferentBank:
      return WriteBankRelation(guard, RelationKind::kDifferentBank, first, second);
    case RequirementKind::kDistance: {
      const Bytes distance = Granularities(first, wanted.distance);
      integers_.AddOrder(guard, {a, distance}, {b});
      return integers_.AddOrder(guard, {b}, {a, distance});
    }
    case RequirementKind::kXorDistance:
      return integers_.AddXor(guard, a, b, Granularities(first, wanted.distance));
    case RequirementKind::kCommonDelta:
      return WriteCommonDelta(rule, guard, first, second);
    default:
      return;
  }
}

// A multiple of 1 is no requirement, and does not divide the granularity.
void Rules::WriteResidue(Literal guard, size_t buffer, Bytes multiple, Bytes residue) {
  if (multiple == 1) return;
  const Integer remainder = RemainderOf(buffer, Granularities(buffer, multiple));
  clauses_.Add({~guard, integers_.AtLeast({remainder}, Granularities(buffer, residue))});
  clauses_.Add({~guard, ~integers_.AtLeast({remainder}, Granularities(buffer, residue) + 1)});
}

void Rules::WriteDifference(Literal guard, size_t first, size_t second, Bytes multiple,
                            Bytes residue) {
  if (multiple == 1) return;
  const Bytes modulus = Granularities(first, multiple);
  const Bytes wanted = Granularities(first, residue);
  const Integer a = RemainderOf(first, modulus);
  const Integer b = RemainderOf(second, modulus);
  const Literal wraps = clauses_.NewVariable();
  for (const bool choice : {false, true}) {
    const Literal chosen = And(clauses_, guard, choice ? wraps : ~wraps);
    const Bytes distance = choice ? wanted - modulus : wanted;
    integers_.AddOrder(chosen, {a, distance}, {b});
    integers_.AddOrder(chosen, {b}, {a, distance});
  }
}

void Rules::WriteBanks(Literal guard, size_t buffer, const std::vector<int>& banks) {
  for (size_t bank = 0; bank < question_.MemoryOf(buffer).banks.size(); ++bank) {
    if (std::binary_search(banks.begin(), banks.end(), static_cast<int>(bank))) continue;
    const Literal touches = addresses_.Touches(buffer, bank);
    clauses_.Enter(topic_);
    clauses_.Add({~guard, ~touches});
  }
}

void Rules::WriteBankRelation(Literal guard, RelationKind kind, size_t first, size_t second) {
  for (size_t bank = 0; bank < question_.MemoryOf(first).banks.size(); ++bank) {
    const Literal a = addresses_.Touches(first, bank);
    const Literal b = addresses_.Touches(second, bank);
    clauses_.Enter(topic_);
    if (kind == RelationKind::kDifferentBank) clauses_.Add({~guard, ~a, ~b});
    if (kind != RelationKind::kSameBank) continue;
    clauses_.Add({~guard, ~a, b});
    clauses_.Add({~guard, a, ~b});
  }
}

// Every buffer that lives together with the guarded buffer already lies below or above it.
void Rules::WriteGuard(Literal guard, size_t buffer, Bytes before, Bytes after) {
  addresses_.Guard(guard, buffer, before, after);
  const Term start{addresses_.OffsetOf(buffer)};
  const Term end = addresses_.EndOf(buffer);
  for (const problem::Reserved& reserved : question_.MemoryOf(buffer).reserved) {
    clauses_.Add({~guard,
                  ~integers_.AtLeast(end, Granularities(buffer, reserved.range.begin) - after + 1),
                  integers_.AtLeast(start, Granularities(buffer, reserved.range.end) + before)});
  }
  const problem::Buffer& guarded = question_.BufferAt(buffer);
  for (size_t other = 0; other < question_.problem.buffers.size() && !clauses_.Full(); ++other) {
    const std::optional<Literal> below = addresses_.Below(buffer, other);
    if (!below || !LiveTogether(guarded, question_.BufferAt(other))) continue;
    const std::pair<int, int> pair = std::minmax(static_cast<int>(buffer), static_cast<int>(other));
    if (question_.address_constraints.may_share.contains(pair)) continue;
    const Term other_end = addresses_.EndOf(other);
    integers_.AddOrder(And(clauses_, guard, *below), {end.base, end.shift + after},
                       {addresses_.OffsetOf(other)});
    integers_.AddOrder(And(clauses_, guard, ~*below), {other_end.base, other_end.shift + before},
                       start);
  }
}

void Rules::WriteCommonDelta(const Rule& rule, Literal guard, size_t first, size_t second) {
  const auto memory = static_cast<size_t>(question_.BufferAt(first).memory);
  const Bytes most = question_.CapacityOf(memory) / question_.GranularityOf(first);
  auto delta = deltas_.find(&rule);
  if (delta == deltas_.end()) {
    delta = deltas_.emplace(&rule, integers_.NewInteger(DeltaDomain(question_, rule, most))).first;
    const auto index = static_cast<int>(&rule - question_.problem.rules.data());
    integers_.Explain(delta->second, Quantity{Quantity::Kind::kCommonDelta, index,
                                              question_.GranularityOf(first), 0});
  }
  integers_.AddSum(guard, addresses_.OffsetOf(first), delta->second,
                   {addresses_.OffsetOf(second), most});
}

}  // namespace tessera::encoder::formulation
