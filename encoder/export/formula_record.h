// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "tessera/encoder/formulation/backend.h"
#include "tessera/encoder/formulation/meaning.h"

namespace tessera::encoder::exports {

// A formula that is recorded in order to be written to a file: the clauses as they were added, each
// with its topic, and the meaning of every variable. Assign loads a model that an external solver
// found; IsTrue then reads that model.
class ClauseRecord : public formulation::ClauseSink, public formulation::Model {
 public:
  struct Variable {
    // the topic that was current when the variable was made
    formulation::Topic topic = formulation::Topic::kOffsets;
    formulation::Meaning meaning;
    bool negated = false;  // if true, the variable holds when the meaning does not
  };

  // `limit` as in ClauseSink.
  explicit ClauseRecord(int64_t limit);

  formulation::Literal NewVariable() override;
  void Explain(formulation::Literal literal, const formulation::Meaning& meaning) override;

  // Variables are numbered from 1. Variable 1 is kTrue.
  int32_t VariableCount() const { return static_cast<int32_t>(variables_.size()) - 1; }
  const Variable& VariableAt(int32_t variable) const {
    return variables_[static_cast<size_t>(variable)];
  }
  formulation::TopicCounts CountVariables() const;  // without kTrue

  size_t ClauseCount() const { return topics_.size(); }
  std::span<const formulation::Literal> ClauseAt(size_t clause) const;
  formulation::Topic TopicAt(size_t clause) const { return topics_[clause]; }

  // Makes the literal hold in the model. A later call overrides an earlier one.
  void Assign(formulation::Literal literal);
  bool IsAssigned(int32_t variable) const;

  // A variable without a value in the model counts as false.
  bool IsTrue(formulation::Literal literal) const override;

 protected:
  void Store(std::span<const formulation::Literal> clause) override;

 private:
  enum class Truth : uint8_t { kOpen, kFalse, kTrue };

  std::vector<Variable> variables_;             // by number; entry 0 is unused
  std::vector<Truth> truths_;                   // by number
  std::vector<formulation::Literal> literals_;  // of all clauses, concatenated
  std::vector<size_t> ends_;                    // by clause
  std::vector<formulation::Topic> topics_;      // by clause
};

// A formula whose integers stay integers: bounds are literals, and orders are conditions of their
// own. This is the form for human readers and SMT solvers. An integer first + step * rank is
// represented by its rank, 0 <= rank < count, so that alignment needs no division.
class TermRecord : public ClauseRecord, public formulation::IntegerSink {
 public:
  struct Number {
    formulation::Domain domain;
    std::optional<formulation::Quantity> quantity;
    std::optional<int64_t> rank;  // in the model
  };

  // low + distance <= high.
  struct Order {
    formulation::Integer low;
    int64_t distance = 0;
    formulation::Integer high;
  };

  // integer mod modulus = remainder.
  struct Division {
    formulation::Integer integer;
    int64_t modulus = 1;
    formulation::Integer remainder;
  };

  // first + second = sum.
  struct Sum {
    formulation::Integer first;
    formulation::Integer second;
    formulation::Term sum;
  };

  // first XOR second = mask.
  struct Xor {
    formulation::Integer first;
    formulation::Integer second;
    int64_t mask = 0;
  };

  // A condition on integers alone. It holds if `guard` holds.
  struct Condition {
    formulation::Topic topic = formulation::Topic::kOffsets;
    formulation::Literal guard;
    std::variant<Order, Division, Sum, Xor> statement;
  };

  // rank of `integer` >= rank.
  struct Bound {
    formulation::Integer integer;
    int64_t rank = 0;
  };

  explicit TermRecord(int64_t limit) : ClauseRecord(limit) {}

  using ClauseRecord::Explain;
  formulation::Integer NewInteger(const formulation::Domain& domain) override;
  void Explain(formulation::Integer integer, const formulation::Quantity& quantity) override;
  formulation::Literal AtLeast(formulation::Term term, int64_t value) override;
  void AddOrder(formulation::Literal guard, formulation::Term low, formulation::Term high) override;
  formulation::Integer Remainder(formulation::Integer integer, int64_t modulus) override;
  void AddSum(formulation::Literal guard, formulation::Integer first, formulation::Integer second,
              formulation::Term sum) override;
  void AddXor(formulation::Literal guard, formulation::Integer first, formulation::Integer second,
              int64_t mask) override;

  const std::vector<Number>& Numbers() const { return numbers_; }
  const Number& NumberOf(formulation::Integer integer) const {
    return numbers_[static_cast<size_t>(integer.index)];
  }
  const std::vector<Condition>& Conditions() const { return conditions_; }

  // The bound that a variable stands for; null if the variable is free.
  const Bound* FindBound(int32_t variable) const;

  void AssignRank(formulation::Integer integer, int64_t rank);
  int64_t ValueOf(formulation::Integer integer) const override;
  bool IsTrue(formulation::Literal literal) const override;
  bool IsMet(const Condition& condition) const;

 private:
  void Require(formulation::Literal guard, std::variant<Order, Division, Sum, Xor> statement);

  std::vector<Number> numbers_;
  std::vector<Condition> conditions_;
  std::map<int32_t, Bound> bounds_;                                       // by variable
  std::map<std::pair<int32_t, int64_t>, formulation::Literal> at_least_;  // by integer and rank
  // by integer and modulus
  std::map<std::pair<int32_t, int64_t>, formulation::Integer> remainders_;
};

}  // namespace tessera::encoder::exports
