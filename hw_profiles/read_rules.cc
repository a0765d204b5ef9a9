// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <vector>

#include "tessera/base/text.h"
#include "tessera/hw_profiles/read_sections.h"

// Restrictions that the other sections cannot express: the buffers to which they apply (select),
// and the requirement (require).
namespace tessera::hw_profiles {
namespace {

using base::YamlNode;
using problem::Bytes;
using problem::Requirement;
using problem::RequirementField;
using problem::RequirementKind;

std::vector<std::string_view> RoleNames() {
  std::vector<std::string_view> names(base::TensorRoleNames().begin(),
                                      base::TensorRoleNames().end());
  names.emplace_back("scratch");
  return names;
}

// Returns the nodes of one name, or of a list of names.
std::vector<YamlNode> OneOrMore(const YamlNode& node) {
  return node.IsList() ? node.Items() : std::vector<YamlNode>{node};
}

Operand ReadOperand(const YamlNode& node) {
  const std::string name = node.Text();
  if (const std::optional<Operand> operand = ParseOperand(name)) return *operand;
  node.Complain("'" + name + "' is no operand",
                "input.0, constant.0, output.0 (or another index), or scratch",
                base::DidYouMean(name, std::vector<std::string_view>{"input.0", "constant.0",
                                                                     "output.0", "scratch"}));
  return {};
}

Selector ReadSelector(const YamlNode& node) {
  Selector select;
  if (!node) return select;
  node.OnlyKeys(
      {"role", "operator", "type", "at_least_bytes", "at_most_bytes", "name", "operands", "pair"});
  if (const YamlNode roles = node.Maybe("role")) {
    const std::vector<std::string_view> names = RoleNames();
    for (const YamlNode& role : OneOrMore(roles))
      select.roles.emplace_back(names[role.OneOf(names)]);
  }
  if (const YamlNode kinds = node.Maybe("operator")) {
    for (const YamlNode& kind : OneOrMore(kinds))
      select.operators.push_back(
          static_cast<base::OperatorKind>(kind.OneOf(base::OperatorKindNames())));
  }
  if (const YamlNode types = node.Maybe("type")) {
    for (const YamlNode& type : OneOrMore(types))
      select.types.push_back(static_cast<base::DataType>(type.OneOf(base::DataTypeNames())));
  }
  if (const YamlNode least = node.Maybe("at_least_bytes"))
    select.sizes.least = least.Integer(1, base::kMaxTotal);
  if (const YamlNode most = node.Maybe("at_most_bytes"))
    select.sizes.most = most.Integer(select.sizes.least, base::kMaxTotal);
  if (const YamlNode name = node.Maybe("name")) select.name = name.Text();
  if (const YamlNode operands = node.Maybe("operands")) {
    for (const YamlNode& operand : operands.Items())
      select.operands.push_back(ReadOperand(operand));
  }
  if (const YamlNode pair = node.Maybe("pair")) {
    pair.OneOf(std::vector<std::string_view>{"ping_pong"});
    select.ping_pong = true;
  }
  return select;
}

// Reads names of banks of the tile memory. The result is ascending.
std::vector<int> ReadBanks(const YamlNode& node, const Profile& profile) {
  const Memory& memory = profile.memories[static_cast<size_t>(profile.tile_memory)];
  std::vector<std::string_view> names;
  for (const problem::Bank& bank : memory.banks) names.emplace_back(bank.name);
  std::vector<int> banks;
  if (names.empty()) {
    node.Complain("the tile memory '" + memory.name + "' has no banks", "a memory with banks");
    return banks;
  }
  for (const YamlNode& item : node.Items()) {
    const auto bank = static_cast<int>(item.OneOf(names));
    if (std::find(banks.begin(), banks.end(), bank) != banks.end()) {
      item.Complain("repeated bank '" + item.Text() + "'", "each bank once");
    }
    banks.push_back(bank);
  }
  if (banks.empty()) node.Complain("the rule allows no bank", "at least one bank");
  std::sort(banks.begin(), banks.end());
  return banks;
}

problem::AddressRange ReadWindow(const YamlNode& node) {
  const std::vector<int64_t> ends = node.Integers(0, kMostBytes);
  if (ends.size() != 2 || ends[0] >= ends[1]) {
    node.Complain("this is no window of addresses", "a list [begin, end] with begin < end");
    return {};
  }
  return {ends[0], ends[1]};
}

// Reads the value of one field of a requirement.
class FieldReader {
 public:
  FieldReader(const YamlNode& node, const RequirementField& field, const Profile& profile,
              Requirement& wanted)
      : value_(field.optional ? node.Maybe(field.key) : node.At(field.key)),
        field_(field),
        profile_(profile),
        wanted_(wanted) {}

