#include "tessera/encoder/formulation.h"

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

}  // namespace tessera::encoder
