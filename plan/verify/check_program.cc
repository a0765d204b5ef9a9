// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/checks.h"

namespace tessera::plan::verify {
namespace {

using problem::Access;
using problem::Buffer;
using problem::Lifespan;

std::string TextOf(const std::vector<Lifespan>& lifespans) {
  std::string text;
  for (const Lifespan& life : lifespans) {
    text += fmt::format("{}[{}, {})", text.empty() ? "" : " ", life.lower, life.upper);
  }
  return text;
}

std::string TextOf(const problem::Loop& loop) {
  return fmt::format("loop [{}, {}) with exits {}", loop.begin, loop.end,
                     fmt::join(loop.exits, ", "));
}

std::string TextOf(const Access& access) {
  return fmt::format("{} by '{}' at step {}",
                     access.kind == problem::AccessKind::kRead ? "read" : "written", access.engine,
                     access.step);
}

// The first step at which one of the two lives and the other does not.
problem::Step FirstDifference(const std::vector<Lifespan>& a, const std::vector<Lifespan>& b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  if (i == a.size()) return b[i].lower;
  if (i == b.size()) return a[i].lower;
  if (a[i].lower != b[i].lower) return std::min(a[i].lower, b[i].lower);
  return std::min(a[i].upper, b[i].upper);
}

bool CoversStep(const std::vector<Lifespan>& lifespans, problem::Step step) {
  return std::any_of(lifespans.begin(), lifespans.end(), [step](const Lifespan& life) {
    return life.lower <= step && step < life.upper;
  });
}

bool Before(const Access& a, const Access& b) {
  return std::tie(a.step, a.engine, a.kind) < std::tie(b.step, b.engine, b.kind);
}

class ProgramCheck {
 public:
  ProgramCheck(const Plan& plan, const Derivation& derivation, Findings& findings)
      : plan_(plan), derivation_(derivation), findings_(findings) {}

  void Run() {
    if (plan_.problem.name != plan_.network.name) {
      findings_.Note(ViolationKind::kNetwork,
                     fmt::format("the plan is called '{}', but its network '{}'",
                                 plan_.problem.name, plan_.network.name));
    }
    CheckMemory();
    CheckSteps();
    CheckLoops();
    if (plan_.buffers.size() != plan_.problem.buffers.size()) {
      findings_.Note(ViolationKind::kBuffer,
                     fmt::format("{} uses are given for {} buffers", plan_.buffers.size(),
                                 plan_.problem.buffers.size()));
      return;
    }
    CheckBuffers();
    CheckRelations();
    CheckRules();
    if (!plan_.problem.costs.empty()) {
      findings_.Note(ViolationKind::kRule, "a planned program states no costs");
    }
  }

 private:
  void CheckMemory() {
    if (plan_.problem.memories.size() != 1) {
      findings_.Note(ViolationKind::kMemory,
                     fmt::format("the problem has {} memories where only the tile memory counts",
                                 plan_.problem.memories.size()));
      return;
    }
    const problem::Memory& found = plan_.problem.memories.front();
    const problem::Memory expected = TileMemory(plan_.profile);
    const auto note = [&](bool same, std::string_view what) {
      if (same) return;
      findings_.Note(
          ViolationKind::kMemory,
          fmt::format("the {} of the problem's memory differ from those of '{}' in the profile",
                      what, expected.name));
    };
    note(found.name == expected.name, "names");
    note(found.capacity == expected.capacity, "bytes of capacity");
    note(found.alignment == expected.alignment, "bytes of alignment");
    note(std::equal(found.reserved.begin(), found.reserved.end(), expected.reserved.begin(),
                    expected.reserved.end(),
                    [](const auto& a, const auto& b) { return a.range == b.range; }),
         "reserved ranges");
    note(std::equal(found.banks.begin(), found.banks.end(), expected.banks.begin(),
                    expected.banks.end(), SameBank),
         "banks");
    note(found.bank_sets == expected.bank_sets, "sets of banks");
    note(std::equal(
             found.modes.begin(), found.modes.end(), expected.modes.begin(), expected.modes.end(),
             [](const auto& a, const auto& b) { return a.name == b.name && a.banks == b.banks; }),
         "modes");
    note(found.transitions == expected.transitions, "transitions");
  }

