// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace tessera::encoder::sat {

// Finds the clauses that a derived clause follows from (reverse unit propagation: Goldberg and
// Novikov 2003; with two watched literals). A DRAT proof lists the clauses that a solver learned,
// but not their antecedents. The antecedents found here spare the checker of the proof that search.
//
// Literals that follow from the clauses alone stay assigned. They are reported as they appear,
// because later proof steps use them implicitly. Cost: that of the solver's own propagation.
class UnitPropagation {
 public:
  // The caller numbers the clauses. Literals are DIMACS; a clause has no complementary ones.
  void Add(int32_t number, std::span<const int> literals);

  // Removes one clause with these literals, if there is one. The literals that it implied stay
  // assigned.
  void Delete(std::span<const int> literals);

  // Whether the clause's negation leads to a contradiction. If so, `Chain` holds the antecedents in
  // order: in each clause all literals but one are already false; in the last clause all are.
  bool Refutes(std::span<const int> literals);
  const std::vector<int32_t>& Chain() const { return chain_; }

  // Literals that became fixed since the last call, in order, each with the clause whose other
  // literals are false.
  struct Unit {
    int literal = 0;
    int32_t clause = 0;
  };
  std::vector<Unit> TakeUnits();

  // The clause whose literals are all false without assumptions.
  std::optional<int32_t> Contradiction() const { return contradiction_; }
  bool Holds(int literal) const { return ValueOf(literal) > 0; }
  bool Fails(int literal) const { return ValueOf(literal) < 0; }

 private:
  struct Clause {
    uint32_t first = 0;  // of its literals
    uint32_t size = 0;
    int32_t number = 0;
    bool deleted = false;
  };
  struct Watch {
    int32_t clause = 0;
    int blocker = 0;
  };

  static size_t IndexOf(int literal) {
    return 2 * static_cast<size_t>(literal > 0 ? literal : -literal) + (literal < 0 ? 1 : 0);
  }
  int8_t ValueOf(int literal) const {
    const size_t index = IndexOf(literal);
    return index < values_.size() ? values_[index] : int8_t{0};
  }
  void MakeRoom(std::span<const int> literals);
  void Assign(int literal, int32_t reason);
  int32_t Propagate();  // the clause in conflict, or -1
  void Explain(int32_t conflict);
  void Undo(size_t size);

  std::vector<Clause> clauses_;
  std::vector<int> literals_;
  std::vector<std::vector<Watch>> watches_;  // by the literal that must become false
  std::vector<int8_t> values_;               // by literal: 1 true, -1 false
  std::vector<int32_t> reasons_;             // by variable; -1: assumed
  std::vector<char> marked_;                 // variables, while a conflict is explained
  std::vector<char> is_fixed_;               // variables fixed without assumptions
  std::vector<int> trail_;
  size_t processed_ = 0;
  size_t fixed_ = 0;  // length of the part of the trail that holds without assumptions
  size_t taken_ = 0;
  std::optional<int32_t> contradiction_;
  std::vector<int32_t> chain_;
  std::unordered_multimap<uint64_t, int32_t> by_hash_;
};

}  // namespace tessera::encoder::sat
