#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tessera/encoder/clause_sink.h"
#include "tessera/encoder/meaning.h"

namespace tessera::encoder {

// Clauses kept as they were said, each with its topic, and what every variable means: a formula to be written
// down. A model found elsewhere is laid beside it with Assign, and then the record answers for it.
class ClauseRecord : public ClauseSink, public Model {
 public:
  struct Variable {
    Topic topic = Topic::kOffsets;  // that was being written when it was made
    Meaning meaning;
    bool negated = false;  // then the variable holds when the meaning does not
  };

  // `limit` as in ClauseSink.
  explicit ClauseRecord(int64_t limit);

  Literal NewVariable() override;
  void Explain(Literal literal, const Meaning& meaning) override;

  // Variables are numbered from 1, which is kTrue.
  int32_t VariableCount() const { return static_cast<int32_t>(variables_.size()) - 1; }
  const Variable& VariableAt(int32_t variable) const { return variables_[static_cast<size_t>(variable)]; }
  TopicCounts CountVariables() const;  // without kTrue

  size_t ClauseCount() const { return topics_.size(); }
  std::span<const Literal> ClauseAt(size_t clause) const;
  Topic TopicAt(size_t clause) const { return topics_[clause]; }

  // The literal holds in the model; a later word overrules an earlier one.
  void Assign(Literal literal);
  bool IsAssigned(int32_t variable) const;

  // What the model leaves open is false.
  bool IsTrue(Literal literal) const override;

 protected:
  void Store(std::span<const Literal> clause) override;

 private:
  enum class Truth : uint8_t { kOpen, kFalse, kTrue };

  std::vector<Variable> variables_;  // by number; the first does not exist
  std::vector<Truth> truths_;        // by number
  std::vector<Literal> literals_;    // of all clauses in a row
  std::vector<size_t> ends_;         // by clause
  std::vector<Topic> topics_;        // by clause
};

}  // namespace tessera::encoder