  static bool SameBank(const problem::Bank& a, const problem::Bank& b) {
    return a.name == b.name && a.range == b.range && a.ports.total == b.ports.total &&
           a.ports.reads == b.ports.reads && a.ports.writes == b.ports.writes;
  }

  void CheckSteps() {
    const std::vector<StepUse>& expected = derivation_.trace.steps;
    if (plan_.steps.size() != expected.size()) {
      findings_.Note(ViolationKind::kStep,
                     fmt::format("the plan has {} steps where the program has {}",
                                 plan_.steps.size(), expected.size()));
    }
    for (size_t i = 0; i < std::min(plan_.steps.size(), expected.size()); ++i)
      CheckStep(i, plan_.steps[i], expected[i]);
  }

  void CheckStep(size_t i, const StepUse& found, const StepUse& expected) {
    if (found.subgraph != expected.subgraph || found.kind != expected.kind ||
        found.phase != expected.phase) {
      findings_.Note(ViolationKind::kStep,
                     fmt::format("step {} is {}, but the program has {} there", i, TextOf(found),
                                 TextOf(expected)));
      return;
    }
    if (found.op != expected.op) {
      const bool computes = expected.kind == StepKind::kCompute;
      findings_.Note(ViolationKind::kStep,
                     fmt::format("step {} {} another operator than {}", i,
                                 computes ? "computes" : "is for", OperatorName(expected.op)));
    }
    if (found.transfers != expected.transfers) {
      findings_.Note(ViolationKind::kStep,
                     fmt::format("step {} moves [{}], but the program moves [{}]", i,
                                 NamesOf(found.transfers), NamesOf(expected.transfers)));
    }
  }

  static std::string TextOf(const StepUse& step) {
    return fmt::format("a {} step of subgraph {}, phase {}", WordFor(step.kind, kStepKindNames),
                       step.subgraph, step.phase);
  }

  std::string NamesOf(const std::vector<int>& tensors) const {
    std::string names;
    for (const int tensor : tensors) {
      const bool exists = tensor >= 0 && static_cast<size_t>(tensor) < plan_.network.tensors.size();
      names += names.empty() ? "" : ", ";
      names += exists ? plan_.network.tensors[static_cast<size_t>(tensor)].id : "?";
    }
    return names;
  }

  std::string OperatorName(int op) const {
    return op < 0 ? "none" : '\'' + plan_.network.operators[static_cast<size_t>(op)].id + '\'';
  }

  void CheckLoops() {
    const std::vector<problem::Loop>& expected = derivation_.trace.loops;
    const std::vector<problem::Loop>& found = plan_.problem.loops;
    for (const problem::Loop& loop : expected) {
      if (std::find(found.begin(), found.end(), loop) != found.end()) continue;
      findings_.Note(ViolationKind::kStep, verify::TextOf(loop) + " is missing");
    }
    for (const problem::Loop& loop : found) {
      if (std::find(expected.begin(), expected.end(), loop) != expected.end()) continue;
      findings_.Note(ViolationKind::kStep, verify::TextOf(loop) + " is not in the program");
    }
    if (findings_.Empty() && found.size() != expected.size())
      findings_.Note(ViolationKind::kStep, "a loop is there twice");
  }

  void CheckBuffers() {
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      const BufferUse& use = plan_.buffers[i];
      const Buffer& buffer = plan_.problem.buffers[i];
      const auto observed_use = derivation_.trace.buffers.find(use);
      if (observed_use == derivation_.trace.buffers.end()) {
        findings_.Note(ViolationKind::kBuffer,
                       fmt::format("buffer '{}' holds nothing that the program has", buffer.id));
        continue;
      }
      if (!index_.emplace(use, i).second) {
        findings_.Note(ViolationKind::kBuffer,
                       fmt::format("buffer '{}' is there twice", buffer.id));
        continue;
      }
      CheckShape(buffer, use);
      CheckLifespans(buffer, observed_use->second.lifespans);
      CheckAccesses(buffer, observed_use->second.accesses);
    }
    for (const auto& [use, observed_use] : derivation_.trace.buffers) {
      if (index_.contains(use)) continue;
      findings_.Note(ViolationKind::kBuffer,
                     fmt::format("buffer '{}' is missing", BufferId(plan_.network, use)));
    }
  }

