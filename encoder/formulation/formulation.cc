// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/formulation/formulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tessera/encoder/formulation/cardinality.h"
#include "tessera/problem/structure.h"

namespace tessera::encoder::formulation {

// A placement in banks is bin packing first and an order of offsets second. Clauses about offsets
// detect a full bank only pair by pair: to find that three buffers of two fifths of a bank do not
// fit into it, a solver searches through all orders of the three, again in every bank, and again
// for every choice of modes. So the sums are stated explicitly, for each bank and each maximal set
// of buffers of span single that live together:
//
//     sum over i of size_i * touches(i, bank)  <=  width of the bank
//
// Soundness: a buffer that touches a bank and lies inside one bank lies inside this one. The
// buffers of the set must be pairwise disjoint (a pair that may share addresses is not taken into
// one set), so their sizes add up. With a ladder the least size of each buffer counts, which is
// valid for all candidates. Reserved bytes inside the bank are subtracted from its width.
//
// In addition, each such buffer touches exactly one of its allowed banks. Clauses about offsets
// imply that too, but with address bits unit propagation does not find it.
//
// Cost: banks times maximal sets, each a diagram of at most kMostNodes nodes.
namespace {

using problem::Bytes;
using problem::Step;

constexpr size_t kMostNodes = 2000;

Bytes LeastSizeOf(const FormulationInput& question, size_t buffer) {
  const std::vector<Bytes> sizes = SizesOf(question.problem, question.ladder, buffer);
  return *std::min_element(sizes.begin(), sizes.end());
}

std::vector<size_t> SingleBuffersOf(const FormulationInput& question, size_t memory) {
  std::vector<size_t> buffers;
  for (size_t i = 0; i < question.problem.buffers.size(); ++i) {
    const problem::Buffer& buffer = question.BufferAt(i);
    if (static_cast<size_t>(buffer.memory) == memory && buffer.span == problem::Span::kSingle)
      buffers.push_back(i);
  }
  return buffers;
}

bool MayLieIn(const problem::Buffer& buffer, size_t bank) {
  return buffer.allowed_banks.empty() ||
         std::binary_search(buffer.allowed_banks.begin(), buffer.allowed_banks.end(),
                            static_cast<int>(bank));
}

// The maximal sets: buffers that live at a step at which some buffer is born and are pairwise
// disjoint, taken in order. Sets contained in another one are dropped.
std::vector<std::vector<size_t>> MaximalSets(const FormulationInput& question,
                                             const std::vector<size_t>& buffers) {
  const std::set<std::pair<int, int>> disjoint(question.address_constraints.disjoint.begin(),
                                               question.address_constraints.disjoint.end());
  std::set<Step> births;
  for (const size_t i : buffers) {
    for (const problem::Lifespan& life : question.BufferAt(i).lifespans) births.insert(life.lower);
  }
  std::vector<std::vector<size_t>> sets;
  for (const Step step : births) {
    std::vector<size_t> set;
    for (const size_t i : buffers) {
      const bool apart = std::all_of(set.begin(), set.end(), [&](size_t other) {
        return disjoint.contains({static_cast<int>(other), static_cast<int>(i)});
      });
      if (apart && LivesAt(question.BufferAt(i), step)) set.push_back(i);
    }
    sets.push_back(std::move(set));
  }
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  std::vector<std::vector<size_t>> maximal;
  for (const std::vector<size_t>& set : sets) {
    const bool contained =
        std::any_of(sets.begin(), sets.end(), [&set](const std::vector<size_t>& other) {
          return other.size() > set.size() &&
                 std::includes(other.begin(), other.end(), set.begin(), set.end());
        });
    if (!contained && set.size() > 1) maximal.push_back(set);
  }
  return maximal;
}

Bytes WidthOf(const problem::Memory& memory, const problem::AddressRange& bank, Bytes ceiling) {
  Bytes width = std::max<Bytes>(0, std::min(bank.end, ceiling) - bank.begin);
  Bytes covered = bank.begin;
  std::vector<problem::Reserved> reserved = memory.reserved;
  std::sort(reserved.begin(), reserved.end(),
            [](const auto& a, const auto& b) { return a.range.begin < b.range.begin; });
  for (const problem::Reserved& each : reserved) {
    const Bytes begin = std::max(each.range.begin, covered);
    const Bytes end = std::min({each.range.end, bank.end, ceiling});
    if (begin >= end) continue;
    width -= end - begin;
    covered = end;
  }
  return width;
}

}  // namespace

void WriteBankSums(const FormulationInput& question, Addresses& addresses, ClauseSink& clauses) {
  for (size_t m = 0; m < question.problem.memories.size(); ++m) {
    const problem::Memory& memory = question.problem.memories[m];
    if (memory.banks.size() < 2) continue;
    const std::vector<size_t> buffers = SingleBuffersOf(question, m);
    for (const size_t i : buffers) {
      std::vector<Literal> touches;
      for (size_t bank = 0; bank < memory.banks.size(); ++bank) {
        if (MayLieIn(question.BufferAt(i), bank)) touches.push_back(addresses.Touches(i, bank));
      }
      clauses.Enter(Topic::kBanks);
      clauses.Add(touches);
      for (size_t a = 0; a < touches.size(); ++a) {
        for (size_t b = a + 1; b < touches.size(); ++b) clauses.Add({~touches[a], ~touches[b]});
      }
    }
    for (const std::vector<size_t>& set : MaximalSets(question, buffers)) {
      for (size_t bank = 0; bank < memory.banks.size() && !clauses.Full(); ++bank) {
        std::vector<Weighted> terms;
        for (const size_t i : set) {
          if (!MayLieIn(question.BufferAt(i), bank)) continue;
          terms.push_back(
              {addresses.Touches(i, bank), LeastSizeOf(question, i) / question.GranularityOf(i)});
        }
        clauses.Enter(Topic::kBanks);
        const Bytes width = WidthOf(memory, memory.banks[bank].range, question.CapacityOf(m));
        AddSumAtMost(clauses, terms, width / question.address_constraints.granularities[m],
                     kMostNodes);
      }
    }
  }
}

using problem::RelationKind;

namespace {

// The variables of one formulation, as external constraints see them.
class FormulationVariables final : public Variables {
 public:
  FormulationVariables(const FormulationInput& question, Target& target, Addresses& addresses,
                       const Schedules& schedules)
      : question_(question), target_(target), addresses_(addresses), schedules_(schedules) {}

