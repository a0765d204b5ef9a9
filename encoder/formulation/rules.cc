// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>

#include "tessera/encoder/formulation/formulation.h"
#include "tessera/problem/structure.h"

// The encoding of each form of restriction (problem/rule_definition.h). An offset o, an end e and,
// if a restriction needs it, the remainder o mod m are integers of the sink. Everything is counted
// in units of the granularity, which divides the values in rules (address_constraints.cc).
//
//     Remainder m, a..b   a <= o mod m and o mod m <= b
//     Inside [p, q)       o >= p and e <= q
//     Margins             end + after <= offset of every buffer above,
//                         offset - before >= end of every buffer below
//     BankClause          a clause
//     OneBankSet          variables "the set has number k or a higher one"; a touched bank fixes
//                         those of its set: two clauses for each buffer and bank
//     Relation            two clauses for each bank, or one
//     ModularDistance     ob mod m is oa mod m + r, or m less: two cases
//     FixedDistance d     oa + d <= ob and ob <= oa + d
//     FlippedBits d       bits of oa and ob differ as d states
//     CommonDistance      oa + D = ob + M, with D one integer for all pairs, and M large enough to
//                         keep it positive
//
// A rule that holds for every candidate is written once. A part that depends on the candidate,
// because the rule selects by size or its restrictions depend on the size, is written under the
// candidate's selector when the candidate is first used. So sizes remain the only clauses that the
// next candidate adds.
namespace tessera::encoder::formulation {

using problem::Bytes;
using problem::Restriction;
using problem::Rule;
using problem::RuleItem;

namespace {

// The candidates for which the restrictions on one item hold.
enum class RuleScope : uint8_t { kNoCandidate, kSomeCandidates, kEveryCandidate };

RuleScope RuleScopeOf(const FormulationInput& question, const Rule& rule, const RuleItem& item) {
  const std::vector<Bytes> sizes =
      SizesOf(question.problem, question.ladder, static_cast<size_t>(item.first));
  const std::vector<Bytes> others =
      item.IsPair() ? SizesOf(question.problem, question.ladder, static_cast<size_t>(item.second))
                    : sizes;
  size_t holding = 0;
  for (size_t candidate = 0; candidate < sizes.size(); ++candidate)
    holding += rule.sizes.Holds(sizes[candidate]) && rule.sizes.Holds(others[candidate]) ? 1 : 0;
  if (holding == 0) return RuleScope::kNoCandidate;
  const bool every =
      holding == sizes.size() && CommonRestrictionsOn(question.problem, rule, item, sizes);
  return every ? RuleScope::kEveryCandidate : RuleScope::kSomeCandidates;
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
  rule_ = &rule;
  topic_ = candidate ? Topic::kSizes : Topic::kRules;
  const auto size_of = [&](int buffer) {
    return SizesOf(question_.problem, question_.ladder,
                   static_cast<size_t>(buffer))[candidate.value_or(0)];
  };
  for (const RuleItem& item : ItemsOf(rule)) {
    if (clauses_.Full()) return;
    const RuleScope scope = RuleScopeOf(question_, rule, item);
    clauses_.Enter(topic_);
    if (!candidate && scope == RuleScope::kSomeCandidates &&
        problem::TraitsOf(rule.requirement.kind).guards) {
      addresses_.ExpectGuard(static_cast<size_t>(item.first));
    }
    if (scope != (candidate ? RuleScope::kSomeCandidates : RuleScope::kEveryCandidate)) continue;
    const Bytes size = size_of(item.first);
    if (!rule.sizes.Holds(size) || (item.IsPair() && !rule.sizes.Holds(size_of(item.second))))
      continue;
    for (const Restriction& restriction : RestrictionsOn(question_.problem, rule, item, size))
      std::visit([&](const auto& form) { Write(guard, form); }, restriction);
  }
}

// A modulus of 1 is no restriction, and does not divide the granularity.
void Rules::Write(Literal guard, const problem::Remainder& wanted) {
  if (wanted.most < wanted.least) return clauses_.Add({~guard});
  if (wanted.modulus == 1) return;
  const auto buffer = static_cast<size_t>(wanted.buffer);
  const Integer remainder = RemainderOf(buffer, Granularities(buffer, wanted.modulus));
  clauses_.Add({~guard, integers_.AtLeast({remainder}, Granularities(buffer, wanted.least))});
  clauses_.Add({~guard, ~integers_.AtLeast({remainder}, Granularities(buffer, wanted.most) + 1)});
}

void Rules::Write(Literal guard, const problem::Inside& inside) {
  const auto buffer = static_cast<size_t>(inside.buffer);
  clauses_.Add({~guard, integers_.AtLeast({addresses_.OffsetOf(buffer)},
                                          Granularities(buffer, inside.window.begin))});
  clauses_.Add({~guard, ~integers_.AtLeast(addresses_.EndOf(buffer),
                                           Granularities(buffer, inside.window.end) + 1)});
}

void Rules::Write(Literal guard, const problem::BankClause& clause) {
  std::vector<Literal> literals = {~guard};
  for (const problem::BankLiteral& one : clause.any) {
    const Literal touches =
        addresses_.Touches(static_cast<size_t>(one.buffer), static_cast<size_t>(one.bank));
    literals.push_back(one.touches ? touches : ~touches);
  }
  clauses_.Enter(topic_);
  clauses_.Add(literals);
}

// Because the set's number is in order encoding, no clause for each pair of sets is needed.
void Rules::Write(Literal guard, const problem::OneBankSet& one) {
  std::vector<Literal> at_least = {kTrue};  // by number; false after the last one
  for (size_t set = 1; set < one.sets.size(); ++set) at_least.push_back(clauses_.NewVariable());
  at_least.push_back(kFalse);
  for (size_t set = 2; set < one.sets.size(); ++set)
    clauses_.Add({~at_least[set], at_least[set - 1]});
  for (const int buffer : {one.first, one.second}) {
    for (size_t set = 0; set < one.sets.size(); ++set) {
      for (const int bank : one.sets[set]) {
        const Literal touches =
            addresses_.Touches(static_cast<size_t>(buffer), static_cast<size_t>(bank));
        clauses_.Enter(topic_);
        clauses_.Add({~guard, ~touches, at_least[set]});
        clauses_.Add({~guard, ~touches, ~at_least[set + 1]});
      }
    }
  }
}

void Rules::Write(Literal guard, const problem::Relation& relation) {
  addresses_.WriteBankRelation(relation, guard, topic_);
}

void Rules::Write(Literal guard, const problem::ModularDistance& difference) {
  if (difference.modulus == 1) return;
  const auto first = static_cast<size_t>(difference.first);
  const auto second = static_cast<size_t>(difference.second);
  const Bytes modulus = Granularities(first, difference.modulus);
  const Bytes wanted = Granularities(first, difference.residue);
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

void Rules::Write(Literal guard, const problem::FixedDistance& fixed) {
  const auto first = static_cast<size_t>(fixed.first);
  const Integer a = addresses_.OffsetOf(first);
  const Integer b = addresses_.OffsetOf(static_cast<size_t>(fixed.second));
  const Bytes distance = Granularities(first, fixed.distance);
  integers_.AddOrder(guard, {a, distance}, {b});
  integers_.AddOrder(guard, {b}, {a, distance});
}

void Rules::Write(Literal guard, const problem::FlippedBits& flipped) {
  const auto first = static_cast<size_t>(flipped.first);
  integers_.AddXor(guard, addresses_.OffsetOf(first),
                   addresses_.OffsetOf(static_cast<size_t>(flipped.second)),
                   Granularities(first, flipped.bits));
}

// Every buffer that lives together with the guarded buffer already lies below or above it.
void Rules::Write(Literal guard, const problem::Margins& margins) {
  const auto buffer = static_cast<size_t>(margins.buffer);
  const Bytes before = Granularities(buffer, margins.guard.before);
  const Bytes after = Granularities(buffer, margins.guard.after);
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

void Rules::Write(Literal guard, const problem::CommonDistance& common) {
  const auto first = static_cast<size_t>(common.first);
  const auto second = static_cast<size_t>(common.second);
  const auto memory = static_cast<size_t>(question_.BufferAt(first).memory);
  const Bytes most = question_.CapacityOf(memory) / question_.GranularityOf(first);
  auto delta = deltas_.find(rule_);
  if (delta == deltas_.end()) {
    delta =
        deltas_.emplace(rule_, integers_.NewInteger(DeltaDomain(question_, *rule_, most))).first;
    const auto index = static_cast<int>(rule_ - question_.problem.rules.data());
    integers_.Explain(delta->second, Quantity{Quantity::Kind::kCommonDelta, index,
                                              question_.GranularityOf(first), 0});
  }
  integers_.AddSum(guard, addresses_.OffsetOf(first), delta->second,
                   {addresses_.OffsetOf(second), most});
}

}  // namespace tessera::encoder::formulation
