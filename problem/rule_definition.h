// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tessera/problem/problem.h"

// The definitions of rules for engines, formulations and explanations. A kind of rule reduces each
// of its items, a buffer or a pair, to restrictions of a few forms. The code that decides or
// encodes Problems handles only these forms. The validator and the checker of certificates do not
// use them (rule_check.h).
namespace tessera::problem {

// offset mod modulus lies in [least, most]; no offset does if most < least.
struct Remainder {
  int buffer = 0;
  Bytes modulus = 1;     // >= 1
  Bytes least = 0;       // >= 0
  Bytes most = 0;        // < modulus
  bool of_size = false;  // the numbers follow from the size of the buffer
  friend bool operator==(const Remainder&, const Remainder&) = default;
};

// The buffer lies inside the window.
struct Inside {
  int buffer = 0;
  AddressRange window;
  friend bool operator==(const Inside&, const Inside&) = default;
};

struct Margins {
  int buffer = 0;
  Guard guard;
  friend bool operator==(const Margins&, const Margins&) = default;
};

// The buffer touches the bank, or it does not touch it.
struct BankLiteral {
  int buffer = 0;
  int bank = 0;
  bool touches = false;
  friend bool operator==(const BankLiteral&, const BankLiteral&) = default;
};
// At least one of the literals is true.
struct BankClause {
  std::vector<BankLiteral> any;
  friend bool operator==(const BankClause&, const BankClause&) = default;
};

// The two buffers touch banks of at most one of these disjoint sets. Banks in no set are not
// restricted.
struct OneBankSet {
  int first = 0;
  int second = 0;
  BankSets sets;
  friend bool operator==(const OneBankSet&, const OneBankSet&) = default;
};

// (offset(second) - offset(first)) mod modulus == residue
struct ModularDistance {
  int first = 0;
  int second = 0;
  Bytes modulus = 1;
  Bytes residue = 0;
  friend bool operator==(const ModularDistance&, const ModularDistance&) = default;
};

// offset(second) - offset(first) == distance
struct FixedDistance {
  int first = 0;
  int second = 0;
  Bytes distance = 0;
  friend bool operator==(const FixedDistance&, const FixedDistance&) = default;
};

// offset(first) XOR offset(second) == bits
struct FlippedBits {
  int first = 0;
  int second = 0;
  Bytes bits = 0;
  friend bool operator==(const FlippedBits&, const FlippedBits&) = default;
};

// offset(second) - offset(first) is the same for all items of the rule.
struct CommonDistance {
  int first = 0;
  int second = 0;
  friend bool operator==(const CommonDistance&, const CommonDistance&) = default;
};

// A Relation here is kSameBank or kDifferentBank.
using Restriction = std::variant<Remainder, Inside, Margins, BankClause, OneBankSet, Relation,
                                 ModularDistance, FixedDistance, FlippedBits, CommonDistance>;

// An item of a rule, and the size of its first buffer.
struct RuleSubject {
  const Problem& problem;
  const Rule& rule;
  RuleItem item;
  Bytes size = 0;  // of the first buffer; `problem` may have that of another tile candidate
  const Requirement& Wanted() const { return rule.requirement; }
  const Memory& Home() const {
    const Buffer& buffer = problem.buffers[static_cast<size_t>(item.first)];
    return problem.memories[static_cast<size_t>(buffer.memory)];
  }
};

struct RuleDefinition {
  // The requirement of the rule on its items: "in no bank but 'b0'".
  std::string (*words)(const Problem& problem, const Rule& rule) = nullptr;
  // Returns the restrictions that together are equivalent to the rule for this item.
  std::vector<Restriction> (*restrictions)(const RuleSubject& subject) = nullptr;
};

const RuleDefinition& DefinitionOf(RequirementKind kind);

// Returns the restrictions on one item whose first buffer has this size, even if the rule does not
// apply to it.
std::vector<Restriction> RestrictionsOn(const Problem& problem, const Rule& rule,
                                        const RuleItem& item, Bytes size);

// The restrictions that are the same for all these sizes of the first buffer; nullopt if they
// differ, or if there is no size.
std::optional<std::vector<Restriction>> CommonRestrictionsOn(const Problem& problem,
                                                             const Rule& rule, const RuleItem& item,
                                                             std::vector<Bytes> sizes);

// Whether buffers that shrink at their offsets may break the restriction, because one of them must
// touch a bank.
bool MayBreakByShrinking(const Restriction& restriction);

}  // namespace tessera::problem
