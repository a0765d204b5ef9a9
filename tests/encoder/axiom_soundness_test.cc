// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "random_problem.h"
#include "tessera/base/random.h"
#include "tessera/problem/proof/axiom_checker.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"

// Draws axioms at random and compares them with every placement of a Problem small enough to
// enumerate. An axiom that the checker accepts must hold in each placement.

namespace tessera::encoder {
namespace {

using problem::Allocation;
using problem::Bytes;
using problem::Problem;
using problem::proof::Axiom;
using problem::proof::Facts;
using problem::proof::Ground;
using problem::proof::ProofLiteral;

constexpr int kProblems = 150;
constexpr size_t kMostPlacements = 400;
constexpr int kMostTries = 20'000;  // of a Problem
constexpr int kAxiomsOfEachGround = 10;

// Placements with offsets that are multiples of their strides, in every schedule, up to a limit of
// tries.
class Placements {
 public:
  Placements(const Problem& problem, const Facts& facts)
      : problem_(problem), facts_(facts), without_modes_(problem) {
    for (problem::Memory& memory : without_modes_.memories) {
      memory.modes.clear();
      memory.transitions.reset();
    }
    PlaceFrom(0);
  }

  const std::vector<Allocation>& All() const { return found_; }

 private:
  bool Ends() const { return found_.size() >= kMostPlacements || tries_ >= kMostTries; }

  bool Satisfies(const Problem& problem, const Allocation& allocation) {
    ++tries_;
    return problem::Validate(problem, allocation, problem.memories[0].capacity, 1).empty();
  }

  void PlaceFrom(size_t buffer) {
    if (Ends()) return;
    if (buffer == problem_.buffers.size()) {
      if (Satisfies(without_modes_, draft_)) ScheduleFrom(0);
      return;
    }
    const int i = static_cast<int>(buffer);
    for (Bytes offset = facts_.LowestOf(i); offset <= facts_.HighestOf(i);
         offset += facts_.StrideOf(i)) {
      draft_.offsets.push_back(offset);
      PlaceFrom(buffer + 1);
      draft_.offsets.pop_back();
    }
  }

  // Tries each mode at each step of each memory, one after the other.
  void ScheduleFrom(size_t entry) {
    const problem::Lifespan horizon = problem::Horizon(problem_);
    const auto steps = static_cast<size_t>(horizon.upper - horizon.lower);
    const size_t memory = entry / steps;
    if (Ends()) return;
    if (memory == problem_.memories.size()) {
      if (Satisfies(problem_, draft_)) found_.push_back(draft_);
      return;
    }
    if (entry % steps == 0) draft_.modes.emplace_back();
    const int modes = static_cast<int>(problem_.memories[memory].modes.size());
    if (modes == 0) ScheduleFrom(entry + steps);
    for (int mode = 0; mode < modes; ++mode) {
      draft_.modes[memory].push_back(mode);
      ScheduleFrom(entry + 1);
      draft_.modes[memory].pop_back();
    }
    if (entry % steps == 0) draft_.modes.pop_back();
  }

