// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tessera/problem/problem.h"

namespace tessera::problem::proof {

// One statement about a placement, in terms of the Problem. There are no other statements: a proof
// has no variables whose meaning would have to be trusted.
//
//     x3>=64     buffer 3 begins at byte 64 or above    x3<64     it begins below byte 64
//     b3,5       buffer 3 ends at or below the begin    b5,3      its opposite, for two that
//                of 5                                             lie apart
//     t3,1       some byte of buffer 3 lies in bank 1   !t3,1     none does
//     m0,7,2     memory 0 is in mode 2 at step 7        !m0,7,2   it is not
struct ProofLiteral {
  enum class Kind : uint8_t { kOffset, kBelow, kTouch, kMode };

  Kind kind = Kind::kOffset;
  bool negated = false;  // never for kBelow: the opposite swaps the two buffers
  int32_t first = 0;     // the buffer; for kMode the memory
  int32_t second = 0;    // the buffer above, the bank, or the mode
  int64_t value = 0;     // bytes for kOffset, the step for kMode

  friend bool operator==(const ProofLiteral&, const ProofLiteral&) = default;
};

constexpr ProofLiteral AtLeast(int buffer, Bytes offset) {
  return {ProofLiteral::Kind::kOffset, false, buffer, 0, offset};
}
constexpr ProofLiteral Under(int buffer, Bytes offset) {
  return {ProofLiteral::Kind::kOffset, true, buffer, 0, offset};
}
constexpr ProofLiteral Below(int lower, int upper) {
  return {ProofLiteral::Kind::kBelow, false, lower, upper, 0};
}
constexpr ProofLiteral Touches(int buffer, int bank) {
  return {ProofLiteral::Kind::kTouch, false, buffer, bank, 0};
}
constexpr ProofLiteral InMode(int memory, Step step, int mode) {
  return {ProofLiteral::Kind::kMode, false, memory, mode, step};
}

constexpr ProofLiteral operator~(ProofLiteral literal) {
  if (literal.kind == ProofLiteral::Kind::kBelow) return Below(literal.second, literal.first);
  literal.negated = !literal.negated;
  return literal;
}

// The text form of a proof: lines of words, numbers and literals. docs/certificate-format.md is the
// reference.
//
//     tessera-proof 1
//     given 1 stack 4 7 : b7,4 x4<64 x7>=96        an axiom with a number
//     clause 2 : b4,7 x7<96                        a claim, ...
//     stack 4 : b7,4 x4<64 x7>=96                  ... and its proof: axioms used in place
//     use 1                                        and clauses from above
//     end

// Why an axiom holds in every placement (axiom_checker.h).
enum class Ground : uint8_t {
  kStack,
  kRoom,
  kTie,
  kTouch,
  kBanks,
  kMode,
  kFollow,
  kAccess,
  kPorts,
  kRule,
  kGuard,
  kSectionPair,
  kDelta
};

inline constexpr std::array<std::string_view, 13> kGroundNames = {
    "stack",  "room",  "tie",  "touch", "banks",        "mode", "follow",
    "access", "ports", "rule", "guard", "section_pair", "delta"};

struct Axiom {
  Ground ground = Ground::kStack;
  std::vector<int64_t> subjects;  // the subjects of the ground, by number
  std::vector<ProofLiteral> literals;
};

// One line of a proof, without its line break.
struct Line {
  enum class Kind : uint8_t { kHeader, kGiven, kClause, kAxiom, kUse, kEnd };

  Kind kind = Kind::kEnd;
  int64_t number = 0;         // of kGiven and kClause
  Axiom axiom;                // of kGiven and kAxiom; for kClause only the literals
  std::vector<int64_t> used;  // of kUse: numbers of clauses in the order of use
  std::string flaw;           // why the text is not a valid line; empty if it is
};

// Reads one line into `line` and reuses its storage. The text must match byte by byte: words and
// numbers are separated by one space, and numbers have no leading zeros. Returns false if
// `line.flaw` holds a reason.
bool ReadLine(std::string_view text, Line& line);

// Write lines in the form that ReadLine reads.
void WriteHeader(std::string& text);
void WriteGiven(std::string& text, int64_t number, const Axiom& axiom);
void WriteAxiom(std::string& text, const Axiom& axiom);
void WriteClause(std::string& text, int64_t number, std::span<const ProofLiteral> literals);
void WriteUse(std::string& text, std::span<const int64_t> numbers);
void WriteEnd(std::string& text);

std::string ToString(const ProofLiteral& literal);

// A proof under construction, for engines that find one. It records axioms and clauses as they
// arrive. Write omits those that the proof does not need. Equal axioms are stored once. Memory: 24
// bytes per literal.
class Log {
 public:
  // An axiom or clause to apply in a proof of a clause.
  struct Hint {
    int32_t index = -1;
    bool axiom = false;
  };

  Hint AddAxiom(Ground ground, std::span<const int64_t> subjects,
                std::span<const ProofLiteral> literals);

  // `hints` are in the order in which their consequences follow from the clause's negation; the
  // last one contradicts it. Only the checker verifies this.
  Hint AddClause(std::span<const ProofLiteral> literals, std::span<const Hint> hints);

  // Whether the log has reached its limit of about a gigabyte.
  bool Full() const { return literals_.size() > kMostLiterals; }

  // The proof without its unneeded parts, or nullopt if the last clause is not empty. Clauses of
  // one literal hold without being listed, so all of them are kept.
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

  std::span<const ProofLiteral> LiteralsOf(Part part) const {
    return std::span(literals_).subspan(part.begin, part.end - part.begin);
  }
  std::span<const Hint> HintsOf(const ClauseEntry& clause) const {
    return std::span(hints_).subspan(clause.hints.begin, clause.hints.end - clause.hints.begin);
  }
  std::span<const int64_t> SubjectsOf(const AxiomEntry& axiom) const {
    return std::span(subjects_).subspan(axiom.subjects.begin,
                                        axiom.subjects.end - axiom.subjects.begin);
  }
  bool Is(const AxiomEntry& axiom, Ground ground, std::span<const int64_t> subjects,
          std::span<const ProofLiteral> literals) const;
  Part Store(std::span<const ProofLiteral> literals);

  std::vector<ProofLiteral> literals_;
  std::vector<int64_t> subjects_;
  std::vector<Hint> hints_;
  std::vector<AxiomEntry> axioms_;
  std::vector<ClauseEntry> clauses_;
  std::unordered_multimap<uint64_t, int32_t> axiom_by_hash_;
};

}  // namespace tessera::problem::proof
