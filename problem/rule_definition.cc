// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/rule_definition.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tessera::problem {

#define TESSERA_DECLARE(code, ...) extern const RuleDefinition k##code##Rule;
TESSERA_RULE_KINDS(TESSERA_DECLARE)
#undef TESSERA_DECLARE

const RuleDefinition& DefinitionOf(RequirementKind kind) {
  static const std::array<const RuleDefinition*, kRequirementKinds> kDefinitions = {
#define TESSERA_ADDRESS(code, ...) &k##code##Rule,
      TESSERA_RULE_KINDS(TESSERA_ADDRESS)
#undef TESSERA_ADDRESS
  };
  return *kDefinitions[static_cast<size_t>(kind)];
}

std::vector<Restriction> RestrictionsOn(const Problem& problem, const Rule& rule,
                                        const RuleItem& item, Bytes size) {
  return DefinitionOf(rule.requirement.kind).restrictions({problem, rule, item, size});
}

std::optional<std::vector<Restriction>> CommonRestrictionsOn(const Problem& problem,
                                                             const Rule& rule, const RuleItem& item,
                                                             std::vector<Bytes> sizes) {
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::optional<std::vector<Restriction>> common;
  for (const Bytes size : sizes) {
    std::vector<Restriction> here = RestrictionsOn(problem, rule, item, size);
    if (common && *common != here) return std::nullopt;
    common = std::move(here);
  }
  return common;
}

bool MayBreakByShrinking(const Restriction& restriction) {
  if (const auto* relation = std::get_if<Relation>(&restriction))
    return relation->kind == RelationKind::kSameBank;
  const auto* clause = std::get_if<BankClause>(&restriction);
  return clause != nullptr && std::any_of(clause->any.begin(), clause->any.end(),
                                          [](const BankLiteral& one) { return one.touches; });
}

}  // namespace tessera::problem
