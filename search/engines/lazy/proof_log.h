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

// Tells a proof how the solver came to its clauses.
//
// A lesson is derived by the reasons of some changes, in the order of the trail, and the conflict
// at the end. The reason of a change is a clause, which the proof knows by number, or a rule's, and
// then it becomes an axiom:
//
//     reason    b5,3  x5>=40  imply  x3>=64       axiom    stack 5 : b3,5 x5<40 x3>=64
//
// Which ground it has is read off its shape: every order and sum is a stack
// (problem/proof/axiom_checker.h), whose members are
//
//     nothing                a memory's heaviest section                 section-pair cuts, where all stay
//     no orders              whoever has a bound                         overload
//     one order, two bounds  the lower of the two                        pair rules
//     one order, one side    whoever has a bound, and the outsider       edge finding
//     orders around one      all the others                              section energy
//
// Bounds of a single buffer are a matter of its room, bounds of two without an order of a relation,
// orders without a bound of a section pair. What holds at the root becomes clauses of one literal
// as it appears, because lessons leave it out.
//
// Symmetries and resting buffers are no consequences of the Problem: a solver that keeps a proof
// must do without.
class ProofLog {
 public:
  // All outlive this. `stop` is requested when the proof has failed.
  ProofLog(const problem::Problem& problem, const Packing& packing, problem::proof::Log& log,
           base::Stop& stop)
      : problem_(problem), packing_(packing), log_(log), stop_(stop) {}

  // The number of the learned clause in the proof. The trail stands where the lesson was learned.
  int32_t NoteLesson(const Lesson& lesson, Trail& trail, const ClauseDatabase& clauses);
  // What holds at the root. To be called before clauses are renumbered.
  void NoteRoot(const Trail& trail, const ClauseDatabase& clauses);
  // The conflict contradicts the root alone.
  void NoteRefutation(Trail& trail, const ClauseDatabase& clauses);

  // Whether some step could not be said in terms of the proof, or there were too many: then it will
  // be refused.
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
  std::vector<BoundLiteral> given_;  // true literals that cannot all hold: an axiom says so
  std::vector<int64_t> subjects_;
  std::vector<problem::proof::ProofLiteral> literals_;
};

}  // namespace tessera::search::engines::lazy
