// SPDX-License-Identifier: Apache-2.0

#include "random_rules.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::encoder {
namespace {

using problem::Bytes;
using problem::Memory;
using problem::Problem;
using problem::Requirement;
using problem::RequirementKind;
using problem::Rule;

// One rule about buffers of one memory.
class RuleDraw {
 public:
  RuleDraw(base::Random& random, Bytes scale, const Problem& problem)
      : random_(random),
        unit_(random.Chance(0.2) ? 1 : scale),
        problem_(problem),
        memory_(random.Chance(0.8) ? 0 : static_cast<int>(problem.memories.size()) - 1) {
    for (int i = 0; i < static_cast<int>(problem.buffers.size()); ++i) {
      if (problem.buffers[static_cast<size_t>(i)].memory == memory_) inhabitants_.push_back(i);
    }
  }

  // No rule when the memory has too few buffers for it.
  std::optional<Rule> Draw() {
    Rule rule;
    rule.requirement.kind = static_cast<RequirementKind>(Pick(0, problem::kRequirementKinds - 1));
    if (!Home().bank_sets.empty() && random_.Chance(0.1))
      rule.requirement.kind = RequirementKind::kDifferentBankGroup;
    rule.name = std::string(NameOf(rule.requirement.kind));
    DrawParameters(rule.requirement);
    if (rule.requirement.kind == RequirementKind::kBanks && rule.requirement.banks.empty())
      return std::nullopt;
    const std::string_view sets = TraitsOf(rule.requirement.kind).bank_sets;
    if (!sets.empty() && BankSetsOf(Home(), sets).empty()) return std::nullopt;
    const bool set = TraitsOf(rule.requirement.kind).sets && random_.Chance(0.5);
    IsPairwise(rule.requirement.kind) && !set ? DrawPairs(rule) : DrawBuffers(rule);
    if (random_.Chance(0.25))
      rule.sizes = random_.Chance(0.5) ? problem::SizeRange{2, 4} : problem::SizeRange{1, 1};
    if (rule.buffers.empty() && rule.pairs.empty()) return std::nullopt;
    return rule;
  }

 private:
  int64_t Pick(int64_t lower, int64_t upper) { return random_.Uniform(lower, upper); }
  const Memory& Home() const { return problem_.memories[static_cast<size_t>(memory_)]; }

  void DrawParameters(Requirement& wanted) {
    const Bytes capacity = Home().capacity;
    switch (wanted.kind) {
      case RequirementKind::kOffset:
      case RequirementKind::kDifference:
        wanted.multiple = Pick(1, 4) * unit_;
        wanted.residue = Pick(0, (wanted.multiple - 1) / unit_) * unit_;
        break;
      case RequirementKind::kNoCrossing:
        wanted.multiple = Pick(2, 5) * unit_;
        break;
      case RequirementKind::kWindow:
        wanted.window.begin = random_.Chance(0.5) ? 0 : Pick(0, capacity / 3 / unit_) * unit_;
        wanted.window.end = wanted.window.begin + Pick(3, 8) * unit_;
        break;
      case RequirementKind::kBanks:
        for (int b = 0; b < static_cast<int>(Home().banks.size()); ++b) {
          if (random_.Chance(0.7)) wanted.banks.push_back(b);
        }
        break;
      case RequirementKind::kDistance:
        wanted.distance = Pick(-4, 4) * unit_;
        break;
      case RequirementKind::kXorDistance:
        wanted.distance = Pick(0, 5) * unit_;
        break;
      case RequirementKind::kGuard:
        wanted.before = Pick(0, 1) * unit_;
        wanted.after = Pick(0, 2) * unit_;
        break;
      default:
        break;
    }
  }

  void DrawBuffers(Rule& rule) {
    for (const int i : inhabitants_) {
      if (random_.Chance(0.5)) rule.buffers.push_back(i);
    }
    if (rule.buffers.empty() && !inhabitants_.empty()) rule.buffers = {inhabitants_.front()};
  }

  void DrawPairs(Rule& rule) {
    const int64_t last = static_cast<int64_t>(inhabitants_.size()) - 1;
    const int64_t count = rule.requirement.kind == RequirementKind::kCommonDelta ? 3 : 1;
    for (int64_t k = 0; k < count && last >= 1; ++k) {
      const int64_t first = Pick(0, last);
      const int64_t second = (first + Pick(1, last)) % (last + 1);
      rule.pairs.emplace_back(inhabitants_[static_cast<size_t>(first)],
                              inhabitants_[static_cast<size_t>(second)]);
    }
  }

  base::Random& random_;
  Bytes unit_;
  const Problem& problem_;
  int memory_;
  std::vector<int> inhabitants_;
};

}  // namespace

void DrawRules(base::Random& random, int64_t count, Bytes scale, Problem& problem) {
  for (int64_t k = 0; k < count; ++k) {
    if (const std::optional<Rule> rule = RuleDraw(random, scale, problem).Draw())
      problem.rules.push_back(*rule);
  }
}

}  // namespace tessera::encoder
