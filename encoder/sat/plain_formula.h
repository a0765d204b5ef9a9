// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/formulation/address_constraints.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/proof/proof_text.h"
#include "tessera/problem/rule_definition.h"

namespace tessera::encoder::sat {

// A Problem as clauses that are all axioms of the certificate format
// (problem/proof/axiom_checker.h). Every variable is a statement about a placement. There are no
// auxiliary variables, no symmetries, and no bounds from other engines. The formula is weaker than
// the formulation, but simple: the proof of a SAT solver for it is a proof about the Problem.
//
//     offsets   x_i >= v for each multiple v of the buffer's stride; each implies the previous one
//     pairs     b_ij, with a clause for each offset of i, and b_ji = not b_ij
//     banks     t_ib where a mode, a port or a relation needs it;  modes m_k at each step
//     ports     one clause for each set of P + 1 buffers: few clauses only if few buffers compete
//     rules     a clause for each run of offsets that breaks the rule, or of offsets combined with
//               one offset of the partner; for a common distance, a clause for offsets of three of
//               its buffers, which bound the fourth
//
// If offsets have more than `most_values` values, only some of them get a variable: boundaries,
// sums of a boundary and one or two sizes, and a grid between them. Literals in between are
// weakened to the next variable, so all clauses still hold. A refutation of the weakened formula is
// valid; any other answer has no consequence.
//
// Cost: about twice the pairs times the values of an offset.
class PlainFormula {
 public:
  // Valid as long as the formula.
  struct Clause {
    problem::proof::Ground ground = problem::proof::Ground::kStack;
    bool free = false;  // a bound that implies a weaker bound: it needs no axiom
    std::span<const int64_t> subjects;
    std::span<const int> literals;  // as DIMACS numbers
  };

  // The formula ends early, and is Full, if it has more than `most_clauses`, or at a stop. Needs a
  // well-formed Problem, which must outlive this object, as must the stop.
  PlainFormula(const problem::Problem& problem, problem::Bytes capacity, size_t most_values,
               size_t most_clauses, const base::Stop& stop);

  size_t Size() const { return rows_.size(); }
  Clause At(size_t clause) const;
  bool Full() const { return full_; }
  // Whether literals were weakened.
  bool Weakened() const { return weakened_; }
  // Whether some buffer has no possible offset.
  bool Contradicts() const { return contradicts_; }

  // The meaning of a DIMACS literal.
  problem::proof::ProofLiteral MeaningOf(int literal) const;

 private:
  using Literals = std::vector<problem::proof::ProofLiteral>;

  // Multiples of the stride from first to last.
  struct Domain {
    problem::Bytes first = 0;
    problem::Bytes last = 0;
    problem::Bytes stride = 1;
    std::vector<problem::Bytes> values;  // values above `first` that have a variable, ascending
    int variable = 0;  // the variable of "at least the first of them"; the others follow it
    int64_t Count() const { return (last - first) / stride + 1; }
  };

  // Where the clause ends in the lists of all subjects and all literals; it begins where the clause
  // before it ends.
  struct Row {
    size_t subjects_end = 0;
    size_t literals_end = 0;
    problem::proof::Ground ground = problem::proof::Ground::kStack;
    bool free = false;
  };

  const problem::Buffer& BufferAt(int buffer) const {
    return problem_.buffers[static_cast<size_t>(buffer)];
  }
  const problem::Memory& MemoryOf(int buffer) const {
    return problem_.memories[static_cast<size_t>(BufferAt(buffer).memory)];
  }
  problem::Bytes GuardBetween(const std::vector<problem::Guard>& guards, int below,
                              int above) const;
  int NextVariable() const { return static_cast<int>(bounds_ + meanings_.size()) + 1; }
  problem::proof::ProofLiteral MeaningOfBound(int variable) const;
  void MakeDomains(size_t most_values);
  void ChooseValues(int buffer, size_t most);
  std::set<problem::Bytes> SumsOfSizes(int buffer, size_t most) const;
  problem::Bytes GranularityOf(int memory) const;
  bool HasRoom();  // for a clause
  void Add(problem::proof::Ground ground, const std::vector<int64_t>& subjects,
           const Literals& literals);
  std::optional<bool> Weaken(problem::proof::ProofLiteral& literal) const;
  int DimacsOf(const problem::proof::ProofLiteral& literal);

