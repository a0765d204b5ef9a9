#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace tessera::encoder::sat {

// Says which clauses a derived clause follows from (reverse unit propagation: Goldberg and Novikov
// 2003; with two watched literals). A DRAT proof names the clauses that a solver learned, not why
// they hold; what this finds out once need not be searched for by whoever checks the proof.
//
// What follows from the clauses alone stays; it is reported as it appears, since proofs rest on it
// silently. Cost: that of the solver's own propagation.
class UnitPropagation {
 public:
  // Clauses are numbered by the caller. Literals are DIMACS; a clause has no complementary ones.
  void Add(int32_t number, std::span<const int> literals);

  // Forgets one clause with these literals, if there is one; what it implied stays.
  void Delete(std::span<const int> literals);

  // Whether the clause's negation leads to a contradiction. Then `Chain` holds the clauses that do
  // it, each with all literals but one false by then, the last with none.
  bool Refutes(std::span<const int> literals);
  const std::vector<int32_t>& Chain() const { return chain_; }

  // Literals that hold since the last call, each with the clause whose others are false; in order.
  struct Unit {
    int literal = 0;
    int32_t clause = 0;
  };
  std::vector<Unit> TakeUnits();

  // The clause whose literals are all false without any assumption.
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
  std::vector<char> is_fixed_;               // variables that hold without assumptions
  std::vector<int> trail_;
  size_t processed_ = 0;
  size_t fixed_ = 0;  // of the trail: holds without assumptions
  size_t taken_ = 0;
  std::optional<int32_t> contradiction_;
  std::vector<int32_t> chain_;
  std::unordered_multimap<uint64_t, int32_t> by_hash_;
};

}  // namespace tessera::encoder::sat