  void operator()(Bytes Requirement::*number) const {
    if (field_.optional && !value_) return;
    const Bytes most = field_.below == nullptr ? kMostBytes : wanted_.*field_.below - 1;
    wanted_.*number = value_.Integer(std::max(field_.least, -kMostBytes), most);
  }
  void operator()(problem::AddressRange Requirement::*window) const {
    wanted_.*window = ReadWindow(value_);
  }
  void operator()(std::vector<int> Requirement::*banks) const {
    wanted_.*banks = ReadBanks(value_, profile_);
  }

 private:
  const YamlNode value_;
  const RequirementField& field_;
  const Profile& profile_;
  Requirement& wanted_;
};

Requirement ReadRequirement(const YamlNode& node, const Profile& profile) {
  Requirement wanted;
  const YamlNode kind = node.At("kind");
  wanted.kind = static_cast<RequirementKind>(kind.OneOf(problem::RequirementNames()));
  const problem::RuleTraits& traits = problem::TraitsOf(wanted.kind);
  std::vector<std::string_view> keys = {"kind"};
  for (const RequirementField& field : traits.fields) keys.push_back(field.key);
  node.OnlyKeys(keys);
  for (const RequirementField& field : traits.fields)
    std::visit(FieldReader(node, field, profile, wanted), field.member);
  if (traits.bank_sets.empty()) return wanted;
  const Memory& memory = profile.memories[static_cast<size_t>(profile.tile_memory)];
  if (memory.bank_sets.contains(traits.bank_sets)) return wanted;
  const std::string key(traits.bank_sets);
  kind.Complain("the tile memory '" + memory.name + "' lists no " + key, "a memory with " + key);
  return wanted;
}

// A requirement on pairs alone must state the pairs; a requirement on single buffers must not.
void CheckPairs(const YamlNode& select, const Rule& rule) {
  const std::string kind = "'" + std::string(NameOf(rule.require.kind)) + "'";
  const bool two = rule.select.operands.size() == 2;
  if (!rule.IsOnPairs()) {
    if (rule.select.ping_pong)
      select.Maybe("pair").Complain(kind + " is about single buffers, not about pairs", "no pair");
    return;
  }
  if (rule.select.ping_pong && !rule.select.operands.empty()) {
    select.Maybe("operands").Complain("the pairs are stated twice", "either pair or operands");
  } else if (!rule.select.ping_pong && !two) {
    select.Complain(kind + " is about pairs of buffers, and this selects none",
                    "pair: ping_pong, or operands: [first, second]");
  } else if (two && rule.select.operands[0] == rule.select.operands[1]) {
    select.Maybe("operands")
        .Complain("an operand makes no pair with itself", "two operands that differ");
  }
}

}  // namespace

void ReadRules(const YamlNode& root, Profile& profile) {
  const YamlNode section = root.Maybe("rules");
  if (!section) return;
  for (const YamlNode& node : section.Items()) {
    node.OnlyKeys({"name", "select", "require"});
    Rule rule;
    if (const YamlNode name = node.Maybe("name")) rule.name = name.Text();
    const YamlNode select = node.Maybe("select");
    rule.select = ReadSelector(select);
    rule.require = ReadRequirement(node.At("require"), profile);
    CheckPairs(select, rule);
    profile.rules.push_back(std::move(rule));
  }
}

}  // namespace tessera::hw_profiles