  void WriteChains();
  void WriteForbidden(const formulation::AddressConstraints& address_constraints);
  // Requires offset(low) + distance <= offset(high), unless one of the literals holds.
  void WriteOrder(problem::proof::Ground ground, const std::vector<int64_t>& subjects,
                  const Literals& unless, int low, int high, problem::Bytes distance);
  // Forbids the offsets that `bad` accepts, unless one of the literals holds.
  void WriteExcept(const std::vector<int64_t>& subjects, const Literals& unless, int buffer,
                   const std::function<bool(problem::Bytes)>& bad);
  void WritePairs(const formulation::AddressConstraints& address_constraints);
  void WritePair(int i, int j, problem::Bytes between);
  void WriteRelation(int index);
  void WriteRule(int index);
  // Each writes one restriction on the item of a rule that `subjects` names.
  using Subjects = std::vector<int64_t>;
  void WriteRestriction(const Subjects& subjects, const problem::Remainder& remainder);
  void WriteRestriction(const Subjects& subjects, const problem::Inside& inside);
  void WriteRestriction(const Subjects& subjects, const problem::Margins& margins);
  void WriteRestriction(const Subjects& subjects, const problem::BankClause& clause);
  void WriteRestriction(const Subjects& subjects, const problem::OneBankSet& one);
  void WriteRestriction(const Subjects& subjects, const problem::Relation& relation);
  void WriteRestriction(const Subjects& subjects, const problem::ModularDistance& difference);
  void WriteRestriction(const Subjects& subjects, const problem::FixedDistance& fixed);
  void WriteRestriction(const Subjects& subjects, const problem::FlippedBits& flipped);
  void WriteRestriction(const Subjects& subjects, const problem::CommonDistance& common);
  // Forbids the pairs of offsets that `bad` accepts.
  void WriteExceptPairs(const Subjects& subjects, int first, int second,
                        const std::function<bool(problem::Bytes, problem::Bytes)>& bad);
  // Requires offset(low) + offset(also_low) <= offset(high) + offset(also_high).
  void WriteSumOrder(const std::vector<int64_t>& subjects, int low, int also_low, int high,
                     int also_high, size_t most_clauses);
  void WriteBanks(problem::proof::Ground ground, const std::vector<int64_t>& subjects, bool same,
                  int first, int second);
  problem::proof::ProofLiteral Touch(int buffer, int bank);
  void WriteModes(int memory);
  void WriteTransitions(int memory);
  void WriteAccesses(int buffer);
  void WritePorts(int memory, int bank);
  void WriteLimit(std::span<const int64_t> subjects, const std::vector<int>& users, int most);

  const problem::Problem& problem_;
  const base::Stop& stop_;
  const problem::Bytes capacity_;
  const problem::Lifespan horizon_;
  const size_t limit_;  // number of clauses
  bool weakened_ = false;
  bool full_ = false;
  bool contradicts_ = false;
  std::vector<Domain> domains_;
  size_t bounds_ = 0;                                   // variables that bound an offset: the first
  std::vector<problem::proof::ProofLiteral> meanings_;  // of the other variables
  std::map<std::pair<int, int>, int> pairs_;            // variables, by the smaller index first
  std::map<std::pair<int, int>, int> touches_;          // by buffer and bank
  std::map<std::pair<int, problem::Step>, int> modes_;  // of mode 0, by memory and step
  std::vector<Row> rows_;
  std::vector<int64_t> subjects_;
  std::vector<int> literals_;
};

}  // namespace tessera::encoder::sat