  const problem::Problem& Problem() const override { return question_.problem; }
  problem::Bytes GranularityOf(size_t memory) const override {
    return question_.address_constraints.granularities[memory];
  }
  Integer OffsetOf(size_t buffer) const override { return addresses_.OffsetOf(buffer); }
  Term EndOf(size_t buffer) const override { return addresses_.EndOf(buffer); }
  std::optional<Literal> Below(size_t first, size_t second) const override {
    return addresses_.Below(first, second);
  }
  Literal Touches(size_t buffer, size_t bank) override { return addresses_.Touches(buffer, bank); }
  Literal ModeAt(size_t memory, problem::Step step, size_t mode) const override {
    const problem::Step start = problem::Horizon(question_.problem).lower;
    return schedules_.ModeAt(memory, static_cast<size_t>(step - start), mode);
  }
  ClauseSink& Clauses() override { return target_.Clauses(); }
  IntegerSink& Integers() override { return target_.Integers(); }

 private:
  const FormulationInput& question_;
  Target& target_;
  Addresses& addresses_;
  const Schedules& schedules_;
};

}  // namespace

Formulation::Formulation(const FormulationInput& question, Target& target,
                         const Constraints& constraints)
    : question_(question),
      target_(target),
      addresses_(question, target.Clauses(), target.Integers()),
      schedules_(question, addresses_, target.Clauses()),
      rules_(question, addresses_, target.Clauses(), target.Integers()),
      costs_(question, addresses_, schedules_, target.Clauses(), target.Integers()),
      constraints_(constraints) {}

void Formulation::Write() {
  addresses_.Write();
  if (target_.Clauses().Full()) return;
  for (const problem::Relation& relation : question_.problem.relations) {
    const bool about_banks =
        relation.kind == RelationKind::kSameBank || relation.kind == RelationKind::kDifferentBank;
    if (about_banks) addresses_.WriteBankRelation(relation, kTrue, Topic::kRelations);
  }
  schedules_.Write();
  rules_.Write();
  if (question_.refinements.bank_sums) WriteBankSums(question_, addresses_, target_.Clauses());
  FormulationVariables variables(question_, target_, addresses_, schedules_);
  for (const std::shared_ptr<const Constraint>& constraint : constraints_) {
    target_.Clauses().Enter(Topic::kRules);
    constraint->Write(variables);
  }
}

Literal Formulation::SelectCandidate(size_t candidate) {
  const Literal selected = addresses_.SelectCandidate(candidate);
  if (question_.ladder != nullptr && candidates_.insert(candidate).second)
    rules_.WriteForCandidate(candidate, selected);
  return selected;
}

problem::Allocation Formulation::Decode() const {
  problem::Allocation allocation;
  for (size_t i = 0; i < question_.problem.buffers.size(); ++i)
    allocation.offsets.push_back(addresses_.PlacedAt(i));
  for (const std::vector<std::vector<Literal>>& steps : schedules_.Modes()) {
    problem::ModeSchedule& schedule = allocation.modes.emplace_back();
    for (const std::vector<Literal>& modes : steps) {
      const auto chosen = std::find_if(modes.begin(), modes.end(),
                                       [this](Literal mode) { return target_.IsTrue(mode); });
      schedule.push_back(static_cast<int>(chosen - modes.begin()));
    }
  }
  return allocation;
}

std::optional<std::string> TooLarge(const problem::Problem& problem,
                                    const AddressConstraints& address_constraints) {
  if (address_constraints.too_many_pairs) {
    return fmt::format(
        "more than {} pairs of buffers live together, too many to write down as clauses",
        address_constraints.pair_limit);
  }
  const bool has_modes =
      std::any_of(problem.memories.begin(), problem.memories.end(),
                  [](const problem::Memory& memory) { return !memory.modes.empty(); });
  const problem::Lifespan horizon = problem::Horizon(problem);
  if (has_modes && horizon.upper - horizon.lower > kStepLimit) {
    return fmt::format(
        "a schedule of modes over more than {} steps is too long to write down as clauses",
        kStepLimit);
  }
  return std::nullopt;
}

}  // namespace tessera::encoder::formulation
