// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>

#include "fixture.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/problem/problem.h"

// Rules of profiles: their text, their faults, and their meaning for a Problem without a network.
namespace tessera::hw_profiles {
namespace {

using problem::RequirementKind;

// The small profile has 27 lines; its first rule is on line 29.
std::string WithRules(const std::string& rules) { return std::string(kSmall) + "rules:\n" + rules; }

TEST(ProfileRules, SelectorsAndRequirementsAreRead) {
  const Profile profile = Read(WithRules(R"(  - name: halves
    select: {role: [boundary, network_input], type: int8, at_least_bytes: 4Ki, at_most_bytes: 8Ki, pair: ping_pong}
    require: {kind: xor_distance, distance: 32Ki}
  - select: {operator: conv, operands: [input.0, constant.1], name: "w*"}
    require: {kind: different_bank}
  - require: {kind: banks, banks: [bank1, bank0]}
)"));
  ASSERT_EQ(profile.rules.size(), 3U);
  const Rule& halves = profile.rules[0];
  EXPECT_EQ(halves.name, "halves");
  EXPECT_EQ(halves.select.roles, std::vector<std::string>({"boundary", "network_input"}));
  EXPECT_EQ(halves.select.types, std::vector<base::DataType>({base::DataType::kInt8}));
  EXPECT_EQ(halves.select.sizes, (problem::SizeRange{4096, 8192}));
  EXPECT_TRUE(halves.select.ping_pong);
  EXPECT_EQ(halves.require.kind, RequirementKind::kXorDistance);
  EXPECT_EQ(halves.require.distance, 32768);
  const Rule& banks = profile.rules[1];
  EXPECT_EQ(banks.select.operators, std::vector<base::OperatorKind>({base::OperatorKind::kConv}));
  EXPECT_EQ(banks.select.operands,
            std::vector<Operand>({{OperandKind::kInput, 0}, {OperandKind::kConstant, 1}}));
  EXPECT_EQ(banks.select.name, "w*");
  EXPECT_EQ(profile.rules[2].require.banks, std::vector<int>({0, 1}));
}

// The small profile with another line in front of the modes of its tile memory.
std::string WithBankGroups(const std::string& line, const std::string& rules) {
  std::string text = WithRules(rules);
  return text.insert(text.find("    modes:\n"), "    " + line + "\n");
}

TEST(ProfileRules, EveryKindIsWrittenAsItWasRead) {
  const Profile profile = Read(WithBankGroups(
      "bank_groups: [[bank1], [bank0]]", R"(  - require: {kind: offset, multiple: 64, residue: 16}
  - {select: {pair: ping_pong}, require: {kind: difference, multiple: 128, residue: 64}}
  - require: {kind: window, window: [0, 16Ki]}
  - require: {kind: no_crossing, boundary: 4Ki}
  - require: {kind: natural_alignment}
  - require: {kind: banks, banks: [bank0]}
  - {select: {pair: ping_pong}, require: {kind: same_bank}}
  - {select: {pair: ping_pong}, require: {kind: different_bank}}
  - {select: {pair: ping_pong}, require: {kind: distance, distance: -4096}}
  - {select: {pair: ping_pong}, require: {kind: xor_distance, distance: 4096}}
  - {name: overread, select: {operands: [scratch]}, require: {kind: guard, after: 32}}
  - {select: {operands: [input.0, output.0]}, require: {kind: common_delta}}
  - {select: {role: constant}, require: {kind: same_bank_group}}
  - {select: {operands: [input.0, input.1]}, require: {kind: different_bank_group}}
)"));
  ASSERT_EQ(profile.rules.size(), problem::kRequirementKinds);
  EXPECT_EQ(profile.memories[0].bank_sets.at("bank_groups"), problem::BankSets({{1}, {0}}));
  const Profile again = Read(WriteProfileJson(profile));
  EXPECT_EQ(again.rules, profile.rules);
  EXPECT_EQ(again.memories[0].bank_sets, profile.memories[0].bank_sets);
}

// "line:column message; expected ...; hint" of the fault in this profile.
std::string ComplaintAbout(const std::string& text_of_profile) {
  const base::Diagnostic fault = FaultOf(text_of_profile);
  std::string text =
      std::to_string(fault.line) + ":" + std::to_string(fault.column) + " " + fault.message;
  if (!fault.expected.empty()) text += "; " + fault.expected;
  if (!fault.hint.empty()) text += "; " + fault.hint;
  return text;
}

std::string Complaint(const std::string& rules) { return ComplaintAbout(WithRules(rules)); }

TEST(ProfileRules, FaultsOfBankGroupsStandWhereTheyAre) {
  const std::string rule = "  - {select: {pair: ping_pong}, require: {kind: same_bank_group}}\n";
  EXPECT_EQ(Complaint(rule),
            "29:49 the tile memory 'sram' lists no bank_groups; a memory with bank_groups");
  const auto complaint = [&](const std::string& line) {
    return ComplaintAbout(WithBankGroups(line, rule));
  };
  EXPECT_EQ(complaint("bank_groups: [[bank0, bnak1]]"),
            "8:27 unknown name 'bnak1'; one of bank0, bank1; did you mean 'bank1'?");
  EXPECT_EQ(complaint("bank_groups: [[bank0], [bank1, bank0]]"),
            "8:36 bank 'bank0' is listed twice; each bank once");
  EXPECT_EQ(complaint("bank_groups: [[bank0], []]"), "8:28 no bank is listed; at least one bank");
  EXPECT_EQ(complaint("bank_groups: []"),
            "8:18 no set of banks is listed; at least one list of banks");
  EXPECT_EQ(complaint("bank_group: [[bank0]]").substr(0, 30), "8:5 unknown key 'bank_group'; ");
  std::string text = WithRules("");
  text.insert(text.find("    capacity_bytes: 1Mi"), "    bank_groups: [[bank0]]\n");
  EXPECT_EQ(ComplaintAbout(text),
            "12:5 bank_groups without banks; add banks, or remove bank_groups");
}

TEST(ProfileRules, FaultsStandWhereTheyAreAndNameTheCure) {
  EXPECT_EQ(Complaint("  - {requires: {kind: offset}}\n"),
            "29:6 unknown key 'requires'; one of name, select, require; did you mean 'require'?");
  EXPECT_EQ(Complaint("  - {name: a}\n"), "29:5 missing key 'require' in 'item 1 of rules'; a map");
  EXPECT_EQ(Complaint("  - require: {kind: ofset, multiple: 4}\n").substr(0, 28),
            "29:21 unknown name 'ofset'; ");
  EXPECT_EQ(Complaint("  - require: {kind: offset, multiple: 4, boundary: 8}\n"),
            "29:42 unknown key 'boundary'; one of kind, multiple, residue");
  EXPECT_EQ(Complaint("  - require: {kind: offset, multiple: 4, residue: 4}\n"),
            "29:51 out of range; an integer from 0 to 3");
  EXPECT_EQ(Complaint("  - require: {kind: window, window: [8, 8]}\n"),
            "29:37 this is no window of addresses; a list [begin, end] with begin < end");
  EXPECT_EQ(Complaint("  - require: {kind: banks, banks: [bank2]}\n"),
            "29:36 unknown name 'bank2'; one of bank0, bank1; did you mean 'bank0'?");
  EXPECT_EQ(Complaint("  - select: {role: boundary}\n    require: {kind: same_bank}\n"),
            "29:5 'same_bank' is about pairs of buffers, and this selects none; pair: ping_pong, "
            "or operands: "
            "[first, second]");
  EXPECT_EQ(Complaint("  - select: {pair: ping_pong}\n    require: {kind: natural_alignment}\n"),
            "29:20 'natural_alignment' is about single buffers, not about pairs; no pair");
  EXPECT_EQ(
      Complaint("  - select: {operands: [imput.0]}\n    require: {kind: natural_alignment}\n"),
      "29:25 'imput.0' is no operand; input.0, constant.0, output.0 (or another index), or "
      "scratch; did you "
      "mean 'input.0'?");
  EXPECT_EQ(Complaint("  - select: {role: weights}\n    require: {kind: natural_alignment}\n")
                .substr(0, 29),
            "29:20 unknown name 'weights';");
  EXPECT_EQ(Complaint("  - select: {at_least_bytes: 8, at_most_bytes: 4}\n    require: {kind: "
                      "natural_alignment}\n")
                .substr(0, 19),
            "29:48 out of range;");
  EXPECT_EQ(
      Complaint("  - select: {operands: [input.0, input.0]}\n    require: {kind: same_bank}\n"),
      "29:24 an operand makes no pair with itself; two operands that differ");
}

problem::Problem PingAndPong() {
  problem::Problem problem;
  problem.memories.resize(1);
  for (const char* id : {"x@0", "x@1", "w"}) {
    problem::Buffer& buffer = problem.buffers.emplace_back();
    buffer.id = id;
    buffer.role = id[0] == 'x' ? "boundary" : "constant";
  }
  return problem;
}

TEST(ProfileRules, ApplyToAHandWrittenProblemByRoleSizeAndName) {
  const Profile profile = Read(WithRules(
      R"(  - {name: r, select: {role: boundary, at_most_bytes: 64}, require: {kind: natural_alignment}}
  - {name: n, select: {name: "w*"}, require: {kind: offset, multiple: 64}}
  - {name: p, select: {pair: ping_pong}, require: {kind: same_bank}}
  - {name: nothing, select: {name: "z"}, require: {kind: natural_alignment}}
)"));
  problem::Problem problem = PingAndPong();
  EXPECT_EQ(ApplyRules(profile.rules, problem), std::nullopt);
  ASSERT_EQ(problem.rules.size(), 3U);
  EXPECT_EQ(problem.rules[0].buffers, std::vector<int>({0, 1}));
  EXPECT_EQ(problem.rules[0].sizes, (problem::SizeRange{1, 64}));
  EXPECT_EQ(problem.rules[1].buffers, std::vector<int>({2}));
  EXPECT_EQ(problem.rules[2].pairs, (std::vector<std::pair<int, int>>{{0, 1}}));
}

TEST(ProfileRules, AProblemWithoutANetworkHasNoOperands) {
  const Profile profile = Read(
      WithRules("  - {name: r, select: {operator: conv}, require: {kind: natural_alignment}}\n"));
  problem::Problem problem = PingAndPong();
  EXPECT_EQ(ApplyRules(profile.rules, problem),
            "rule 'r', which selects by operator, type or operand: a problem states none");
}

}  // namespace
}  // namespace tessera::hw_profiles
