#include "tessera/encoder/export/clause_record.h"

#include <variant>

namespace tessera::encoder {

ClauseRecord::ClauseRecord(int64_t limit) : ClauseSink(limit), variables_(2), truths_(2, Truth::kOpen) {
  truths_[static_cast<size_t>(kTrue.Variable())] = Truth::kTrue;
}

Literal ClauseRecord::NewVariable() {
  variables_.push_back({CurrentTopic(), Helper{}, false});
  truths_.push_back(Truth::kOpen);
  return Literal(VariableCount());
}

void ClauseRecord::Explain(Literal literal, const Meaning& meaning) {
  if (literal.Variable() == kTrue.Variable() || literal.Variable() > VariableCount()) return;
  Variable& variable = variables_[static_cast<size_t>(literal.Variable())];
  if (!std::holds_alternative<Helper>(variable.meaning)) return;
  variable.meaning = meaning;
  variable.negated = literal.Negative();
}

TopicCounts ClauseRecord::CountVariables() const {
  TopicCounts counts{};
  for (int32_t v = kTrue.Variable() + 1; v <= VariableCount(); ++v)
    ++counts[static_cast<size_t>(VariableAt(v).topic)];
  return counts;
}

std::span<const Literal> ClauseRecord::ClauseAt(size_t clause) const {
  const size_t begin = clause == 0 ? 0 : ends_[clause - 1];
  return std::span(literals_).subspan(begin, ends_[clause] - begin);
}

void ClauseRecord::Store(std::span<const Literal> clause) {
  literals_.insert(literals_.end(), clause.begin(), clause.end());
  ends_.push_back(literals_.size());
  topics_.push_back(CurrentTopic());
}

void ClauseRecord::Assign(Literal literal) {
  truths_[static_cast<size_t>(literal.Variable())] = literal.Negative() ? Truth::kFalse : Truth::kTrue;
}

bool ClauseRecord::IsAssigned(int32_t variable) const {
  return truths_[static_cast<size_t>(variable)] != Truth::kOpen;
}

bool ClauseRecord::IsTrue(Literal literal) const {
  return (truths_[static_cast<size_t>(literal.Variable())] == Truth::kTrue) != literal.Negative();
}

}  // namespace tessera::encoder