  const Problem& problem_;
  const Facts& facts_;
  Problem without_modes_;
  Allocation draft_;
  std::vector<Allocation> found_;
  int tries_ = 0;
};

bool IsTrue(const Problem& problem, const Allocation& allocation, const ProofLiteral& literal) {
  const auto offset = [&](int buffer) { return allocation.offsets[static_cast<size_t>(buffer)]; };
  const auto end = [&](int buffer) {
    return offset(buffer) + problem.buffers[static_cast<size_t>(buffer)].size;
  };
  bool holds = false;
  switch (literal.kind) {
    case ProofLiteral::Kind::kOffset:
      holds = offset(literal.first) >= literal.value;
      break;
    case ProofLiteral::Kind::kBelow:
      holds = end(literal.first) <= offset(literal.second);
      break;
    case ProofLiteral::Kind::kTouch: {
      const auto memory =
          static_cast<size_t>(problem.buffers[static_cast<size_t>(literal.first)].memory);
      const auto& range = problem.memories[memory].banks[static_cast<size_t>(literal.second)].range;
      holds = offset(literal.first) < range.end && range.begin < end(literal.first);
      break;
    }
    case ProofLiteral::Kind::kMode: {
      const auto step = static_cast<size_t>(literal.value - problem::Horizon(problem).lower);
      holds = allocation.modes[static_cast<size_t>(literal.first)][step] == literal.second;
      break;
    }
  }
  return holds != literal.negated;
}

constexpr std::array kBankKinds = {
    problem::RequirementKind::kBanks, problem::RequirementKind::kSameBank,
    problem::RequirementKind::kDifferentBank, problem::RequirementKind::kSameBankGroup,
    problem::RequirementKind::kDifferentBankGroup};

// One rule of any kind, about buffers of the first memory.
problem::Rule DrawRule(base::Random& random, const Problem& problem) {
  problem::Rule rule;
  rule.requirement.kind =
      static_cast<problem::RequirementKind>(random.Uniform(0, problem::kRequirementKinds - 1));
  if (random.Chance(0.2)) rule.requirement.kind = problem::RequirementKind::kCommonDelta;
  if (random.Chance(0.4))
    rule.requirement.kind =
        kBankKinds[static_cast<size_t>(random.Uniform(0, kBankKinds.size() - 1))];
  rule.requirement.multiple = random.Uniform(1, 4);
  rule.requirement.residue = random.Uniform(0, rule.requirement.multiple - 1);
  const Bytes begin = random.Uniform(0, 3);
  rule.requirement.window = {begin, begin + random.Uniform(4, 9)};
  rule.requirement.banks = {static_cast<int>(random.Uniform(0, 1))};
  rule.requirement.distance = random.Uniform(1, 4);
  rule.requirement.before = random.Uniform(0, 1);
  rule.requirement.after = random.Uniform(0, 1);
  if (random.Chance(0.3)) rule.sizes = {2, 3};
  std::vector<int> buffers;
  for (int i = 0; i < static_cast<int>(problem.buffers.size()); ++i) {
    if (problem.buffers[static_cast<size_t>(i)].memory == 0) buffers.push_back(i);
  }
  const bool set = TraitsOf(rule.requirement.kind).sets && random.Chance(0.5);
  const bool pairwise = problem::IsPairwise(rule.requirement.kind) && !set;
  if (!pairwise) rule.buffers = buffers;
  if (pairwise && buffers.size() > 1)
    rule.pairs = {{buffers[0], buffers[1]}, {buffers[1], buffers.back()}};
  if (pairwise && buffers.size() == 2) rule.pairs.pop_back();
  return rule;
}

ProofLiteral DrawLiteral(base::Random& random, const Problem& problem, ProofLiteral::Kind kind) {
  const auto last = static_cast<int64_t>(problem.buffers.size()) - 1;
  ProofLiteral literal;
  literal.kind = kind;
  literal.first = static_cast<int>(random.Uniform(0, last));
  literal.second =
      static_cast<int>(random.Uniform(0, kind == ProofLiteral::Kind::kBelow ? last : 2));
  literal.negated = kind != ProofLiteral::Kind::kBelow && random.Chance(0.5);
  if (kind == ProofLiteral::Kind::kOffset) literal.value = random.Uniform(0, 10);
  if (kind != ProofLiteral::Kind::kMode) return literal;
  const problem::Lifespan horizon = problem::Horizon(problem);
  literal.first = random.Chance(0.9) ? 0 : 1;
  literal.value = random.Uniform(horizon.lower, horizon.upper - 1);
  return literal;
}

// Two buffers of a relation or a rule whose number the axiom names, one twice where the rule is
// about single buffers; or nullopt.
std::optional<std::pair<int, int>> FindPair(base::Random& random, const Problem& problem,
                                            const Axiom& axiom) {
  const auto index = static_cast<size_t>(axiom.subjects[0]);
  if (axiom.ground == Ground::kBanks && index < problem.relations.size()) {
    return std::pair(problem.relations[index].first, problem.relations[index].second);
  }
  const bool about_rule = axiom.ground == Ground::kRule || axiom.ground == Ground::kDelta;
  if (about_rule && index < problem.rules.size()) {
    const auto& pairs = problem.rules[index].pairs;
    const auto& buffers = problem.rules[index].buffers;
    const bool other = axiom.ground == Ground::kDelta && random.Chance(0.5);
    const auto item = static_cast<size_t>(axiom.subjects[other ? 2 : 1]);
    if (item < pairs.size()) return pairs[item];
    if (item < buffers.size()) return std::pair(buffers[item], buffers[item]);
  }
  return std::nullopt;
}

// Makes the literal refer to the subject of the axiom's ground.
void Aim(base::Random& random, const Problem& problem, const Axiom& axiom, ProofLiteral& literal) {
  const auto subject = [&](size_t k) { return static_cast<int>(axiom.subjects[k]); };
  switch (axiom.ground) {
    case Ground::kTouch:
    case Ground::kAccess:
      if (literal.kind == ProofLiteral::Kind::kMode) literal.value = axiom.subjects[2];
      if (literal.kind == ProofLiteral::Kind::kTouch) literal.second = subject(1);
      if (literal.kind != ProofLiteral::Kind::kMode) literal.first = subject(0);
      literal.negated = axiom.ground == Ground::kAccess || literal.negated;
      return;
    case Ground::kBanks:
    case Ground::kRule:
    case Ground::kDelta:
      if (const auto pair = FindPair(random, problem, axiom)) {
        literal.first = random.Chance(0.5) ? pair->first : pair->second;
      }
      return;
    case Ground::kMode:
    case Ground::kFollow:
      literal.first = subject(0);
      literal.value = axiom.subjects[axiom.ground == Ground::kFollow && random.Chance(0.5) ? 2 : 1];
      literal.negated = axiom.ground == Ground::kFollow || literal.negated;
      return;
    case Ground::kPorts:
      literal.second = subject(1);
      literal.negated = true;
      return;
    case Ground::kGuard:
      if (literal.kind == ProofLiteral::Kind::kBelow)
        literal = problem::proof::Below(subject(1), subject(0));
      return;
    case Ground::kSectionPair:
      (random.Chance(0.5) ? literal.first : literal.second) = subject(0);
      return;
    default:
      return;
  }
}

bool IsAboutBanksOfARule(const Problem& problem, const Axiom& axiom) {
  if (axiom.ground != Ground::kRule) return false;
  const auto index = static_cast<size_t>(axiom.subjects[0]);
  return index < problem.rules.size() &&
         std::find(kBankKinds.begin(), kBankKinds.end(), problem.rules[index].requirement.kind) !=
             kBankKinds.end();
}

// An axiom of a shape that its ground might take.
Axiom DrawAxiom(base::Random& random, const Problem& problem) {
  using Kind = ProofLiteral::Kind;
  static constexpr std::array<size_t, 13> kSubjects = {0, 1, 1, 2, 1, 2, 3, 3, 3, 2, 2, 0, 3};
  Axiom axiom;
  axiom.ground = static_cast<Ground>(random.Uniform(0, 12));
  const auto last = static_cast<int64_t>(problem.buffers.size()) - 1;
  const problem::Lifespan horizon = problem::Horizon(problem);
  const size_t subjects = kSubjects[static_cast<size_t>(axiom.ground)];
  if (subjects == 0) {
    for (int64_t i = 0; i <= last; ++i) {
      if (random.Chance(0.5)) axiom.subjects.push_back(i);
    }
    if (axiom.subjects.empty()) axiom.subjects.push_back(random.Uniform(0, last));
  } else {
    axiom.subjects.push_back(random.Uniform(0, random.Chance(0.5) ? 0 : last));
    if (subjects > 1) axiom.subjects.push_back(random.Uniform(0, 2));
    if (subjects > 2) axiom.subjects.push_back(random.Uniform(horizon.lower, horizon.upper - 1));
    if (axiom.ground == Ground::kMode || axiom.ground == Ground::kFollow) {
      axiom.subjects[1] = random.Uniform(horizon.lower, horizon.upper - 1);
    }
    if (axiom.ground == Ground::kRule && !problem.rules.empty() && random.Chance(0.8)) {
      const auto rule =
          static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(problem.rules.size()) - 1));
      const auto items = static_cast<int64_t>(problem::ItemsOf(problem.rules[rule]).size());
      axiom.subjects = {static_cast<int64_t>(rule), random.Uniform(0, items - 1)};
    }
    if (axiom.ground == Ground::kDelta && !problem.rules.empty()) {
      axiom.subjects = {static_cast<int64_t>(problem.rules.size()) - 1, 0, 1};
    }
    if (axiom.ground == Ground::kFollow && random.Chance(0.5))
      axiom.subjects[2] = axiom.subjects[1] + 1;
  }
  static constexpr std::array<std::array<Kind, 2>, 13> kKinds = {{{Kind::kOffset, Kind::kBelow},
                                                                  {Kind::kOffset, Kind::kOffset},
                                                                  {Kind::kOffset, Kind::kOffset},
                                                                  {Kind::kOffset, Kind::kTouch},
                                                                  {Kind::kTouch, Kind::kTouch},
                                                                  {Kind::kMode, Kind::kMode},
                                                                  {Kind::kMode, Kind::kMode},
                                                                  {Kind::kTouch, Kind::kMode},
                                                                  {Kind::kTouch, Kind::kTouch},
                                                                  {Kind::kOffset, Kind::kTouch},
                                                                  {Kind::kBelow, Kind::kOffset},
                                                                  {Kind::kBelow, Kind::kBelow},
                                                                  {Kind::kOffset, Kind::kOffset}}};
  const auto& kinds = kKinds[static_cast<size_t>(axiom.ground)];
  const int64_t count = axiom.ground == Ground::kDelta ? 4 : random.Uniform(0, 4);
  const bool about_banks = IsAboutBanksOfARule(problem, axiom);
  for (int64_t k = 0; k < count; ++k) {
    const Kind kind = about_banks ? Kind::kTouch : kinds[static_cast<size_t>(k) % 2];
    axiom.literals.push_back(DrawLiteral(random, problem, kind));
    if (random.Chance(0.8)) Aim(random, problem, axiom, axiom.literals.back());
  }
  return axiom;
}