  void CheckShape(const Buffer& buffer, const BufferUse& use) {
    const Footprint& footprint = derivation_.footprints.at(use);
    const std::string id = BufferId(plan_.network, use);
    if (buffer.id != id) {
      findings_.Note(ViolationKind::kBuffer,
                     fmt::format("buffer '{}' should be called '{}'", buffer.id, id));
    }
    if (buffer.size != footprint.size) {
      findings_.Note(ViolationKind::kSize, fmt::format("buffer '{}' has {} bytes but needs {}",
                                                       buffer.id, buffer.size, footprint.size));
    }
    if (buffer.alignment != footprint.alignment) {
      findings_.Note(ViolationKind::kAlignment,
                     fmt::format("buffer '{}' is aligned to {} bytes instead of {}", buffer.id,
                                 buffer.alignment, footprint.alignment));
    }
    const auto tile_memory = static_cast<size_t>(plan_.profile.tile_memory);
    if (buffer.span != plan_.profile.memories[tile_memory].span || !buffer.allowed_banks.empty() ||
        buffer.offset) {
      findings_.Note(
          ViolationKind::kSpan,
          fmt::format("buffer '{}' is not bound to banks as its memory says", buffer.id));
    }
    const Label& label = derivation_.labels.at(use);
    if (const Label found{buffer.name, buffer.role}; found != label) {
      findings_.Note(
          ViolationKind::kBuffer,
          fmt::format("buffer '{}' states name '{}' and role '{}' instead of '{}' and '{}'",
                      buffer.id, found.name, found.role, label.name, label.role));
    }
    if (buffer.hint || !buffer.annotations.empty()) {
      findings_.Note(
          ViolationKind::kBuffer,
          fmt::format("buffer '{}' has a hint or annotations; a planned program has none",
                      buffer.id));
    }
    if (buffer.memory != 0) {
      findings_.Note(ViolationKind::kMemory,
                     fmt::format("buffer '{}' is not in the tile memory", buffer.id));
    }
  }

  void CheckLifespans(const Buffer& buffer, const std::vector<Lifespan>& expected) {
    if (buffer.lifespans == expected) return;
    const problem::Step step = FirstDifference(buffer.lifespans, expected);
    findings_.Note(ViolationKind::kLifespan,
                   fmt::format("buffer '{}' lives {} but {} at step {}: it should live {}",
                               buffer.id, verify::TextOf(buffer.lifespans),
                               CoversStep(expected, step) ? "is needed" : "is not needed", step,
                               verify::TextOf(expected)));
  }

  void CheckAccesses(const Buffer& buffer, const std::vector<Access>& expected) {
    std::vector<Access> found = buffer.accesses;
    std::sort(found.begin(), found.end(), Before);
    const auto twice = std::adjacent_find(found.begin(), found.end());
    if (twice != found.end()) {
      findings_.Note(ViolationKind::kAccess, fmt::format("buffer '{}' is {} twice over", buffer.id,
                                                         verify::TextOf(*twice)));
    }
    for (const Access& access : expected) {
      if (std::binary_search(found.begin(), found.end(), access, Before)) continue;
      findings_.Note(ViolationKind::kAccess,
                     fmt::format("buffer '{}' is {}, which the plan does not say", buffer.id,
                                 verify::TextOf(access)));
    }
    for (const Access& access : found) {
      if (std::binary_search(expected.begin(), expected.end(), access, Before)) continue;
      findings_.Note(ViolationKind::kAccess, fmt::format("buffer '{}' is not {}, as the plan says",
                                                         buffer.id, verify::TextOf(access)));
    }
  }

  // A halo lies before the tile buffer that it continues.
  std::set<std::pair<size_t, size_t>> HalosAndTiles() const {
    std::set<std::pair<size_t, size_t>> expected;
    for (const auto& [use, observed_use] : derivation_.trace.buffers) {
      if (use.kind != BufferKind::kHalo) continue;
      BufferUse tile = use;
      tile.kind = BufferKind::kTile;
      const auto before = index_.find(use);
      const auto behind = index_.find(tile);
      if (before != index_.end() && behind != index_.end())
        expected.emplace(before->second, behind->second);
    }
    return expected;
  }

