// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/proof/proof_text.h"
#include "tessera/search/engines/lazy/clause_learning.h"
#include "tessera/search/engines/lazy/packing.h"

namespace tessera::search::engines::lazy {

// Records in a proof how the solver derived its clauses.
//
// A lesson is derived from the reasons of some changes, in the order of the trail, and from the
// conflict at the end. The reason of a change is either a clause, which has a number in the proof,
// or the conclusion of a rule, which becomes an axiom:
//
//     reason    b5,3  x5>=40  imply  x3>=64       axiom    stack 5 : b3,5 x5<40 x3>=64
//
// The ground of the axiom follows from its shape. Every order and sum is a stack
// (problem/proof/axiom_checker.h), whose members are
//
//     nothing                the heaviest section of a memory       section-pair cuts, if all stay
//     no orders              every buffer with a bound              overload
//     one order, two bounds  the lower of the two                   pair rules
//     one order, one side    every buffer with a bound, and the     edge finding
//                            outsider
//     orders around one      all the others                         section energy
//
// Bounds of a single buffer have its windows as their ground; bounds of two buffers without an
// order have a relation; orders without a bound have a section pair. Facts at the root become
// clauses of one literal as they appear, because lessons omit them.
//
// Symmetries and the bottom-left rule are not consequences of the Problem: a solver that records a
// proof must not use them.
class ProofLog {
 public:
  // All arguments must outlive this object. `stop` is requested when the proof has failed.
  ProofLog(const problem::Problem& problem, const Packing& packing, problem::proof::Log& log,
           base::Stop& stop)
      : problem_(problem), packing_(packing), log_(log), stop_(stop) {}

  // Records a lesson and returns the number of its clause in the proof. The trail must be in the
  // state in which the lesson was learned.
  int32_t NoteLesson(const Lesson& lesson, Trail& trail, const ClauseDatabase& clauses);
  // Records the facts at the root. Must be called before clauses are renumbered.
  void NoteRoot(const Trail& trail, const ClauseDatabase& clauses);
  // Records that the conflict contradicts the root alone.
  void NoteRefutation(Trail& trail, const ClauseDatabase& clauses);

  // Returns whether the proof failed, because it cannot express some step or has too many steps.
  bool Failed() const { return failed_; }

 private:
  using Hint = problem::proof::Log::Hint;

  void AddStep(const Change& change, Bound needed, const Trail& trail,
               const ClauseDatabase& clauses);
  void Fail();
  void AddConflict(Trail& trail, const ClauseDatabase& clauses);
  void AddAxiom(const Trail& trail);
  bool FindGround(problem::proof::Ground& ground);
  void FindHeaviestSection(int memory);
  void FindStack();
  bool FindSectionPair();
  void NoteStayers(int around, const std::vector<int>& below, const std::vector<int>& above,
                   std::span<const int> before, std::span<const int> after, Bound& heaviest);
  int FindTie() const;
  problem::proof::ProofLiteral Translate(BoundLiteral literal) const;
  bool IsCeiling(BoundLiteral literal) const;
  bool IsOffset(BoundLiteral literal) const { return IntegerOf(literal.view) < packing_.buffers; }

  const problem::Problem& problem_;
  const Packing& packing_;
  problem::proof::Log& log_;
  base::Stop& stop_;
  int noted_ = 0;  // changes at the root
  bool failed_ = false;
  std::vector<Hint> hints_;
  std::vector<BoundLiteral> given_;  // true literals that cannot all hold; an axiom states this
  std::vector<int64_t> subjects_;
  std::vector<problem::proof::ProofLiteral> literals_;
};

}  // namespace tessera::search::engines::lazy