// Drops the literals that say nothing about the Problem.
void KeepUnderstood(const problem::proof::Assignment& known, Axiom& axiom) {
  std::vector<ProofLiteral> understood;
  for (ProofLiteral literal : axiom.literals) {
    if (known.Understand(literal).empty()) understood.push_back(literal);
  }
  axiom.literals = std::move(understood);
}

TEST(AxiomSoundness, WhatTheCheckerTakesHoldsInEveryPlacement) {
  std::array<int, 13> taken{};
  std::array<int, problem::kRequirementKinds> taken_of_rules{};
  base::Random random(7);
  for (int drawn = 0; drawn < kProblems;) {
    Problem problem = DrawProblem(random);
    if (random.Chance(0.5)) problem.rules.push_back(DrawRule(random, problem));
    if (problem.buffers.size() > 4 || problem::CheckWellFormed(problem)) continue;
    const Facts facts(problem, problem.memories[0].capacity);
    const Placements placements(problem, facts);
    if (placements.All().empty()) continue;
    ++drawn;
    const problem::proof::Assignment known(facts);
    problem::proof::AxiomChecker axiom_checker(facts);
    for (int k = 0; k < 3000; ++k) {
      Axiom axiom = DrawAxiom(random, problem);
      KeepUnderstood(known, axiom);
      if (!axiom_checker.FindFlaw(axiom).empty()) continue;
      ++taken[static_cast<size_t>(axiom.ground)];
      if (axiom.ground == Ground::kRule) {
        const auto rule = static_cast<size_t>(axiom.subjects[0]);
        ++taken_of_rules[static_cast<size_t>(problem.rules[rule].requirement.kind)];
      }
      for (const Allocation& allocation : placements.All()) {
        const bool holds = std::any_of(
            axiom.literals.begin(), axiom.literals.end(),
            [&](const ProofLiteral& literal) { return IsTrue(problem, allocation, literal); });
        std::string text;
        if (!holds) problem::proof::WriteAxiom(text, axiom);
        ASSERT_TRUE(holds) << "problem " << drawn << ": " << text;
      }
    }
  }
  for (size_t ground = 0; ground < taken.size(); ++ground) {
    EXPECT_GE(taken[ground], kAxiomsOfEachGround) << problem::proof::kGroundNames[ground];
  }
  for (size_t kind = 0; kind < taken_of_rules.size(); ++kind) {
    const auto wanted = static_cast<problem::RequirementKind>(kind);
    if (wanted == problem::RequirementKind::kCommonDelta) continue;  // has a ground of its own
    EXPECT_GE(taken_of_rules[kind], kAxiomsOfEachGround) << NameOf(wanted);
  }
}

}  // namespace
}  // namespace tessera::encoder
