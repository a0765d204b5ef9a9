#include "tessera/encoder/formulation.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::encoder {

using problem::RelationKind;

Formulation::Formulation(const Question& question, Target& target)
    : question_(question),
      target_(target),
      addresses_(question, target.Clauses(), target.Integers()),
      schedules_(question, addresses_, target.Clauses()) {}

void Formulation::Write() {
  addresses_.Write();
  if (target_.Clauses().Full()) return;
  for (const problem::Relation& relation : question_.problem.relations) {
    const bool about_banks =
        relation.kind == RelationKind::kSameBank || relation.kind == RelationKind::kDifferentBank;
    if (about_banks) addresses_.WriteBankRelation(relation);
  }
  schedules_.Write();
}

problem::Allocation Formulation::Decode() const {
  problem::Allocation allocation;
  for (size_t i = 0; i < question_.problem.buffers.size(); ++i)
    allocation.offsets.push_back(addresses_.OffsetOf(i));
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
                       kPairLimit);
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
