#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tessera/problem/proof/syntax.h"

namespace tessera::problem::proof {

// A proof in the making, for whoever finds one. Axioms and clauses are noted as they come; what did not help in
// the end is left out when the proof is written. Equal axioms are kept once. Memory: 24 bytes a literal.
class Log {
 public:
  // Something to apply in a proof of a clause.
  struct Hint {
    int32_t index = -1;
    bool axiom = false;
  };

  Hint AddAxiom(Ground ground, std::span<const int64_t> subjects, std::span<const Literal> literals);

  // `hints` in the order in which their consequences follow from the clause's negation, the last one
  // contradicting it. Whether they do is for the checker to find out.
  Hint AddClause(std::span<const Literal> literals, std::span<const Hint> hints);

  // Whether so much was noted that no more should be: about a gigabyte.
  bool Full() const { return literals_.size() > kMostLiterals; }

  // The proof without what it does not need, or nullopt when the last clause is not empty. Clauses of one literal
  // hold without being used, so all are kept.
  std::optional<std::string> Write() const;

 private:
  static constexpr size_t kMostLiterals = 40'000'000;

  // Parts of literals_, subjects_ and hints_.
  struct Part {
    size_t begin = 0;
    size_t end = 0;
  };
  struct AxiomEntry {
    Ground ground = Ground::kStack;
    Part subjects;
    Part literals;
  };
  struct ClauseEntry {
    Part literals;
    Part hints;
  };
  class Writer;

  std::span<const Literal> LiteralsOf(Part part) const {
    return std::span(literals_).subspan(part.begin, part.end - part.begin);
  }
  std::span<const Hint> HintsOf(const ClauseEntry& clause) const {
    return std::span(hints_).subspan(clause.hints.begin, clause.hints.end - clause.hints.begin);
  }
  std::span<const int64_t> SubjectsOf(const AxiomEntry& axiom) const {
    return std::span(subjects_).subspan(axiom.subjects.begin, axiom.subjects.end - axiom.subjects.begin);
  }
  bool Is(const AxiomEntry& axiom, Ground ground, std::span<const int64_t> subjects,
          std::span<const Literal> literals) const;
  Part Store(std::span<const Literal> literals);

  std::vector<Literal> literals_;
  std::vector<int64_t> subjects_;
  std::vector<Hint> hints_;
  std::vector<AxiomEntry> axioms_;
  std::vector<ClauseEntry> clauses_;
  std::unordered_multimap<uint64_t, int32_t> axiom_by_hash_;
};

}  // namespace tessera::problem::proof
