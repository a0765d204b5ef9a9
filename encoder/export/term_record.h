#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "tessera/encoder/export/clause_record.h"
#include "tessera/encoder/integer_sink.h"

namespace tessera::encoder {

// A formula whose integers stay integers: bounds are literals, orders are conditions of their own. What people
// and SMT solvers read. An integer first + step * rank is known by its rank, 0 <= rank < count, so that
// alignment needs no division.
class TermRecord : public ClauseRecord, public IntegerSink {
 public:
  struct Number {
    Domain domain;
    std::optional<Quantity> quantity;
    std::optional<int64_t> rank;  // in the model
  };

  // low + distance <= high.
  struct Order {
    Integer low;
    int64_t distance = 0;
    Integer high;
  };

  // integer mod modulus = remainder.
  struct Division {
    Integer integer;
    int64_t modulus = 1;
    Integer remainder;
  };

  // first + second = sum.
  struct Sum {
    Integer first;
    Integer second;
    Term sum;
  };

  // first XOR second = mask.
  struct Xor {
    Integer first;
    Integer second;
    int64_t mask = 0;
  };

  // What is said of integers alone; it holds where `guard` does.
  struct Condition {
    Topic topic = Topic::kOffsets;
    Literal guard;
    std::variant<Order, Division, Sum, Xor> statement;
  };

  // rank of `integer` >= rank.
  struct Bound {
    Integer integer;
    int64_t rank = 0;
  };

  explicit TermRecord(int64_t limit) : ClauseRecord(limit) {}

  using ClauseRecord::Explain;
  Integer NewInteger(const Domain& domain) override;
  void Explain(Integer integer, const Quantity& quantity) override;
  Literal AtLeast(Term term, int64_t value) override;
  void AddOrder(Literal guard, Term low, Term high) override;
  Integer Remainder(Integer integer, int64_t modulus) override;
  void AddSum(Literal guard, Integer first, Integer second, Term sum) override;
  void AddXor(Literal guard, Integer first, Integer second, int64_t mask) override;

  const std::vector<Number>& Numbers() const { return numbers_; }
  const Number& NumberOf(Integer integer) const { return numbers_[static_cast<size_t>(integer.index)]; }
  const std::vector<Condition>& Conditions() const { return conditions_; }

  // The bound that a variable stands for; null for variables that are free.
  const Bound* FindBound(int32_t variable) const;

  void AssignRank(Integer integer, int64_t rank);
  int64_t ValueOf(Integer integer) const override;
  bool IsTrue(Literal literal) const override;
  bool IsMet(const Condition& condition) const;

 private:
  void Require(Literal guard, std::variant<Order, Division, Sum, Xor> statement);

  std::vector<Number> numbers_;
  std::vector<Condition> conditions_;
  std::map<int32_t, Bound> bounds_;                            // by variable
  std::map<std::pair<int32_t, int64_t>, Literal> at_least_;    // by integer and rank
  std::map<std::pair<int32_t, int64_t>, Integer> remainders_;  // by integer and modulus
};

}  // namespace tessera::encoder