  void NotePair(std::string_view text, const std::pair<size_t, size_t>& pair) {
    findings_.Note(ViolationKind::kInPlace,
                   fmt::format(fmt::runtime(text), plan_.problem.buffers[pair.first].id,
                               plan_.problem.buffers[pair.second].id));
  }

  // A planned program relates in-place pairs, and halos with their tiles. A colocation has no
  // direction.
  void CheckRelations() {
    std::set<std::pair<size_t, size_t>> expected;
    for (const auto& [operand, result] : derivation_.pairs) {
      const auto x = index_.find(operand);
      const auto y = index_.find(result);
      if (x != index_.end() && y != index_.end())
        expected.insert(std::minmax(x->second, y->second));
    }
    std::set<std::pair<size_t, size_t>> halos = HalosAndTiles();
    std::set<std::pair<size_t, size_t>> found;
    const auto buffers = static_cast<int>(plan_.problem.buffers.size());
    for (const problem::Relation& relation : plan_.problem.relations) {
      if (relation.first < 0 || relation.second < 0 || relation.first >= buffers ||
          relation.second >= buffers) {
        findings_.Note(ViolationKind::kInPlace, "a relation names no buffer");
        continue;
      }
      const std::pair directed(static_cast<size_t>(relation.first),
                               static_cast<size_t>(relation.second));
      const bool adjacent =
          relation.kind == problem::RelationKind::kAdjacent && relation.delta == 0;
      if (adjacent && halos.erase(directed) > 0) continue;
      const std::pair<size_t, size_t> pair = std::minmax(directed.first, directed.second);
      const bool in_place =
          relation.kind == problem::RelationKind::kColocate && relation.delta == 0;
      if (!in_place || !expected.contains(pair) || found.contains(pair)) {
        NotePair("buffers '{}' and '{}' may not be related so", pair);
      }
      found.insert(pair);
    }
    for (const auto& pair : halos) NotePair("buffer '{}' should lie directly before '{}'", pair);
    for (const auto& pair : expected) {
      if (!found.contains(pair)) NotePair("buffers '{}' and '{}' should share one place", pair);
    }
  }

  // The rule as the problem should state it.
  problem::Rule Expected(const RuleMatch& match) const {
    problem::Rule rule{match.rule->name, match.rule->require, {}, {}, match.rule->select.sizes};
    const auto index_of = [&](const BufferUse& use) {
      const auto found = index_.find(use);
      return found == index_.end() ? -1 : static_cast<int>(found->second);
    };
    for (const BufferUse& use : match.buffers) rule.buffers.push_back(index_of(use));
    for (const auto& [a, b] : match.pairs) rule.pairs.emplace_back(index_of(a), index_of(b));
    std::sort(rule.buffers.begin(), rule.buffers.end());
    std::sort(rule.pairs.begin(), rule.pairs.end());
    return rule;
  }

  void CheckRules() {
    const std::vector<problem::Rule>& rules = plan_.problem.rules;
    if (rules.size() != derivation_.rules.size()) {
      findings_.Note(ViolationKind::kRule,
                     fmt::format("the problem has {} rules where the profile makes {}",
                                 rules.size(), derivation_.rules.size()));
    }
    for (size_t i = 0; i < std::min(rules.size(), derivation_.rules.size()); ++i) {
      problem::Rule found = rules[i];
      std::sort(found.buffers.begin(), found.buffers.end());
      std::sort(found.pairs.begin(), found.pairs.end());
      const problem::Rule expected = Expected(derivation_.rules[i]);
      if (found == expected) continue;
      const bool same_words = found.name == expected.name &&
                              found.requirement == expected.requirement &&
                              found.sizes == expected.sizes;
      findings_.Note(
          ViolationKind::kRule,
          fmt::format("{} {}", Describe(expected),
                      same_words ? "is about other buffers" : "is not what the profile says"));
    }
  }

  const Plan& plan_;
  const Derivation& derivation_;
  Findings& findings_;
  std::map<BufferUse, size_t> index_;
};

}  // namespace

void CheckProgram(const Plan& plan, const Derivation& derivation, Findings& findings) {
  ProgramCheck(plan, derivation, findings).Run();
}

}  // namespace tessera::plan::verify
