#include "tessera/encoder/formulation.h"

#include <fmt/format.h>

#include <algorithm>

#include "tessera/encoder/bank_sums.h"

namespace tessera::encoder {

using problem::RelationKind;

namespace {

// The variables of one formulation, as constraints from outside see them.
class FormulationVariables final : public Variables {
 public:
  FormulationVariables(const Question& question, Target& target, Addresses& addresses,
                       const Schedules& schedules)
      : question_(question), target_(target), addresses_(addresses), schedules_(schedules) {}

  const problem::Problem& Problem() const override { return question_.problem; }
  problem::Bytes GranuleOf(size_t memory) const override { return question_.demands.granules[memory]; }
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
  const Question& question_;
  Target& target_;
  Addresses& addresses_;
  const Schedules& schedules_;
};

}  // namespace

Formulation::Formulation(const Question& question, Target& target, const Constraints& constraints)
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
    if (about_banks) addresses_.WriteBankRelation(relation);
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

Literal Formulation::SelectRung(size_t rung) {
  const Literal selected = addresses_.SelectRung(rung);
  if (question_.ladder != nullptr && rungs_.insert(rung).second) rules_.WriteForRung(rung, selected);
  return selected;
}

problem::Allocation Formulation::Decode() const {
  problem::Allocation allocation;
  for (size_t i = 0; i < question_.problem.buffers.size(); ++i)
    allocation.offsets.push_back(addresses_.PlacedAt(i));
  for (const std::vector<std::vector<Literal>>& steps : schedules_.Modes()) {
    problem::ModeSchedule& schedule = allocation.modes.emplace_back();
    for (const std::vector<Literal>& modes : steps) {
      const auto chosen =
          std::find_if(modes.begin(), modes.end(), [this](Literal mode) { return target_.IsTrue(mode); });
      schedule.push_back(static_cast<int>(chosen - modes.begin()));
    }
  }
  return allocation;
}

std::optional<std::string> TooLarge(const problem::Problem& problem, const Demands& demands) {
  if (demands.too_many_pairs) {
    return fmt::format("more than {} pairs of buffers live together, too many to write down as clauses",
                       demands.pair_limit);
  }
  const bool has_modes = std::any_of(problem.memories.begin(), problem.memories.end(),
                                     [](const problem::Memory& memory) { return !memory.modes.empty(); });
  const problem::Lifespan horizon = problem::Horizon(problem);
  if (has_modes && horizon.upper - horizon.lower > kStepLimit) {
    return fmt::format("a schedule of modes over more than {} steps is too long to write down as clauses",
                       kStepLimit);
  }
  return std::nullopt;
}

}  // namespace tessera::encoder
