// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>

#include "tessera/problem/proof/axiom_checker.h"

namespace tessera::problem::proof {

Bytes GuardBetween(const Facts& facts, const std::vector<Guard>& guards, int below, int above) {
  if (guards.empty() || !facts.LieApart(below, above)) return 0;
  if (!LiveTogether(facts.BufferAt(below), facts.BufferAt(above)) || facts.MayShare(below, above))
    return 0;
  return std::max(guards[static_cast<size_t>(below)].after,
                  guards[static_cast<size_t>(above)].before);
}

KnownPlace AxiomChecker::KnownOf(int buffer, const Axiom& axiom) const {
  const Range range = RangeOf(buffer, axiom);
  const size_t banks = facts_.MemoryOf(buffer).banks.size();
  KnownPlace place{facts_.SizeOf(buffer),
                   range.least,
                   range.greatest,
                   facts_.StrideOf(buffer),
                   std::vector<bool>(banks, false),
                   std::vector<bool>(banks, false)};
  for (const ProofLiteral& literal : axiom.literals) {
    if (literal.kind != ProofLiteral::Kind::kTouch || literal.first != buffer) continue;
    std::vector<bool>& set = literal.negated ? place.touched : place.untouched;
    set[static_cast<size_t>(literal.second)] = true;
  }
  return place;
}

std::string AxiomChecker::FindFlawInRule(const Axiom& axiom) const {
  const auto& rules = facts_.problem().rules;
  if (!IsIndex(axiom.subjects[0], rules.size())) return "no such rule";
  const Rule& rule = rules[static_cast<size_t>(axiom.subjects[0])];
  if (!IsIndex(axiom.subjects[1], ItemCount(rule))) {
    return IsPairwise(rule.requirement.kind) ? "the rule has no such pair"
                                             : "the rule has no such buffer";
  }
  const RuleItem item = ItemAt(rule, static_cast<size_t>(axiom.subjects[1]));
  if (!AppliesTo(rule, item, facts_.problem())) return "the rule is about other sizes";
  KnownItem known{rule.requirement,
                  facts_.MemoryOf(item.first),
                  facts_.CapacityOf(facts_.BufferAt(item.first).memory),
                  KnownOf(item.first, axiom),
                  {}};
  if (item.IsPair()) known.second = KnownOf(item.second, axiom);
  return CheckOf(rule.requirement.kind).can_hold(known) ? "the rule can be kept" : "";
}

std::string AxiomChecker::FindFlawInDelta(const Axiom& axiom) const {
  const auto& rules = facts_.problem().rules;
  if (!IsIndex(axiom.subjects[0], rules.size())) return "no such rule";
  const Rule& rule = rules[static_cast<size_t>(axiom.subjects[0])];
  const RuleCheck& check = CheckOf(rule.requirement.kind);
  if (!check.compares_pairs) return "the rule asks for no common distance";
  std::array<std::array<KnownPlace, 2>, 2> pairs;
  for (size_t k = 0; k < pairs.size(); ++k) {
    if (!IsIndex(axiom.subjects[k + 1], rule.pairs.size())) return "the rule has no such pair";
    const auto [first, second] = rule.pairs[static_cast<size_t>(axiom.subjects[k + 1])];
    if (!AppliesTo(rule, {first, second}, facts_.problem())) return "the rule is about other sizes";
    pairs[k] = {KnownOf(first, axiom), KnownOf(second, axiom)};
  }
  const int head = rule.pairs.front().first;
  const KnownItem known{
      rule.requirement, facts_.MemoryOf(head), facts_.CapacityOf(facts_.BufferAt(head).memory),
      pairs[0][0],      pairs[0][1],           &pairs[1]};
  return check.can_hold(known) ? "both pairs can be as far apart" : "";
}

}  // namespace tessera::problem::proof
